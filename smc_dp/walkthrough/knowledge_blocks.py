"""Blocks of a page for the knowledge after a step: the changes, then the table of all coalitions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from smc_dp.leakage.matrix import Row
from smc_dp.leakage.matrix_groups import _LEVEL_MARKS, _RESULT, SECRET_GROUPS, cells_by_secret
from smc_dp.leakage.matrix_text import KEY, LIMITS, SUM_KEY_ALONE, SUM_LIMITS, TableKey
from smc_dp.pages.blocks import Bullets, FactList, PageBlock, PageTable, Prose, Section
from smc_dp.walkthrough.knowledge import CASES_NOTE, SUBSETS_NOTE, Knowledge
from smc_dp.walkthrough.knowledge_trace import KnowledgeTrace

NOTHING_NEW = "Nobody knows more than before this step."
NOBODY_YET = "No message was sent. A coalition knows only what follows from its own inputs."
WITH_ALL_SIZES = "A coalition that has all sizes knows the smallest."
NAMING = "The name of a secret has a letter, the party's number, and in brackets its place among the party's numbers"
SELECTED = (
    (
        "selected noise",
        'the noise of the party with the fewest rows, which is in the result. Here "own" means that this party can be '
        "a member",
    ),
    ("other noise", 'the noise of the parties that were not selected. In a sentence, "the others\' noise" means this'),
)
MIXED = "two entries in a cell: the first holds for some of these secrets, the second for the others"
LEFT_OUT = "A coalition that is not in a table knows none of these secrets but its own."
CLAIMED = (
    (
        "claimed: yes",
        "the protocol promises that the coalition learns only the result, what follows from it and from its own "
        "inputs, and what the last section allows",
    ),
    (
        "claimed: no",
        "the protocol promises nothing about the coalition, which does not mean that it learns anything",
    ),
)
ALLOWED = '. A "*" in such a line is something that the last section allows, or part of a permutation'
STILL_READS = "Messages to a participant that dropped out count as read: it may read them when it is back."

_KNOWS_NOTHING = frozenset({_LEVEL_MARKS["nothing"], "own"})


def knowledge_after(trace: KnowledgeTrace, at: int) -> Section:
    """Return the section of the knowledge after a step; `at` is its place in `KnowledgeTrace.knows`.

    It has the table only if a cell differs from the step before.
    """
    now, before = trace.knows[at], trace.knows[at - 1]
    new = now.changed_from(before)
    said: PageBlock = Bullets(new) if new else Prose(NOTHING_NEW)
    table = knowledge_table(now)
    return Section("What is known now", (said, *((table,) if table != knowledge_table(before) else ())))


def knowledge_before(trace: KnowledgeTrace) -> Section:
    """Return the section of the knowledge before the first message, which explains the tables."""
    now = trace.knows[0]
    patterns = bool(trace.pattern.name) or now.matrix.has_patterns
    readers_note = (Prose(STILL_READS),) if trace.pattern.name else ()
    cases = (Prose(CASES_NOTE),) if _compares(now) else ()
    nobody_yet = f"{NOBODY_YET} {WITH_ALL_SIZES}" if _compares(now) else NOBODY_YET
    table = knowledge_table(now)
    key, limits = (SUM_KEY_ALONE, SUM_LIMITS) if patterns or not _compares(now) else (KEY, LIMITS)
    return Section(
        "What is known before the first message",
        (
            *(Prose(nobody_yet), Prose(SUBSETS_NOTE), *cases, *((table,) if table.rows else ())),
            *(*_names(trace), Prose(LEFT_OUT), _signs(key, trace), Prose(key.vectors), *readers_note, Prose(limits)),
        ),
    )


def knowledge_table(known: Knowledge) -> PageTable:
    """Return the table of what coalitions know of each kind of secret of the others; those without are left out."""
    rows = [replace(known.rows(members)[0], cells=known.cells(members), smallest="") for members in known.coalitions]
    shown = [_shown(row) for row in rows]
    found = dict.fromkeys([*SECRET_GROUPS.values(), *(name for cells in shown for name in cells)])
    columns = tuple(name for name in found if any(name in cells for cells in shown))
    headings = ("coalition", *columns, "claimed")
    cells = (
        (
            " + ".join(row.members),
            *(one.get(name, _LEVEL_MARKS["nothing"]) for name in columns),
            "yes" if row.claimed else "no",
        )
        for row, one in zip(rows, shown, strict=True)
        if {*one.values()} - _KNOWS_NOTHING
    )
    return PageTable("What coalitions know of secrets", headings, tuple(cells))


def _shown(row: Row) -> Mapping[str, str]:
    """Return the cells of a row by kind, with what the result tells."""
    levels = {cell.level for secret, cell in row.cells.items() if _letter(secret) == "S"}
    sums = {_RESULT: "own" if levels == {"own"} else _LEVEL_MARKS["nothing"]} if levels else {}
    return sums | cells_by_secret(replace(row, states_result=False))


def _signs(key: TableKey, trace: KnowledgeTrace) -> FactList:
    """Return the meaning of each sign and heading that a table of the page has."""
    tables = [knowledge_table(known) for known in trace.knows]
    rows = [row for table in tables for row in table.rows]
    cells = {cell for row in rows for cell in row[1:-1]}
    mixed = next((cell for cell in sorted(cells) if "/" in cell), "")
    found = {heading for table in tables for heading in table.headings} | {f"claimed: {row[-1]}" for row in rows}
    found |= {sign for cell in cells for sign in ("*" * ("*" in cell), *cell.replace("*", "").split("/"))}
    every = (row for known in trace.knows for row in known.matrix.rows)
    found |= {cell.level for row in every for cell in row.cells.values()}  # of sentences, where cells have the worst
    allowed = ALLOWED if any("*" in "".join(row[1:-1]) for row in rows if row[-1] == "yes") else ""
    pairs = [pair for pair in (*SELECTED, *key.signs.items()) if pair[0] in found]
    pairs += [(mixed, MIXED)] if mixed else []
    pairs += [
        (sign, meaning + (allowed if sign == "claimed: yes" else "")) for sign, meaning in CLAIMED if sign in found
    ]
    return FactList(tuple((sign, f"{meaning[0].upper()}{meaning[1:]}.") for sign, meaning in pairs))


def _names(trace: KnowledgeTrace) -> tuple[PageBlock, ...]:
    """Return the meaning of the letters that name secrets."""
    secrets = list(dict.fromkeys(s for row in trace.knows[-1].matrix.rows for s in row.cells))
    symbols = dict.fromkeys(map(_letter, secrets))
    example = next((f", as in {s}" for s in secrets if "_" in s and "(" in s and " - " not in s), "")
    meant = ((x, SECRET_GROUPS[x].removeprefix("other ")) for x in symbols if x in SECRET_GROUPS)
    return Prose(f"{NAMING}{example}."), FactList(tuple(meant))


def _letter(secret: str) -> str:
    return secret.partition("(")[0].split("_")[0]


def _compares(known: Knowledge) -> bool:
    return any(row.smallest for row in known.matrix.rows)
