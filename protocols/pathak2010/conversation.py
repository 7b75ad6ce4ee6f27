"""Conversation of the curator protocol and its costly operations; see `runtime.conversation`."""

from __future__ import annotations

from collections.abc import Iterator

from protocols.comparison.conversation import KEY_GENERATION_POWERS, comparison_operations
from protocols.comparison.messages import Bits, ComparisonKey, Differences
from protocols.curator import CURATOR_NAME, EVERYBODY, FIRST, OTHERS, PARTIES, around_the_first
from protocols.pathak2010 import minimum
from protocols.pathak2010.messages import (
    Blinded,
    Commitment,
    Half,
    Indicator,
    Masked,
    Match,
    Opening,
    PaillierKey,
    PublishedShare,
    Ready,
    Relay,
    Reshare,
    Selected,
    SharedKey,
    Slot,
)
from protocols.pathak2010.parameters import Parameters
from protocols.runtime.conversation import ENCRYPTION, MASK_BYTE, POWER, Conversation, Flow, Operations, Published, Turn

CHARLIE = (CURATOR_NAME,)
SETUP, STAGE1, STAGE2, STAGE3 = STAGES = ("setup", "stage1", "stage2", "stage3")
BLINDING = 4
"""Powers of the owner that cost as much as blinding, which is a power by somebody without the key."""
PUBLISHED = (Published(PublishedShare, STAGE3, EVERYBODY),)


def conversation(p: Parameters) -> Conversation:
    """Return the whole conversation."""
    stages = dict.fromkeys(EVERYBODY, STAGES)
    return Conversation(around_the_first(p), stages, tuple(_turns(p)), PUBLISHED, _operations(p))


def _operations(p: Parameters) -> Operations:
    K, packs = p.K, p.packing.packs
    opened = 2 * K + packs  # every half of a size, and the packed noise
    return {
        **common_operations(p),
        POWER: key_powers(K) + BLINDING * (K + packs) + K * packs + opened,
        ENCRYPTION: 4 * K + (K - 1) * packs,
    }


def key_powers(K: int) -> int:
    """Return the powers of stage 0: three keys, two proofs, and everybody's checks of both and of what P_1 shares."""
    return 3 * KEY_GENERATION_POWERS + 4 + 4 * (K + 1) + K


def common_operations(p: Parameters) -> Operations:
    """Return the operations that the steps as published have as well: the search, and the shares of stage 3."""
    shares = {MASK_BYTE: (p.K + 1) ** 2 * p.dimension * p.ring_bits // 8}
    return {**shares, **comparison_operations(minimum.comparisons(p.comparison, p.K), p.compared_bits)}


def _turns(p: Parameters) -> Iterator[Turn]:
    yield from key_turns(p)
    yield Turn((Flow(Relay, STAGE1, PARTIES, PARTIES),))
    yield Turn((Flow(Slot, STAGE1, PARTIES, CHARLIE),))
    yield Turn((Flow(Blinded, STAGE1, CHARLIE, PARTIES),))
    yield from comparison_turns(p)
    yield Turn((Flow(Indicator, STAGE2, CHARLIE, PARTIES),))
    yield Turn((Flow(Selected, STAGE2, (OTHERS,), (FIRST,)),))
    yield Turn((Flow(Masked, STAGE3, (FIRST,), CHARLIE),))
    yield from share_turns()


def key_turns(p: Parameters) -> Iterator[Turn]:
    """Yield the turns of stage 0."""
    yield Turn((Flow(PaillierKey, SETUP, (FIRST,), CHARLIE), Flow(PaillierKey, SETUP, CHARLIE, PARTIES)))
    yield Turn((Flow(SharedKey, SETUP, (FIRST,), (OTHERS,)), Flow(ComparisonKey, SETUP, CHARLIE, (FIRST,))))
    yield Turn((Flow(Commitment, SETUP, PARTIES, PARTIES),))
    yield Turn((Flow(Opening, SETUP, PARTIES, PARTIES),))


def comparison_turns(p: Parameters) -> Iterator[Turn]:
    """Yield the turns of steps 1.5 and 1.6: the halves to P_1, and level after level the comparisons."""
    halves: tuple[Flow, ...] = (Flow(Half, STAGE1, (OTHERS,), (FIRST,)),)
    for count in minimum.levels(p.comparison, p.K):
        offers = Flow(Match, STAGE1, CHARLIE, (FIRST,), count), Flow(Bits, STAGE1, CHARLIE, (FIRST,), count)
        yield Turn((*halves, *offers))
        yield Turn((Flow(Differences, STAGE1, (FIRST,), CHARLIE, count),))
        halves = ()


def share_turns() -> Iterator[Turn]:
    """Yield the turns of steps 3.2 and 3.3."""
    yield Turn((Flow(Reshare, STAGE3, EVERYBODY, EVERYBODY),))
    yield Turn((Flow(Ready, STAGE3, EVERYBODY, EVERYBODY),))
