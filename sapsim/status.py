"""Status bits of a step, a sentence for each, how they merge, and the exit codes of the command line.

A step's status is a bit word per world.  Words merge by `or`, so the worst of many steps is never lost.  This module
imports nothing, so that device code, the recorder and the command line can share it.
"""

from enum import IntEnum, IntFlag


class StepStatus(IntFlag):
    """What one step of one world ran into.  The values are public: `/solver/status` carries them."""

    MAX_ITERATIONS = 1
    LINE_SEARCH_FAILED = 2
    FACTORIZATION_FAILED = 4
    NON_FINITE = 8
    CONTACT_OVERFLOW = 16
    NEAR_RIGID_ACTIVE = 32
    WORLD_STOPPED = 64


SENTENCES = {
    StepStatus.MAX_ITERATIONS: "the solver reached max_iterations before it converged",
    StepStatus.LINE_SEARCH_FAILED: "the line search found no acceptable step",
    StepStatus.FACTORIZATION_FAILED: "the Hessian could not be factorised",
    StepStatus.NON_FINITE: "a state or a residual was not finite",
    StepStatus.CONTACT_OVERFLOW: "there were more contacts than the limit, and the last of them were dropped",
    StepStatus.NEAR_RIGID_ACTIVE: "the near-rigid limit softened a contact below its material's stiffness",
    StepStatus.WORLD_STOPPED: "the world had been stopped by an earlier failure",
}

# A step that carries one of these ends the world (exit code 4); the state before that step is kept.
FAILURES = StepStatus.FACTORIZATION_FAILED | StepStatus.NON_FINITE
# A step that carries one of these was not clean (exit code 3).
HARD_LIMITS = StepStatus.MAX_ITERATIONS | StepStatus.LINE_SEARCH_FAILED | StepStatus.CONTACT_OVERFLOW


class ExitCode(IntEnum):
    """Exit codes of every command."""

    OK = 0
    INTERNAL = 1
    BAD_INPUT = 2
    NOT_CONVERGED = 3
    FAILED = 4
    CHECK_FAILED = 5
    MACHINE = 6
    INTERRUPTED = 130


_RANK = [
    ExitCode.OK,
    ExitCode.NOT_CONVERGED,
    ExitCode.CHECK_FAILED,
    ExitCode.FAILED,
    ExitCode.MACHINE,
    ExitCode.INTERRUPTED,
]


def worst(*codes: ExitCode) -> ExitCode:
    """The exit code that wins among several outcomes of a finished run: 130 > 6 > 4 > 5 > 3 > 0."""
    return max(codes, key=_RANK.index, default=ExitCode.OK)


def sentences(word: int) -> list[str]:
    """The sentences of all bits set in a status word, lowest bit first."""
    return [text for bit, text in SENTENCES.items() if word & bit]
