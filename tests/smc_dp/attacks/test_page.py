"""The page of attacks: both sides of a step with the code that runs, what is noted of it, and measured numbers only."""

from __future__ import annotations

import inspect
import json
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from protocols.arithmetic.rng import Stream
from protocols.crypto.paillier import PublicKey
from protocols.pathak2010 import stage1, stage2
from smc_dp import attacks
from smc_dp.attacks.attack import AttackResult, MeasuredAttack
from smc_dp.attacks.bar_chart import _LEFT, _RIGHT, draw_bars
from smc_dp.attacks.recovery_picture import Recovery, draw_recoveries
from smc_dp.attacks.report import AttackReport
from smc_dp.attacks.report_blocks import attack_page, attack_section, without_numbers
from smc_dp.attacks.step_code import function_place, function_source, step_notes
from smc_dp.attacks.stripping_picture import NoisyPanel, draw_panels
from smc_dp.cli.main import main
from smc_dp.pages.blocks import Banner, Drawing, PageBlock, PageTable, Prose, Section, SideBySide, Verbatim
from smc_dp.pages.html import html

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
    assert (left, right) == (f"{attack.name}: as published", f"{attack.name}: what stands here in its place")
    assert printed == [function_source(f) for v in attack.attacked for f in v.code]
    assert mended == [function_source(f) for v in attack.fixed for f in v.code]
    assert printed != mended
    bare = tuple(replace(v, code=()) if v.expected == "fails" else v for v in attack.variants)
    assert sides(attack_section(came_to(replace(attack, variants=bare)))) == []  # twin: half a comparison is none


@pytest.mark.parametrize("attack", OF_PUBLICATION, ids=lambda attack: attack.name)
def test_what_is_noted_is_read_from_the_notes(attack: MeasuredAttack) -> None:
    paragraphs = step_notes(attack)
    assert paragraphs
    notes = " ".join(re.sub(r"\*\*(\[[^*]*)\*\*", r"\1", NOTES).split()).replace("`", "")
    if "[N" in attack.flaw or attack.noted:
        assert all(paragraph in notes for paragraph in paragraphs)
    if "[N" in attack.flaw:
        assert paragraphs[0][:4] in attack.flaw
    other = replace(attack, flaw="no note [N99].", noted="")
    assert step_notes(other) != paragraphs or "[N" not in attack.flaw  # twin


def test_powers_in_the_notes_stay_powers() -> None:
    told = " ".join(p for name in ("recover-exponent", "extract-randomiser") for p in step_notes(attacks.ATTACKS[name]))
    assert "mod M = 2**64 into a slot" in told
    assert "the product carries y**n with y uniform" in told
    assert "**[" not in told


def test_without_a_fix_inside_the_design_the_page_says_where_else_it_succeeds() -> None:
    said = [
        {b.text for b in blocks_in(attack_section(came_to(attacks.ATTACKS[name]))) if isinstance(b, Prose)}
        for name in ("strip-noise", "link-sender")
    ]
    (told,) = [text for text in said[0] if text.startswith("Inside the paper's design there is no fix")]
    assert "the hardened protocol and the linear protocol" in told
    assert not any("no fix" in text for text in said[1])


def test_a_bar_is_as_long_as_the_rate_and_the_sentences_come_first() -> None:
    attack = attacks.ATTACKS["residues-mod-k"]
    measured = [
        (v, AttackResult(attack.name, v.name, 5 * i, 20, 0.1, v.expected, False)) for i, v in enumerate(attack.variants)
    ]
    drawing = draw_bars("x", measured)
    drawn = drawing.svg.markup("x")
    for i in (1, 2):
        assert f'width="{(_RIGHT - _LEFT) * 5 * i / 20:.6g}" height="18" class="fill-' in drawn
        assert f"{5 * i} of 20" in drawing.said[i]
        assert f"{5 * i} of 20" in drawn
    assert len(drawing.said) == len(measured) + 1
    assert "dashed" in drawn


def test_what_was_not_measured_has_no_numbers() -> None:
    section = without_numbers(attacks.ATTACKS["link-sender"], "Not measured here.")
    assert [b.text for b in blocks_in(section) if isinstance(b, Banner)] == ["Not measured here."]
    assert not any(isinstance(b, Drawing | PageTable) for b in blocks_in(section))
    assert len(sides(section)) == 2
    assert not any("succeeded in" in b.text for b in blocks_in(section) if isinstance(b, Prose))


