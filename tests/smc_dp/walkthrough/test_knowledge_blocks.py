"""Sentences and tables of what is known say the same, and say how they are to be read."""

from __future__ import annotations

from dataclasses import replace

import pytest
from support.lectures import lecture_of, prepared, steps_on

from smc_dp.leakage.matrix import Cell
from smc_dp.pages.blocks import Bullets, FactList, PageTable, Prose, Section
from smc_dp.pages.html import html
from smc_dp.walkthrough import knowledge_blocks, report
from smc_dp.walkthrough.knowledge import CASES_NOTE, Knowledge

WHO, Z = ("P1", "P3", "charlie"), "numbers with noise"


def cell(table: PageTable, members: tuple[str, ...], column: str) -> str:
    """What stands there; a coalition that is left out knows nothing."""
    rows = {row[0]: row for row in table.rows}
    row = rows.get(" + ".join(members))
    return row[table.headings.index(column)] if row else "-"


def masked(name: str = "secure_sum") -> tuple[Knowledge, Knowledge]:
    """What is known before and after the first masked inputs, and before any sum."""
    _, course = prepared(name)
    at = next(i for i, step in enumerate(course.steps) if step.messages[0].kind == "Masked")
    return course.knows[at], course.knows[at + 1]


def test_the_table_has_what_the_sentences_say_of_a_number_that_the_sum_will_tell_later() -> None:
    """P1 and P3 have two shares of the seed of P2 and all its pairs, so with Charlie its masked input opens at once."""
    before, after = masked()
    assert any(
        "P1 + P3 + charlie can compute P2's numbers with noise z_2(1)" in said for said in after.changed_from(before)
    )
    assert cell(knowledge_blocks.knowledge_table(before), WHO, Z) == "-"
    assert cell(knowledge_blocks.knowledge_table(after), WHO, Z) == "-/all"
    assert cell(knowledge_blocks.knowledge_table(after), ("P1", "charlie"), Z) == "-"
    hidden = [
        replace(row, cells={s: Cell("nothing", "all", "") if s.startswith("z_2") else c for s, c in row.cells.items()})
        for row in after.matrix.rows
    ]
    assert cell(knowledge_blocks.knowledge_table(Knowledge(replace(after.matrix, rows=tuple(hidden)))), WHO, Z) == "-"


def test_no_cell_is_empty_and_coalitions_that_know_nothing_of_others_are_left_out() -> None:
    _, course = prepared("secure_sum")
    tables = [knowledge_blocks.knowledge_table(k) for k in course.knows]
    assert all(all(row) and len(row) == len(t.headings) for t in tables for row in t.rows)
    with_sum = [t for t in tables if "sum" in t.headings]
    assert with_sum
    assert not tables[0].rows
    assert not {"P1", "P1 + P2"} & {row[0] for row in with_sum[0].rows}  # the sum of P1 and P2 is their own
    assert [cell(t, ("charlie",), "sum") for t in with_sum][:4] == ["-", "-", "-", "all"]


@pytest.mark.slow
def test_noise_that_may_be_selected_counts_as_a_member_s_own() -> None:
    """Of two parties either may be the smallest, and then the selected noise is its own."""
    _, course = prepared("pathak2010")
    last = knowledge_blocks.knowledge_table(course.knows[-1])
    assert [cell(last, (name,), "selected noise") for name in course.parties] == ["own", "own"]
    assert cell(last, ("P1", "charlie"), "selected noise") == "all*"


def test_a_step_has_a_table_only_if_a_cell_has_changed() -> None:
    _, course = prepared("secure_sum")
    tables = [knowledge_blocks.knowledge_table(known) for known in course.knows]
    changed = {at for at in range(1, len(tables)) if tables[at] != tables[at - 1]}
    shown = {at for at in range(1, len(tables)) if tables[at] in knowledge_blocks.knowledge_after(course, at).blocks}
    assert changed == shown
    assert 0 < len(changed) < len(tables) - 1


@pytest.mark.parametrize(
    ("name", "said", "other"),
    [
        ("secure_sum", {"z": "numbers with noise"}, "w"),
        pytest.param("pathak2010", {"n": "sizes", "eta": "noise"}, "z", marks=pytest.mark.slow),
        pytest.param("pathak2010-as-printed-insecure", {"n": "sizes"}, "z", marks=pytest.mark.slow),
        pytest.param("linear", {"n": "sizes"}, "z", marks=pytest.mark.slow),
    ],
)
def test_letters_of_secrets_and_signs_of_tables_are_explained(name: str, said: dict[str, str], other: str) -> None:
    _, course = prepared(name)
    blocks = knowledge_blocks.knowledge_before(course).blocks
    texts = " ".join(b.text for b in blocks if isinstance(b, Prose))
    letters, signs = (dict(b.pairs) for b in blocks if isinstance(b, FactList))
    assert said.items() <= letters.items()
    assert other not in letters
    tables = [knowledge_blocks.knowledge_table(known) for known in course.knows]
    entries = {entry for table in tables for row in table.rows for text in row[1:-1] for entry in text.split("/")}
    used = {entry.removesuffix("*") for entry in entries} | {"*" for entry in entries if "*" in entry}
    headings = {heading for table in tables for heading in table.headings}
    assert used <= {*signs}
    rows = [row for table in tables for row in table.rows]
    claims = {f"claimed: {row[-1]}" for row in rows}
    used |= {c.level for known in course.knows for row in known.matrix.rows for c in row.cells.values()} & {*signs}
    assert {*signs} - used - headings == {*claims, *(["-/all"] if name == "secure_sum" else [])}
    assert ("selected noise" in signs) == (name != "secure_sum")
    allowed = any("*" in cell for row in rows if row[-1] == "yes" for cell in row)
    assert (knowledge_blocks.ALLOWED in signs.get("claimed: yes", "")) == allowed
    assert (CASES_NOTE in texts) == (name != "secure_sum")
    assert (knowledge_blocks.STILL_READS in texts) == (name == "secure_sum")


@pytest.mark.slow
def test_notes_beside_a_printed_step_are_said_to_be_of_the_fixed_program() -> None:
    printed = lecture_of("pathak2010-as-printed-insecure")
    sections = [b for step in steps_on(printed) for b in step.blocks if isinstance(b, Section)]
    about = [section.blocks for section in sections if section.heading == report.IS_WRONG]
    quoting = [blocks for blocks in about if any(isinstance(b, Bullets) for b in blocks)]  # not what stands above
    assert quoting
    assert all(Prose(report.FIXED_NOTES) in blocks for blocks in quoting)
    assert report.FIXED_NOTES.partition(",")[0] not in html(lecture_of("pathak2010"))


def test_a_program_departs_from_a_paper_and_not_from_its_own_notes() -> None:
    for name, said in (("pathak2010", report.DEPARTS), ("secure_sum", report.BESIDE)):
        assert said in html(lecture_of(name))
    assert report.DEPARTS not in html(lecture_of("secure_sum"))
