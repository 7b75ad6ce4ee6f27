"""The coalitions outside of a claim, shown to succeed: else the claim would be timid, and its boundary not real."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from protocols.arithmetic.rng import Stream
from protocols.programs import Protocol
from protocols.runtime.claims import Attack, Inputs
from protocols.runtime.simulate import Run
from smc_dp.leakage.executions import execute

RUNS = 12
PARTIES = 5  # in other sessions, where that is asked: enough for every kind of coalition


@dataclass(frozen=True)
class Shown:
    """How often the attack of one sentence found what was there, and how often what was there in another execution."""

    sentence: str
    found: int
    tries: int
    mistaken: int


def boundary(protocol: Protocol, p: Any, rng: Stream, runs: int = RUNS) -> tuple[Shown, ...]:
    """Try all attacks on executions whose private inputs are drawn uniformly, with each length of keys in turn."""
    claim = protocol.claim
    lengths = claim.trials.lengths(p) if claim and claim.trials else (p,)
    tries = [_tried(protocol, lengths[i % len(lengths)], rng.fork(f"run {i}")) for i in range(runs)]
    return tuple(_shown(sentence, attack, tries) for sentence, attack in attacks(protocol, p))


def attacks(protocol: Protocol, p: Any) -> list[tuple[str, Attack]]:
    """Every attack of the claim with its sentence, but for those that only other sessions of this protocol have
    coalitions for.
    """
    if protocol.claim is None:
        return []
    first = protocol.model.sample(PARTIES)
    others = protocol.model.profiles(first)
    elsewhere = (first, *others) if others else ()
    known = [(u.sentence, u.attack) for u in protocol.claim.limitations if u.attack]
    return [(said, a) for said, a in known if a.coalitions(p) or not any(a.coalitions(q) for q in elsewhere)]


@dataclass(frozen=True, repr=False)
class _Try:
    """One execution on inputs that were drawn."""

    p: Any
    inputs: Inputs
    run: Run


def _tried(protocol: Protocol, p: Any, rng: Stream) -> _Try:
    drawn = rng.fork("inputs")
    inputs = protocol.model.inputs(p, lambda name, bits: drawn.bits(bits))
    return _Try(p, inputs, execute(protocol.program, p, inputs, rng))


def _shown(sentence: str, attack: Attack, done: list[_Try]) -> Shown:
    truths = [_truths(attack, one.p, one.inputs) for one in done]
    found = tries = mistaken = 0
    for i, one in enumerate(done):
        elsewhere = list(truths[i - 1].values())
        for names, truth in truths[i].items():
            got = _got(attack, one.p, one.run, names)
            tries, found, mistaken = tries + 1, found + (got == truth), mistaken + (got in elsewhere)
    return Shown(sentence, found, tries, mistaken)


def _got(attack: Attack, p: Any, run: Run, names: tuple[str, ...]) -> Any:
    """What this coalition finds; None where the attack finds nothing to work with."""
    try:
        return attack.find(p, tuple(run.views[name] for name in names), run.published)
    except (LookupError, ValueError):
        return None


def _truths(attack: Attack, p: Any, inputs: Inputs) -> dict[tuple[str, ...], Any]:
    """What is there to be found for each coalition for which there is anything."""
    truths = ((names, attack.truth(p, inputs, names)) for names in attack.coalitions(p))
    return {names: truth for names, truth in truths if truth is not None}