def test_the_page_of_all_attacks_is_small_and_names_what_was_not_expected_first() -> None:
    reports = [came_to(attack) for attack in attacks.ATTACKS.values()]
    good = attack_page(reports)
    assert [banner.look for banner in good.notices] == ["good"]
    assert len(good.sections) == len(attacks.ATTACKS) + 1
    text = html(good)
    assert len(text) < 400_000
    headings = re.findall(r"<h[2-6] [^>]*>(.*?)</h", text)
    assert len(set(headings)) == len(headings)  # landmarks are told apart by them
    lost = replace(reports[0], measured=tuple(replace(m, successes=0) for m in reports[0].measured))
    assert {banner.look for banner in attack_page([lost, *reports[1:]]).notices} == {"failed"}


def test_the_command_writes_a_page_and_never_over_a_file(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "attack.html"
    given = [
        "lab",
        "attack",
        "ofpa-record-recovery",
        "--trials",
        "16",
        "--insecure-seed",
        "1",
        "--report",
        str(file),
        "--json",
    ]
    assert main(given) == 0
    found = json.loads(capsys.readouterr().out)
    text = file.read_text(encoding="utf-8")
    for variant in found["variants"]:
        assert f"succeeded in {variant['successes']} of {variant['trials']} trials" in text
    assert "def noise_as_published(" in text
    monkeypatch.setattr(attacks, "measure", None)  # nothing is tried
    assert main(given) == 2
    assert json.loads(capsys.readouterr().out)["error"]["code"] == "option.file_exists"
    assert main(["lab", "attack", "--list", "--report", str(tmp_path / "x")]) == 2
    assert file.read_text(encoding="utf-8") == text


def test_a_place_is_a_file_and_a_name() -> None:
    assert function_place(stage2.party) == "protocols/pathak2010/stage2.py, party"
    assert function_source(stage2.party).startswith("async def party(me: Endpoint")
    assert function_source(PublicKey.blind).startswith("def blind(self")  # a method, at the margin


# Pictures of a run.


def test_a_panel_says_how_far_release_and_remainder_are_from_the_exact_sum() -> None:
    held = NoisyPanel("As published", "the party", [3, -4] * 10, [3, 0] * 10, [3, -4] * 10)
    lost = replace(held, version="Secure sum", left=[3, -2] * 10)
    drawing = draw_panels((held, lost))
    assert drawing.said[0] == (
        "As published, over all 20 coordinates: the distance between the release and the exact sum is 0.80 times the "
        "norm of the exact sum. After the party has subtracted its own noise, the distance is exactly 0. It holds the "
        "exact sum."
    )
    assert drawing.said[1].endswith("the distance is 0.40 times that norm.")
    drawn = drawing.svg.markup("x")
    assert drawn.count("stroke-strong") == drawn.count('class="fill-paper"') == drawn.count('class="fill-solid"') == 32


def test_what_lies_farther_out_than_a_row_can_stands_at_the_edge_as_a_ring() -> None:
    secret = np.array([0.5, -0.25, 0.0])
    found = [Recovery("As published", secret + 1e-9, 1), Recovery("With a proof", np.array([30.0, -0.2, -2.0]), 0)]
    drawing = draw_recoveries(secret, 1, found)
    assert drawing.said[:2] == (
        "As published: the 3 features are off by up to 1e-09, the label 1 is right.",
        "With a proof: the 3 features are off by up to 30, the label 0 is wrong.",
    )
    drawn = drawing.svg.markup("x")
    assert (drawn.count('class="fill-solid"'), drawn.count('class="fill-paper"')) == (4, 2)


@pytest.mark.parametrize("name", ["strip-noise", "ofpa-record-recovery"])
def test_an_attack_draws_a_run_of_both_sides(name: str) -> None:
    attack = attacks.ATTACKS[name]
    assert attack.picture is not None
    drawing = attack.picture(Stream.insecure_from_seed(f"picture {name}"), 512)
    printed, mended, _ = drawing.said
    won = "exactly 0. It holds the exact sum" if name == "strip-noise" else "e-1"
    assert (won in printed, won in mended) == (True, False)
    section = attack_section(replace(came_to(attack), drawing=drawing))
    assert drawing in list(blocks_in(section))
    assert drawing not in list(blocks_in(attack_section(came_to(attack))))  # twin: nobody drew one
