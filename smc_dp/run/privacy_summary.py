"""The privacy statement of a run in six lines, at most 120 words; the whole statement stands beside it as details.

On the first sheet of a paper that somebody signs, an example takes the place of the figures.
"""

from __future__ import annotations

from collections.abc import Iterator

from smc_dp.methods.method import has_own_noise
from smc_dp.pages.blocks import Bullets, FactList, PageBlock, Prose, Section
from smc_dp.privacy.ledger.numbers import digits_rounded_up
from smc_dp.privacy.statement import CAVEATS_FOLLOW
from smc_dp.run.agreement import ONLY_THE_RELEASE, TEST_KEYS, Agreement


def summary_blocks(agreement: Agreement, details: str) -> Iterator[PageBlock]:
    """Yield the six lines, and the whole statement as details; `details`: the command that prints it."""
    yield FactList((*summary_lines(agreement), ("Details", details)))
    yield statement_section(agreement)


def statement_section(agreement: Agreement) -> Section:
    """Return the whole statement, which only details show."""
    promise, caveats = Prose(agreement.statement.promise), agreement.statement.caveats
    limits = (Prose(CAVEATS_FOLLOW), Bullets(caveats)) if caveats else ()
    return Section("Privacy statement in full", (promise, *limits), details=True)


def plain_lines(agreement: Agreement) -> Iterator[tuple[str, str]]:
    """Yield the label and the text of each line of a first sheet, which has no symbol and no formula."""
    _, *others = summary_lines(agreement)
    yield "Example", agreement.statement.example
    for label, text in others:
        standard = label == "Rests on" and TEST_KEYS not in agreement.marks
        yield label, "standard cryptography, which the privacy statement names." if standard else text


def summary_lines(agreement: Agreement) -> Iterator[tuple[str, str]]:
    """Yield the label and the text of each line but the last: of the guarantee alone where there is none."""
    statement, summary = agreement.statement, agreement.terms.summary(agreement.spec, len(agreement.parties))
    if TEST_KEYS in agreement.marks:
        summary = summary._replace(
            holds_against=f"{ONLY_THE_RELEASE}.", rests_on="the noise alone: test keys protect no message."
        )
    yield "Guarantee", statement.brief
    if statement.kind == "none":
        return
    yield "Holds against", summary.holds_against
    yield "Needs", summary.needs
    yield "Not covered", summary.not_covered
    yield "Rests on", summary.rests_on


def graph_sentence(agreement: Agreement) -> str:
    """Return the sentence on what a sparse graph gives up."""
    p, own = agreement.program_parameters(""), has_own_noise(agreement.spec)
    return (
        f"Each party shares masks only with {p.degree} others, in a sparse graph. So nothing{' but epsilon' * own} is "
        "claimed against malicious participants. Even if all follow the protocol, the graph fails with a probability "
        f"of at most {digits_rounded_up(p.failure)}{'' if own else ', which is part of delta'}."
    )
