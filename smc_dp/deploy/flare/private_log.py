"""Logs of a job: codes go to FLARE's log, texts to a file in the owner's own folder of the study."""

from __future__ import annotations

import logging
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from smc_dp.core.private_text import Hear, PrivateText
from smc_dp.deploy.flare.local import details

_PACKAGES = ("protocols", "smc_dp")


def job_logger(who: str) -> logging.Logger:
    """Return FLARE's logger of a job, and keep the lines of this project's own loggers from FLARE's handlers.

    Those hang on the root. The logger of FLARE's component would be called by its module, and so be one of ours.
    """
    for name in _PACKAGES:
        logger = logging.getLogger(name)
        logger.propagate = False
        if not logger.handlers:  # without any, what is left of a record goes to standard error
            logger.addHandler(logging.NullHandler())
    return logging.getLogger(f"flare_job.{who}")


@contextmanager
def details_of(local: Path, study: object, who: str) -> Iterator[Hear]:
    """Give what appends texts to the owner's file `local/smc_dp/<study>/<who>.details`; warnings go there too.

    Where there is no such folder, or it cannot be written, texts are lost: they may not go anywhere else.
    """
    path = details(local, study, who)

    def note(text: PrivateText) -> None:
        if path is not None:
            with suppress(OSError):
                text.append_to(path)

    with warnings.catch_warnings(record=True) as found:
        try:
            yield note
        finally:
            for one in found:
                note(PrivateText(f"{one.category.__name__}: {one.message}"))
