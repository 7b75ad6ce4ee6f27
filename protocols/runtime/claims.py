"""What each coalition may learn, declared beside a protocol, and the checks that read such declarations.

A check can refute a claim and never proves one; the proof is the prose in a protocol's `ideal.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from protocols.crypto.dgk import BitCiphertext, DgkPrivateKey
from protocols.crypto.paillier import Ciphertext, PrivateKey
from protocols.runtime.message import Message

# "Kind.field" -> the numbers that a coalition reads there, in the order of arrival.
Readings = dict[str, list[int]]


@dataclass(frozen=True)
class View:
    """All that one role saw: its inputs, what its stages left, its opened mail with the senders. Secret."""

    name: str
    inputs: tuple[Any, ...] = field(repr=False)
    results: tuple[Any, ...] = field(repr=False)
    mail: tuple[tuple[str, Message], ...] = field(repr=False)


Unknown = Callable[[str, int], Any]


@dataclass(frozen=True)
class Model:
    """What an audit must know of a protocol to hold its conversation without anybody's data.

    `toy(p)`: parameters under which the same names hold the same conversation, the same messages in the same order, at
    toy size (smallest keys, dimension 1). `inputs(p, unknown)`: the inputs of every participant by name, whatever is
    private in them made by `unknown(name, bits)`, which stands for an integer in [0, 2**bits): a drawn number in a toy
    run, a linear form in a symbolic one. `permutations` names the secret permutations in the order in which they are
    drawn, `compared(p)` the unknowns whose order the protocol finds, party by party.
    """

    toy: Callable[[Any], Any]
    inputs: Callable[[Any, Unknown], dict[str, tuple[Any, ...]]]
    permutations: tuple[str, ...]
    compared: Callable[[Any], tuple[str, ...]]


@dataclass(frozen=True)
class Claim:
    """What a protocol promises against a semi-honest coalition, and what it does not.

    `simulators` maps a coalition, in words, to a function whose signature is the claim: it makes the coalition's
    readings from public parameters and what the ideal functionality gives the coalition, for it is given nothing
    else. `not_claimed` goes verbatim into reports.
    """

    simulators: Mapping[str, Callable[..., Readings]]
    not_claimed: tuple[str, ...]


def keys_of(view: View) -> dict[int, PrivateKey | DgkPrivateKey]:
    """The secret keys that the stages of this role left behind, by modulus."""
    found: dict[int, PrivateKey | DgkPrivateKey] = {}
    for result in view.results:
        for value in vars(result).values() if hasattr(result, "__dict__") else ():
            if isinstance(value, PrivateKey | DgkPrivateKey):
                found[value.public.n] = value
    return found


def readings(*views: View) -> Readings:
    """What the owners of these views read together beside what is public: numbers as they are, bytes as numbers,
    ciphertexts opened by any key among them.

    A DGK ciphertext opens to 1 if it holds zero, else to 0, which is all that its key tells. What no key opens is
    left out.
    """
    return _collected(views, public=False)


def public_fields(view: View) -> Readings:
    """What the fields declared public showed the owner of this view."""
    return _collected((view,), public=True)


def canaries(found: Readings, secrets: Mapping[str, int], modulus: int, shift: int = 0) -> list[str]:
    """Which secrets (distinctive numbers below modulus >> shift) stand in the readings: plain, negated, or as the sum
    or difference of two of them, mod `modulus` and without the lowest `shift` bits.
    """
    values = {v % modulus for place in found.values() for v in place}
    seen = {x % modulus >> shift for v in values for w in (0, *values) for x in (v + w, v - w, -v - w)}
    return [name for name, secret in secrets.items() if secret in seen]


def _collected(views: tuple[View, ...], *, public: bool) -> Readings:
    keys = {n: key for view in views for n, key in keys_of(view).items()}
    found: Readings = {}
    for view in views:
        for _, message in view.mail:
            for slot in message.slots:
                if (slot.protection.how == "public") == public:
                    value = getattr(message, slot.name)
                    opened = [_open(v, keys) for v in (value if slot.count else (value,))]
                    place = f"{type(message).__name__}.{slot.name}"
                    found.setdefault(place, []).extend(v for v in opened if v is not None)
    return {place: values for place, values in found.items() if values}


def _open(value: Any, keys: Mapping[int, PrivateKey | DgkPrivateKey]) -> int | None:
    if isinstance(value, Ciphertext | BitCiphertext):
        key = keys.get(value.n)
        if isinstance(key, PrivateKey) and isinstance(value, Ciphertext):
            return key.decrypt(value)
        if isinstance(key, DgkPrivateKey) and isinstance(value, BitCiphertext):
            return int(key.is_zero(value))
        return None
    if isinstance(value, bytes):
        return int.from_bytes(value, "big")
    return value if isinstance(value, int) else None
