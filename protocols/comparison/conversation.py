"""Conversation of the comparison and its costly operations; see `runtime.conversation`."""

from __future__ import annotations

from protocols.comparison.messages import Bits, ComparisonKey, Differences
from protocols.comparison.parameters import Comparisons
from protocols.comparison.signs import CHOOSER, HOLDER
from protocols.runtime.conversation import BIT, POWER, Conversation, Flow, Operations, Turn

_OWN = {CHOOSER: "key of chooser", HOLDER: "key of holder"}
_SIGNS = "signs"
KEY_GENERATION_POWERS = 20
"""Powers that finding the primes of a key takes, on average."""


def conversation(p: Comparisons) -> Conversation:
    """Return the conversation: the key, all offers at once, an answer to each."""
    groups = {name: (name,) for name in (CHOOSER, HOLDER)}
    key = Flow(ComparisonKey, _OWN[HOLDER], (HOLDER,), (CHOOSER,), read=_OWN[CHOOSER])
    offers = Flow(Bits, _SIGNS, (HOLDER,), (CHOOSER,), p.comparisons)
    answers = Flow(Differences, _SIGNS, (CHOOSER,), (HOLDER,), p.comparisons)
    stages = {name: (own, _SIGNS) for name, own in _OWN.items()}
    turns = tuple(Turn((flow,)) for flow in (key, offers, answers))
    return Conversation(
        groups,
        stages,
        turns,
        operations={POWER: KEY_GENERATION_POWERS, **comparison_operations(p.comparisons, p.compared_bits)},
    )


def comparison_operations(count: int, bits: int) -> Operations:
    """Return the operations of `count` comparisons: an encryption, a difference (two) and a zero test for each bit."""
    return {BIT: 4 * count * (bits + 1)}
