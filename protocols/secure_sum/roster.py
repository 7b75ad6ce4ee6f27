"""Digests of the participants and of the queries: two who differ in either share no mask, and sign nothing common."""

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


def greetings_digest(p: Parameters, greetings: Mapping[str, Greeted[MaskKeys]]) -> bytes:
    """Return g: the digest of what every party greeted with, in their order."""
    return hashlib.sha256(b"".join(greetings[name].digest for name in p.parties)).digest()


def mask_keys(p: Parameters, greetings: Mapping[str, Greeted[MaskKeys]]) -> tuple[tuple[bytes, ...], ...]:
    """Return the mask keys by sum and party; with D = 0 the one key of a party stands in every sum: none is opened."""
    said = [greetings[name].message.keys for name in p.parties]
    if not p.D:
        return (tuple(own[0] for own in said),) * p.R
    return tuple(tuple(own[r] for own in said) for r in range(p.R))


def mask_key_fault(
    p: Parameters,
    greetings: Mapping[str, Greeted[MaskKeys]],
    agreeing: Callable[[bytes], bytes | None] = masking.agreeing,
) -> tuple[str | None, Fault] | None:
    """Return which mask key cannot be used, and whose fault that is; None if every key can.

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


def check_mask_keys(
    me: Endpoint,
    p: Parameters,
    greetings: Mapping[str, Greeted[MaskKeys]],
    agreeing: Callable[[bytes], bytes | None] = masking.agreeing,
) -> None:
    """Stop, or refuse the one at fault, where a mask key cannot be used."""
    if found := mask_key_fault(p, greetings, agreeing):
        culprit, why = found
        if culprit is None:
            me.stop(why)
        me.refuse(culprit, why)


def sum_context(session: bytes, roster: bytes, r: int, query: bytes) -> bytes:
    """Return the context of sum r, to which its masks and all that is signed of it are bound."""
    return hashlib.sha256(b"smc-dp sum context\0" + session + roster + _number(r) + query).digest()


def shares_context(session: bytes, root: bytes) -> bytes:
    """Return the context of shares that go through Charlie."""
    return hashlib.sha256(b"smc-dp sum shares\0" + session + root).digest()


def first_query(session: bytes) -> bytes:
    """Return q_0: the query of the first sum follows from the session."""
    return hashlib.sha256(b"smc-dp sum query\0" + session).digest()


def next_query(p: Parameters, session: bytes, r: int, query: bytes, members: int, S: Vector) -> bytes:
    """Return q_{r+1}: the query of the next sum follows from all results so far."""
    said = session + _number(r) + query + _list(p, members) + masking.digest(S, p.width)
    return hashlib.sha256(b"smc-dp sum query\0" + said).digest()


def inputs_digest(masked: Mapping[int, tuple[bytes, bytes]]) -> bytes:
    """Return the digest of the masked inputs of all survivors: none of them can be another once a seed has been opened.

    Of each its digest and its sender's signature. Everybody reads this, and T parties know all masks: without the
    signatures, which they do not know, they could try values of what a single other party added.
    """
    return hashlib.sha256(b"".join(_number(i) + b"".join(masked[i]) for i in sorted(masked))).digest()


def missing_parties(names: Sequence[str], members: Sequence[int]) -> tuple[str, ...]:
    """Return the parties that are not on a list."""
    return tuple(name for i, name in enumerate(names) if i not in members)


def _number(r: int) -> bytes:
    return r.to_bytes(_NUMBER_BYTES, "big")


def _list(p: Parameters, members: int) -> bytes:
    return members.to_bytes((p.K + 7) // 8, "big")
