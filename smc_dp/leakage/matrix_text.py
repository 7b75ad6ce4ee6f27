"""Coalition matrix as text: coalitions of one kind in one line, and a sentence for each."""

from __future__ import annotations

import textwrap
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.resources import files
from typing import Any

from smc_dp.leakage.matrix import Matrix, Row
from smc_dp.leakage.matrix_groups import (
    SECRET_GROUPS,
    CoalitionGroup,
    count_parties,
    group_rows_by_kind,
    name_other_members,
)
from smc_dp.leakage.symbolic.world_runs import ENUMERATED, FEW_PARTIES, SMALLEST

UNFOLDED = 1 << 20  # a paragraph is a line
_TEXTS: dict[str, Any] = tomllib.loads(files("smc_dp.leakage").joinpath("matrix_text.toml").read_text(encoding="utf-8"))


def _sentence(section: str, name: str, **fields: object) -> str:
    text: str = _TEXTS[section][name]
    return text.strip().format(**fields)


@dataclass(frozen=True)
class TableKey:
    """Meanings of the signs in a table, by sign, and a sentence on vectors."""

    signs: Mapping[str, str]
    vectors: str

    @classmethod
    def named(cls, name: str, **fields: object) -> TableKey:
        """Return the key of this name, with these fields filled in."""
        signs = {sign: text.strip().format(**fields) for sign, text in _TEXTS["signs"][name].items()}
        return cls(signs, _sentence("key", name))

    @property
    def paragraph(self) -> str:
        """The key as one paragraph."""
        signs = " ".join(f'"{sign}": {meaning}.' for sign, meaning in self.signs.items())
        return _sentence("key", "paragraph", signs=signs, vectors=self.vectors)


LIMITS, SUM_LIMITS = (_sentence("limits", name) for name in ("of_inputs", "of_sums"))
_RESULT_TELLS = _sentence("key", "result_tells")
KEY = TableKey.named("of_inputs")
SUM_KEY = TableKey.named("of_sums", nothing=f"nothing, but what {_RESULT_TELLS}", baseline="those tell")
# Here what the result tells stands in the cells too.
SUM_KEY_ALONE = TableKey.named("of_sums", nothing="nothing", baseline=_RESULT_TELLS)


def describe_group(group: CoalitionGroup) -> str:
    """Return a sentence on what this kind of coalition learns."""
    parts = []
    for level in ("all", "listed", "partly"):
        names = [name_secret(name) for name, shown in group.cells.items() if level in shown.replace("*", "").split("/")]
        if names:
            parts.append(f"{_sentence('group', level)} {join_names(names)}")
    if not parts:
        return _sentence("group", "nothing")
    more = any("*" in shown for shown in group.cells.values())
    text = "; ".join(parts) + ("." if more else _sentence("group", "as_the_result"))
    return text[0].upper() + text[1:]


def name_secret(name: str) -> str:
    """Return the name of a secret, or of a group of them, for a sentence."""
    named: str = _TEXTS["secret"].get(name, name if name == SMALLEST or "_" in name else f"the {name}")
    return named


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
    for session_label in dict.fromkeys(row.session_label for row in m.rows):
        part = replace(m, rows=tuple(row for row in m.rows if row.session_label == session_label))
        found = group_rows_by_kind(part)
        names = dict.fromkeys([*SECRET_GROUPS.values(), *found[0].cells])
        columns = tuple(name for name in names if any(name in group.cells for group in found))
        where = f"{len(m.parties)} parties{f', {session_label}' if session_label else ''}"
        yield MatrixTable(
            _sentence("title", "table", protocol=m.protocol, where=where),
            _margin(part) if m.has_patterns else "",
            columns,
            tuple((group.who, tuple(group.cells.get(c, "") for c in columns)) for group in found),
            tuple(f"{group.who[0].upper()}{group.who[1:]}: {describe_group(group)}" for group in found),
        )


def matrix_legend(m: Matrix) -> tuple[str, str, str]:
    """Return the key of the table, its limitations, and how it was computed."""
    table_key, limits = (SUM_KEY, SUM_LIMITS) if m.has_patterns else (KEY, LIMITS)
    key = table_key.paragraph
    first, *others = m.settings
    if not others:
        return key, limits, _method(m)
    where = "" if len(m.parties) <= FEW_PARTIES else " " + _sentence("method", "where")
    again = _sentence("method", "again", first=first, where=where, others="; ".join(others))
    return key, limits, f"{_method(m)} {again}"


def matrix_as_text(m: Matrix, width: int = UNFOLDED) -> str:
    """Return the matrix as text: sentences, then the table, which may be wider than a screen, then the legend."""
    lines: list[str] = []
    for table in matrix_tables(m):
        sentences = [wrap(sentence, width, "  ") for sentence in table.sentences]
        margin = [wrap(table.margin, width), ""] if table.margin else []
        lines += [wrap(table.title, width), "", *margin, *sentences, "", *format_table(table.columns, table.rows), ""]
    return "\n".join([*lines, *(wrap(paragraph, width) for paragraph in matrix_legend(m))]) + "\n"


def _margin(m: Matrix) -> str:
    """Return the sentence on the largest safe coalitions, as computed and as claimed."""
    computed = _largest(m, lambda row: not row.beyond)
    claimed = _largest(m, lambda row: row.claimed)
    how = "some of whom may be malicious" if any(row.even_malicious for row in m.rows) else "who follow it as well"
    return _sentence("title", "safe", computed=computed, claimed=claimed, how=how)


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
    patterns = len({(row.session_label, row.pattern) for row in m.rows})
    if m.has_patterns:
        name = "of_patterns"
    elif m.worlds == 1 and not any(row.smallest for row in m.rows):
        name = "of_one_world"
    else:
        name = "of_all_worlds" if len(m.parties) <= ENUMERATED else "of_some_worlds"
    return _sentence("method", name, rows=len(m.rows), worlds=m.worlds, patterns=patterns)


def wrap(paragraph: str, width: int, indent: str = "") -> str:
    """Wrap a paragraph at this width; lines after the first begin with the indent."""
    return textwrap.fill(paragraph, width, subsequent_indent=indent)
