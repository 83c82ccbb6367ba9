"""What a run came to: its exit code, the JSON object, and the summary for people (contract 2)."""

import math
import os
from dataclasses import dataclass, field
from typing import Any

from sapsim.errors import Message
from sapsim.status import FAILURES, HARD_LIMITS, SENTENCES, ExitCode, StepStatus, worst

from .messages import note, say
from .overlapping import overlapping


@dataclass
class Outcome:
    """Collected while a run goes on.  `totals`, `softened`, `overlaps` and `contacts_found` are those of the simulation
    (`step.block.Totals`, `step.softened.Softened`, `step.overlaps.Overlap`)."""

    scene: Any
    output: str
    build_seconds: float
    status: str = "failed"
    steps: int = 0
    wall_seconds: float = 0.0
    totals: Any = None
    softened: list[Any] = field(default_factory=list)
    overlaps: list[Any] = field(default_factory=list)
    max_contacts: int | None = None
    contacts_found: int = 0
    machine_error: str = ""
    checks: list[Any] | None = None

    @property
    def flags(self) -> int:
        """Status bits of all steps of all worlds."""
        word = 0
        for bits in self.totals.status if self.totals is not None else ():
            word |= int(bits)
        return word

    @property
    def warnings(self) -> list[Message]:
        """Warnings about the scene, then about the run."""
        return [*self.scene.warnings, *self.run_warnings]

    @property
    def run_warnings(self) -> list[Message]:
        """Of shapes that overlap at the start, of contacts beyond the limit, and one for each pair of materials with contacts
        that the near-rigid limit softened."""
        found = overlapping(self.scene, self.overlaps)
        if self.flags & StepStatus.CONTACT_OVERFLOW:
            found.append(_over_the_limit(self.scene, self.max_contacts, self.contacts_found))
        return found + [_softened(self.scene, pair) for pair in self.softened]

    def exit_code(self, strict: bool) -> ExitCode:
        """The worst of what happened."""
        codes = [ExitCode.OK]
        if self._sum("unconverged") or self.flags & HARD_LIMITS or (strict and self.warnings):
            codes.append(ExitCode.NOT_CONVERGED)
        if self.flags & FAILURES:
            codes.append(ExitCode.FAILED)
        if self.checks is not None and not all(c.passed for c in self.checks):
            codes.append(ExitCode.CHECK_FAILED)
        if self.machine_error:
            codes.append(ExitCode.MACHINE)
        if self.status == "interrupted":
            codes.append(ExitCode.INTERRUPTED)
        return worst(*codes)

    def _sum(self, counter: str) -> int:
        return int(getattr(self.totals, counter).sum()) if self.totals is not None else 0

    def _max(self, counter: str) -> int:
        return int(getattr(self.totals, counter).max(initial=0)) if self.totals is not None else 0

    def as_dict(self, code: ExitCode) -> dict[str, Any]:
        """The object of `run --json`."""
        worlds = self.scene.nworld
        world_steps = max(1, self.steps * worlds)
        rate = self.steps / self.wall_seconds if self.wall_seconds > 0 else 0.0
        found = {
            "status": self.status,
            "exit_code": int(code),
            "steps": self.steps,
            "worlds": worlds,
            "simulated_seconds": self.steps * self.scene.time_step,
            "wall_seconds": self.wall_seconds,
            "build_seconds": self.build_seconds,
            "steps_per_second": rate,
            "world_steps_per_second": rate * worlds,
            "unconverged_steps": self._sum("unconverged"),
            "iterations_mean": self._sum("iterations_sum") / world_steps,
            "iterations_max": self._max("iterations_max"),
            "contacts_mean": self._sum("contacts_sum") / world_steps,
            "contacts_max": self._max("contacts_max"),
            "flags": [bit.name.lower() for bit in StepStatus if self.flags & bit],
            "warnings": [w.as_dict() for w in self.warnings],
            "output": self.output,
            "bytes": os.path.getsize(self.output) if os.path.exists(self.output) else 0,
        }
        if self.machine_error:
            found["error"] = self.machine_error
        if self.checks is not None:
            found["checks"] = [c.as_dict() for c in self.checks]
        return found


def _over_the_limit(scene: Any, limit: int | None, found: int) -> Message:
    """How many contacts there would have been."""
    text = f"a step found {found} contacts in a world, more than --max-contacts {limit}: the last of them were dropped"
    return Message(scene.file, 0, 0, "", "contact-limit", text, f"--max-contacts {found}, or no limit, would have kept them")


def _softened(scene: Any, pair: Any) -> Message:
    """What became of the stiffness of a pair of materials, and what would keep it."""
    first, second = (name or "the default material" for name in pair.names)
    text = (
        f"contacts of {first} and {second} were softer than the {pair.stiffness:.3g} N/m of their materials, which a time step "
        f"of {scene.time_step:.3g} s does not resolve: {pair.median:.2g} N/m in the median, {pair.least:.3g} N/m at least"
    )
    fix = (
        f"a time step of {_below(pair.time_step)} s, contact.near_rigid {_below(pair.near_rigid)}, or materials of "
        f"{_below(pair.least)} N/m a pair would keep what the scene asks for; law lagged has no such limit"
    )
    return Message(scene.file, 0, 0, "", "near-rigid", text, fix)


def _below(value: float) -> str:
    """The value with two digits, never more than it is."""
    unit = 10.0 ** (math.floor(math.log10(value)) - 1)
    return f"{math.floor(value / unit) * unit:.2g}"


def size_text(count: float) -> str:
    """A size in bytes for people."""
    for unit in ("B", "kB", "MB", "GB"):
        if count < 1000:
            return f"{count:.0f} {unit}" if unit == "B" else f"{count:.1f} {unit}"
        count /= 1000
    return f"{count:.1f} TB"


def print_summary(outcome: Outcome) -> None:
    """The summary on stdout; what went wrong on stderr."""
    d = outcome.as_dict(ExitCode.OK)
    worlds = f"{d['worlds']} world{'s' * (d['worlds'] != 1)}"
    say(f"{outcome.scene.name}: {d['status']}, {d['steps']} steps of {outcome.scene.steps}, {worlds}")
    rate = f"{d['steps_per_second']:.0f} steps/s"
    say(f"  time        {d['simulated_seconds']:.6g} s simulated in {d['wall_seconds']:.3g} s, {rate}")
    say(f"  contacts    {d['contacts_mean']:.4g} mean, {d['contacts_max']} most")
    say(f"  iterations  {d['iterations_mean']:.4g} mean, {d['iterations_max']} most")
    say(f"  unconverged {d['unconverged_steps']} steps{_first_bad(outcome)}")
    for bit, sentence in SENTENCES.items():
        if outcome.flags & bit:
            say(f"  status      {sentence}")
    say(f"  warnings    {len(outcome.warnings)}")
    say(f"  output      {d['output']}, {size_text(d['bytes'])}")
    for warning in outcome.run_warnings:
        note(f"warning: {warning}")
    for check in outcome.checks or ():
        verdict = "ok    " if check.passed else "FAILED"
        found = "nothing" if check.found is None else f"{check.found:.9g}"
        say(
            f"  check       {verdict} {check.entry}: {found}, allowed {check.allowed}" + f" ({check.where})" * bool(check.where)
        )
    if outcome.machine_error:
        note(f"error: {outcome.machine_error}")


def _first_bad(outcome: Outcome) -> str:
    """Where the first step that was not clean is."""
    first = [(int(step), world) for world, step in enumerate(outcome.totals.first_bad_step) if step >= 0]
    if not first:
        return ""
    step, world = min(first)
    return f", first step {step} in world {world}"
