"""Who sends what to whom, how often, and what is computed in between, as counts; see `runtime.conversation`."""

from __future__ import annotations

from collections.abc import Iterator

from protocols.comparison.garbled import Choices, Extension, OtKey, Tables
from protocols.curator import CURATOR_NAME, EVERYBODY, FIRST, OTHERS, PARTIES, around_the_first
from protocols.linear.messages import BoxKey, Go, LockedRows, Neighbour, PublishedShare, Ready, Share, Submit
from protocols.linear.parameters import Parameters
from protocols.runtime.conversation import Conversation, Flow, Labour, Published, Turn

CHARLIE, HUB, REST = (CURATOR_NAME,), (FIRST,), (OTHERS,)
SETUP, SUBMISSION, SELECTION, PUBLICATION = STAGES = ("setup", "submission", "selection", "publication")


def conversation(p: Parameters) -> Conversation:
    """The whole of it."""
    stages = {FIRST: STAGES, OTHERS: (SETUP, SUBMISSION, PUBLICATION), CURATOR_NAME: STAGES}
    return Conversation(
        around_the_first(p), stages, tuple(_turns(p)), (Published(PublishedShare, PUBLICATION, EVERYBODY),)
    )


def _turns(p: Parameters) -> Iterator[Turn]:
    keys = (Flow(BoxKey, SETUP, CHARLIE, PARTIES), Flow(OtKey, SETUP, CHARLIE, HUB))
    yield Turn(keys, (Labour(CURATOR_NAME, SETUP, {"transfers offered": 1}, keys=True),))
    ring = {name: [p.parties[i] for i in p.after(j)] for j, name in enumerate(p.parties)}
    rows = Labour(FIRST, SUBMISSION, {"transfers chosen": 1, "row": 1}), Labour(OTHERS, SUBMISSION, {"row": 1})
    yield Turn(
        (
            Flow(Submit, SUBMISSION, REST, HUB),
            Flow(Share, SUBMISSION, PARTIES, CHARLIE),
            Flow(Neighbour, SUBMISSION, REST, REST, arcs=ring),
            Flow(Choices, SUBMISSION, HUB, CHARLIE),
        ),
        rows,
    )
    edges = 2 + 2 * sum(map(len, ring.values())) // max(1, p.K - 1)
    yield Turn((Flow(Ready, PUBLICATION, REST, CHARLIE),), (_share(OTHERS, edges),))
    yield Turn(
        (Flow(Extension, SELECTION, CHARLIE, HUB),), (Labour(CURATOR_NAME, SELECTION, {"transfers extended": 1}),)
    )
    garbling = Labour(FIRST, SELECTION, {"search garbled": 1, "row under s": p.K, "row lock": p.K})
    locked = Flow(LockedRows, SELECTION, HUB, CHARLIE, p.row_parts)
    yield Turn((Flow(Tables, SELECTION, HUB, CHARLIE, p.table_parts), locked), (garbling,))
    yield Turn((Flow(Ready, PUBLICATION, HUB, CHARLIE),), (_share(FIRST, p.K),))
    opening = Labour(CURATOR_NAME, SELECTION, {"search evaluated": 1, "row opened": 1})
    yield Turn((Flow(Go, PUBLICATION, CHARLIE, PARTIES),), (opening, _share(CURATOR_NAME, p.K)))


def _share(group: str, edges: int) -> Labour:
    return Labour(group, PUBLICATION, {"summand": 1, "edge": edges})
