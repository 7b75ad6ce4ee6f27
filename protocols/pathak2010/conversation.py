"""Who sends what to whom, how often, and what is computed in between, as counts; see `runtime.conversation`."""

from __future__ import annotations

from collections.abc import Iterator

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
from protocols.runtime.conversation import Conversation, Flow, Labour, Operations, Published, Turn

CHARLIE = (CURATOR_NAME,)
SETUP, STAGE1, STAGE2, STAGE3 = STAGES = ("setup", "stage1", "stage2", "stage3")
PUBLISHED = (Published(PublishedShare, STAGE3, EVERYBODY),)


def conversation(p: Parameters) -> Conversation:
    """The whole of it."""
    return Conversation(around_the_first(p), dict.fromkeys(EVERYBODY, STAGES), tuple(_turns(p)), PUBLISHED)


def _turns(p: Parameters) -> Iterator[Turn]:
    K, packs = p.K, p.packing.packs
    yield from key_turns(p)
    yield Turn((Flow(Relay, STAGE1, PARTIES, PARTIES),), each_of(PARTIES, STAGE1, {"encryption": 1}))
    slot = {"first own encryption": 1, "encryption": 1}  # to refresh is to encrypt zero
    yield Turn((Flow(Slot, STAGE1, PARTIES, CHARLIE),), each_of(PARTIES, STAGE1, slot))
    blinding = Labour(CURATOR_NAME, STAGE1, {"blinding": K, "narrow decryption": K})
    yield Turn((Flow(Blinded, STAGE1, CHARLIE, PARTIES),), (blinding,))
    yield from comparison_turns(p)
    indicator = Labour(CURATOR_NAME, STAGE2, {"own encryption": K})
    yield Turn((Flow(Indicator, STAGE2, CHARLIE, PARTIES),), (indicator,))
    selected = Labour(OTHERS, STAGE2, {"encryption": packs})
    yield Turn((Flow(Selected, STAGE2, (OTHERS,), (FIRST,)),), (*each_of(PARTIES, STAGE2, {"scaling": 1}), selected))
    masking = Labour(FIRST, STAGE2, {"product": K * packs}), Labour(FIRST, STAGE3, {"blinding": packs})
    yield Turn((Flow(Masked, STAGE3, (FIRST,), CHARLIE),), masking)
    yield from share_turns(p, packs)


def key_turns(p: Parameters) -> Iterator[Turn]:
    """Stage 0."""
    mine = Labour(FIRST, SETUP, {"Paillier key": 1}, keys=True)
    his = Labour(CURATOR_NAME, SETUP, {"Paillier key": 1, "comparison key": 1}, keys=True)
    proofs = (Labour(group, SETUP, {"key proof": 1}) for group in (FIRST, CURATOR_NAME))
    keys = Flow(PaillierKey, SETUP, (FIRST,), CHARLIE), Flow(PaillierKey, SETUP, CHARLIE, PARTIES)
    yield Turn(keys, (mine, his, *proofs))
    checks = tuple(Labour(group, SETUP, {"key check": 1}) for group in EVERYBODY)
    yield Turn((Flow(SharedKey, SETUP, (FIRST,), (OTHERS,)), Flow(ComparisonKey, SETUP, CHARLIE, (FIRST,))), checks)
    yield Turn((Flow(Commitment, SETUP, PARTIES, PARTIES),), (Labour(OTHERS, SETUP, {"key assembly": 1}),))
    yield Turn((Flow(Opening, SETUP, PARTIES, PARTIES),))


def comparison_turns(p: Parameters) -> Iterator[Turn]:
    """Steps 1.5 and 1.6: the halves to P_1, and level after level the comparisons."""
    halves: tuple[Flow, ...] = (Flow(Half, STAGE1, (OTHERS,), (FIRST,)),)
    opened = each_of(PARTIES, STAGE1, {"first decryption": 1})
    offer, answer = {"bit": p.compared_bits}, {"difference": p.compared_bits + 1}
    for count in minimum.levels(p.comparison, p.K):
        asked = Flow(Match, STAGE1, CHARLIE, (FIRST,), count), Flow(Bits, STAGE1, CHARLIE, (FIRST,), count, each=offer)
        yield Turn((*halves, *asked), opened)
        seen = {"zero test": p.compared_bits + 1}
        answers = Flow(Differences, STAGE1, (FIRST,), CHARLIE, count, each=answer, then=seen, answers=True)
        yield Turn((answers,))
        halves, opened = (), ()


def share_turns(p: Parameters, packs: int) -> Iterator[Turn]:
    """Steps 3.2 and 3.3."""
    shares = (
        Labour(CURATOR_NAME, STAGE3, {"decryption": packs}),
        *each_of(EVERYBODY, STAGE3, {"additive share": p.K + 1}),
    )
    yield Turn((Flow(Reshare, STAGE3, EVERYBODY, EVERYBODY),), shares)
    yield Turn((Flow(Ready, STAGE3, EVERYBODY, EVERYBODY),), each_of(EVERYBODY, STAGE3, {"commitment": 1}))


def each_of(groups: tuple[str, ...], stage: str, operations: Operations) -> tuple[Labour, ...]:
    """The same of everybody in several groups."""
    return tuple(Labour(group, stage, operations) for group in groups)
