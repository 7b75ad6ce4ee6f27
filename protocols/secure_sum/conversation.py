"""Declared conversation where nobody drops out: who sends what to whom, how often, and costly operations; see
`runtime.conversation`.
"""

from __future__ import annotations

from collections.abc import Iterator

from protocols.curator import CURATOR_NAME
from protocols.runtime.conversation import AGREEMENT, MASK_BYTE, Conversation, Flow, Operations, Published, Turn
from protocols.secure_sum.messages import (
    Accused,
    Certificate,
    Circle,
    Coin,
    Disclosed,
    Handed,
    Masked,
    Passed,
    PublishedOpening,
    PublishedShare,
    PublishedSum,
    Ready,
    Replaced,
    Result,
    Shares,
    Signed,
    Start,
    Survivors,
    Unmask,
)
from protocols.secure_sum.parameters import SETUP, SHARES, Parameters, stage

PARTY = "parties"
PARTIES, CHARLIE = (PARTY,), (CURATOR_NAME,)
PUBLISHING = "publishing"


def conversation(p: Parameters) -> Conversation:
    """Return the conversation of these parameters."""
    sums = tuple(stage(r) for r in range(p.R))
    if p.output == SHARES:
        shares = (Published(PublishedShare, stage(0), PARTIES),)
        return Conversation({PARTY: p.parties}, {PARTY: (SETUP, *sums)}, (), shares, _operations(p))
    groups = {PARTY: p.parties, CURATOR_NAME: CHARLIE}
    stages = {PARTY: (SETUP, *sums), CURATOR_NAME: (SETUP, *sums, PUBLISHING)}
    kind = PublishedOpening if p.verifiable else PublishedSum
    published = (Published(kind, PUBLISHING, CHARLIE),)
    disputes = tuple(_disputed()) if p.D and not p.degree else ()
    return Conversation(groups, stages, tuple(_turns(p)), published, _operations(p), disputes)


def _operations(p: Parameters) -> Operations:
    K, near, numbers = p.K, p.degree or p.K - 1, sum(p.length(r) for r in range(p.R))
    if p.D:  # agreements with each neighbour for each secret, and again for its mask; signatures of all on who is left
        greetings, each_sum = K * (near + 1) * (p.R + 2), K * (2 * near + 6)
    else:  # one agreement and one signature of each pair; statements go to Charlie and back
        greetings, each_sum = 2 * K * (near + 1), 3 * K
    masks = K * (near + 5)  # and each input is masked, digested at both ends and added up
    return {AGREEMENT: greetings + p.R * each_sum, MASK_BYTE: masks * numbers * p.width}


def _turns(p: Parameters) -> Iterator[Turn]:
    yield from _seated(p) if p.degree else _started(p)
    for r in range(p.R):
        yield Turn((Flow(Masked, stage(r), PARTIES, CHARLIE),))
        if p.D:
            yield from _agreed(stage(r))
        yield Turn((Flow(Result, stage(r), CHARLIE, PARTIES),))


def _started(p: Parameters) -> Iterator[Turn]:
    """Yield the turns of stages 0 and 1."""
    if p.D:
        yield Turn((Flow(Shares, SETUP, PARTIES, PARTIES),))
    yield Turn((Flow(Ready, SETUP, PARTIES, CHARLIE),))
    yield Turn((Flow(Start, SETUP, CHARLIE, PARTIES),))


def _disputed() -> Iterator[Turn]:
    """Yield the further turns of stage 1 where a dealer is accused; see `disputes.py`."""
    yield Turn((Flow(Accused, SETUP, CHARLIE, PARTIES),))
    yield Turn((Flow(Disclosed, SETUP, PARTIES, CHARLIE),))
    yield Turn(tuple(Flow(kind, SETUP, CHARLIE, PARTIES) for kind in (Start, Disclosed, Replaced)))


def _seated(p: Parameters) -> Iterator[Turn]:
    """Yield the turns of stages 0 and 1 in a sparse graph, where a party reads its neighbours' greetings only."""
    yield Turn((Flow(Coin, SETUP, PARTIES, CHARLIE),))
    yield Turn((Flow(Circle, SETUP, CHARLIE, PARTIES),))
    if p.D:
        yield Turn((Flow(Handed, SETUP, PARTIES, CHARLIE),))
        yield Turn((Flow(Passed, SETUP, CHARLIE, PARTIES),))


def _agreed(name: str) -> Iterator[Turn]:
    """Yield the turns of steps 3 to 6."""
    yield Turn((Flow(Survivors, name, CHARLIE, PARTIES),))
    yield Turn((Flow(Signed, name, PARTIES, CHARLIE),))
    yield Turn((Flow(Certificate, name, CHARLIE, PARTIES),))
    yield Turn((Flow(Unmask, name, PARTIES, CHARLIE),))
