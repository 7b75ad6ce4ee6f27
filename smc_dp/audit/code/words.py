"""A coalition matrix as a person reads it: coalitions of one kind in one line, and a sentence for each."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from smc_dp.audit.code.matrix import LEVELS, SUM, Cell, Matrix, Row
from smc_dp.audit.code.symbolic.book import ENUMERATED, FEW, SMALLEST

UNFOLDED = 1 << 20  # a paragraph is a line
GROUPS = {"n": "sizes", "w": "weights", "eta": "other noise"}  # of all participants outside the coalition
SHOWN = {"nothing": "-", "not all": "(-)"}

WORDS = (("all", "learns"), ("listed", "can compute, as one of a few numbers,"), ("partly", "has hints on"))

KEY = (
    "all: the coalition can compute it. listed: it is one of a few numbers that the coalition can compute, and the "
    "messages do not say which. partly: some values are excluded or more likely than before, or a remainder is known. "
    "-: nothing. (-): not determined. own: a member's own, or drawn by a member. *: more than the result and the "
    "members' own inputs tell. Weights, noise and sums: every coordinate, and the difference of each two neighbours. "
    "Another sum: of the others' inputs, beside those in the table and the result."
)
LIMITS = (
    "Computed by running the role code over symbols, with ideal building blocks (encryption, comparison, sealed links) "
    "and participants who follow the protocol. No prior knowledge of sizes, weights or noise: what somebody could "
    "guess because it is plausible is not in here; which of the listed numbers it is can be easy to guess "
    "(`smc-dp attack strip-noise`). Nor is what shows in the remainder of a multiple (`smc-dp attack residues-mod-k`). "
    "A permutation is a means: hints on one do no harm where no other column shows more."
)


@dataclass(frozen=True)
class TextLine:
    """Coalitions that learn the same, described, with what they learn by group of secrets."""

    who: str
    cells: Mapping[str, str]


Attribute = Callable[[Matrix, Row], str]


def _curator(m: Matrix, row: Row) -> str:
    others = [name for name in row.members if name not in m.parties]
    return f"{' and '.join(others)} and" if others else ""


def _number(m: Matrix, row: Row) -> str:
    count = len(set(row.members) & set(m.parties))
    names = {len(m.parties): "all parties", len(m.parties) - 1: "all parties but one", 1: "one party", 0: "no party"}
    return "one party" if count == 1 else names.get(count, "several parties")


def _first(m: Matrix, row: Row) -> str:
    return f"with {m.parties[0]}" if m.parties[0] in row.members else f"without {m.parties[0]}"


def _inside(m: Matrix, row: Row) -> str:
    return "the smallest among them" if row.smallest in row.members else "the smallest not among them"


def _first_smallest(m: Matrix, row: Row) -> str:
    return f"{m.parties[0]} smallest" if row.smallest == m.parties[0] else f"{m.parties[0]} not smallest"


ATTRIBUTES: tuple[Attribute, ...] = (_curator, _number, _inside, _first, _first_smallest)


def lines(m: Matrix) -> list[TextLine]:
    """The rows of a matrix by kinds of coalition: split only as far as the kinds differ in what they learn."""
    by_curator = _parts(m, sorted(m.rows, key=lambda row: len(set(row.members) - set(m.parties))), _curator)
    return [line for who, rows in by_curator.items() for line in _split(m, rows, {_curator: who})]


def _split(m: Matrix, rows: Sequence[Row], so_far: Mapping[Attribute, str]) -> list[TextLine]:
    cells = _merged(rows)
    if cells is not None:
        return [TextLine(_described(so_far), cells)]
    dividing = [a for a in ATTRIBUTES if len({a(m, row) for row in rows}) > 1]
    if not dividing:
        return [TextLine(f"{' + '.join(row.members)}, {row.smallest} smallest", grouped(row)) for row in rows]
    by = max(dividing, key=lambda a: sum(_merged(part) is not None for part in _parts(m, rows, a).values()))
    parts = _parts(m, rows, by)
    return [line for value, part in parts.items() for line in _split(m, part, {**so_far, by: value})]


def _parts(m: Matrix, rows: Sequence[Row], by: Attribute) -> dict[str, list[Row]]:
    parts: dict[str, list[Row]] = {}
    for row in rows:
        parts.setdefault(by(m, row), []).append(row)
    return parts


def _merged(rows: Sequence[Row]) -> dict[str, str] | None:
    """What all rows have in common, where a member's own agrees with everything; None where they differ."""
    found: dict[str, str] = {}
    for row in rows:
        for name, shown in grouped(row).items():
            if found.get(name, "own") == "own":
                found[name] = shown
            elif shown not in ("own", found[name]):
                return None
    return found


