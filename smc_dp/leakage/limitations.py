"""Attacks by coalitions outside of a claim, which must succeed: else the claim would be needlessly narrow."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from protocols.arithmetic.rng import Stream
from protocols.programs import Protocol
from protocols.runtime.claims import Attack, Inputs
from protocols.runtime.simulate import Run
from smc_dp.leakage.executions import execute

RUNS = 12
_PARTIES = 5  # in other sessions, where that is asked: enough for every kind of coalition


@dataclass(frozen=True)
class AttackCounts:
    """Counts for the attack of one sentence: right answers, and answers that fit another execution."""

    sentence: str
    found: int
    tries: int
    mistaken: int


def try_attacks(protocol: Protocol, p: Any, rng: Stream, runs: int = RUNS) -> tuple[AttackCounts, ...]:
    """Try all attacks on executions whose private inputs are drawn uniformly, with each length of keys in turn."""
    claim = protocol.claim
    lengths = claim.trials.with_key_lengths(p) if claim and claim.trials else (p,)
    tries = [_tried(protocol, lengths[i % len(lengths)], rng.fork(f"run {i}")) for i in range(runs)]
    return tuple(_shown(sentence, attack, tries) for sentence, attack in attacks_to_try(protocol, p))


def attacks_to_try(protocol: Protocol, p: Any) -> list[tuple[str, Attack]]:
    """Return every attack of the claim with its sentence, without those whose coalitions only other sessions have."""
    if protocol.claim is None:
        return []
    first = protocol.model.sample(_PARTIES)
    others = protocol.model.profiles(first)
    elsewhere = (first, *others) if others else ()
    known = [(u.sentence, u.attack) for u in protocol.claim.limitations if u.attack]
    return [(said, a) for said, a in known if a.coalitions(p) or not any(a.coalitions(q) for q in elsewhere)]


@dataclass(frozen=True, repr=False)
class _Try:
    """Execution on random inputs."""

    p: Any
    inputs: Inputs
    run: Run


def _tried(protocol: Protocol, p: Any, rng: Stream) -> _Try:
    drawn = rng.fork("inputs")
    inputs = protocol.model.inputs(p, lambda name, bits: drawn.bits(bits))
    return _Try(p, inputs, execute(protocol.program, p, inputs, rng))


def _shown(sentence: str, attack: Attack, done: list[_Try]) -> AttackCounts:
    truths = [_truths(attack, one.p, one.inputs) for one in done]
    found = tries = mistaken = 0
    for i, one in enumerate(done):
        elsewhere = list(truths[i - 1].values())
        for names, truth in truths[i].items():
            got = _got(attack, one.p, one.run, names)
            tries, found, mistaken = tries + 1, found + (got == truth), mistaken + (got in elsewhere)
    return AttackCounts(sentence, found, tries, mistaken)


def _got(attack: Attack, p: Any, run: Run, names: tuple[str, ...]) -> Any:
    """Return what this coalition finds; None where the attack finds nothing to work with."""
    try:
        return attack.find(p, tuple(run.views[name] for name in names), run.published)
    except (LookupError, ValueError):
        return None


def _truths(attack: Attack, p: Any, inputs: Inputs) -> dict[tuple[str, ...], Any]:
    """Return the secret to be found for each coalition for which there is any."""
    truths = ((names, attack.truth(p, inputs, names)) for names in attack.coalitions(p))
    return {names: truth for names, truth in truths if truth is not None}
