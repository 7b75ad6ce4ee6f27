"""Report an audit of epsilon: the claim, a lower bound by each test with its power, and the verdict."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from decimal import ROUND_FLOOR, Context

from smc_dp.audit.epsilon.audit import CaseAudit, EpsilonFinding
from smc_dp.audit.epsilon.gaussian import claimed_mu
from smc_dp.audit.epsilon.power import MeasuredPower, MutantPower, Power
from smc_dp.pages.blocks import Banner, PageBlock, PageTable, Prose, Section
from smc_dp.privacy.statement import PrivacyStatement, short_delta, short_figure

_FIGURE = {"epsilon": "epsilon", "delta": "delta at it", "rho": "rho", "mu": "mu"}
_LEGEND = (
    "In the event: of the draws that judge, how many of one neighbour and of the other lie in the event that the rest "
    "chose."
)
_HEADINGS = ("test", "lower bound", "claimed", "draws", "in the event")


def blocks(found: Sequence[MeasuredPower], sure: float, scope: str | None = None) -> Iterator[PageBlock]:
    """Yield a section for each audit, and how sure all bounds are; `scope`: which runs of a protocol were audited."""
    for measured in found:
        yield audit_section(measured)
    if scope is not None:
        yield Prose(scope)
    yield Prose(_LEGEND)
    yield Prose(f"All lower bounds hold together with confidence {sure:g}. A bound below the claim proves nothing.")


def mutant_blocks(found: Sequence[MutantPower], sure: float) -> Iterator[PageBlock]:
    """Yield a section for each mutant, with the last of its audits, and how many of them found it."""
    for mutant in found:
        table = PageTable("Tests", _HEADINGS, tuple(map(_row, mutant.example.findings)), numbers=(3,))
        broken, power = Prose(f"broken: {mutant.about}"), Prose(f"this mutant is {power_sentence(mutant.power)}")
        yield Section(
            mutant.example.name, (*_claimed(mutant.example), broken, table, verdict_banner(mutant.example), power)
        )
    yield Prose(_LEGEND)
    yield Prose(f"Broken on purpose. The bounds of the last audit hold together with confidence {sure:g}.")


def audit_section(measured: MeasuredPower) -> Section:
    """Return the section of one audit: the claim, a row for each test with its power, the verdict."""
    rows = []
    for finding in measured.audited.findings:
        power = measured.of_test.get(finding.test)
        rows.append((*_row(finding), "-" if power is None else f"caught {power.caught} of {power.repeats}"))
    half = () if measured.of_all is None else (Prose(f"half the noise is {power_sentence(measured.of_all)}"),)
    table = PageTable("Tests", (*_HEADINGS, "half the noise"), tuple(rows), numbers=(3,))
    return Section(measured.audited.name, (*_claimed(measured.audited), table, verdict_banner(measured.audited), *half))


def power_sentence(power: Power) -> str:
    """Return the power of all tests together, in words."""
    low, high = power.interval
    return (
        f"caught in {power.caught} of {power.repeats} audits with {power.draws} draws: "
        f"power {low:.2f} to {high:.2f} with confidence {power.confidence:g}"
    )


def _claimed(audited: CaseAudit) -> Iterator[Prose]:
    """Yield the claim, the neighbours, and their distance."""
    yield Prose(f"claims {claim_figures(audited.claim)}")
    yield Prose(f"neighbours: {audited.neighbours}")
    if audited.neighbour_distance is not None:
        yield Prose(audited.neighbour_distance.text)


def claim_figures(statement: PrivacyStatement) -> str:
    """Return the figures of a statement."""
    if statement.epsilon is None:
        return "nothing"
    delta = f", delta {short_delta(statement.delta)}" if statement.delta else ""
    figures = f"epsilon {short_figure(statement.epsilon)}{delta}"
    for name, figure in (("rho", statement.rho), ("mu", claimed_mu(statement))):
        figures += "" if figure is None else f", {name} {short_figure(figure)}"
    return f"{statement.kind} {figures} (one {statement.unit}, {statement.adjacency})"


def verdict_banner(audited: CaseAudit) -> Banner:
    """Return the verdict of an audit, with the stable code of its message."""
    found = audited.verdict
    return Banner(str(found), "failed" if audited.refuted else "plain", found.code)


def _row(finding: EpsilonFinding) -> tuple[str, ...]:
    claimed = "-" if finding.claimed is None else f"{float(short_figure(finding.claimed)):g}"
    inside = "" if finding.inside is None else f"{finding.inside[0]}, {finding.inside[1]}"
    mark = "  CONTRADICTS" if finding.refutes else ""
    # A lower bound stays one only if it is rounded down.
    down = Context(prec=4, rounding=ROUND_FLOOR).create_decimal(repr(finding.bound)).normalize() if finding.bound else 0
    bound = f"{_FIGURE[finding.figure]} >= {down:g}{mark}"
    return finding.test, bound, claimed, str(finding.draws), inside
