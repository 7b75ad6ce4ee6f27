"""Who sends what to whom, how often, and what is computed in between, as counts; see `runtime.conversation`."""

from __future__ import annotations

from protocols.comparison.messages import Bits, ComparisonKey, Differences
from protocols.comparison.parameters import Comparisons
from protocols.comparison.signs import CHOOSER, HOLDER
from protocols.runtime.conversation import Conversation, Flow, Labour, Turn

_OWN = {CHOOSER: "key of chooser", HOLDER: "key of holder"}
_SIGNS = "signs"


def conversation(p: Comparisons) -> Conversation:
    """The key, all offers at once, an answer to each."""
    groups, terms = {name: (name,) for name in (CHOOSER, HOLDER)}, p.compared_bits + 1
    key = Flow(ComparisonKey, _OWN[HOLDER], (HOLDER,), (CHOOSER,), read=_OWN[CHOOSER])
    offers = Flow(Bits, _SIGNS, (HOLDER,), (CHOOSER,), p.comparisons, each={"bit": p.compared_bits})
    answers = Flow(
        Differences, _SIGNS, (CHOOSER,), (HOLDER,), p.comparisons,
        each={"difference": terms}, then={"zero test": terms}, answers=True,
    )  # fmt: skip
    made = Labour(HOLDER, _OWN[HOLDER], {"comparison key": 1}, keys=True)
    stages = {name: (own, _SIGNS) for name, own in _OWN.items()}
    return Conversation(groups, stages, (Turn((key,), (made,)), Turn((offers,)), Turn((answers,))))
