"""Who sends what to whom, how often, and what is computed in between, as counts, where nobody vanishes; see
`runtime.conversation`.
"""

from __future__ import annotations

from collections.abc import Iterator

from protocols.curator import CURATOR_NAME
from protocols.runtime.conversation import Conversation, Flow, Labour, Published, Turn
from protocols.secure_sum.messages import (
    Certificate,
    Circle,
    Coin,
    Handed,
    Masked,
    Passed,
    PublishedOpening,
    PublishedShare,
    PublishedSum,
    Ready,
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
_SIGNED = {"statement": 1}
PUBLISHING = "publishing"


def conversation(p: Parameters) -> Conversation:
    """The whole of it."""
    sums = tuple(stage(r) for r in range(p.R))
    if p.output == SHARES:
        published = Published(PublishedShare, stage(0), PARTIES)
        shares = Turn(labour=(_keys(p), _greetings(p, PARTY), _masked(p, 0)))
        return Conversation({PARTY: p.parties}, {PARTY: (SETUP, *sums)}, (shares,), (published,))
    groups = {PARTY: p.parties, CURATOR_NAME: CHARLIE}
    stages = {PARTY: (SETUP, *sums), CURATOR_NAME: (SETUP, *sums, PUBLISHING)}
    kind = PublishedOpening if p.verifiable else PublishedSum
    return Conversation(groups, stages, tuple(_turns(p)), (Published(kind, PUBLISHING, CHARLIE),))


def _turns(p: Parameters) -> Iterator[Turn]:
    yield from _seated(p) if p.degree else _started(p)
    for r in range(p.R):
        checked = {"statement check": 1, "digest of a vector": 1}
        yield Turn((Flow(Masked, stage(r), PARTIES, CHARLIE, then=checked),), (_masked(p, r),))
        if p.D:
            yield from _agreed(p, stage(r))
        result = Labour(CURATOR_NAME, stage(r), {"addition": p.K, **({"mask": p.K} if p.D else {}), **_SIGNED})
        read = {"statement check": 1, "digest of a vector": 2}
        yield Turn((Flow(Result, stage(r), CHARLIE, PARTIES, then=read),), (result,))


def _started(p: Parameters) -> Iterator[Turn]:
    """Stages 0 and 1."""
    greetings = _keys(p), *(_greetings(p, group) for group in (PARTY, CURATOR_NAME))
    if p.D:
        yield Turn((Flow(Shares, SETUP, PARTIES, PARTIES, then={"leaf": p.R}),), greetings)
        greetings = ()
    yield Turn((Flow(Ready, SETUP, PARTIES, CHARLIE),), greetings)
    yield Turn((Flow(Start, SETUP, CHARLIE, PARTIES),))


def _seated(p: Parameters) -> Iterator[Turn]:
    """The same in a circle, where a party looks at its neighbours' greetings only."""
    K, R, near = p.K, p.R, p.degree
    mine = Labour(PARTY, SETUP, {"greeting read": 1, "signature check": 1, "secret dealt": 2 * R, "mask key": 1})
    yield Turn((Flow(Coin, SETUP, PARTIES, CHARLIE, then={"node": 2}),), (_keys(p), mine))
    his = Labour(CURATOR_NAME, SETUP, {"greeting read": K, "agreement": K * (R + 1), "node": 2 * K})
    yield Turn((Flow(Circle, SETUP, CHARLIE, PARTIES, then={"node": (K - 1).bit_length()}),), (his,))
    read = {"greeting read": near, "signature check": near, "agreement": near * (R + 2), "node": 2 * near * R}
    yield Turn((Flow(Handed, SETUP, PARTIES, CHARLIE),), (Labour(PARTY, SETUP, read),))
    yield Turn((Flow(Passed, SETUP, CHARLIE, PARTIES, then={"leaf": near * R, "node": 2 * near * R}),))


def _keys(p: Parameters) -> Labour:
    """What a party makes for its greeting, where all its secrets come from: its keys, and shares of them."""
    dealt = {"secret dealt": 2 * p.R, "leaf": p.R * p.holders} if p.D else {}
    return Labour(PARTY, SETUP, {"mask key": p.R + 1 if p.D else 1, **dealt}, keys=True)


def _agreed(p: Parameters, name: str) -> Iterator[Turn]:
    """Steps 3 to 6, and what Charlie opens."""
    near, depth = p.holders, (p.R - 1).bit_length()
    signs = tuple(Labour(group, name, {"statement": 1}) for group in (CURATOR_NAME, PARTY))
    yield Turn((Flow(Survivors, name, CHARLIE, PARTIES, then={"statement check": 1}),), signs[:1])
    yield Turn((Flow(Signed, name, PARTIES, CHARLIE, then={"statement check": 1}),), signs[1:])
    yield Turn((Flow(Certificate, name, CHARLIE, PARTIES, then={"statement check": near}),))
    shown = Labour(PARTY, name, {"node": near * (1 + p.R if depth else 1)})
    yield Turn((Flow(Unmask, name, PARTIES, CHARLIE, then={"leaf": near, "node": near * depth}),), (shown,))
    yield Turn(labour=(Labour(CURATOR_NAME, name, {"secret opened": p.K}),))


def _greetings(p: Parameters, group: str) -> Labour:
    """All greetings are read and checked, and a party makes its own secrets once more."""
    keys = p.R if p.D else 1
    made = {"secret dealt": 2 * p.R} if p.D else {}
    agreed = {"agreement": p.K * keys} if p.D or group != PARTY else {"closed agreement": p.K - 1}
    own = {"mask key": 1, **made} if group == PARTY else {}
    checked = {"signature check": p.K} if group == PARTY and not p.D else {}  # of others it has links with all of them
    return Labour(group, SETUP, {"greeting read": p.K, **checked, **agreed, **own})


def _masked(p: Parameters, r: int) -> Labour:
    """A party's masked input to sum r, with a signature where it goes to Charlie."""
    signed = {} if p.output == SHARES else {"digest of a vector": 1, **_SIGNED}
    others = p.degree or p.K - 1
    masks = {"agreement": others, "mask": others + 1} if p.D else {"closed mask": others}
    return Labour(PARTY, stage(r), {**masks, "addition": 2, **signed})
