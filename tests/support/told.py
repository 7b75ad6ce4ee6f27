"""Whether a text holds a secret, in any of the ways in which a number or bytes can be written."""

from __future__ import annotations

import base64
import re
from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np

LARGE = 1 << 24  # of an integer: smaller ones stand in a log by chance, as counts and sizes of messages
LONG = 1 << 48  # of an integer: its first digits alone give it away
SHOWN = 12  # letters that a page shows of a long number or of bytes, at least
DIGITS = 6  # of a float


def forms(value: object) -> Iterator[str]:
    """The texts that give it away."""
    if isinstance(value, bytes | bytearray):
        if len(value) >= 4:
            yield from (bytes(value).hex(), base64.b64encode(value).decode(), repr(bytes(value))[2:-1])
    elif isinstance(value, int) and abs(value) >= LARGE:
        yield from (str(abs(value)), f"{abs(value):,}", f"{abs(value):x}")
        yield repr(abs(value).to_bytes((value.bit_length() + 7) // 8, "big"))[2:-1]
    elif isinstance(value, float) and value not in (0.0, 1.0):
        yield from (repr(value), f"{value:.6f}")


def short_forms(value: object) -> Iterator[str]:
    """What a page that shortens would show of it."""
    if isinstance(value, bytes | bytearray) and len(value) >= SHOWN // 2:
        yield from (bytes(value).hex()[:SHOWN], bytes(value).hex()[-SHOWN:])
        yield base64.b64encode(value).decode()[:SHOWN]
    elif isinstance(value, int) and abs(value) >= LONG:
        for written in (str(abs(value)), f"{abs(value):x}"):
            yield from (written[:SHOWN], written[-SHOWN:])
    elif isinstance(value, float) and len(digits := re.sub(r"e.*", "", repr(abs(value)))) > DIGITS + 2:
        yield digits[: DIGITS + 2]
        yield f"{abs(value):.{DIGITS}g}"


def parts(value: object, seen: set[int]) -> Iterator[object]:
    """All numbers and bytes in it, however deep."""
    if id(value) in seen or callable(value):
        return
    if isinstance(value, int | float | bytes | bytearray):
        yield value
        return
    seen.add(id(value))
    if isinstance(value, Mapping):
        inner: Any = [*value.keys(), *value.values()]
    elif isinstance(value, tuple | list | set | frozenset):
        inner = value
    elif isinstance(value, np.ndarray):
        inner = value.ravel().tolist()
    elif is_dataclass(value):
        inner = [getattr(value, field.name) for field in fields(value)]
    else:
        names = [*getattr(value, "__dict__", ()), *getattr(type(value), "__slots__", ())]
        inner = [getattr(value, name) for name in names if hasattr(value, name)]
    for one in inner:
        yield from parts(one, seen)


def told(text: str, *secret: object) -> list[str]:
    """What of these secrets stands in the text, in full."""
    found = {form for value in secret for part in parts(value, set()) for form in forms(part)}
    assert len(found) > 10
    return sorted(form for form in found if form in text)
