"""What a start of a program costs: processor seconds of a fresh interpreter."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from statistics import median

STARTS = 5


def start_seconds(arguments: Sequence[str]) -> float | None:
    """The median over five runs of Python with these arguments; None where the system does not say.

    They find packages where this process does. Raises RuntimeError when the program fails.
    """
    try:
        from resource import RUSAGE_CHILDREN, getrusage
    except ImportError:
        return None
    paths = os.pathsep.join(filter(None, sys.path))
    found = []
    for _ in range(STARTS):
        before = getrusage(RUSAGE_CHILDREN)
        done = subprocess.run(  # noqa: S603 (this interpreter, and arguments of the program itself)
            [sys.executable, *arguments], env={**os.environ, "PYTHONPATH": paths}, capture_output=True, check=False
        )
        after = getrusage(RUSAGE_CHILDREN)
        if done.returncode:
            raise RuntimeError(f"{' '.join(arguments)} ended with exit code {done.returncode}")
        found.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return median(found)
