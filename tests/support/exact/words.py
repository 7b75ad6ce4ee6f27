"""An exact matrix as a person reads it: a line and a sentence for each coalition."""

from __future__ import annotations

from collections.abc import Mapping

from smc_dp.leakage.matrix import Cell
from smc_dp.leakage.matrix_text import UNFOLDED, MatrixTable, format_table, join_names, wrap
from support.exact.matrix import MORE, ExactMatrix, ExactRow

WORDS = (("all", "learn"), ("partly", "have hints on"))
KEY = (
    "all: nothing that the coalition can see fits two values. partly: some values are less likely than before, once it "
    "has seen that. -: its view has one and the same distribution for all values. own: a member's own. *: more than "
    "the results and the members' own numbers tell. Anything more: of the others' numbers, where results are the same."
)
LIMITS = (
    "These are the distributions themselves: the role code ran on each of these inputs with every value of every "
    "random number. Ideal are encryption, which opens for whoever has the key and shows every exponent that is not "
    "new, and sealed links; participants follow the protocol. What the code would do at other sizes only is not in "
    "here."
)


def table(m: ExactMatrix) -> MatrixTable:
    """What coalitions learn."""
    columns = tuple(m.rows[0].cells)
    return MatrixTable(
        f"{m.protocol}, {len(m.participants)} roles: what each coalition learns of the others' secrets",
        "",
        columns,
        tuple((" and ".join(row.members), tuple(_shown(row.cells[c]) for c in columns)) for row in m.rows),
        tuple(f"{' and '.join(row.members).capitalize()}: {sentence(row)}" for row in m.rows),
    )


def legend(m: ExactMatrix) -> tuple[str, str, str]:
    """How to read it, what is not in it, and on what it was tried."""
    return KEY, LIMITS, f"Tried on {m.inputs} inputs: {'; '.join(_session(session) for session in m.sessions)}."


def text(m: ExactMatrix, width: int = UNFOLDED) -> str:
    """The whole matrix as text: the sentences, the table, and how to read it."""
    found = table(m)
    lines = [
        found.title,
        "",
        *(wrap(sentence, width, "  ") for sentence in found.sentences),
        "",
        *format_table(found.columns, found.rows),
        "",
        *(wrap(paragraph, width) for paragraph in legend(m)),
    ]
    return "\n".join(lines) + "\n"


def sentence(row: ExactRow) -> str:
    """What this coalition learns, in words."""
    parts = [
        f"{words} {join_names([_worded(secret) for secret, cell in row.cells.items() if cell.level == level])}"
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


def _shown(cell: Cell) -> str:
    return f"{'-' if cell.level == 'nothing' else cell.level}{'*' if cell.beyond else ''}"


def _session(stated: Mapping[str, object]) -> str:
    return ", ".join(f"{name} {value}" for name, value in stated.items())
