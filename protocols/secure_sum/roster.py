"""Who takes part and what is asked, as digests: whoever differs in either shares no mask, and signs nothing common."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence

from protocols.arithmetic.ring import Vector
from protocols.crypto import masking
from protocols.errors import Fault
from protocols.runtime.endpoint import Endpoint, Greeted
from protocols.secure_sum.messages import MaskKeys
from protocols.secure_sum.parameters import Parameters

_NUMBER_BYTES = 4


def digest(p: Parameters, greetings: Mapping[str, Greeted[MaskKeys]]) -> bytes:
    """g: of what every party greeted with, in their order."""
    return hashlib.sha256(b"".join(greetings[name].digest for name in p.parties)).digest()


def keys(p: Parameters, greetings: Mapping[str, Greeted[MaskKeys]]) -> tuple[tuple[bytes, ...], ...]:
    """The mask keys by sum and party; with D = 0 there is one for all sums, for none is ever opened."""
    said = [greetings[name].message.keys for name in p.parties]
    if not p.D:
        return (tuple(own[0] for own in said),) * p.R
    return tuple(tuple(own[r] for own in said) for r in range(p.R))


def fault(
    p: Parameters,
    greetings: Mapping[str, Greeted[MaskKeys]],
    agreeing: Callable[[bytes], bytes | None] = masking.agreeing,
) -> tuple[str | None, Fault] | None:
    """Which mask keys cannot be used, and whose fault that is; None if all can.

    A copy of another's key would have both share their masks with everybody. Which of the two is the copy nobody can
    tell, so it is nobody's fault that could be shown.
    """
    owners: dict[bytes, str] = {}
    for name in greetings:
        for key in greetings[name].message.keys:
            agreed = agreeing(key)
            if agreed is None:
                return name, Fault("mask_key.of_small_order")
            if owners.get(agreed) == name:
                return name, Fault("mask_key.twice")
            if agreed in owners:
                both = {"first": owners[agreed], "second": name}
                return None, Fault("mask_key.of_two_parties", both)
            owners[agreed] = name
    return None


def check(
    me: Endpoint,
    p: Parameters,
    greetings: Mapping[str, Greeted[MaskKeys]],
    agreeing: Callable[[bytes], bytes | None] = masking.agreeing,
) -> None:
    """Stops, or refuses the one at fault, where a mask key cannot be used."""
    if found := fault(p, greetings, agreeing):
        culprit, why = found
        if culprit is None:
            me.stop(why)
        me.refuse(culprit, why)


def context(session: bytes, roster: bytes, r: int, query: bytes) -> bytes:
    """What the masks of sum r, and all that is signed of it, are bound to."""
    return hashlib.sha256(b"smc-dp sum context\0" + session + roster + _number(r) + query).digest()


def under(session: bytes, root: bytes) -> bytes:
    """What shares that go through Charlie are bound to."""
    return hashlib.sha256(b"smc-dp sum shares\0" + session + root).digest()


def first_query(session: bytes) -> bytes:
    """q_0: what the first sum asks follows from the session."""
    return hashlib.sha256(b"smc-dp sum query\0" + session).digest()


def next_query(p: Parameters, session: bytes, r: int, query: bytes, members: int, S: Vector) -> bytes:
    """q_{r+1}: what the next sum asks follows from all results so far."""
    said = session + _number(r) + query + _list(p, members) + masking.digest(S, p.width)
    return hashlib.sha256(b"smc-dp sum query\0" + said).digest()


def inputs(masked: Mapping[int, tuple[bytes, bytes]]) -> bytes:
    """Of the masked inputs of all survivors: none of them can be another once a seed has been opened.

    Of each its digest and its sender's signature. Everybody reads this, and T parties know all masks: without the
    signatures, which they do not know, they could try values of what a single other party added.
    """
    return hashlib.sha256(b"".join(_number(i) + b"".join(masked[i]) for i in sorted(masked))).digest()


def missing(names: Sequence[str], members: Sequence[int]) -> tuple[str, ...]:
    """The parties that are not on a list."""
    return tuple(name for i, name in enumerate(names) if i not in members)


def _number(r: int) -> bytes:
    return r.to_bytes(_NUMBER_BYTES, "big")


def _list(p: Parameters, members: int) -> bytes:
    return members.to_bytes((p.K + 7) // 8, "big")
