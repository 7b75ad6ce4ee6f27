"""Leakage: what coalitions read against what the claim's simulators make, and what the claim leaves out.

The structure of this run's views is compared exactly; laws and the coalitions that are not claimed are tried on fresh
executions at toy size, and say something of the protocol's code alone. These are checks, not proofs: the proof is the
prose in the protocol's `ideal.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

from protocols import programs
from protocols.arithmetic.rng import Stream
from protocols.programs import Protocol
from protocols.runtime.claims import Readings, Trials
from smc_dp.audit.code import boundary, law
from smc_dp.audit.code.two_samples import shape
from smc_dp.audit.run.check import Check, CheckOutcome, failed, not_possible, nothing_to_ask, passed
from smc_dp.audit.run.evidence import Evidence

NO_CLAIM = "this protocol claims nothing"
NO_VIEWS = "no views were given"
CODE = "about the protocol's code, not about this run, and a check, not a proof"
WIDTH_ERROR_BITS = 40
_NAMED = 6  # no more than so many names in a sentence


def structure(evidence: Evidence) -> CheckOutcome:
    """Each given view alone."""
    return _structure(evidence, [(name,) for name in evidence.views])


def structure_together(evidence: Evidence) -> CheckOutcome:
    """All given views together, or all but one where only those are claimed."""
    names = tuple(evidence.views)
    if len(names) < 2:
        return not_possible(f"wanted two views or more, got {len(names)}")
    claim, p = evidence.protocol.claim, evidence.session.parameters
    if claim is None:
        return nothing_to_ask(NO_CLAIM)
    beyond = "" if claim.claims(p, names) else f"not claimed, because: {' '.join(claim.why_not(p, names))}"
    without = [tuple(name for name in names if name != left_out) for left_out in names]
    fewer = [c for c in without if len(c) > 1 and claim.claims(p, c)] if beyond else [names]
    if not fewer:
        return nothing_to_ask(beyond)
    outcome = _structure(evidence, fewer)
    if beyond and outcome.status == "passed":
        return passed(f"{outcome.detail}; all {len(names)} together: {beyond}")
    return outcome


def _structure(evidence: Evidence, coalitions: Sequence[tuple[str, ...]]) -> CheckOutcome:
    claim, p = evidence.protocol.claim, evidence.session.parameters
    if claim is None or claim.trials is None:
        return nothing_to_ask(NO_CLAIM)
    if not coalitions:
        return not_possible(NO_VIEWS)
    if evidence.absences or any(again.doubted for again in evidence.recomputed.values()):
        return nothing_to_ask("letters were given up, and the simulators of the claim make whole conversations")
    simulate = claim.trials.simulation(p, Stream.insecure_from_seed("structure"))
    stopped = [name for name, made in evidence.recomputed.items() if made.fault]
    whole = [names for names in coalitions if not set(names) & set(stopped)]
    numbers = 0
    for names in whole:
        real = claim.trials.read(p, tuple(evidence.recomputed[name].view for name in names))
        fault = difference(real, simulate(names))
        if fault:
            return failed(f"what {_named(names)} read: {fault}")  # which others sent: nobody is named
        numbers += sum(shape(real).values())
    if len(whole) < len(coalitions):
        return not_possible(f"the role of {stopped[0]} does not reach its end on its view and the record")
    who = "; ".join(_named(names) for names in whole) if len(whole) <= _NAMED else f"each of {len(whole)} participants"
    return passed(f"{numbers} numbers read by {who}: places, counts and widths are those of the simulator")


def _named(names: tuple[str, ...]) -> str:
    return ", ".join(names) if len(names) <= _NAMED else f"{len(names)} participants"


def difference(real: Readings, made: Readings) -> str | None:
    """How two readings differ in places, counts or widths.

    A uniform number falls t bits short of its width with probability 2**-t, the widest of m with 2**-(t m). So if the
    laws are the same, the widest differ by more than 40 / m bits (at least one), or any two numbers in the order of
    their widths by more than 40 + log2 m bits, with a chance below 2**-38 at each place.
    """
    for place in {**made, **real}:
        got, wanted = (sorted(v.bit_length() for v in found.get(place, [])) for found in (real, made))
        m = len(got)
        if m != len(wanted):
            return f"{m} numbers are read at {place}, and the simulator makes {len(wanted)}"
        apart = [abs(a - b) for a, b in zip(got, wanted, strict=True)]
        if apart[-1] > -(-WIDTH_ERROR_BITS // m) or max(apart) > WIDTH_ERROR_BITS + m.bit_length():
            return f"numbers of {_range(got)} bits are read at {place}, and the simulator makes {_range(wanted)} bits"
    return None


def _range(bits: Sequence[int]) -> str:
    return f"{bits[0]} to {bits[-1]}"


def law_of_code(evidence: Evidence) -> CheckOutcome:
    """The law at toy size."""
    protocol = evidence.protocol
    if protocol.claim is None or protocol.claim.trials is None:
        return nothing_to_ask(NO_CLAIM)
    small = protocol.claim.trials.small(evidence.session.parameters)
    return _kept(evidence, "law", small, lambda: judge(_law(*_which(protocol), small)))


def judge(found: law.TestedLaw) -> CheckOutcome:
    """The verdict on what came out."""
    worst, said = found.worst, _law_in_words(found)
    if not found.tests and found.p_value == 1:
        return passed(f"{CODE}: no claimed coalition reads anything but what is public")
    if found.p_value < law.REJECT:
        where = f"{worst.samples} differ for {', '.join(worst.coalition)} at {worst.comparison.place}"
        return failed(f"{CODE}: {where}, p = {found.p_value:.1e}; {said}")
    if found.missed:
        return failed(
            f"{CODE}: a broken twin is not told from the protocol ({found.missed[0]}), so nothing is shown; {said}"
        )
    return passed(f"{CODE}: p = {found.p_value:.2g} for all tests together; {said}")


def _law_in_words(found: law.TestedLaw) -> str:
    caught = found.twins - len(found.missed)
    coalitions = len({f.coalition for f in found.found})
    more = f" and {law.FEWER} in each of {found.worlds - law.TWO} more" if found.worlds > law.TWO else ""
    without = f", in which {_named(found.vanished)} vanishes," if found.vanished else ""
    return (
        f"{coalitions} coalitions, {found.runs} toy executions in each of two worlds{more} with equal output{without}"
        f" and {found.simulated} simulated, {found.tests} exact tests, rejecting below {law.REJECT:.0e} in all;"
        f" with probability {law.POWER} it shows {_power(found.simulator)} against the simulator,"
        f" {_power(found.between)} between the worlds;"
        f" twins with one field one bit short: {caught} of {found.twins} rejected"
    )


def _power(power: law.LawPower) -> str:
    fair, rarer = ("nothing" if shift is None else f"{shift:.2f}" for shift in (power.fair, power.rarer))
    return f"when a fair bit moves by {fair} or a rarer event gains {rarer}"


def boundary_of_code(evidence: Evidence) -> CheckOutcome:
    """What is not claimed, at toy size."""
    protocol = evidence.protocol
    if protocol.claim is None or protocol.claim.trials is None:
        return nothing_to_ask(NO_CLAIM)
    small = protocol.claim.trials.small(evidence.session.parameters)
    tried = [sentence for sentence, _ in boundary.attacks(protocol, small)]
    if not tried:
        return nothing_to_ask("of what is not claimed nothing is for a coalition in such a session to try")
    untried = [u.sentence for u in protocol.claim.not_claimed if u.sentence not in tried]
    return _kept(evidence, "boundary", small, lambda: judge_boundary(_boundary(*_which(protocol), small), untried))


def _kept(evidence: Evidence, what: str, p: Any, find_out: Callable[[], CheckOutcome]) -> CheckOutcome:
    """What an earlier audit found out by this very code, and where that comes from; else it is found out, and kept."""
    found = evidence.kept.find(what, evidence.protocol, p)
    if found is not None:
        detail = f"{found.detail}; {found.origin}"
        return passed(detail) if found.status == "passed" else failed(detail)
    outcome = find_out()
    evidence.kept.keep(what, evidence.protocol, p, outcome.status, outcome.detail)
    return outcome


def judge_boundary(shown: Sequence[boundary.Shown], untried: Sequence[str]) -> CheckOutcome:
    """The verdict: every attack finds what is there in every execution, and never what is there in another one."""
    for one in shown:
        if one.found < one.tries or one.mistaken or not one.tries:
            return failed(f"{CODE}: {_counted(one)}, and {one.mistaken} with the truth of another execution")
    said = "".join(f'; said, not tried: "{sentence}"' for sentence in untried)
    succeeded = " ".join(_counted(one) for one in shown)
    return passed(f"{CODE}: {succeeded} Never with the truth of another execution{said}")


def _counted(one: boundary.Shown) -> str:
    return f'{one.found} of {one.tries}: "{one.sentence}"'


def _which(protocol: Protocol) -> tuple[str, int]:
    return protocol.program.name, protocol.program.version


# The same code on the same toy parameters: once is enough, however many runs one process audits.


@cache
def _law(name: str, version: int, p: Any) -> law.TestedLaw:
    protocol = programs.find(name, version)
    return law.law(protocol.program, _trials(protocol), p, _coins("law", protocol, p))


@cache
def _boundary(name: str, version: int, p: Any) -> tuple[boundary.Shown, ...]:
    protocol = programs.find(name, version)
    return boundary.boundary(protocol, p, _coins("boundary", protocol, p))


def _trials(protocol: Protocol) -> Trials:
    if protocol.claim is None or protocol.claim.trials is None:
        raise ValueError(NO_CLAIM)
    return protocol.claim.trials


def _coins(what: str, protocol: Protocol, p: Any) -> Stream:
    """Public coins that follow from what is looked at, so that everybody gets the same figures."""
    return Stream.insecure_from_seed(f"{what} {protocol.program.name} {sorted(p.as_dict().items())}")


CHECKS: tuple[Check, ...] = (
    Check("leakage", "structure", "Does each view hold what its simulator makes, and nothing else?", structure),
    Check(
        "leakage", "structure-together", "Do the views together hold what their simulator makes?", structure_together
    ),
    Check(
        "leakage",
        "law",
        "Is what a claimed coalition reads distributed as the simulator says?",
        law_of_code,
        of_code=True,
    ),
    Check(
        "leakage", "boundary", "Do the coalitions that are not claimed really succeed?", boundary_of_code, of_code=True
    ),
)
