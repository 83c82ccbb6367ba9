"""The grammar of values over time: `{times, values, interpolation}` or `{csv, interpolation}` (contract 1.6)."""

from sapsim.scene.grammar import ByKey, Key, ListOf, Record, Type, Vector
from sapsim.scene.scalars import Choice, Number, Text

_INTERPOLATION = Key(Choice(("linear", "hold")), "between times; hold: a value lasts until the next time; default linear")
CSV = Record(
    {
        "csv": Key(Text("a path"), "a file with a column of times [s], then the values", required=True),
        "interpolation": _INTERPOLATION,
    }
)


def _table(item: Type) -> Record:
    return Record(
        {
            "times": Key(ListOf(Number()), "strictly ascending [s]", required=True),
            "values": Key(ListOf(item), "one to a time; held before the first and after the last", required=True),
            "interpolation": _INTERPOLATION,
        }
    )


NUMBER_TABLE, VECTOR_TABLE = _table(Number()), _table(Vector(3, Number()))
NUMBER_SERIES, VECTOR_SERIES = ByKey({"csv": CSV}, NUMBER_TABLE), ByKey({"csv": CSV}, VECTOR_TABLE)
