"""Conversation of the linear path and its costly operations; see `runtime.conversation`."""

from __future__ import annotations

from collections.abc import Iterator

from protocols.comparison.garbled import Choices, Extension, OtKey, Tables
from protocols.crypto import garbling
from protocols.curator import CURATOR_NAME, EVERYBODY, FIRST, OTHERS, PARTIES, around_the_first
from protocols.linear.messages import BoxKey, Go, LockedRows, Neighbour, PublishedShare, Ready, Share, Submit
from protocols.linear.parameters import Parameters
from protocols.pathak2010.noisy_sum import SIZE_BITS
from protocols.runtime.conversation import (
    AGREEMENT,
    GATE,
    MASK_BYTE,
    TRANSFER_AGREEMENTS,
    Arcs,
    Conversation,
    Flow,
    Operations,
    Published,
    Turn,
)

CHARLIE, HUB, REST = (CURATOR_NAME,), (FIRST,), (OTHERS,)
SETUP, SUBMISSION, SELECTION, PUBLICATION = STAGES = ("setup", "submission", "selection", "publication")


def conversation(p: Parameters) -> Conversation:
    """Return the whole conversation."""
    stages = {FIRST: STAGES, OTHERS: (SETUP, SUBMISSION, PUBLICATION), CURATOR_NAME: STAGES}
    ring = {name: [p.parties[i] for i in p.after(j)] for j, name in enumerate(p.parties)}
    published = (Published(PublishedShare, PUBLICATION, EVERYBODY),)
    return Conversation(around_the_first(p), stages, tuple(_turns(p, ring)), published, _operations(p, ring))


def _turns(p: Parameters, ring: Arcs) -> Iterator[Turn]:
    keys = (Flow(BoxKey, SETUP, CHARLIE, PARTIES), Flow(OtKey, SETUP, CHARLIE, HUB))
    yield Turn(keys)
    yield Turn(
        (
            Flow(Submit, SUBMISSION, REST, HUB),
            Flow(Share, SUBMISSION, PARTIES, CHARLIE),
            Flow(Neighbour, SUBMISSION, REST, REST, arcs=ring),
            Flow(Choices, SUBMISSION, HUB, CHARLIE),
        )
    )
    yield Turn((Flow(Ready, PUBLICATION, REST, CHARLIE),))
    yield Turn((Flow(Extension, SELECTION, CHARLIE, HUB),))
    locked = Flow(LockedRows, SELECTION, HUB, CHARLIE, p.row_parts)
    yield Turn((Flow(Tables, SELECTION, HUB, CHARLIE, p.table_parts), locked))
    yield Turn((Flow(Ready, PUBLICATION, HUB, CHARLIE),))
    yield Turn((Flow(Go, PUBLICATION, CHARLIE, PARTIES),))


def _operations(p: Parameters, ring: Arcs) -> Operations:
    edges = 2 * p.K - 1 + sum(map(len, ring.values()))  # each has a mask at both ends
    masks = 2 * edges + 4 * p.K  # and each row is masked, put under s, locked and added up
    return {
        AGREEMENT: TRANSFER_AGREEMENTS + 2 * p.K,
        GATE: garbling.and_count(p.K, SIZE_BITS),
        MASK_BYTE: masks * p.dimension * p.width,
    }
