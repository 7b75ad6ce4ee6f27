"""Verification of signatures: every role asks for each one, and a simulation computes equal ones once.

Equal are those of the same bytes of key, message and signature; which signatures are accepted is the same in every
version of the transcript. An answer from memory is charged to the clock of the role that asks, at what it cost the
first one. Sites, workers of a simulation and audits compute every one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from protocols.crypto import identity


class _Shared:
    def __init__(self, read: Callable[[], float], charge: Callable[[float], None]) -> None:
        self._read, self._charge = read, charge
        self._found: dict[tuple[bytes, bytes, bytes], tuple[bool, float]] = {}

    def verify(self, public: bytes, message: bytes, signature: bytes) -> bool:
        asked = (public, message, signature)
        if asked in self._found:
            holds, cost = self._found[asked]
            self._charge(cost)
        else:
            start = self._read()
            holds = identity.verify(*asked)
            self._found[asked] = holds, self._read() - start
        return holds


_SHARED: ContextVar[_Shared | None] = ContextVar("verifications of this simulation", default=None)


def verify(public: bytes, message: bytes, signature: bytes) -> bool:
    """Return whether the holder of the pinned identity signed the message."""
    shared = _SHARED.get()
    return (identity if shared is None else shared).verify(public, message, signature)


@contextmanager
def shared_verifications(read: Callable[[], float], charge: Callable[[float], None]) -> Iterator[None]:
    """Answer equal verifications from memory while the block runs.

    `read` is the processor time; `charge` is told what each answer from memory would have taken.
    """
    before = _SHARED.set(_Shared(read, charge))
    try:
        yield
    finally:
        _SHARED.reset(before)
