"""The page of a walkthrough: every letter in its step, with its sentence, its values and what is known after it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import fields, replace

import pytest
from broken.curator_twins import planted
from support.lectures import PARTIES, lecture_of, parts, prepare, prepared, shown, steps_on

from protocols.programs import PROTOCOLS
from protocols.runtime.citations import read_note
from smc_dp.pages.blocks import Bullets, Drawing, FactList, PageTable, Quotation, Section
from smc_dp.pages.html import html
from smc_dp.walkthrough import sequence_diagram, values
from smc_dp.walkthrough.dry_run import run_dry
from smc_dp.walkthrough.knowledge_blocks import NOTHING_NEW
from smc_dp.walkthrough.knowledge_trace import KnowledgeTrace
from smc_dp.walkthrough.observed_session import ObservedSession
from smc_dp.walkthrough.report import AGAIN, BESIDE, DEPARTS, IS_WRONG, walkthrough_page
from smc_dp.walkthrough.walkthrough_steps import steps_of

# The everyday suite has one of a kind.
EACH = [pytest.param(name, marks=pytest.mark.slow if "-" in name else ()) for name in PARTIES]


@pytest.mark.parametrize("name", EACH)
def test_every_letter_stands_in_one_step_and_every_step_has_its_sentence(name: str) -> None:
    watched, known = prepared(name)
    lesson = steps_of(watched, known)
    assert Counter(id(letter) for step in lesson for letter in step.messages) == Counter(map(id, watched.messages))
    assert [step.known for step in lesson] == list(range(1, len(known.steps) + 1))
    assert all(letter.kind.step == step.number for step in lesson for letter in step.messages)
    on_pages = steps_on(lecture_of(name))
    for step, on_page in zip(lesson, on_pages, strict=True):
        assert isinstance(on_page.blocks[0], Drawing)
        assert all(kind in " ".join(on_page.blocks[0].said) for kind in step.kinds)
    sections = [block for on_page in on_pages for block in on_page.blocks if isinstance(block, Section)]
    quotations = [block for section in sections for block in section.blocks if isinstance(block, Quotation)]
    stated = [(said.text, said.source) for said in quotations]
    sentences = {quoted.text: quoted for step in lesson if (quoted := known.protocol.sentences[step.number])}
    in_notes = {text for text, q in sentences.items() if any(text in read_note(q.package, label) for label in q.notes)}
    assert stated == [(text, quoted.source) for text, quoted in sentences.items() if text not in in_notes]


@pytest.mark.parametrize("name", EACH)
def test_a_parameter_has_its_meaning_beside_its_value_and_not_among_the_letters(name: str) -> None:
    (who,) = (section for section in lecture_of(name).sections if section.heading == "Who takes part")
    agreed = {b.caption: b.rows for b in who.blocks if isinstance(b, PageTable)}["What all agreed on beforehand"]
    assert all(meaning for _, _, meaning in agreed)
    (read,) = (section for section in lecture_of(name).sections if section.heading.startswith("How to read"))
    letters = {key for b in parts(read, "Letters and words") if isinstance(b, FactList) for key, _ in b.pairs}
    assert "K" in letters
    assert not letters & {field.name for field in fields(prepared(name)[0].session.parameters)}
    assert not letters & {parameter for parameter, _, _ in agreed}


def test_a_step_that_comes_again_shows_new_values_and_its_texts_once() -> None:
    steps = {step.heading: step for step in steps_on(lecture_of("secure_sum"))}
    first, again = (steps[f"Step 6 ({stage}): Unmask"] for stage in ("sum0", "sum1"))
    tables = [[block for block in parts(step, "Unmask") if isinstance(block, PageTable)] for step in (first, again)]
    assert [len(found) for found in tables] == [1, 1]
    assert tables[0] != tables[1]
    assert ["[S5]" in shown(step) for step in (first, again)] == [True, False]
    assert AGAIN.format(number="6", stage="sum0") in shown(again)


@pytest.mark.parametrize("name", EACH)
def test_a_note_stands_at_its_first_step_alone(name: str) -> None:
    protocol = PROTOCOLS[name]
    lesson = steps_of(*prepared(name))
    about: list[tuple[str, str]] = []
    for step, on_page in zip(lesson, steps_on(lecture_of(name)), strict=True):
        sections = [b for b in on_page.blocks if isinstance(b, Section) and b.heading in (BESIDE, DEPARTS, IS_WRONG)]
        bullets = [b for section in sections for b in section.blocks if isinstance(b, Bullets)]
        about += [(note, step.number) for b in bullets for note in b.items]
    first = {label: step.number for step in reversed(lesson) for label in protocol.sentences[step.number].notes}
    package = next(iter(protocol.sentences.values())).package
    assert first
    assert sorted(about) == sorted((read_note(package, label), number) for label, number in first.items())


def test_sets_of_parties_are_shown_by_names() -> None:
    watched, _ = prepared("secure_sum")
    (survivors, *_) = [one for one in watched.messages if one.kind.__name__ == "Survivors"]
    rows = values.message_table(survivors.kind, [survivors], watched).rows
    assert rows[0][3] == "P1 and P2"  # of the sum without P3
    assert [values.names_of_bits(bits, ("a", "b", "c")) for bits in (0, 4, 7)] == ["nobody", "c", "a, b and c"]


def numbers(watched: ObservedSession) -> list[str]:
    """The sizes and numbers that parties bring, as views have them."""
    return [cell for row in values.input_table(watched).rows for cell in row[1:]]


@pytest.mark.parametrize("name", EACH)
def test_values_are_those_of_the_views(name: str) -> None:
    watched, known = prepared(name)
    whole, brought = html(lecture_of(name)), numbers(watched)
    assert brought
    assert all(f"<td>{cell}</td>" in whole for cell in brought)
    other = html(walkthrough_page(replace(watched, inputs=dict.fromkeys(watched.inputs, ())), known))
    assert not any(f"<td>{cell}</td>" in other for cell in brought)


def test_what_a_ciphertext_holds_is_shown_to_those_who_have_the_key() -> None:
    watched, _ = prepared("pathak2010")
    indicator = next(x for x in watched.messages if x.kind.__name__ == "Indicator")
    (u,) = (getattr(indicator.content, slot.name) for slot in indicator.kind.slots)
    opened = [values.format_value(c, watched).rpartition("charlie: ")[2] for c in u]
    assert sorted(opened) == ["0", "1"]


def test_long_values_are_cut_and_say_how_long_they_are() -> None:
    watched, _ = prepared("secure_sum")
    assert values.format_number(123) == "123"
    assert values.format_number(2**64) == "18446…616 (20 digits)"
    assert values.format_number(-(2**64)) == "-1844…616 (20 digits)"
    assert values.format_bytes(bytes(32)) == "000000…00 (32 bytes)"
    assert values.format_value(tuple(range(9)), watched) == "(0, 1, 2, … 9 in all)"
    assert values.format_value((1, 2), watched) == "(1, 2)"


def told(watched: ObservedSession, course: KnowledgeTrace) -> list[tuple[str, str]]:
    """Every step of the page, by its heading."""
    return [(step.heading, shown(step)) for step in steps_on(walkthrough_page(watched, course))]


def first_difference(honest: Sequence[tuple[str, str]], other: Sequence[tuple[str, str]]) -> str:
    """The heading of the first step that is not the same."""
    return next(x[0] for x, y in zip(honest, other, strict=False) if x != y)


def test_a_leaking_role_changes_the_page_at_its_step_and_at_none_before() -> None:
    honest = prepared("pathak2010")
    with planted("r is missing") as program:
        twin = prepare(replace(PROTOCOLS["pathak2010"], program=program), 2)
    assert first_difference(told(*honest), told(*twin)).startswith("Step 1.4 ")
    again = run_dry(PROTOCOLS["pathak2010"], honest[1].p)
    assert told(again, honest[1]) == told(*honest)
    news = {}
    for name, made in (("honest", honest), ("twin", twin)):
        step = next(s for s in steps_on(walkthrough_page(*made)) if s.heading.startswith("Step 1.4 "))
        news[name] = parts(step, "What is known now")[0]
    assert getattr(news["honest"], "text", "") == NOTHING_NEW
    assert isinstance(news["twin"], Bullets)
    assert any("pi_2" in sentence for sentence in news["twin"].items)


def test_lanes_say_in_sentences_what_they_draw() -> None:
    watched, _ = prepared("secure_sum")
    shares = [x for x in watched.messages if x.kind.__name__ == "Shares"]
    drawn = sequence_diagram.draw_messages("Shares", shares, watched.session)
    assert drawn.said[0] == "P1 sends Shares to each of P2 and P3."
    assert sequence_diagram.draw_messages("Shares", shares[1:], watched.session).said != drawn.said
    assert drawn.svg.markup("Shares").count("<line") == 3 * (4 + 1 + 2)  # rows of lanes, a line and heads
    published = [x for x in watched.messages if x.kind.__name__ == "PublishedSum"]
    assert sequence_diagram.draw_messages("Sum", published, watched.session).said == (
        "charlie publishes PublishedSum, for everybody to read.",
    )
