"""Values of messages as a page shows them: long numbers, keys and ciphertexts cut, vectors with their length."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields, is_dataclass
from typing import Any

from protocols.arithmetic.words import Words
from protocols.crypto.dgk import BitCiphertext
from protocols.crypto.paillier import Ciphertext
from protocols.runtime import claims
from protocols.runtime.message import FieldSpec, Message
from protocols.runtime.session import PUBLIC_NAME
from smc_dp.leakage.matrix_text import join_names
from smc_dp.pages.blocks import PageTable
from smc_dp.walkthrough.observed_session import ObservedMessage, ObservedSession

MOST_TABLE_ROWS = 24
_SETS = "members"  # width of a number whose bit j - 1 is set for P_j
_DIGITS, _SHOWN, _BYTES, _LONGEST = 12, 3, 6, 200


def format_number(value: int) -> str:
    """Format a number; of a long one the ends and the count of digits."""
    text = str(value)
    return text if len(text) <= _DIGITS else f"{text[:5]}…{text[-3:]} ({len(text.lstrip('-'))} digits)"


def format_bytes(value: bytes) -> str:
    """Format bytes as hexadecimal digits; of a long string the ends."""
    return value.hex() if len(value) <= _BYTES else f"{value[:3].hex()}…{value[-1:].hex()} ({len(value)} bytes)"


def format_vector(texts: Sequence[str], count: int, mark: str = ", ") -> str:
    """Format the first of so many values, with this mark between them."""
    shown = mark.join(texts)
    return f"({shown})" if len(texts) == count else f"({shown}{mark}… {count} in all)"


def format_value(x: Any, observed: ObservedSession) -> str:
    """Format the value of a field."""
    if isinstance(x, tuple | list | Words):
        return format_vector([format_value(part, observed) for part in x[:_SHOWN]], len(x))
    if isinstance(x, Ciphertext | BitCiphertext):
        return _locked(x, observed)
    if isinstance(x, bytes):
        return format_bytes(x)
    if x is None:
        return "a cover, nothing inside"
    return format_number(int(x))


def _locked(c: Ciphertext | BitCiphertext, observed: ObservedSession) -> str:
    digits = f"{c.value:x}"
    seen = f"[{digits[:4]}…{digits[-4:]}]"
    key, holders = observed.keys[c.n]
    opened = claims.opened(c, {c.n: key})
    return seen if opened is None else f"{seen}, to {join_names(holders)}: {format_number(opened)}"


def format_parameter(x: Any) -> str:
    """Format a parameter; lists are taken apart."""
    if isinstance(x, list | tuple):
        return ("; " if any(isinstance(part, list) for part in x) else ", ").join(map(format_parameter, x))
    if isinstance(x, bool):
        return "yes" if x else "no"
    return str(x)[:_LONGEST]


def format_sums(sums: Sequence[Sequence[tuple[int, str]]]) -> str:
    """Format the sums of a session: the number of integers in each block, and its noise where that is declared."""
    return "; ".join(
        " and ".join(
            f"{count} {'integer' if count == 1 else 'integers'}" + (f", noise {noise}" if noise != "none" else "")
            for count, noise in blocks
        )
        for blocks in sums
    )


def message_table(kind: type[Message], messages: Sequence[ObservedMessage], observed: ObservedSession) -> PageTable:
    """Return the table of messages of one kind: sender, reader and fields."""
    headings = ("from", "to", *(slot.name for slot in kind.slots))
    names = (*observed.session.names, PUBLIC_NAME)
    ordered = sorted(
        messages, key=lambda message: (message.place, names.index(message.sender), names.index(message.to))
    )
    rows = [_row(kind.slots, message, observed) for message in ordered[:MOST_TABLE_ROWS]]
    more = f", the first {MOST_TABLE_ROWS} of {len(messages)}" if len(messages) > MOST_TABLE_ROWS else ""
    return PageTable(f"{kind.__name__}: what was sent{more}", headings, tuple(rows))


def _row(slots: Sequence[FieldSpec], message: ObservedMessage, observed: ObservedSession) -> tuple[str, ...]:
    to = "everybody" if message.to == PUBLIC_NAME else message.to
    return (message.sender, to, *(_field(slot, getattr(message.content, slot.name), observed) for slot in slots))


def _field(slot: FieldSpec, x: Any, observed: ObservedSession) -> str:
    """Format a field; a set of parties, whose bits a number has, by their names."""
    if slot.protection.width != _SETS:
        return format_value(x, observed)
    sets = [names_of_bits(one, observed.session.parties) for one in (x if isinstance(x, Sequence) else (x,))]
    return format_vector(sets[:_SHOWN], len(sets), "; ") if isinstance(x, Sequence) else sets[0]


def names_of_bits(members: int, parties: Sequence[str]) -> str:
    """Return the names of the parties whose bits are set, the lowest bit for the first."""
    names = [name for j, name in enumerate(parties) if members >> j & 1]
    return join_names(names) if names else "nobody"


def input_table(observed: ObservedSession) -> PageTable:
    """Return the table of each party's inputs."""
    by_party = {party: _fields(observed.inputs[party], observed) for party in observed.session.parties}
    names = list(dict.fromkeys(name for of_one in by_party.values() for name in of_one))
    rows = tuple((party, *(of_one.get(name, "") for name in names)) for party, of_one in by_party.items())
    return PageTable("What each party brings", ("party", *names), rows)


def _fields(inputs: Sequence[Any], observed: ObservedSession) -> dict[str, str]:
    """Return the fields of a role's inputs and local answers, in order, joined."""
    found: dict[str, list[str]] = {}
    for one in inputs:
        for place in fields(one) if is_dataclass(one) else ():
            found.setdefault(place.name, []).append(format_value(getattr(one, place.name), observed))
    return {name: "; ".join(texts) for name, texts in found.items()}
