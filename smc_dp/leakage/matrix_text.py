"""Coalition matrix as text: coalitions of one kind in one line, and a sentence for each."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from smc_dp.leakage.matrix import OTHER_SUM, Matrix, Row
from smc_dp.leakage.matrix_groups import (
    SECRET_GROUPS,
    CoalitionGroup,
    count_parties,
    group_rows_by_kind,
    name_other_members,
)
from smc_dp.leakage.symbolic.world_runs import ENUMERATED, FEW_PARTIES, SMALLEST

UNFOLDED = 1 << 20  # a paragraph is a line
_SECRET_NAMES = {
    **{"sizes": "the others' sizes", "weights": "the others' weights", "other noise": "the others' noise"},
    OTHER_SUM: "another sum of the others' inputs",
}
_LEVEL_WORDS = (("all", "learns"), ("listed", "can compute, as one of a few numbers,"), ("partly", "has hints on"))

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
    "(`smc-dp lab attack strip-noise`). Nor is what shows in the remainder of a multiple "
    "(`smc-dp lab attack residues-mod-k`). "
    "A permutation is a means: hints on one do no harm where no other column shows more."
)

_SUM_KEY = (
    "Numbers: of each party that is no member, without its noise. Sum: over those who took part, if it came to one. "
    "all: the coalition can compute it. partly: some values are excluded or more likely than before, a remainder is "
    "known, or a digest against which values can be tried. -: {nothing}. own: a member's own. *: more than {told}. "
    "Every coordinate counts, and the difference of each two neighbours. Another sum: of the others' inputs, beside "
    "those in the table and the result."
)
_TOLD = "the sum and the members' own inputs tell"
SUM_KEY = _SUM_KEY.format(nothing=f"nothing, but what {_TOLD}", told="those tell")
SUM_KEY_ALONE = _SUM_KEY.format(nothing="nothing", told=_TOLD)  # what the result tells stands in the cells too
SUM_LIMITS = (
    "Computed by running the role code over symbols, with ideal building blocks (sealed links, signatures, hashes and "
    "masks; a shared secret opens with as many shares as it takes) and participants who follow the protocol, but for "
    "one who vanishes, or one of whose letters is late. No prior knowledge of anything: that noise has a law, and "
    "numbers a bound, is not in here; nor what participants who deviate can do."
)


def describe_group(line: CoalitionGroup) -> str:
    """Return a sentence on what this kind of coalition learns."""
    parts = []
    for level, words in _LEVEL_WORDS:
        names = [name_secret(name) for name, shown in line.cells.items() if level in shown.replace("*", "").split("/")]
        if names:
            parts.append(f"{words} {join_names(names)}")
    if not parts:
        return "Learns nothing about the others."
    more = any("*" in shown for shown in line.cells.values())
    text = "; ".join(parts) + ("." if more else "; the result and its own inputs tell as much.")
    return text[0].upper() + text[1:]


def name_secret(name: str) -> str:
    """Return the name of a secret, or of a group of them, for a sentence."""
    return _SECRET_NAMES.get(name, name if name == SMALLEST or "_" in name else f"the {name}")


def join_names(names: Sequence[str]) -> str:
    """Join names for a sentence: a, b and c."""
    return names[0] if len(names) == 1 else ", ".join(names[:-1]) + " and " + names[-1]


@dataclass(frozen=True)
class MatrixTable:
    """Table of what coalitions learn in one kind of session.

    Columns are kinds of secrets, rows kinds of coalitions; there is a sentence for each row, and `margin` holds for
    all.
    """

    title: str
    margin: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, tuple[str, ...]], ...]
    sentences: tuple[str, ...]


def matrix_tables(m: Matrix) -> Iterator[MatrixTable]:
    """Yield a table for each kind of session."""
    for session in dict.fromkeys(row.session for row in m.rows):
        part = replace(m, rows=tuple(row for row in m.rows if row.session == session))
        found = group_rows_by_kind(part)
        names = dict.fromkeys([*SECRET_GROUPS.values(), *found[0].cells])
        columns = tuple(name for name in names if any(name in line.cells for line in found))
        where = f"{len(m.parties)} parties{f', {session}' if session else ''}"
        yield MatrixTable(
            f"{m.protocol}, {where}: what each coalition learns of the others' secrets",
            _margin(part) if m.has_patterns else "",
            columns,
            tuple((line.who, tuple(line.cells.get(c, "") for c in columns)) for line in found),
            tuple(f"{line.who[0].upper()}{line.who[1:]}: {describe_group(line)}" for line in found),
        )


def matrix_legend(m: Matrix) -> tuple[str, str, str]:
    """Return the key of the table, its limitations, and how it was computed."""
    key, limits = (SUM_KEY, SUM_LIMITS) if m.has_patterns else (KEY, LIMITS)
    first, *others = m.settings
    if not others:
        return key, limits, _method(m)
    where = "" if len(m.parties) <= FEW_PARTIES else " (by linear algebra, in a world or two for each kind of pair)"
    again = f"Computed with {first}, and again{where} with {'; '.join(others)}: each cell is the worst of them."
    return key, limits, f"{_method(m)} {again}"


def matrix_as_text(m: Matrix, width: int = UNFOLDED) -> str:
    """Return the matrix as text: sentences, then the table, which may be wider than a screen, then the legend."""
    told: list[str] = []
    for table in matrix_tables(m):
        said = [wrap(line, width, "  ") for line in table.sentences]
        margin = [wrap(table.margin, width), ""] if table.margin else []
        told += [
            wrap(table.title, width),
            "",
            *margin,
            *said,
            "",
            *format_table(table.columns, table.rows),
            "",
        ]
    return "\n".join([*told, *(wrap(paragraph, width) for paragraph in matrix_legend(m))]) + "\n"


def _margin(m: Matrix) -> str:
    """Return the sentence on the largest safe coalitions, as computed and as claimed."""
    computed = _largest(m, lambda row: not row.beyond)
    claimed = _largest(m, lambda row: row.claimed)
    how = "some of whom may deviate" if any(row.deviating for row in m.rows) else "who follow it as well"
    return (
        f"Nothing more than the sum and their own inputs tell, in any pattern, to {computed} who follow the protocol. "
        f"The claim is about {claimed}, {how}."
    )


def _largest(m: Matrix, holds: Callable[[Row], bool]) -> str:
    """Name the largest coalitions for which `holds` is true, as for all smaller ones."""
    found = []
    for kind in sorted({name_other_members(m, row) for row in m.rows}, reverse=True):
        rows = [row for row in m.rows if name_other_members(m, row) == kind]
        most = min((count_parties(m, row) for row in rows if not holds(row)), default=len(m.parties) + 1) - 1
        found.append(f"{kind} up to {most} of {len(m.parties)} parties".strip() if most >= 0 else "nobody")
    return ", and to ".join(found)


def format_table(columns: Sequence[str], rows: Sequence[tuple[str, Sequence[str]]]) -> list[str]:
    """Return the lines of a table: column names, then a name and a cell in each column for every row."""
    table = [(name, *cells) for name, cells in (("", columns), *rows)]
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    return ["  ".join(f"{c:<{w}}" for c, w in zip(row, widths, strict=True)).rstrip() for row in table]


def _method(m: Matrix) -> str:
    if m.has_patterns:
        count = len({(row.session, row.pattern) for row in m.rows})
        return (
            f"Decided by linear algebra for each of {len(m.rows)} pairs of a coalition and a pattern, {count} patterns "
            "in all sessions: nobody vanishes, or a party vanishes before one of its letters, or it is late with one, "
            "so that its reader goes on without that letter, and goes on itself."
        )
    if not any(row.smallest for row in m.rows) and m.worlds == 1:
        return f"Decided by linear algebra for each of {len(m.rows)} coalitions."
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


def wrap(paragraph: str, width: int, indent: str = "") -> str:
    """Wrap a paragraph at this width; lines after the first begin with the indent."""
    return textwrap.fill(paragraph, width, subsequent_indent=indent)
