"""The page of attacks: both sides of a step with the code that runs, what is noted of it, and measured numbers only."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from protocols.pathak2010 import stage1
from smc_dp import attacks
from smc_dp.attacks.attack import AttackResult, MeasuredAttack
from smc_dp.attacks.report import AttackReport
from smc_dp.attacks.report_blocks import attack_section, without_numbers
from smc_dp.attacks.step_code import function_source, step_notes
from smc_dp.pages.blocks import Banner, Drawing, PageBlock, PageTable, Prose, Section, SideBySide, Verbatim

OF_PUBLICATION = [attack for attack in attacks.ATTACKS.values() if attack.is_of_publication]
NOTES = Path(inspect.getfile(stage1)).with_name("NOTES.md").read_text(encoding="utf-8")


def came_to(attack: MeasuredAttack, trials: int = 20) -> AttackReport:
    """As on record."""
    found = tuple(
        AttackResult(attack.name, v.name, trials * (v.expected == "succeeds"), trials, 0.0, v.expected, v.no_fix_yet)
        for v in attack.variants
    )
    return AttackReport(attack, found, 512)


def blocks_in(section: Section) -> Iterator[PageBlock]:
    for block in section.blocks:
        yield block
        if isinstance(block, Section):
            yield from blocks_in(block)
        elif isinstance(block, SideBySide):
            yield from (*blocks_in(block.left), *blocks_in(block.right))


def sides(section: Section) -> list[tuple[str, list[str]]]:
    """The headings of both sides, with the code under each."""
    found = [block for block in blocks_in(section) if isinstance(block, SideBySide)]
    return [
        (side.heading, [block.text for block in blocks_in(side) if isinstance(block, Verbatim)])
        for both in found
        for side in (both.left, both.right)
    ]


@pytest.mark.parametrize("attack", OF_PUBLICATION, ids=lambda attack: attack.name)
def test_the_printed_step_stands_beside_what_mends_it_as_it_runs(attack: MeasuredAttack) -> None:
    (left, printed), (right, mended) = sides(attack_section(came_to(attack)))
    assert (left, right) == (f"{attack.name}: as published", f"{attack.name}: with the fix, or another method")
    assert printed == [function_source(f) for v in attack.attacked for f in v.code]
    assert mended == [function_source(f) for v in attack.fixed for f in v.code]
    assert printed != mended
    bare = tuple(replace(v, code=()) if v.expected == "fails" else v for v in attack.variants)
    assert sides(attack_section(came_to(replace(attack, variants=bare)))) == []  # twin: half a comparison is none


@pytest.mark.parametrize("attack", OF_PUBLICATION, ids=lambda attack: attack.name)
def test_notes_that_an_attack_names_are_those_of_the_protocol(attack: MeasuredAttack) -> None:
    paragraphs = step_notes(attack)
    notes = " ".join(re.sub(r"\*\*(\[[^*]*)\*\*", r"\1", NOTES).split()).replace("`", "")
    assert all(paragraph in notes for paragraph in paragraphs)
    assert [paragraph.partition("]")[0] for paragraph in paragraphs] == re.findall(r"\[N\d+", attack.flaw)
    if paragraphs:
        with pytest.raises(LookupError):
            step_notes(replace(attack, flaw="no note [N99]."))


def test_without_a_fix_inside_the_design_the_page_says_where_else_it_succeeds() -> None:
    said = [
        {b.text for b in blocks_in(attack_section(came_to(attacks.ATTACKS[name]))) if isinstance(b, Prose)}
        for name in ("strip-noise", "link-sender")
    ]
    (told,) = [text for text in said[0] if text.startswith("Inside the paper's design there is no fix")]
    assert "the hardened protocol and the linear protocol" in told
    assert not any("no fix" in text for text in said[1])


def test_a_weakness_of_a_protocol_of_ours_is_none_of_a_paper_s_design() -> None:
    ours = [attack for attack in attacks.ATTACKS.values() if not attack.is_of_publication]
    assert any(v.no_fix_yet for attack in ours for v in attack.variants)
    for attack in ours:
        assert not any("design" in b.text for b in blocks_in(attack_section(came_to(attack))) if isinstance(b, Prose))


def test_what_was_not_measured_has_no_numbers() -> None:
    section = without_numbers(attacks.ATTACKS["link-sender"], "Not measured here.")
    assert [b.text for b in blocks_in(section) if isinstance(b, Banner)] == ["Not measured here."]
    assert not any(isinstance(b, Drawing | PageTable) for b in blocks_in(section))
    assert len(sides(section)) == 2
    assert not any("succeeded in" in b.text for b in blocks_in(section) if isinstance(b, Prose))
