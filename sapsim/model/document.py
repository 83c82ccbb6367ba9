"""The page docs/arrays.md, written from the table of device arrays: `python -m sapsim.model.document > docs/arrays.md`.

A test fails while the page differs from what this prints.
"""

from sapsim.model.fields import FIELDS, Field

TITLES = {
    "topology": (
        "Topology",
        "Constant, the same in all worlds, no world axis.",
    ),
    "model": (
        "Model",
        "Physical parameters, constant in time. Leading world axis of length W; shared values have stride 0.",
    ),
    "data": (
        "Data",
        "State and what a step computes. Leading world axis of length W.",
    ),
    "record": (
        "Recorded rows",
        "Rows of one block of steps, fetched together. Axes: row, world, then the shape given.",
    ),
    "dynamics": (
        "Dynamics functions",
        "What the functions of `sapsim.dynamics` use beside a step's data; a simulation does not allocate it. "
        "Leading world axis of length W.",
    ),
}
HEAD = """# Device arrays

Generated from `sapsim/model/fields.py` by `python -m sapsim.model.document`; do not edit.

Sizes: `nbody`, `ntree`, `nlink`, `nshape`, `npair` count entities; `nq`, `nv` coordinates and velocities in the order of
files; `ndof` degrees of freedom with every tree padded to a multiple of three, `nblock` = `ndof` / 3; sizes that start with `c`
are room for what a step finds, and grow between blocks of steps. `real` is the run's precision; `vec3`, `mat33`, ... are Warp
types over it, those after `wide.` over float64 in either precision; `vec3@x` is array `x` seen in blocks of three. Frames are
written as in [conventions.md](conventions.md).
"""


def table(fields: list[Field]) -> str:
    """A Markdown table of fields, one a row."""
    rows = ["| array | shape | type | unit | frame | written by | what |", "|---|---|---|---|---|---|---|"]
    for f in fields:
        cells = (f"`{f.name}`", " ".join(f.dims) or "1", f"`{f.type}`", f.unit, f.frame, f.stage, f.doc)
        rows.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
    return "\n".join(rows)


def page() -> str:
    """The whole page."""
    parts = [HEAD]
    for group, (title, text) in TITLES.items():
        fields = [f for f in FIELDS.values() if f.group == group]
        parts.append(f"\n## {title}\n\n{text}\n\n{table(fields)}\n")
    return "".join(parts)


if __name__ == "__main__":
    print(page(), end="")
