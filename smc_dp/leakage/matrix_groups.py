"""Groups of rows of a coalition matrix by kind of coalition, and of cells by kind of secret."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from smc_dp.leakage.matrix import LEVELS, Cell, Matrix, Row

_SEVERAL = 3  # of them nobody reads a list
_RESULT = "sum"
SECRET_GROUPS = {  # of all participants outside the coalition
    **{"n": "sizes", "w": "weights", "eta": "other noise"},
    **{"x": "numbers", "E": "noise", "z": "numbers with noise", "S": _RESULT},
}
_IN_RESULT = ("x", "E", "z")
_LEVEL_MARKS = {"nothing": "-", "not all": "(-)"}


@dataclass(frozen=True)
class CoalitionGroup:
    """Coalitions that learn the same, described, with a cell for each group of secrets."""

    who: str
    cells: Mapping[str, str]


Attribute = Callable[[Matrix, Row], str]


def name_other_members(m: Matrix, row: Row) -> str:
    """Return the members that are no parties, in words to which a number of parties can be joined."""
    others = [name for name in row.members if name not in m.parties]
    return f"{' and '.join(others)} and" if others else ""


def count_parties(m: Matrix, row: Row) -> int:
    """Return the number of members that are parties."""
    return len(set(row.members) & set(m.parties))


def _number(m: Matrix, row: Row) -> str:
    count = count_parties(m, row)
    names = {len(m.parties): "all parties", len(m.parties) - 1: "all parties but one", 1: "one party", 0: "no party"}
    return "one party" if count == 1 else names.get(count, "several parties")


def _missing(m: Matrix, row: Row) -> str:
    name = row.pattern.name
    return "nobody missing" if not name else f"one {'' if name in row.members else 'not '}among them missing"


ATTRIBUTES: tuple[Attribute, ...] = (
    name_other_members,
    _number,
    lambda m, row: f"the smallest {'' if row.smallest in row.members else 'not '}among them",
    lambda m, row: f"{'with' if m.parties[0] in row.members else 'without'} {m.parties[0]}",
    lambda m, row: f"{m.parties[0]} {'' if row.smallest == m.parties[0] else 'not '}smallest",
)
# In the order in which they are looked at.
PATTERN_ATTRIBUTES: tuple[Attribute, ...] = (
    *(_number, _missing),
    lambda m, row: row.pattern.how.partition(" in ")[0],
    lambda m, row: row.pattern.how,
)


def group_rows_by_kind(m: Matrix) -> list[CoalitionGroup]:
    """Group the rows of a matrix by kinds of coalition, split only as far as the kinds differ in what they learn."""
    split = _split_by_pattern if m.has_patterns else _split
    # Coalitions of parties alone come first.
    by_curator = _parts(m, sorted(m.rows, key=lambda row: len(row.members) - count_parties(m, row)), name_other_members)
    return [group for who, rows in by_curator.items() for group in split(m, rows, {name_other_members: who})]


def _split(m: Matrix, rows: Sequence[Row], so_far: Mapping[Attribute, str]) -> list[CoalitionGroup]:
    cells = _merged(rows)
    if cells is not None:
        return [CoalitionGroup(_described(so_far), cells)]
    dividing = [a for a in ATTRIBUTES if len({a(m, row) for row in rows}) > 1]
    if not dividing:
        return [CoalitionGroup(_by_name(row), cells_by_secret(row)) for row in rows]
    # The attribute that leaves most parts with one line; so few lines say the same as all rows.
    by = max(dividing, key=lambda a: sum(_merged(part) is not None for part in _parts(m, rows, a).values()))
    parts = _parts(m, rows, by)
    return [group for value, part in parts.items() for group in _split(m, part, {**so_far, by: value})]


def _split_by_pattern(m: Matrix, rows: Sequence[Row], so_far: Mapping[Attribute, str]) -> list[CoalitionGroup]:
    """Split rows by drop-out pattern as well; patterns that are alike share a line."""
    cells = _merged(rows)
    if cells is not None:
        return [CoalitionGroup(_described(so_far), cells)]
    by = next((a for a in PATTERN_ATTRIBUTES if len({a(m, row) for row in rows}) > 1), None)
    if by is None:
        return [CoalitionGroup(_by_name(row), cells_by_secret(row)) for row in rows]
    parts = _parts(m, rows, by)
    alike = [([value], part) for value, part in parts.items()] if by is _number else _alike(parts)
    said = [(" or ".join(values) if len(values) < _SEVERAL else "otherwise", part) for values, part in alike]
    return [group for value, part in said for group in _split_by_pattern(m, part, {**so_far, by: value})]


def _alike(parts: Mapping[str, list[Row]]) -> list[tuple[list[str], list[Row]]]:
    """Join the parts that one line can show."""
    found: list[tuple[list[str], list[Row]]] = []
    for value, part in parts.items():
        fitting = next((one for one in found if _merged([*one[1], *part]) is not None), None)
        if fitting is None:
            found.append(([value], [*part]))
        else:
            fitting[0].append(value)
            fitting[1].extend(part)
    return found


def _by_name(row: Row) -> str:
    which = f"{row.smallest} smallest" if row.smallest else str(row.pattern)
    return f"{' + '.join(row.members)}, {which}"


def _parts(m: Matrix, rows: Sequence[Row], by: Attribute) -> dict[str, list[Row]]:
    parts: dict[str, list[Row]] = {}
    for row in rows:
        parts.setdefault(by(m, row), []).append(row)
    return parts


def _merged(rows: Sequence[Row]) -> dict[str, str] | None:
    """Return the cells that all rows have in common; None where they differ.

    A member's own secret agrees with everything, and so does one that is absent.
    """
    found: dict[str, str] = {}
    for row in rows:
        for name, shown in cells_by_secret(row).items():
            if found.get(name, "own") == "own":
                found[name] = shown
            elif shown not in ("own", found[name]):
                return None
    return found


def _described(so_far: Mapping[Attribute, str]) -> str:
    number, curator = so_far.get(_number, "any parties"), so_far[name_other_members]
    who = curator.removesuffix(" and") if number == "no party" else f"{curator} {number}".strip()
    which = (*ATTRIBUTES[2:], *PATTERN_ATTRIBUTES[1:])
    return ", ".join([who, *(so_far[a] for a in which if a in so_far)])


def cells_by_secret(row: Row) -> dict[str, str]:
    """Return the cell of each kind of secret of the others, marked if it exceeds what the result tells."""
    groups: dict[str, list[Cell]] = {}
    for secret, cell in row.cells.items():
        vector, coordinate, _ = secret.partition("(")
        letter = vector.split("_")[0]
        name = SECRET_GROUPS.get(letter, letter) if coordinate or letter == "n" else secret
        groups.setdefault(name, []).append(_beyond_result(row, letter, cell))
    groups[_RESULT] = [c for c in groups.get(_RESULT, ()) if c.level == "all"]
    return {name: _shown(cells) for name, cells in groups.items() if cells}


def _beyond_result(row: Row, letter: str, cell: Cell) -> Cell:
    """Return the cell; where the result tells something to be worked out, only what exceeds it counts."""
    implied = row.states_result and letter in _IN_RESULT and cell.level != "own" and not cell.beyond
    return replace(cell, level="nothing") if implied else cell


def _shown(cells: Sequence[Cell]) -> str:
    others = [c for c in cells if c.level != "own"] or cells
    shown = {f"{_LEVEL_MARKS.get(c.level, c.level)}{'*' if c.beyond else ''}" for c in others}
    order = [_LEVEL_MARKS.get(level, level) for level in LEVELS]
    return "/".join(sorted(shown, key=lambda s: order.index(s.rstrip("*"))))
