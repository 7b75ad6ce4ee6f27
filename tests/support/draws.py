"""Parameters drawn at random for every program, toy keys among them, and a run under them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

from protocols.arithmetic.rng import Stream
from protocols.comparison.parameters import Comparisons
from protocols.linear.parameters import Parameters as LinearParameters
from protocols.pathak2010.as_published import PrintedShare
from protocols.pathak2010.parameters import COMPARISONS, Parameters
from protocols.programs import PROTOCOLS
from protocols.runtime.conversation import Conversation
from protocols.runtime.envelope import Envelope
from protocols.runtime.session import Session
from protocols.runtime.simulate import Run
from protocols.secure_sum.parameters import SHARES, Block, most_dropouts
from protocols.secure_sum.parameters import Parameters as SumParameters
from support.sessions import start

PRINTED = "pathak2010-as-printed-insecure"
Draw = Callable[[Stream], Any]


def _between(rng: Stream, least: int, most: int) -> int:
    return least + rng.below(most - least + 1)


def _names(rng: Stream, most: int) -> tuple[str, ...]:
    """Of different lengths, in bytes and in letters."""
    called = ("p", "hospital-", "Müller & Söhne ")[rng.below(3)]
    return tuple(f"{called}{j}" for j in range(1, _between(rng, 2, most) + 1))


def _curator(rng: Stream) -> Parameters:
    bits, ring = (288, 512, 528)[rng.below(3)], (8, 64)[rng.below(2)]
    return Parameters(_names(rng, 12), _between(rng, 1, 40), bits, ring, COMPARISONS[rng.below(len(COMPARISONS))])


def _linear(rng: Stream) -> LinearParameters:
    names = _names(rng, 40)
    return LinearParameters(names, _between(rng, 1, 60), (64, 128)[rng.below(2)], 2 * _between(rng, 1, 5))


def _sums(rng: Stream) -> SumParameters:
    names = _names(rng, 12)
    t = rng.below(len(names))
    D = rng.below(most_dropouts(len(names), t) + 1)
    blocks = tuple((Block(_between(rng, 1, 300), "none"),) * _between(rng, 1, 2) for _ in range(_between(rng, 1, 5)))
    if len(names) > 7 and not rng.below(3):
        return SumParameters(names, 1, _between(rng, 1, 2), blocks, degree=6)
    made = SumParameters(names, t, D, blocks, (8, 64, 128)[rng.below(3)], verifiable=not rng.below(2))
    if len(names) > 5 and not rng.below(3):
        return replace(made, colluders=0, dropouts=1, verifiable=False, degree=4)
    if len(names) > 2 and not rng.below(4):
        return replace(made, colluders=1, dropouts=0, verifiable=False, degree=2)
    if rng.below(4):
        return made
    return replace(made, dropouts=0, sums=blocks[:1], verifiable=False, output=SHARES)


DRAWS: Mapping[str, Draw] = {
    "pathak2010": _curator,
    PRINTED: lambda rng: replace(_curator(rng), parties=_names(rng, 6), dimension=_between(rng, 1, 6)),
    "comparison": lambda rng: Comparisons(_between(rng, 1, 30), _between(rng, 2, 40), 512),
    "linear": _linear,
    "secure_sum": _sums,
}


class Ran(NamedTuple):
    """A session, what it left, its envelopes, and what its program says of them beforehand."""

    session: Session
    run: Run
    envelopes: list[Envelope]
    conversation: Conversation


def ran(name: str, p: Any, seed: str, **setting: Any) -> Ran:
    """A run under these parameters, in which nobody vanishes."""
    protocol, rng = PROTOCOLS[name], Stream.insecure_from_seed(f"inputs {seed}")
    inputs = protocol.model.inputs(p, lambda _, bits: rng.bits(bits))
    made = start(protocol.program, p, inputs, seed)
    run = made.simulate(**setting)
    envelopes = run.transcript.envelopes
    return Ran(made.session, run, envelopes, conversation(name, p, envelopes))


def conversation(name: str, p: Any, envelopes: list[Envelope]) -> Conversation:
    """What the program declares; of the steps as printed for the permutation that was tossed."""
    declared: Any = PROTOCOLS[name].conversation
    if name != PRINTED:
        return declared(p)  # type: ignore[no-any-return]
    shares = {e.sender: (e.to,) for e in envelopes if e.kind == PrintedShare.__name__}
    return declared(p, shares)  # type: ignore[no-any-return]
