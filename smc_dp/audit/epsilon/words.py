"""What a person reads of an audit of epsilon."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import ROUND_FLOOR, Context

from smc_dp.audit.epsilon.audit import Audited, EpsilonFinding
from smc_dp.audit.epsilon.gaussian import claimed_mu
from smc_dp.audit.epsilon.power import MeasuredPower, Power, Twin
from smc_dp.privacy.statement import PrivacyStatement, short_figure

_FIGURE = {"epsilon": "epsilon", "delta": "delta at it", "rho": "rho", "mu": "mu"}


LEGEND = (
    "In the event: of the draws that judge, how many of one neighbour and of the other lie in the event that the rest "
    "chose."
)
_ROW = "  {:<16}{:<24}{:<11}{:>7}  {:<14}"
_HEAD = _ROW.format("test", "lower bound", "claimed", "draws", "in the event")


def lines(measured: MeasuredPower) -> Iterator[str]:
    """One audit: the claim, a line for each test with its power, the verdict."""
    yield from _head(measured.audited)
    yield f"{_HEAD}half the noise"
    for finding in measured.audited.findings:
        power = measured.of_test.get(finding.test)
        yield _row(finding, "-" if power is None else f"caught {power.caught} of {power.repeats}")
    yield f"  {measured.audited.verdict}"
    if measured.of_all is not None:
        yield f"  half the noise is {chance(measured.of_all)}"


def twin_lines(twin: Twin) -> Iterator[str]:
    """A broken twin: the last of its audits, and how many found it."""
    yield from _head(twin.example)
    yield f"  broken: {twin.about}"
    yield _HEAD.rstrip()
    yield from (_row(finding) for finding in twin.example.findings)
    yield f"  {twin.example.verdict}"
    yield f"  this twin is {chance(twin.power)}"


def chance(power: Power) -> str:
    """The power of all tests together."""
    low, high = power.interval
    return (
        f"caught in {power.caught} of {power.repeats} audits with {power.draws} draws: "
        f"power {low:.2f} to {high:.2f} with confidence {power.confidence:g}"
    )


def _head(audited: Audited) -> Iterator[str]:
    yield f"{audited.name}: claims {claim(audited.claim)}"
    yield f"  neighbours: {audited.neighbours}"
    if audited.reach is not None:
        yield f"  {audited.reach.text}"


def claim(statement: PrivacyStatement) -> str:
    """The figures of a statement."""
    if statement.epsilon is None:
        return "nothing"
    figures = f"epsilon {short_figure(statement.epsilon)}"
    if statement.delta:
        figures += f", delta {statement.delta:g}"
    if statement.rho is not None:
        figures += f", rho {short_figure(statement.rho)}"
    if (mu := claimed_mu(statement)) is not None:
        figures += f", mu {short_figure(mu)}"
    return f"{statement.kind} {figures} (one {statement.unit}, {statement.adjacency})"


def _row(finding: EpsilonFinding, power: str = "") -> str:
    claimed = "-" if finding.claimed is None else f"{finding.claimed:g}"
    inside = "" if finding.inside is None else f"{finding.inside[0]}, {finding.inside[1]}"
    mark = "  CONTRADICTS" if finding.refutes else ""
    bound = f"{_FIGURE[finding.figure]} >= {_down(finding.bound)}"
    return (_ROW.format(finding.test, bound, claimed, finding.draws, inside) + power + mark).rstrip()


def _down(bound: float) -> str:
    return f"{Context(prec=4, rounding=ROUND_FLOOR).create_decimal(repr(bound)).normalize():g}" if bound else "0"
