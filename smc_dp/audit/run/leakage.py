"""Leakage: what coalitions read against what the claim's simulators make, and what the claim leaves out.

The structure of this run's views is compared exactly. Distributions, and the coalitions that are not claimed, are about
the protocol's code alone: an audit cites the results that the package ships (`released_results.py`). These are checks,
not proofs: the proof is the prose in the protocol's `ideal.py`.
"""

from __future__ import annotations

from collections.abc import Container, Sequence
from itertools import combinations
from typing import Any

from protocols.arithmetic.rng import Stream
from protocols.runtime.claims import Claim, Readings
from smc_dp.audit.run.check import Check, CheckOutcome, failed, make_fault, not_applicable, not_possible, passed
from smc_dp.audit.run.evidence import Evidence
from smc_dp.audit.run.released_results import cite_result
from smc_dp.audit.run.view_messages import NO_VIEWS_OUTCOME
from smc_dp.core.errors import Fault
from smc_dp.leakage.two_samples import reading_counts

NO_CLAIM = not_applicable("protocol.no_claim")
WIDTH_ERROR_BITS = 40
_NAMED = 6  # no more than so many names in a sentence


def check_structure(evidence: Evidence) -> CheckOutcome:
    """Check the structure of each given view alone."""
    return _structure(evidence, [(name,) for name in evidence.views])


def check_structure_together(evidence: Evidence) -> CheckOutcome:
    """Check the structure of all given views together, or of the coalitions of their owners that are claimed."""
    names = tuple(evidence.views)
    if len(names) < 2:
        return not_possible("structure_together.too_few_views", got=len(names))
    claim, p = evidence.protocol.claim, evidence.session.parameters
    if claim is None:
        return NO_CLAIM
    if claim.claims(p, names):
        return _structure(evidence, [names])
    why = " ".join(claim.why_not(p, names))
    reasons = f": {why}" if why else ""
    coalitions = covering_coalitions(claim, p, names)
    if not coalitions:
        return not_applicable("structure_together.not_claimed", count=len(names), reasons=reasons)
    outcome = _structure(evidence, coalitions)
    if not outcome.holds:
        return outcome
    return passed("structure_together.holds_in_part", detail=outcome.detail, count=len(names), reasons=reasons)


def covering_coalitions(claim: Claim, p: Any, names: Sequence[str]) -> list[tuple[str, ...]]:
    """Return claimed coalitions that together hold each claimed pair. Each is as large as the claim allows."""
    found: list[tuple[str, ...]] = []
    for pair in combinations(names, 2):
        if claim.claims(p, pair) and not any(set(pair) <= set(coalition) for coalition in found):
            coalition: tuple[str, ...] = pair
            for name in names:
                if name not in coalition and claim.claims(p, (*coalition, name)):
                    coalition = (*coalition, name)
            found.append(coalition)
    return found


def _structure(evidence: Evidence, coalitions: Sequence[tuple[str, ...]]) -> CheckOutcome:
    claim, p = evidence.protocol.claim, evidence.session.parameters
    if claim is None or claim.trials is None:
        return NO_CLAIM
    if not coalitions:
        return NO_VIEWS_OUTCOME
    disputed = _disputed_places(evidence)
    given_up = [absent for _, absent in evidence.absences.values()]
    given_up += [absent for again in evidence.recomputed.values() for absent in again.doubted]
    if {absent.kind for absent in given_up} - {place.partition(".")[0] for place in disputed}:
        return not_applicable("structure.letters_given_up")
    simulate = claim.trials.simulation(p, Stream.insecure_from_seed("structure"))
    stopped = [name for name, made in evidence.recomputed.items() if made.fault]
    whole = [names for names in coalitions if not set(names) & set(stopped)]
    numbers, apart = 0, False
    read: list[tuple[str, ...]] = []
    for names in whole:
        real, made = claim.trials.read(p, tuple(evidence.recomputed[name].view for name in names)), simulate(names)
        fault = shape_difference(real, made)
        if fault and disputed:  # what a complaint is about may be missing or anything, and nothing else
            fault, apart = shape_difference(real, made, disputed), True
        if fault:
            return failed(fault.within(f"what {_named(names)} read"))  # which others sent: nobody is named
        count = sum(reading_counts(real).values())
        numbers, read = numbers + count, [*read, names] if count else read
    if len(whole) < len(coalitions):
        return not_possible("structure.role_stopped", name=stopped[0])
    if not read:
        return not_applicable("structure.no_numbers")
    who = "; ".join(_named(names) for names in read) if len(read) <= _NAMED else f"each of {len(read)} coalitions"
    if apart:
        return passed("structure.holds_but_for_complaint", numbers=numbers, who=who, places=sorted(disputed))
    return passed("structure.holds", numbers=numbers, who=who)


