"""The page of a walkthrough: who takes part, how to read it, step after step, and what is claimed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from protocols.programs import Protocol
from smc_dp.core.version import __version__
from smc_dp.leakage.words import listed
from smc_dp.pages.blocks import (
    Banner,
    Bullets,
    FactList,
    Page,
    PageBlock,
    PageTable,
    Prose,
    Quotation,
    Section,
    WalkStep,
    Walkthrough,
)
from smc_dp.walkthrough import knowledge_blocks, sequence_diagram, values, words
from smc_dp.walkthrough.knowledge_trace import ProtocolCourse
from smc_dp.walkthrough.lesson import LectureStep, leaving, steps_of
from smc_dp.walkthrough.observed_session import Watched

ON_EVERY_SHEET = "SECRET: this page shows what participants keep to themselves"
TOY = (
    "A toy run: a real session of the program, with small keys and made-up numbers; its coins follow from a number "
    "that everybody knows, so it protects nothing."
)


def page(watched: Watched, course: ProtocolCourse, more: Sequence[Section] = (), *, secret: bool = False) -> Page:
    """The walkthrough of a session, beside the course of its protocol. `more`: sections that come after the steps.

    `secret`: whether the values are somebody's.
    """
    protocol, lesson = course.protocol, steps_of(watched, course)
    left = leaving(watched, lesson)
    steps = tuple(_step(watched, course, step, at, left) for at, step in enumerate(lesson))
    sections = (
        Section("What this is", tuple(map(Prose, words.what(protocol)))),
        Section("Who takes part", tuple(_participants(watched, course))),
        Section("How to read this page", (Bullets(words.HOW_TO_READ), Prose(words.HOW_KNOWN))),
        Section("Before the first letter", (knowledge_blocks.first(course),)),
        Section("Step by step", (Walkthrough(f"{protocol.program.name}, step by step", steps),)),
        *more,
        Section("What is claimed, and what is not", tuple(_claim(protocol, watched)), new_sheet=True),
    )
    notice = Banner(f"{ON_EVERY_SHEET}.", "secret") if secret else Banner(TOY, "insecure")
    title = f"{protocol.program.name}, step by step"
    return Page(title, sections, (notice,), _made(course), ON_EVERY_SHEET if secret else "")


def _step(watched: Watched, course: ProtocolCourse, step: LectureStep, at: int, left: Mapping[str, int]) -> WalkStep:
    title = f"Step {step.number} ({step.stage}): {', '.join(step.kinds)}"
    said = _said(course.protocol, step.number)
    gone, leaves = ([name for name, when in left.items() if is_so(when)] for is_so in (at.__gt__, at.__eq__))
    drawn = sequence_diagram.drawing(f"Letters of step {step.number}", step.letters, watched.session, gone, leaves)
    letters = tuple(_letters(watched, step))
    return WalkStep(title, (drawn, *said, *letters, knowledge_blocks.after(course, step.known)))


def _said(protocol: Protocol, number: str) -> tuple[PageBlock, ...]:
    """What the paper or the notes say of a step, and the notes on where it departs, or on what is wrong with it."""
    quoted = protocol.sentences.get(number)
    if quoted is None:
        return (Prose("Nothing is quoted for this step."),)
    notes = words.departures(quoted)
    why = words.heading(protocol, quoted)
    mended = (Prose(words.MENDED),) if why == words.IS_WRONG else ()
    about = (Section(why, (*mended, Bullets(notes))),) if notes else ()
    return (Section("Word for word", (Quotation(quoted.text, quoted.source),)), *about)


def _letters(watched: Watched, step: LectureStep) -> Sequence[Section]:
    found = []
    for name in step.kinds:
        letters = [letter for letter in step.letters if letter.kind.__name__ == name]
        kind = letters[0].kind
        fields: tuple[PageBlock, ...] = (FactList(words.protections(kind)),) if kind.slots else ()
        found.append(Section(name, (Prose(words.about(kind)), *fields, values.table(kind, letters, watched))))
    return found


def _participants(watched: Watched, course: ProtocolCourse) -> Sequence[PageBlock]:
    session = watched.session
    told: list[PageBlock] = [FactList(tuple((name, _part(watched, course.protocol, name)) for name in session.names))]
    brought = values.brought(watched)
    if brought is not None:
        told.append(brought)
    told.append(PageTable("What all agreed on beforehand", ("parameter", "value"), tuple(_parameters(watched))))
    told += [Banner(text) for text in _otherwise(watched, course)]
    return told


def _otherwise(watched: Watched, course: ProtocolCourse) -> Iterator[str]:
    """In what the session that the engine ran differs from this one."""
    here, there = len(watched.session.parties), len(course.parties)
    if here != there:
        yield (
            f"What is known is computed for {there} parties; this session has {here}. {course.parties[0]} stands for "
            "the first of them, the other parties for any others."
        )
    elif watched.session.names != course.names:
        pairs = zip(course.names, watched.session.names, strict=True)
        yield f"In what is known {listed([f'{x} stands for {y}' for x, y in pairs if x != y])}."
    if watched.gone and not course.pattern.name:
        who = listed(watched.gone)
        yield f"What is known is computed for a session in which nobody vanishes; in this one {who} did."


def _part(watched: Watched, protocol: Protocol, name: str) -> str:
    part = words.role(protocol, watched.session.kind(name))
    return f"{part} It vanishes on the way." if name in watched.gone else part


def _parameters(watched: Watched) -> Sequence[tuple[str, str]]:
    stated = watched.session.parameters.as_dict()
    said = ((name, values.stated(value)) for name, value in stated.items() if name != "parties")
    return [(name, text) for name, text in said if text]


def _claim(protocol: Protocol, watched: Watched) -> Sequence[PageBlock]:
    claim, p = protocol.claim, watched.session.parameters
    if claim is None:
        return (Banner("Nothing is claimed: this protocol is here for its flaws.", "insecure"),)
    assumed = claim.assumed(p) if claim.assumed else claim.assumptions
    about = Bullets(tuple(f"{who}: what it sees can be made from {claim.simulated_from}." for who in claim.simulators))
    told: list[PageBlock] = [
        Prose(
            "A claim is about coalitions whose view can be made up from what they are given anyway. Of these it holds:"
        ),
        about,
    ]
    if assumed:
        told.append(Prose(f"It assumes {assumed}."))
    told += [
        Prose("Not claimed, the worst first:"),
        Bullets(tuple(unclaimed.sentence for unclaimed in claim.not_claimed)),
    ]
    return told


def _made(course: ProtocolCourse) -> tuple[str, ...]:
    worlds = f"{course.worlds} worlds" if course.worlds > 1 else "one world"
    return (
        f"Made by smc-dp {__version__}, command lab walkthrough.",
        f"What is known: computed among {len(course.parties)} parties in {worlds} (secret permutations and orders of "
        f"the sizes), in the first of {len(course.settings)} settings of which the audit's matrix takes the worst.",
        "Texts of papers are quoted from the papers named beside them; notes from the NOTES.md of the protocols.",
    )
