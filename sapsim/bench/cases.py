"""What is to be measured: names and files become cases, every fault in one pass."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from sapsim.bench.scenes import STANDARD
from sapsim.errors import Message, SceneError
from sapsim.model.build import Model, build
from sapsim.scene.read import load, loads
from sapsim.scene.report import did_you_mean, listing

NEVER = 1_000_000_000  # steps until a row is recorded


@dataclass(frozen=True)
class Case:
    """One scene in a number of worlds.

    Fields:
        name: of the standard scene, or the file as given.
        scenes: how boxes collide ("faces", and "corners" or "points") -> the scene and its model; "" where there is no choice.
        boxes: which of them sapsim runs.
        steps: of a run.
    """

    name: str
    scenes: dict[str, tuple[Any, Model]]
    boxes: str
    steps: int

    def __post_init__(self) -> None:
        assert self.boxes in self.scenes

    @property
    def nworld(self) -> int:
        return self.scene()[0].nworld

    @property
    def one_point(self) -> str:
        """How boxes collide for an engine that gives one point to a pair of shapes."""
        return next((boxes for boxes in ("corners", "points") if boxes in self.scenes), "")

    def scene(self, boxes: str | None = None) -> tuple[Any, Model]:
        """The scene and its model; `boxes` is a wish that a scene without the choice does not hear."""
        return self.scenes[boxes if boxes in self.scenes else self.boxes]


@dataclass(frozen=True)
class Wishes:
    """Options of the command that change scenes; None keeps the scene's own."""

    time_step: float | None = None
    law: str | None = None
    steps: int | None = None
    boxes: str = "faces"


def make_cases(names: Sequence[str], worlds: Sequence[int | None], wishes: Wishes, **files: Any) -> list[Case]:
    """All cases, scene by scene; `files` are options of scene.read.load.  Raises SceneError with every fault."""
    errors: list[Message] = []
    warnings: list[Message] = []
    cases = []
    for name in names:
        for count in worlds:
            try:
                cases.append(_case(name, count, wishes, files))
            except SceneError as error:
                errors += [e for e in error.errors if e not in errors]
                warnings += error.warnings
                break
    if errors:
        raise SceneError(errors, warnings)
    return cases


def _case(name: str, worlds: int | None, wishes: Wishes, files: dict[str, Any]) -> Case:
    given = {"time_step": wishes.time_step, "contact.law": wishes.law, "worlds.count": worlds}
    overrides = [f"{key}={value}" for key, value in given.items() if value is not None]
    if name in STANDARD:
        standard = STANDARD[name]
        spheres = "points" if wishes.boxes == "points" else "corners"
        kinds = ("faces", spheres) if standard.has_boxes else ("",)
        of = {"file": f"{name}.yaml", "overrides": overrides, "allow": standard.folders}
        read = {boxes: loads(standard.text(boxes), **of) for boxes in kinds}
    else:
        _refuse_unknown(name)
        read = {"": load(name, overrides=overrides, **files)}
    steps = wishes.steps or next(iter(read.values())).steps
    scenes = {boxes: (unrecorded(scene), build(scene)) for boxes, scene in read.items()}
    return Case(name, scenes, wishes.boxes if wishes.boxes in scenes else "", steps)


def _refuse_unknown(name: str) -> None:
    """Raises SceneError for a name that is neither a file nor one of the standard scenes."""
    if "." in name or "/" in name or Path(name).exists() or name == "-":
        return
    known = list(STANDARD)
    text = f"neither a file nor a standard scene; these are {listing(known)}"
    raise SceneError([Message(name, 0, 0, "", "unknown-scene", text, did_you_mean(name, known))])


def unrecorded(scene: Any) -> Any:
    """The scene without an end and without rows: steps and nothing else."""
    return replace(scene, steps=NEVER, output=replace(scene.output, every=NEVER))