def _described(so_far: Mapping[Attribute, str]) -> str:
    number, curator = so_far.get(_number, "any parties"), so_far[_curator]
    who = curator.removesuffix(" and") if number == "no party" else f"{curator} {number}".strip()
    return ", ".join([who, *(so_far[a] for a in ATTRIBUTES[2:] if a in so_far)])


def grouped(row: Row) -> dict[str, str]:
    """What the row shows of each kind of secret of the others, marked if it is more than the result tells."""
    groups: dict[str, list[Cell]] = {}
    for secret, cell in row.cells.items():
        vector, coordinate, _ = secret.partition("(")
        letter = vector.split("_")[0]
        name = GROUPS.get(letter, letter) if coordinate or letter == "n" else secret
        groups.setdefault(name, []).append(cell)
    return {name: _shown(cells) for name, cells in groups.items()}


def _shown(cells: Sequence[Cell]) -> str:
    others = [c for c in cells if c.level != "own"] or cells
    shown = {f"{SHOWN.get(c.level, c.level)}{'*' if c.beyond else ''}" for c in others}
    order = [SHOWN.get(level, level) for level in LEVELS]
    return "/".join(sorted(shown, key=lambda s: order.index(s.rstrip("*"))))


def sentence(line: TextLine) -> str:
    """What this kind of coalition learns, in words."""
    parts = []
    for level, words in WORDS:
        names = [_worded(name) for name, shown in line.cells.items() if level in shown.replace("*", "").split("/")]
        if names:
            parts.append(f"{words} {listed(names)}")
    if not parts:
        return "Learns nothing about the others."
    more = any("*" in shown for shown in line.cells.values())
    text = "; ".join(parts) + ("." if more else "; the result and its own inputs tell as much.")
    return text[0].upper() + text[1:]


def _worded(name: str) -> str:
    words = {"sizes": "the others' sizes", "weights": "the others' weights", "other noise": "the others' noise"}
    words[SUM] = "another sum of the others' inputs"
    return words.get(name, name if name == SMALLEST or "_" in name else f"the {name}")


def listed(names: Sequence[str]) -> str:
    """Names in a sentence: a, b and c."""
    return names[0] if len(names) == 1 else ", ".join(names[:-1]) + " and " + names[-1]


def text(m: Matrix, width: int = UNFOLDED) -> str:
    """The whole matrix as text: the sentences, then the table, which is wider than a screen, then how to read it."""
    found = lines(m)
    columns = [g for g in dict.fromkeys([*GROUPS.values(), *found[0].cells]) if any(g in line.cells for line in found)]
    said = [wrapped(f"{line.who[0].upper()}{line.who[1:]}: {sentence(line)}", width, "  ") for line in found]
    title = f"{m.protocol}, {len(m.parties)} parties: what each coalition learns of the others' secrets"
    table = tabulated(columns, [(line.who, [line.cells.get(c, "") for c in columns]) for line in found])
    method = " ".join((_method(m), *_settings(m)))
    legend = [wrapped(paragraph, width) for paragraph in (KEY, LIMITS, method)]
    return "\n".join([title, "", *said, "", *table, "", *legend]) + "\n"


def tabulated(columns: Sequence[str], rows: Sequence[tuple[str, Sequence[str]]]) -> list[str]:
    """The lines of a table: the names of its columns, then a name and a cell in each column for every row."""
    widths = [max(len(c), *(len(cells[i]) for _, cells in rows)) for i, c in enumerate(columns)]
    who = max(len(name) for name, _ in rows)
    lines = (("", columns), *rows)
    return [
        f"{name:<{who}}  {'  '.join(f'{c:<{w}}' for c, w in zip(cells, widths, strict=True))}".rstrip()
        for name, cells in lines
    ]


def _method(m: Matrix) -> str:
    if len(m.parties) <= ENUMERATED:
        return (
            f"Decided in all {m.worlds} worlds (secret permutations and orders of the sizes), for each of "
            f"{len(m.rows)} pairs of a coalition and a smallest party."
        )
    return (
        "Sizes, weights, noise and sums: by linear algebra in one world for each kind of pair of a coalition and a "
        f"smallest party ({len(m.rows)} of them). Who is smallest, and permutations: (-) where one of {m.worlds} "
        "worlds nearby looks the same and differs, all where none does; listed likewise."
    )


def _settings(m: Matrix) -> list[str]:
    """With which parameters this was computed, if with several."""
    first, *others = m.settings
    if not others:
        return []
    where = "" if len(m.parties) <= FEW else " (by linear algebra, in a world or two for each kind of pair)"
    return [f"Computed with {first}, and again{where} with {'; '.join(others)}: each cell is the worst of them."]


def wrapped(paragraph: str, width: int, indent: str = "") -> str:
    """A paragraph in lines of at most this width; those after the first begin with the indent."""
    return textwrap.fill(paragraph, width, subsequent_indent=indent)
