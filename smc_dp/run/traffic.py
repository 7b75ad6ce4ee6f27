"""What was sent in a session, counted from the lines of its record: messages, and bytes on the wire."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

from protocols.runtime.transcript import ABSENT

_SIZE = re.compile(rb'"size":([0-9]{1,18})[,}]')
_NO_MESSAGE, _RELAYED = f'"kind":"{ABSENT}"'.encode(), b'"via":'


class OnTheWire(NamedTuple):
    """How many messages, and how many bytes; what goes by way of somebody counts twice."""

    messages: int
    bytes: int


def of_record(lines: Iterable[bytes], overhead: int) -> OnTheWire:
    """What a record's lines show, without their contents; `overhead`: bytes that the link adds to each message.

    Marks of a line stand nowhere inside of a text of JSON, where every quotation mark has a stroke before it. What is
    no line of a record counts nothing.
    """
    messages = size = 0
    for number, line in enumerate(lines):
        found = _SIZE.search(line)
        if number and found and _NO_MESSAGE not in line:
            hops = 2 if _RELAYED in line else 1
            messages += hops
            size += hops * (int(found[1]) + overhead)
    return OnTheWire(messages, size)
