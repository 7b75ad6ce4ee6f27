"""On what a benchmark ran: the machine, Python, and the versions of what computes."""

from __future__ import annotations

import os
import platform
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import gmpy2

PACKAGES = ("smc-dp", "cryptography", "gmpy2", "mpyc", "numpy", "phe", "PyNaCl")


def machine() -> dict[str, str]:
    """Processor, cores, memory and load, by name; what the system does not say is left out."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    found = {"processor": _processor(), "cores": str(cores), "system": f"{platform.system()} {platform.release()}"}
    if memory := _field("/proc/meminfo", "MemTotal"):
        found["memory"] = f"{int(memory.split()[0]) / 2**20:.0f} GB"
    if hasattr(os, "getloadavg"):
        found["load"] = f"{os.getloadavg()[0]:.1f}"
    return found


def versions() -> dict[str, str]:
    """Of Python, GMP and the packages that compute; packages that are not installed are left out."""
    found = {"Python": platform.python_version(), "GMP": gmpy2.mp_version().removeprefix("GMP ")}
    for name in PACKAGES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found


def _processor() -> str:
    return _field("/proc/cpuinfo", "model name") or platform.processor() or platform.machine()


def _field(file: str, name: str) -> str | None:
    """The value of the first line that begins with this name."""
    try:
        lines = Path(file).read_text(encoding="utf-8").splitlines()
    except OSError:
        return None
    return next((line.partition(":")[2].strip() for line in lines if line.startswith(name)), None)
