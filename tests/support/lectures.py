"""Walkthroughs at toy size, each made once per process: courses, toy runs, and a walk through their pages."""

from __future__ import annotations

from functools import cache

from protocols.programs import PROTOCOLS, Protocol
from smc_dp.pages.blocks import Page, PageBlock, Section, Walkthrough
from smc_dp.pages.html import html
from smc_dp.walkthrough.dry_run import run_dry
from smc_dp.walkthrough.knowledge_trace import KnowledgeTrace, drop_out, trace_knowledge
from smc_dp.walkthrough.observed_session import ObservedSession
from smc_dp.walkthrough.report import walkthrough_page

# As many parties as take little time: with two of whom one vanishes there is no sum.
PARTIES = {
    "pathak2010": 2,
    "pathak2010-as-printed-insecure": 2,
    "linear": 2,
    "secure_sum": 3,
}


@cache
def prepared(name: str) -> tuple[ObservedSession, KnowledgeTrace]:
    """The toy run and the course of a protocol."""
    return prepare(PROTOCOLS[name], PARTIES[name])


def prepare(protocol: Protocol, parties: int) -> tuple[ObservedSession, KnowledgeTrace]:
    """A toy run and its course, where one vanishes if any may."""
    pattern = drop_out(protocol, protocol.model.sample(parties))
    found = trace_knowledge(protocol, parties, **({"pattern": pattern} if pattern else {}))
    return run_dry(protocol, found.p, found.pattern), found


@cache
def lecture_of(name: str) -> Page:
    """The page of a protocol, without attacks."""
    return walkthrough_page(*prepared(name))


def steps_on(made: Page) -> tuple[Section, ...]:
    """The steps of a walkthrough."""
    found = [b for section in made.sections for b in section.blocks if isinstance(b, Walkthrough)]
    assert len(found) == 1
    return found[0].steps


def shown(step: Section) -> str:
    """A step as a page has it."""
    return html(Page(step.heading, (Section(step.heading, step.blocks),)))


def parts(step: Section, heading: str) -> tuple[PageBlock, ...]:
    """The blocks of one section of a step."""
    found = [b for b in step.blocks if isinstance(b, Section) and b.heading == heading]
    assert len(found) == 1, heading
    return found[0].blocks
