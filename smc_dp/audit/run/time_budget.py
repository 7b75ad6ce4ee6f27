"""Time budget: the processor time that an audit may use, whatever a stranger wrote into what it looks at.

A signal comes after that time, wherever the program then is; a number that is just being raised to a power is finished
first. Signals reach the main thread of a program alone, and Windows has none of this kind: there nothing is bounded.
"""

from __future__ import annotations

import signal
import sys
import threading
import time
from collections.abc import Callable
from functools import partial
from types import FrameType
from typing import Any, NoReturn, TypeVar

DEFAULT_SECONDS = 40.0
"""Processor seconds of a whole audit."""
MORE_TIME = "`seconds` allows more"
_SHARE = 2  # a single check may use one half
_AGAIN = 0.1  # seconds until the next signal, should the first one come where nobody hears it

_T = TypeVar("_T")


class TakesTooLongError(BaseException):
    """End of the time. No error of the program, so that nothing but its own handler takes it for one."""


class Allowance:
    """Processor seconds that may be used in all, from now on."""

    def __init__(self, seconds: float = DEFAULT_SECONDS) -> None:
        self.seconds = seconds
        self._end = time.process_time() + seconds

    def spend(self, work: Callable[[], _T]) -> _T:
        """Return the result of this work; raise `TakesTooLongError` after half of all time, or when nothing is left."""
        left = self._end - time.process_time()
        if left <= 0:
            raise TakesTooLongError
        if threading.current_thread() is not threading.main_thread() or not hasattr(signal, "setitimer"):
            return work()
        before, hook = signal.signal(signal.SIGPROF, _end), sys.unraisablehook
        sys.unraisablehook = partial(_report_unless_timeout, hook)
        try:
            signal.setitimer(signal.ITIMER_PROF, min(left, self.seconds / _SHARE), _AGAIN)
            return work()
        finally:
            _stopped(before)
            sys.unraisablehook = hook


def _end(number: int, frame: FrameType | None) -> NoReturn:
    raise TakesTooLongError


def _report_unless_timeout(hook: Callable[[Any], Any], lost: Any) -> None:
    """Keep quiet where Python can raise nothing, and would print the error; the next signal is heard."""
    if lost.exc_type is not TakesTooLongError:
        hook(lost)


def _stopped(before: Any) -> None:
    """Stop the signals, and give them back to the handler before."""
    while True:
        try:
            signal.setitimer(signal.ITIMER_PROF, 0)
            signal.signal(signal.SIGPROF, before)
            return
        except TakesTooLongError:  # one more came in between
            continue
