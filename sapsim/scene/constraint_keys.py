"""The grammar of an entry of `constraints`: a record to each kind of constraint that has keys (kinds/constraints)."""

from sapsim.kinds.base import ConstraintKind, registry
from sapsim.scene.grammar import ByWord, Key, ListOf, OneOf, Record, Vector
from sapsim.scene.scalars import Boolean, Choice, Number, NumberOrInf, Text

_number = Number()
_name = Text("a name")
_vec3 = Vector(3, _number)

_POINT = {
    "link": Key(_name, "a link, or world", required=True),
    "point": Key(_vec3, "in its coordinates; default: its origin [m]"),
}
_END = Record(_POINT)
_ORIENTED_END = Record(
    {
        **_POINT,
        "rpy": Key(_vec3, "roll, pitch, yaw about its fixed axes [rad]"),
        "rpy_deg": Key(_vec3, "roll, pitch, yaw about its fixed axes [deg]"),
    },
    groups=(OneOf(("rpy", "rpy_deg")),),
)


def _keys(kind: ConstraintKind) -> dict[str, Key]:
    """The keys that a kind takes, by what they are of any kind."""
    end = _ORIENTED_END if kind.oriented else _END
    known = {
        "joints": (ListOf(_name, kind.njoint), "joints of one degree of freedom"),
        "coefficients": (ListOf(_number), "of the joints' coordinates, in their order"),
        "ratio": (_number, "q0 = ratio q1 + offset, q0 the coordinate of the first joint; default 1"),
        "offset": (_number, "[m or rad]; default 0"),
        "lower": (_number, "least length; default: none [m]"),
        "upper": (_number, "greatest length; default: none [m]"),
        "a": (end, "where it acts on body A"),
        "b": (end, "where it acts on body B"),
        "length": (Number(above=0.0, smallest=1.0e-30), "[m]"),
        "stiffness": (NumberOrInf(above=0.0), "default .inf, which is as stiff as the step resolves [N/m]"),
        "damping": (Number(least=0.0), "default 0 [N s/m]"),
        "unilateral": (Boolean(), "whether it only pulls; default false"),
    }
    return {key: Key(*known[key], required=key in kind.required) for key in kind.keys}


def _record(words: tuple[str, ...], keys: dict[str, Key]) -> Record:
    return Record({"type": Key(Choice(words), "kind of constraint", required=True), **keys})


def _by_type() -> ByWord:
    kinds = sorted((kind for kind in registry("constraints").values() if kind.keys), key=lambda kind: kind.order)
    words = tuple(kind.name for kind in kinds)
    every: dict[str, Key] = {}
    for kind in kinds:
        every |= {name: Key(key.type, key.doc) for name, key in _keys(kind).items() if name not in every}
    return ByWord("type", {kind.name: _record((kind.name,), _keys(kind)) for kind in kinds}, _record(words, every))


CONSTRAINT = _by_type()
