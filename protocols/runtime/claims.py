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
    """What the owners of these views read together: numbers as they are, ciphertexts opened by any key among them.

    A DGK ciphertext opens to 1 if it holds zero, else to 0, which is all that its key tells. What no key opens is
    left out.
    """
    keys = {n: key for view in views for n, key in keys_of(view).items()}
    found: Readings = {}
    for view in views:
        for _, message in view.mail:
            for slot in message.slots:
                value = getattr(message, slot.name)
                opened = [_open(v, keys) for v in (value if slot.count else (value,))]
                place = f"{type(message).__name__}.{slot.name}"
                found.setdefault(place, []).extend(v for v in opened if v is not None)
    return {place: values for place, values in found.items() if values}


def canaries(found: Readings, secrets: Mapping[str, int], modulus: int) -> list[str]:
    """Which secrets (distinctive numbers) stand in the readings: plain, negated, or as the difference of two
    neighbours.
    """
    seen: set[int] = set()
    for values in found.values():
        seen.update(v % modulus for v in values)
        seen.update(-v % modulus for v in values)
        seen.update((v - w) % modulus for v in values for w in values)
    return [name for name, secret in secrets.items() if secret % modulus in seen]


def _open(value: Any, keys: Mapping[int, PrivateKey | DgkPrivateKey]) -> int | None:
    if isinstance(value, Ciphertext | BitCiphertext):
        key = keys.get(value.n)
        if isinstance(key, PrivateKey) and isinstance(value, Ciphertext):
            return key.decrypt(value)
        if isinstance(key, DgkPrivateKey) and isinstance(value, BitCiphertext):
            return int(key.is_zero(value))
        return None
    return value if isinstance(value, int) else None
