"""Stage 3. Each participant gets an additive share of the sum, and publishes it when all have committed to theirs.

Masks cancel along the edges of a graph: P_1 and Charlie each share one with all, and P_2 ... P_K with the k nearest on
a ring. No coalition without both P_1 and Charlie splits it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence

from protocols.arithmetic import words
from protocols.arithmetic.ring import Vector
from protocols.crypto import commitment
from protocols.curator import CURATOR_NAME
from protocols.errors import Fault
from protocols.linear import masks
from protocols.linear.messages import Go, PublishedShare, Ready
from protocols.linear.parameters import Parameters
from protocols.linear.values import Announced, Masks
from protocols.runtime.endpoint import Endpoint


async def party(me: Endpoint, p: Parameters, summand: Vector, edges: Masks) -> Announced:
    """Run P_j. Its summand is w_j, that of P_1 w_1 - s; publishes its share of the sum."""
    y = masks.masked_share(p, summand, edges)
    # 4. nobody publishes before everybody has committed: an abort up to here reveals nothing
    committed, opening = commitment.commit(_context(me.session_id, me.name), words.canonical(y), me.rng)
    me.send(me.curator, Ready(committed))
    go = (await me.receive(me.curator, Go)).go
    # 5.
    me.publish(PublishedShare(y, opening, go))
    return Announced(y, go)


async def curator(me: Endpoint, p: Parameters, summand: Vector, edges: Masks) -> Announced:
    """Run Charlie. His summand is eta + s; publishes his share of the sum."""
    y = masks.masked_share(p, summand, edges)
    # 4. he commits like everybody else, before he sends Go
    committed, opening = commitment.commit(_context(me.session_id, me.name), words.canonical(y), me.rng)
    commitments = [ready.commitment for ready in await me.gather(p.parties, Ready)]
    commitments.insert(me.everyone.index(me.name), committed)
    go = go_digest(me.session_id, me.everyone, commitments)
    me.broadcast(p.parties, Go(go))
    # 5.
    me.publish(PublishedShare(y, opening, go))
    return Announced(y, go, tuple(commitments))


def go_digest(session_id: bytes, names: Sequence[str], commitments: Sequence[bytes]) -> bytes:
    """Return the content of Go: SHA-256 of the session, and of all names in order with their commitments."""
    each = zip(map(_name, names), commitments, strict=True)
    said = b"".join(part for pair in each for part in pair)
    return hashlib.sha256(b"smc-dp go\0" + session_id + said).digest()


def broken_commitment(
    session_id: bytes, names: tuple[str, ...], announced: Announced, published: Mapping[str, PublishedShare]
) -> tuple[str, Fault] | None:
    """Return the participant that published something else than it had announced to this one, and the fault, or None.

    An absent publication names nobody. A party knows the digest of all commitments alone, and checks that all were told
    one digest; `unlike_go` checks the shares against it, for anybody that adds them up.
    """
    for name in names:
        if name in published and published[name].go != announced.go:
            # Charlie knows what he told; between him and the other a party cannot decide
            return name if announced.commitments else f"{CURATOR_NAME} or {name}", Fault("go.of_other_commitments")
    for name, committed in zip(names, announced.commitments, strict=False):  # Charlie's own knowledge
        if name in published and not _opens(session_id, name, committed, published[name]):
            return name, Fault("share.not_as_announced")
    return None


def unlike_go(session_id: bytes, names: Sequence[str], published: Mapping[str, PublishedShare]) -> Fault | None:
    """Return the fault of all published shares together, or None.

    A participant then published another share than it had committed to, or opened it wrongly, or Charlie announced
    other commitments: the shares do not show which.
    """
    announced = {published[name].go for name in names}
    commitments = [_committed(session_id, name, published[name]) for name in names]
    if announced == {go_digest(session_id, names, commitments)}:
        return None
    return Fault("shares.not_committed_to")


def _opens(session_id: bytes, name: str, committed: bytes, share: PublishedShare) -> bool:
    return commitment.opens(committed, _context(session_id, name), words.canonical(share.y), share.opening)


def _committed(session_id: bytes, name: str, share: PublishedShare) -> bytes:
    return commitment.made(_context(session_id, name), words.canonical(share.y), share.opening)


def _name(name: str) -> bytes:
    return hashlib.sha256(name.encode()).digest()


def _context(session_id: bytes, name: str) -> bytes:
    return b"smc-dp linear share" + session_id + name.encode()
