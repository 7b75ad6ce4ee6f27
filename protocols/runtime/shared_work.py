"""Work on public bytes that all roles do alike: every role asks for it, and a simulation does it once.

Such work is the verification of a signature and the decoding of a greeting. Its result follows from the bytes with
which it is asked for, and these are compared whole. An answer from memory is charged to the clock of the role that
asks, at what it cost the first one. Sites, workers of a simulation and audits do all of it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, TypeVar

from protocols.crypto import identity

_Result = TypeVar("_Result")


class _Memory:
    def __init__(self, read: Callable[[], float], charge: Callable[[float], None]) -> None:
        self._read, self._charge = read, charge
        self._done: dict[tuple[Any, ...], tuple[Any, float]] = {}

    def result(self, asked: tuple[Any, ...], work: Callable[[], _Result]) -> _Result:
        if asked in self._done:
            found, cost = self._done[asked]
            self._charge(cost)
        else:
            start = self._read()
            found = work()
            self._done[asked] = found, self._read() - start
        return found  # type: ignore[no-any-return]


_MEMORY: ContextVar[_Memory | None] = ContextVar("work that this simulation has done", default=None)


def done_once(asked: tuple[Any, ...], work: Callable[[], _Result]) -> _Result:
    """Return the result of the work, which follows from what is asked and is never changed."""
    memory = _MEMORY.get()
    return work() if memory is None else memory.result(asked, work)


def verify(public: bytes, message: bytes, signature: bytes) -> bool:
    """Return whether the holder of the pinned identity signed the message.

    The same signatures are accepted in every version of the transcript.
    """
    return done_once((public, message, signature), lambda: identity.verify(public, message, signature))


@contextmanager
def sharing_work(read: Callable[[], float], charge: Callable[[float], None]) -> Iterator[None]:
    """Answer from memory what has been asked before while the block runs.

    `read` is the processor time; `charge` is told what each answer from memory would have taken.
    """
    before = _MEMORY.set(_Memory(read, charge))
    try:
        yield
    finally:
        _MEMORY.reset(before)
