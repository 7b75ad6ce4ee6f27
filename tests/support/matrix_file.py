"""A stored text of a coalition matrix beside computed rows, which may be those of some coalitions only."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

from protocols.programs import Protocol
from smc_dp.leakage import matrix_text
from smc_dp.leakage.matrix import Matrix, Row
from smc_dp.leakage.matrix_groups import ATTRIBUTES, cells_by_secret
from smc_dp.leakage.symbolic.world_runs import WorldRuns

Lines = Mapping[str, Mapping[str, str]]


def legend(m: Matrix, protocol: Protocol, every: Sequence[Sequence[str]]) -> str:
    """Return the last paragraphs of the text, with the counts that all these coalitions give."""
    p = protocol.model.sample(len(m.parties))
    sessions = 1 + len(list(protocol.model.profiles(p)))
    scenes = [worlds for members in every for worlds, _ in WorldRuns(protocol, p).scenes(frozenset(members))]
    count = len({world for worlds in scenes for world in worlds})
    said = "\n".join(matrix_text.matrix_legend(replace(m, worlds=count))) + "\n"
    return said.replace(f"({len(m.rows)} of them)", f"({len(scenes) // 2 * sessions} of them)")


def rows_beside(m: Matrix, text: str) -> list[Row]:
    """Return the rows that say something else than the line of the text that is about them."""
    tables = [_lines(block) for block in text.split("\n\n") if block.startswith(" ")]
    sessions = dict.fromkeys(row.session_label for row in m.rows)
    lines = dict(zip(sessions, tables, strict=True))
    return [row for row in m.rows if not _agrees(row, _line_for(lines[row.session_label], m, row))]


def _agrees(row: Row, line: Mapping[str, str]) -> bool:
    return all(shown in ("own", line[secret]) for secret, shown in cells_by_secret(row).items())


def _lines(table: str) -> Lines:
    """Return for each line of a table whom it is about, and its cells by the name of the column."""
    wide = table.splitlines()
    starts = [0, *(gap.end() for gap in re.finditer("  (?=[^ ])", wide[0]))]
    ends = [*starts[1:], max(map(len, wide))]
    (_, *names), *rows = [[line[a:b].strip() for a, b in zip(starts, ends, strict=True)] for line in wide]
    return {who: {name: cell for name, cell in zip(names, cells, strict=True) if cell} for who, *cells in rows}


def _line_for(lines: Lines, m: Matrix, row: Row) -> Mapping[str, str]:
    """Return the only line about a coalition: by its names, or else the one whose words all hold for it."""
    named = f"{' + '.join(row.members)}, {row.smallest} smallest"
    if named in lines:
        return lines[named]
    curator, number, *others = (attribute(m, row) for attribute in ATTRIBUTES)
    numbers = [""] if number == "no party" else [number, "any parties"]
    holds = {*others, *(f"{curator} {n}".strip().removesuffix(" and") for n in numbers)}
    (line,) = [cells for words, cells in lines.items() if holds.issuperset(words.split(", "))]
    return line
