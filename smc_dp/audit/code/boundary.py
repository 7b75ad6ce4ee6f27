"""The coalitions outside of a claim, shown to succeed: else the claim would be timid, and its boundary not real."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from protocols.arithmetic.rng import Stream
from protocols.programs import Protocol
from protocols.runtime.claims import Attack, Inputs, Model
from protocols.runtime.simulate import Run
from smc_dp.audit.code.executions import execute

RUNS = 12


@dataclass(frozen=True)
class Shown:
    """How often the attack of one sentence found what was there, and how often what was there in another execution."""

    sentence: str
    found: int
    tries: int
    mistaken: int


def boundary(protocol: Protocol, p: Any, rng: Stream, runs: int = RUNS) -> tuple[Shown, ...]:
    """Try every attack of the claim on executions whose private inputs are drawn uniformly."""
    attacks = [(u.sentence, u.attack) for u in protocol.claim.not_claimed if u.attack] if protocol.claim else []
    inputs = [_uniform(protocol.model, p, rng.fork(f"inputs {i}")) for i in range(runs)]
    done = [execute(protocol.program, p, known, rng.fork(f"run {i}")) for i, known in enumerate(inputs)]
    return tuple(_shown(sentence, attack, p, inputs, done) for sentence, attack in attacks)


def _uniform(model: Model, p: Any, rng: Stream) -> Inputs:
    return model.inputs(p, lambda name, bits: rng.bits(bits))


def _shown(sentence: str, attack: Attack, p: Any, inputs: list[Inputs], done: list[Run]) -> Shown:
    truths = [_truths(attack, p, known) for known in inputs]
    found = tries = mistaken = 0
    for i, run in enumerate(done):
        elsewhere = list(truths[i - 1].values())
        for names, truth in truths[i].items():
            got = _got(attack, p, run, names)
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