def _disputed_places(evidence: Evidence) -> frozenset[str]:
    """Return the places of the messages that a complaint of this session can be about; none without a complaint."""
    detour = evidence.protocol.model.detour
    if detour is None or not evidence.took_detour:
        return frozenset()
    return frozenset(f"{detour.spoils.__name__}.{slot.name}" for slot in detour.spoils.slots)


def _named(names: tuple[str, ...]) -> str:
    return " + ".join(names) if len(names) <= _NAMED else f"{len(names)} participants"


def shape_difference(real: Readings, made: Readings, apart: Container[str] = ()) -> Fault | None:
    """Return how two readings differ in counts or widths at places other than those `apart`.

    A uniform number falls t bits short of its width with probability 2**-t, the widest of m with 2**-(t m). So if the
    distributions are the same, the widest differ by more than 40 / m bits (at least one), or any two numbers in the
    order of their widths by more than 40 + log2 m bits, with probability below 2**-38 at each place.
    """
    for place in (place for place in {**made, **real} if place not in apart):
        got, wanted = (sorted(v.bit_length() for v in found.get(place, [])) for found in (real, made))
        m = len(got)
        if m != len(wanted):
            return make_fault("structure.other_count", got=m, place=place, wanted=len(wanted))
        off = [abs(a - b) for a, b in zip(got, wanted, strict=True)]
        if off[-1] > -(-WIDTH_ERROR_BITS // m) or max(off) > WIDTH_ERROR_BITS + m.bit_length():
            return make_fault("structure.other_widths", got=_range(got), place=place, wanted=_range(wanted))
    return None


def _range(bits: Sequence[int]) -> str:
    return f"{bits[0]} to {bits[-1]}"


def distribution_of_code(evidence: Evidence) -> CheckOutcome:
    """Cite the shipped result on the distribution of what claimed coalitions read."""
    return _cited(evidence, "distribution")


def limitations_of_code(evidence: Evidence) -> CheckOutcome:
    """Cite the shipped result on the coalitions that are not claimed."""
    return _cited(evidence, "limitations-true")


def _cited(evidence: Evidence, check: str) -> CheckOutcome:
    claim = evidence.protocol.claim
    if claim is None or claim.trials is None:
        return NO_CLAIM
    return cite_result(evidence.protocol, claim.trials.small(evidence.session.parameters), check)


CHECKS: tuple[Check, ...] = (
    Check(
        "leakage",
        "structure",
        "Does each view have the structure that the proof's simulator gives it, and nothing else?",
        check_structure,
    ),
    Check(
        "leakage",
        "structure-together",
        "Do several views together have the structure that the proof's simulator gives them, and nothing else?",
        check_structure_together,
    ),
    Check(
        "leakage",
        "distribution",
        "Do the messages that coalitions see look like those that the simulator of the proof makes up from the result "
        "alone? If so, they tell nothing else.",
        distribution_of_code,
    ),
    Check(
        "leakage",
        "limitations-true",
        "Are the stated limitations real: does each attack that a limitation admits succeed?",
        limitations_of_code,
    ),
)
