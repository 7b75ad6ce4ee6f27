"""An exact matrix as a person reads it: a line and a sentence for each coalition."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence

from smc_dp.audit.code.exact.matrix import MORE, ExactMatrix, ExactRow
from smc_dp.audit.code.matrix import Cell

UNFOLDED = 1 << 20  # a paragraph is a line
WORDS = (("all", "learn"), ("partly", "have hints on"))
KEY = (
    "all: nothing that the coalition can see fits two values. partly: some values are less likely than before, once it "
    "has seen that. -: what it sees has one and the same law for all values. own: a member's own. *: more than the "
    "results and the members' own numbers tell. Anything more: of the others' numbers, where results are the same."
)
LIMITS = (
    "These are the laws themselves: the role code ran on each of these inputs with every value of every coin. Ideal "
    "are encryption, which opens for whoever has the key and shows every exponent that is not new, and sealed links; "
    "participants follow the protocol. What the code would do at other sizes only is not in here."
)


def text(m: ExactMatrix, width: int = UNFOLDED) -> str:
    """The whole matrix as text: the sentences, the table, and how to read it."""
    columns = list(m.rows[0].cells)
    lines = [(" and ".join(row.members), [_shown(row.cells[c]) for c in columns]) for row in m.rows]
    widths = [max(len(c), *(len(cells[i]) for _, cells in lines)) for i, c in enumerate(columns)]
    who = max(len(name) for name, _ in lines)
    found = [
        f"{m.protocol}, {len(m.participants)} roles: what each coalition learns of the others' secrets",
        "",
        *(_wrapped(f"{' and '.join(row.members).capitalize()}: {sentence(row)}", width, "  ") for row in m.rows),
        "",
        _line("", columns, who, widths),
        *(_line(name, cells, who, widths) for name, cells in lines),
        "",
        _wrapped(KEY, width),
        _wrapped(LIMITS, width),
        _wrapped(f"Tried on {m.inputs} inputs: {'; '.join(_session(session) for session in m.sessions)}.", width),
    ]
    return "\n".join(found) + "\n"


def sentence(row: ExactRow) -> str:
    """What this coalition learns, in words."""
    parts = [
        f"{words} {_listed([_worded(secret) for secret, cell in row.cells.items() if cell.level == level])}"
        for level, words in WORDS
        if any(cell.level == level for cell in row.cells.values())
    ]
    if not parts:
        return "learn nothing about the others." if len(row.members) > 1 else "learns nothing about the others."
    more = any(cell.beyond for cell in row.cells.values())
    said = "; ".join(parts) + ("." if more else "; results and own numbers tell as much.")
    return said if len(row.members) > 1 else said.replace("learn ", "learns ").replace("have ", "has ")


def _worded(secret: str) -> str:
    return secret if secret == MORE else f"the {secret}"


def _listed(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else ", ".join(names[:-1]) + " and " + names[-1]


def _shown(cell: Cell) -> str:
    return f"{'-' if cell.level == 'nothing' else cell.level}{'*' if cell.beyond else ''}"


def _line(name: str, cells: Sequence[str], who: int, widths: Sequence[int]) -> str:
    return f"{name:<{who}}  {'  '.join(f'{c:<{w}}' for c, w in zip(cells, widths, strict=True))}".rstrip()


def _session(stated: Mapping[str, object]) -> str:
    return ", ".join(f"{name} {value}" for name, value in stated.items())


def _wrapped(paragraph: str, width: int, indent: str = "") -> str:
    return textwrap.fill(paragraph, width, subsequent_indent=indent)
