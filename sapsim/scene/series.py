"""Values over time: `{times, values, interpolation}` or `{csv: file, interpolation}` (contract 1.6)."""

import csv
import math
from itertools import pairwise
from pathlib import Path
from typing import Any

from sapsim.scene.grammar import Section
from sapsim.scene.report import Report
from sapsim.scene.sources import Sources, read_bytes
from sapsim.scene.spec import Series, Where

SUFFIXES = (".csv", ".txt")


class SeriesReader:
    """Turns values of a scene file into numbers, vectors or Series; paths are relative to the scene's folder."""

    def __init__(self, sources: Sources, report: Report):
        self.sources, self.report = sources, report

    def values(self, entry: Section, width: int, *keys: str) -> dict[str, Any]:
        """The valid values among these keys of an entry; `width` numbers each (1: a plain number)."""
        found = entry.only(*keys)
        for key, value in list(found.items()):
            if isinstance(value, Section):
                found[key] = self._series(value, entry.where(key), width)
        return {key: value for key, value in found.items() if value is not None}

    def _series(self, section: Section, where: Where, width: int) -> Series | None:
        hold = section.get("interpolation", "linear") == "hold"
        if section.given("csv"):
            table = self._file(section["csv"], section.where("csv"), width) if "csv" in section else None
        else:
            table = self._table(section, where)
        return Series(*table, hold) if table is not None else None

    def _table(self, section: Section, where: Where) -> tuple[tuple, tuple] | None:
        if section.broken("times", "values") or not {"times", "values"} <= set(section):
            return None
        times, values = section["times"], section["values"]
        if not (times.complete and values.complete):
            return None
        if len(times) != len(values) or not times:
            text = f"{len(times)} times and {len(values)} values; as many of both are needed, at least one"
            self.report.error(section.where("values"), "wrong-length", text, "one value to a time")
            return None
        for (_, before), (place, after) in pairwise(times):
            if not after > before:
                text = f"time {after:g} s comes after {before:g} s; times must be strictly ascending"
                self.report.error(place, "out-of-range", text, "sort the times; for a jump use `interpolation: hold`")
                return None
        return tuple(t for _, t in times), tuple(v for _, v in values)

    def _file(self, given: str, where: Where, width: int) -> tuple[tuple, tuple] | None:
        path, problem = self.sources.find(given, self.sources.folder / "scene")
        if path is None:
            beside = self.sources.folder / given
            if "://" not in given and not self.sources.allows(beside):
                hint = f"allow it on the command line: --allow {beside.parent}"
                self.report.error(where, "not-allowed", f'"{given}": {problem}', hint)
            else:
                self.report.error(where, "missing-file", f'"{given}": {problem}', "paths are relative to the scene file")
            return None
        raw = read_bytes(path, where, SUFFIXES, self.report)
        return self._rows(raw, path, where, width) if raw is not None else None

    def _rows(self, raw: bytes, path: Path, where: Where, width: int) -> tuple[tuple, tuple] | None:
        """Rows of a CSV file: a time, then `width` numbers.  A first row of names, empty lines and # lines are skipped."""
        try:
            lines = raw.decode("utf-8-sig").splitlines()
        except UnicodeDecodeError:
            self.report.error(where, "bad-file", f"{path} is not a text in UTF-8", "export it as CSV")
            return None
        times: list[float] = []
        values: list[Any] = []
        for number, line in enumerate(lines, start=1):
            if not line.strip() or line.lstrip().startswith("#"):
                continue
            cells = next(csv.reader([line]))
            row = [_number(cell) for cell in cells]
            if not times and not values and all(x is None for x in row):
                continue
            place = Where(str(path), number, 1, where.path)
            if len(row) != 1 + width or any(x is None or not math.isfinite(x) for x in row):
                text = f'found "{line.strip()[:60]}"; allowed: a time and {width} finite number{"s" * (width > 1)}, with commas'
                self.report.error(place, "bad-file", text, "see `times` and `values`")
                return None
            if times and not row[0] > times[-1]:
                text = f"time {row[0]:g} s comes after {times[-1]:g} s; times must be strictly ascending"
                self.report.error(place, "out-of-range", text, "sort the rows; for a jump use `interpolation: hold`")
                return None
            times.append(row[0])
            values.append(row[1] if width == 1 else tuple(row[1:]))
        if not times:
            self.report.error(where, "bad-file", f"{path} has no rows of numbers", "a time and the values in each row")
            return None
        return tuple(times), tuple(values)


def _number(cell: str) -> float | None:
    try:
        return float(cell)
    except ValueError:
        return None
