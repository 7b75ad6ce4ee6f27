"""Checks of a protocol's code: small sessions, executed again and again, against the claim.

`distribution`: whether claimed coalitions read what the simulators make. `limitations-true`: whether coalitions that
are not claimed succeed. They ask about the code and not about a run, so audits cite the results that the package ships
(`released_results.py`), and `smc-dp lab check` computes them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from protocols.arithmetic.rng import Stream
from protocols.programs import PROTOCOLS, Protocol
from protocols.runtime.claims import Trials
from smc_dp.audit.run.check import CheckOutcome, failed, not_applicable, passed
from smc_dp.audit.run.released_results import CodeCheckResult, ReleasedResults
from smc_dp.core.version import __version__
from smc_dp.leakage import limitations, role_code
from smc_dp.leakage.distributions import (
    FURTHER_RUNS,
    POWER,
    SIGNIFICANCE,
    TWO,
    DistributionCheck,
    check_distributions,
)

_SCOPE = "This result is about the protocol's code, not about this run. It is a check and not a proof"


def compute_results(protocols: Iterable[Protocol], progress: Callable[[str], None] | None = None) -> ReleasedResults:
    """Compute all checks of these protocols' code, in each small session of their claims."""
    return ReleasedResults(version=__version__, results=[x for one in protocols for x in _results(one, progress)])


def claiming_protocols() -> Mapping[str, Protocol]:
    """Return the protocols whose claim can be tried, by name."""
    return {name: one for name, one in PROTOCOLS.items() if one.claim is not None and one.claim.trials is not None}


def check_distribution(protocol: Protocol, p: Any) -> CheckOutcome:
    """Compare what claimed coalitions read in the small session p with what the simulators make."""
    return judge_distribution(
        check_distributions(protocol.program, _trials(protocol), p, _randomness("distribution", protocol, p))
    )


def check_limitations(protocol: Protocol, p: Any) -> CheckOutcome:
    """Try the attacks of the coalitions that are not claimed in the small session p."""
    tried = [sentence for sentence, _ in limitations.attacks_to_try(protocol, p)]
    if not tried or protocol.claim is None:
        return not_applicable("limitations.nothing_to_try")
    untried = [sentence for sentence in protocol.claim.limitations_of(p) if sentence not in tried]
    return judge_limitations(limitations.try_attacks(protocol, p, _randomness("limitations", protocol, p)), untried)


CODE_CHECKS: Mapping[str, Callable[[Protocol, Any], CheckOutcome]] = MappingProxyType(
    {"distribution": check_distribution, "limitations-true": check_limitations}
)
"""Checks by the name that an audit lists."""


def judge_distribution(found: DistributionCheck) -> CheckOutcome:
    """Return the outcome of the comparison of distributions."""
    worst, said = found.worst, _distribution_check_text(found)
    if not found.tests and found.p_value == 1:
        return passed("distribution.only_public", about=_SCOPE)
    if found.p_value < SIGNIFICANCE:
        return failed(
            "distribution.differs",
            about=_SCOPE,
            samples=worst.samples,
            coalition=worst.coalition,
            place=worst.comparison.place,
            p_value=found.p_value,
            said=said,
        )
    if found.missed:
        return failed("distribution.twin_not_rejected", about=_SCOPE, mutant=found.missed[0], said=said)
    return passed("distribution.holds", about=_SCOPE, p_value=found.p_value, said=said)


def _distribution_check_text(found: DistributionCheck) -> str:
    caught = found.mutants - len(found.missed)
    coalitions = len({f.coalition for f in found.found})
    more = f", {FURTHER_RUNS} on each of {found.worlds - TWO} more inputs" if found.worlds > TWO else ""
    without = f". In every execution {', '.join(found.drop_outs)} drops out" if found.drop_outs else ""
    return (
        f"There were {found.tests} exact tests on {coalitions} coalitions, at the significance level "
        f"{SIGNIFICANCE:.0e} for all together. They compared {found.runs} executions on one input, as many on "
        f"another input with the same output{more}, and {found.simulated} that the proof's simulator made{without}. "
        f"{_power(found)}. Control: of {found.mutants} copies of the protocol with a "
        f"planted fault (a field that is one bit too short), {caught} were rejected"
    )


def _power(found: DistributionCheck) -> str:
    pairs = {"the protocol and the simulator": found.simulator, "the two inputs": found.between}
    noticed = {
        who: max(power.fair, power.rarer)
        for who, power in pairs.items()
        if power.fair is not None and power.rarer is not None
    }
    if not noticed:
        return f"No difference would be noticed in {POWER:.0%} of cases"
    shifts = ", or by ".join(f"{shift:.2f} or more between {who}" for who, shift in noticed.items())
    return (
        "Each test compares two of these sets. With a leak, something that a coalition can see occurs more often in "
        f"one of them than in the other. The tests notice it in {100 * POWER:g} % of cases if the probabilities differ "
        f"by {shifts}. Smaller differences could be missed"
    )


def judge_limitations(shown: Sequence[limitations.AttackCounts], untried: Sequence[str]) -> CheckOutcome:
    """Return passed if every attack finds what is there in every execution, and never what is there in another one."""
    for one in shown:
        if one.found < one.tries or one.mistaken or not one.tries:
            return failed("limitations.attack_fails", about=_SCOPE, found=_counted(one), mistaken=one.mistaken)
    said = ". Limitations that have no attack were not tested" if untried else ""
    succeeded = " ".join(_counted(one) for one in shown)
    return passed("limitations.holds", about=_SCOPE, succeeded=succeeded, said=said)


def _counted(one: limitations.AttackCounts) -> str:
    return f'The attack succeeded in {one.found} of {one.tries} tries for this limitation: "{one.sentence}"'


def _results(protocol: Protocol, progress: Callable[[str], None] | None) -> Iterator[CodeCheckResult]:
    program, code = protocol.program, role_code.code_digest(protocol)
    sessions = _trials(protocol).sessions
    for i, p in enumerate(sessions, start=1):
        for check, compute in CODE_CHECKS.items():
            if progress:
                progress(f"{program.name}, session {i} of {len(sessions)}: {check}")
            outcome = compute(protocol, p)
            yield CodeCheckResult(
                protocol=program.name,
                protocol_version=program.version,
                parameters=p.as_dict(),
                check=check,
                code=code,
                status=outcome.status,
                detail=outcome.detail,
            )


def _trials(protocol: Protocol) -> Trials:
    if protocol.claim is None or protocol.claim.trials is None:
        raise ValueError(f"{protocol.program.name} claims nothing")
    return protocol.claim.trials


def _randomness(check: str, protocol: Protocol, p: Any) -> Stream:
    """Return public randomness that follows from what is checked, so that everybody gets the same figures."""
    return Stream.insecure_from_seed(f"{check} {protocol.program.name} {sorted(p.as_dict().items())}")
