"""Conversation of the steps as published, for a permutation that leaves no party its own share.

Step 1.2 has one message less for each party that pi_1 maps to itself: on average one.
"""

from __future__ import annotations

from collections.abc import Iterator

from protocols.curator import EVERYBODY, FIRST, PARTIES, around_the_first
from protocols.pathak2010.as_published import (
    PrintedCuratorShare,
    PrintedMasked,
    PrintedSelected,
    PrintedShare,
    PrintedSlot,
)
from protocols.pathak2010.conversation import (
    BLINDING,
    CHARLIE,
    PUBLISHED,
    STAGE1,
    STAGE2,
    STAGE3,
    STAGES,
    common_operations,
    comparison_turns,
    key_powers,
    key_turns,
    share_turns,
)
from protocols.pathak2010.messages import Blinded, Indicator
from protocols.pathak2010.parameters import Parameters
from protocols.runtime.conversation import ENCRYPTION, POWER, Arcs, Conversation, Flow, Operations, Turn


def conversation(p: Parameters, shares: Arcs | None = None) -> Conversation:
    """Return the whole conversation; `shares`: addressees of each party's share in step 1.2, else the next party."""
    onward = {name: (p.parties[(j + 1) % p.K],) for j, name in enumerate(p.parties)}
    arcs = onward if shares is None else shares
    stages = dict.fromkeys(EVERYBODY, STAGES)
    return Conversation(around_the_first(p), stages, tuple(_turns(p, arcs)), PUBLISHED, _operations(p))


def _operations(p: Parameters) -> Operations:
    K, d = p.K, p.dimension
    scaling = BLINDING * K * d * p.ring_bits // p.key_bits  # powers with exponents as long as a number of the ring
    powers = key_powers(K) + BLINDING * (K + d) + scaling + 2 * K + d
    return {**common_operations(p), POWER: powers, ENCRYPTION: 2 * K}


def _turns(p: Parameters, arcs: Arcs) -> Iterator[Turn]:
    yield from key_turns(p)
    share = Flow(PrintedShare, STAGE1, PARTIES, PARTIES, arcs=arcs)
    yield Turn((share, Flow(PrintedCuratorShare, STAGE1, PARTIES, CHARLIE)))
    yield Turn((Flow(PrintedSlot, STAGE1, PARTIES, CHARLIE),))
    yield Turn((Flow(Blinded, STAGE1, CHARLIE, PARTIES),))
    yield from comparison_turns(p)
    yield Turn((Flow(Indicator, STAGE2, CHARLIE, PARTIES),))
    yield Turn((Flow(PrintedSelected, STAGE2, PARTIES, PARTIES),))
    yield Turn((Flow(PrintedMasked, STAGE3, (FIRST,), CHARLIE),))
    yield from share_turns()
