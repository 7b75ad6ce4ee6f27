"""One measurement in a process of its own, so that its memory and its processor time are nobody else's."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

Measured = dict[str, float]


def alone(module: str, **options: Any) -> Measured:
    """What the module prints when it is run with these options; raises RuntimeError with its last line if it fails."""
    done = subprocess.run(  # noqa: S603 (this interpreter, and a module of ours)
        [sys.executable, "-m", module, json.dumps(options)],
        env=environment(),
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        last = done.stderr.strip().splitlines()[-1:] or ["it said nothing"]
        raise RuntimeError(f"{module} ended with exit code {done.returncode}: {last[0]}")
    found: Measured = json.loads(done.stdout)
    return found


def answer(measure: Callable[..., Measured]) -> None:
    """What such a module does when it is run: measure with the options it was given, and print."""
    print(json.dumps(measure(**json.loads(sys.argv[1])), allow_nan=False))


def environment() -> dict[str, str]:
    """With which another interpreter finds packages where this one does."""
    return {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}


def peak_megabytes() -> float | None:
    """The most memory that this program has held; None where the system does not say."""
    try:
        status = Path("/proc/self/status").read_text(encoding="ascii")
    except OSError:
        return None
    # Not getrusage: its maximum survives exec, and so counts what the parent process held.
    return next((int(line.split()[1]) / 1024 for line in status.splitlines() if line.startswith("VmHWM:")), None)
