"""File formats, one a file.

A format of scenes defines `SUFFIXES` and `read(text, file, overrides, sources, report) -> Scene | None`.  A format of
models defines `SUFFIXES`, `KEY` (the key of an entry of `models` that names such a file) and
`read_model(data, file, name, default, sources, report) -> Model`.
"""

import importlib
import pkgutil
from functools import cache
from types import ModuleType


@cache
def _modules() -> tuple[ModuleType, ...]:
    names = sorted(info.name for info in pkgutil.iter_modules(__path__))
    return tuple(importlib.import_module(f"{__name__}.{name}") for name in names)


def scene_formats() -> dict[str, ModuleType]:
    """The formats of scenes by suffix."""
    return {suffix: m for m in _modules() if hasattr(m, "read") for suffix in m.SUFFIXES}


def model_formats() -> dict[str, ModuleType]:
    """The formats of models by suffix."""
    return {suffix: m for m in _modules() if hasattr(m, "read_model") for suffix in m.SUFFIXES}
