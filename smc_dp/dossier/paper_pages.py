"""The two documents for people, as pages."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from smc_dp.dossier import risks
from smc_dp.dossier.facts import RunFacts
from smc_dp.dossier.papers import Paper
from smc_dp.dossier.sentences import DossierPart, Sentence, said
from smc_dp.errors import one_line
from smc_dp.pages.blocks import Banner, Blanks, Bullets, Page, PageBlock, PageTable, Prose, Section
from smc_dp.pages.shortening import cut
from smc_dp.version import __version__

_LONGEST = 200  # characters of a value in the table of facts
_FEW = 3  # sentences that stand as paragraphs; more are a list
_MADE = f"Made by smc-dp {__version__} from the run folder, after an audit of it in which no check failed."


def sheet_page(paper: Paper, facts: RunFacts) -> Page:
    """In plain words: paragraphs and lists."""
    sections = tuple(Section(of.heading, tuple(_plain(of))) for of in paper.parts)
    return Page(paper.title, sections, _banners(facts), (_MADE,))


def annex_page(paper: Paper, facts: RunFacts) -> Page:
    """Every sentence numbered, with what it is tied to; at the end all facts with their sources."""
    sections = [Section(of.heading, tuple(_numbered(of, n))) for n, of in enumerate(paper.parts, start=1)]
    table = Section("Facts, and where each comes from", (_facts(facts),), new_sheet=True)
    return Page(paper.title, (*sections, table), _banners(facts), (_MADE,))


def _banners(facts: RunFacts) -> tuple[Banner, ...]:
    return tuple(Banner(sentence.text, "insecure") for sentence in said(facts, risks.insecure))


def _plain(of: DossierPart) -> Iterator[PageBlock]:
    texts = tuple(sentence.text for sentence in of.sentences)
    if len(texts) > _FEW:
        yield Bullets(texts)
    else:
        yield from map(Prose, texts)
    yield from _blanks(of)


def _numbered(of: DossierPart, number: int) -> Iterator[PageBlock]:
    rows = tuple((f"{number}.{n}", s.text, _tied(s)) for n, s in enumerate(of.sentences, start=1))
    if rows:
        yield PageTable("What the run shows", ("no.", "sentence", "facts it is made of"), rows)
    yield from _blanks(of)


def _blanks(of: DossierPart) -> Iterator[Blanks]:
    if of.blanks:
        yield Blanks(tuple(blank.asks for blank in of.blanks))


def _tied(sentence: Sentence) -> str:
    return ", ".join(name.replace("_", " ") for name in sentence.tied_to)


def _facts(facts: RunFacts) -> PageTable:
    rows = tuple((each["fact"].replace("_", " "), _value(each["value"]), _source(each)) for each in facts.document)
    return PageTable("Facts of the run", ("fact", "value", "where it comes from"), rows)


def _source(fact: Mapping[str, Any]) -> str:
    held = " and ".join(fact["held_by"])
    return f"{fact['from']}; held by the check {held}" if held else str(fact["from"])


def _value(value: object) -> str:
    return cut(one_line(_text(value)), _LONGEST)


def _text(value: object) -> str:
    """A value of JSON as a person reads it."""
    if value is None or value in ([], ""):
        return "none"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, dict):
        return "; ".join(f"{name}: {_text(each)}" for name, each in value.items())
    return ", ".join(map(_text, value)) if isinstance(value, list | tuple) else str(value)
