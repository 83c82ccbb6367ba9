"""Allocation of the arrays of `fields.py`, and the argument structs that stages take.

A `struct` holds the arrays that a stage names and the scalars it asks for; `bind` fills it from an `Arrays`.
"""

from dataclasses import dataclass, field
from functools import cache
from typing import Any

import numpy as np
import warp as wp

from sapsim.math.real import Real
from sapsim.model.fields import FIELDS, Field


def warp_type(type_: str, R: Real) -> Any:
    """The Warp type of a field's type name in a precision."""
    type_ = type_.split("@")[0]
    if type_.startswith("wide."):
        return warp_type(type_.removeprefix("wide."), R.wide)
    plain = {"int": wp.int32, "wp.int64": wp.int64, "uint64": wp.uint64, "vec2i": wp.vec2i, "real": R.t}
    return plain.get(type_) or getattr(R, type_)


def size(dim: str, sizes: dict[str, int]) -> int:
    """Length of a dimension symbol; "x+1" is one more than x.  Never below one, so that every array can be bound."""
    base, _, plus = dim.partition("+")
    return max(1, sizes[base] + int(plus or 0))


def _ndim(f: Field) -> int:
    return len(f.dims) + (0 if f.group == "topology" else 1)


@cache
def make_struct(name: str, R: Real, arrays: tuple[str, ...], scalars: tuple[tuple[str, str], ...] = ()) -> Any:
    """A wp.struct with the named arrays (fields.py) and scalars ((name, type name), ...)."""
    annotations = {a: wp.array(dtype=warp_type(FIELDS[a].type, R), ndim=_ndim(FIELDS[a])) for a in arrays}
    annotations |= {s: int if t == "int" else warp_type(t, R) for s, t in scalars}
    cls = type(f"{name}_{R.name}", (), {"__annotations__": annotations, "__module__": __name__})
    struct = wp.struct(cls)
    struct.array_names = arrays
    return struct


@dataclass
class Arrays:
    """All arrays of a model and its data on one device.  `sizes` gives every dimension symbol."""

    R: Real
    device: str
    nworld: int
    sizes: dict[str, int]
    by_name: dict[str, wp.array] = field(default_factory=dict)
    _bases: dict[str, wp.array] = field(default_factory=dict)

    def __getitem__(self, name: str) -> wp.array:
        return self.by_name[name]

    def shape(self, f: Field) -> tuple[int, ...]:
        dims = tuple(size(d, self.sizes) for d in f.dims)
        if f.group == "topology":
            return dims
        if f.group == "record":  # rows first, then worlds
            return (dims[0], self.nworld, *dims[1:])
        return (self.nworld, *dims)

    def set_topology(self, name: str, values: np.ndarray) -> None:
        self.by_name[name] = wp.array(_at_least_one(np.asarray(values, np.int32)), dtype=wp.int32, device=self.device)

    def set_model(self, name: str, values: np.ndarray) -> None:
        """`values` (1 or W, n, ...); a leading axis of one is shared by all worlds through stride 0."""
        f = FIELDS[name]
        dtype = warp_type(f.type, self.R)
        values = np.asarray(values, self.R.np)
        if values.shape[1] == 0:
            values = np.zeros((1, 1, *values.shape[2:]), self.R.np)
        base = wp.array(np.ascontiguousarray(values), dtype=dtype, device=self.device)
        self._bases[name] = base
        strides = (0 if values.shape[0] == 1 else base.strides[0], base.strides[1])
        self.by_name[name] = wp.array(
            ptr=base.ptr, shape=(self.nworld, base.shape[1]), strides=strides, dtype=dtype, device=self.device
        )

    def allocate(self, names: list[str]) -> None:
        """Zeroed arrays for data and record fields; views are made over the arrays they name."""
        for name in names:
            f = FIELDS[name]
            if "@" in f.type:
                base = self.by_name[f.type.split("@")[1]]
                self.by_name[name] = wp.array(
                    ptr=base.ptr, shape=self.shape(f), dtype=warp_type(f.type, self.R), device=self.device
                )
            else:
                self.by_name[name] = wp.zeros(self.shape(f), dtype=warp_type(f.type, self.R), device=self.device)

    def bytes(self) -> int:
        """Memory of all arrays, views and shared copies counted once."""
        seen = {a.ptr: a.size * wp.types.type_size_in_bytes(a.dtype) for a in self._bases.values()}
        for name, a in self.by_name.items():
            if name not in self._bases and a.ptr is not None:
                seen.setdefault(a.ptr, a.size * wp.types.type_size_in_bytes(a.dtype))
        return sum(seen.values())

    def bind(self, struct: Any, **scalars: Any) -> Any:
        """An instance of a struct of `make_struct` with its arrays and scalars set."""
        s = struct()
        for name in struct.array_names:
            setattr(s, name, self.by_name[name])
        for name, value in scalars.items():
            setattr(s, name, value)
        return s


def _at_least_one(values: np.ndarray) -> np.ndarray:
    return values if values.size else np.zeros((1,), np.int32)
