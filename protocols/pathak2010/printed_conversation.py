"""The conversation of the steps as printed, for a permutation that leaves no party its own share.

Of step 1.2 there is one letter less for each party that pi_1 maps to itself: on average one.
"""

from __future__ import annotations

from collections.abc import Iterator

from protocols.curator import CURATOR_NAME, EVERYBODY, FIRST, PARTIES, around_the_first
from protocols.pathak2010.as_printed import (
    PrintedCuratorShare,
    PrintedMasked,
    PrintedSelected,
    PrintedShare,
    PrintedSlot,
)
from protocols.pathak2010.conversation import (
    CHARLIE,
    PUBLISHED,
    STAGE1,
    STAGE2,
    STAGE3,
    STAGES,
    comparison_turns,
    each_of,
    key_turns,
    share_turns,
)
from protocols.pathak2010.messages import Blinded, Indicator
from protocols.pathak2010.parameters import Parameters
from protocols.runtime.conversation import Arcs, Conversation, Flow, Labour, Turn


def conversation(p: Parameters, shares: Arcs | None = None) -> Conversation:
    """The whole of it; `shares`: to whom each party sends its share in step 1.2, else each to the next one."""
    onward = {name: (p.parties[(j + 1) % p.K],) for j, name in enumerate(p.parties)}
    arcs = onward if shares is None else shares
    return Conversation(around_the_first(p), dict.fromkeys(EVERYBODY, STAGES), tuple(_turns(p, arcs)), PUBLISHED)


def _turns(p: Parameters, arcs: Arcs) -> Iterator[Turn]:
    K, d = p.K, p.dimension
    yield from key_turns(p)
    share = Flow(PrintedShare, STAGE1, PARTIES, PARTIES, arcs=arcs)
    yield Turn((share, Flow(PrintedCuratorShare, STAGE1, PARTIES, CHARLIE)))
    yield Turn((Flow(PrintedSlot, STAGE1, PARTIES, CHARLIE),), each_of(PARTIES, STAGE1, {"first own encryption": 1}))
    yield Turn((Flow(Blinded, STAGE1, CHARLIE, PARTIES),), (Labour(CURATOR_NAME, STAGE1, {"blinding": K}),))
    yield from comparison_turns(p)
    indicator = Labour(CURATOR_NAME, STAGE2, {"own encryption": K})
    yield Turn((Flow(Indicator, STAGE2, CHARLIE, PARTIES),), (indicator,))
    powers = each_of(PARTIES, STAGE2, {"printed scaling": d})
    yield Turn((Flow(PrintedSelected, STAGE2, PARTIES, PARTIES),), powers)
    products = each_of(PARTIES, STAGE2, {"product": K * d})
    blinding = Labour(FIRST, STAGE3, {"blinding": d})
    yield Turn((Flow(PrintedMasked, STAGE3, (FIRST,), CHARLIE),), (*products, blinding))
    yield from share_turns(p, d)
