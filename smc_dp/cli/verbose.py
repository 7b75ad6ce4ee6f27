"""Output on standard error beside the results: the log, if it is wanted, and local warnings."""

from __future__ import annotations

import logging
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager

from typing_extensions import override

from smc_dp.core.errors import ColumnIgnoredWarning, FileIgnoredWarning, RowsClippedWarning, one_line

_PACKAGES = ("protocols", "smc_dp")
_OWN = (ColumnIgnoredWarning, FileIgnoredWarning, RowsClippedWarning)


class _OneLine(logging.Formatter):
    """Formatter of a record on one line, with nothing in it that a terminal would obey."""

    @override
    def format(self, record: logging.LogRecord) -> str:
        return one_line(super().format(record))


@contextmanager
def logging_to_stderr(much: int) -> Iterator[None]:
    """Log both packages to standard error while the block runs: 0 nothing, 1 the progress, 2 every message."""
    if not much:
        yield
        return
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(_OneLine("%(asctime)s.%(msecs)03d %(levelname)s %(name)s: %(message)s", "%H:%M:%S"))
    loggers = [logging.getLogger(name) for name in _PACKAGES]
    before = [logger.level for logger in loggers]
    for logger in loggers:
        logger.addHandler(handler)
        logger.setLevel(logging.INFO if much == 1 else logging.DEBUG)
    try:
        yield
    finally:
        for logger, level in zip(loggers, before, strict=True):
            logger.removeHandler(handler)
            logger.setLevel(level)


@contextmanager
def local_warnings() -> Iterator[None]:
    """Print a line on standard error for each warning of this package, and what Python would say for others."""
    with warnings.catch_warnings():
        for kind in _OWN:
            warnings.simplefilter("always", kind)
        others = warnings.showwarning

        def show(message: Warning | str, category: type[Warning], *place: object) -> None:
            if issubclass(category, _OWN):
                print(f"warning: {one_line(str(message))}", file=sys.stderr, flush=True)
            else:
                others(message, category, *place)  # type: ignore[arg-type]

        warnings.showwarning = show  # type: ignore[assignment]
        yield
