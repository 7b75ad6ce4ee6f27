"""States: values as bytes and back, for `runtime.replay`. They are secret, and never sent to anybody.

Only plain values and the frozen records of a program have an encoding; there is no pickle, and no other class.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields, is_dataclass
from typing import Any

import cbor2

from protocols.arithmetic.words import Words
from protocols.errors import LocalError, ReplayError
from protocols.runtime.cbor_limits import is_plain

MAX_STATE_BYTES = 1 << 28
_MAX_ITEMS = 1 << 22  # objects of about 64 bytes: no more memory than the largest state
_MAX_DEPTH = 200  # two for each nested value; the parser takes 400
_MAX_INTEGER_BYTES = 1 << 13  # twice a ciphertext under the longest key: a record's own checks take little time for it

# What bytes, a value that contains itself (CBOR has references), or a record that refuses its fields may raise.
_UNREADABLE = (
    *(cbor2.CBORError, ArithmeticError, AttributeError, LocalError),
    *(LookupError, RecursionError, TypeError, ValueError),
)


def dump_state(value: Any, records: Sequence[type[Any]]) -> bytes:
    """Return the value as bytes; raise `ReplayError` for a class that is not among `records`."""
    data = cbor2.dumps(_plain(value, {record.__name__: record for record in records}), canonical=True)
    if len(data) > MAX_STATE_BYTES:  # nobody could load it
        raise ReplayError("state.too_large", most=MAX_STATE_BYTES, got=len(data))
    return data


def load_state(data: bytes, records: Sequence[type[Any]]) -> Any:
    """Return the encoded value; raise `ReplayError` when these are not exactly its bytes."""
    if len(data) > MAX_STATE_BYTES:
        raise ReplayError("state.too_large", most=MAX_STATE_BYTES, got=len(data))
    if not is_plain(data, _MAX_ITEMS, _MAX_DEPTH):
        raise ReplayError("state.not_plain")
    try:
        plain = cbor2.loads(data, allow_indefinite=False, allow_duplicate_keys=False)
        value = _value(plain, {record.__name__: record for record in records})
        # Tags, trailing bytes and second spellings of a value all end here: only what `dump_state` writes is read.
        if dump_state(value, records) != data:
            raise ValueError("not the bytes that the value has")
    except _UNREADABLE as error:
        raise ReplayError("state.not_restorable", error=type(error).__name__) from None
    return value


def _plain(value: Any, records: dict[str, type[Any]]) -> list[Any]:
    """Return a value as [kind, content], so that no encoding has two readings."""
    if value is None or isinstance(value, bool | str | bytes):
        return ["plain", value]
    if isinstance(value, int):
        return ["int", value.to_bytes((value.bit_length() + 8) // 8, "big", signed=True)]  # a bit for the sign
    if isinstance(value, dict):
        return ["dict", [[_plain(k, records), _plain(v, records)] for k, v in value.items()]]
    if isinstance(value, list | tuple | Words):
        return ["list" if isinstance(value, list) else "tuple", [_plain(v, records) for v in value]]
    name = type(value).__name__
    if is_dataclass(value) and records.get(name) is type(value):
        return [f"record {name}", [_plain(getattr(value, f.name), records) for f in fields(value)]]
    raise ReplayError("state.class_unknown", name=name)


def _value(plain: Any, records: dict[str, type[Any]]) -> Any:
    kind, content = plain
    if kind == "plain":
        return content
    if kind == "int":
        if len(content) > _MAX_INTEGER_BYTES:
            raise ValueError("an integer too long for any key")
        return int.from_bytes(content, "big", signed=True)
    if kind == "dict":
        return {_value(k, records): _value(v, records) for k, v in content}
    items = [_value(item, records) for item in content]
    if kind in ("list", "tuple"):
        return items if kind == "list" else tuple(items)
    return records[kind.removeprefix("record ")](*items)
