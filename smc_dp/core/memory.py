"""Memory of this machine: what is free within the limits of the container, and what the program gives back."""

from __future__ import annotations

import ctypes
import re
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

_AVAILABLE = re.compile(r"^MemAvailable:\s*(\d+) kB$", re.MULTILINE)
# Pages of files; the number of all groups inside comes last.
_RECLAIMABLE = re.compile(r"^(?:total_)?inactive_file (\d+)$", re.MULTILINE)
_ROOT = Path("/")


def free_memory(root: Path = _ROOT) -> int | None:
    """Return the bytes that a program can still take, None where the system does not say so as Linux does.

    root: folder in which `proc` and `sys` are.
    """
    found = _AVAILABLE.search(_text(root / "proc/meminfo"))
    if found is None:
        return None
    return max(0, min([int(found[1]) << 10, *_left_in_groups(root)]))


def give_back_memory() -> None:
    """Give freed memory back to the system, where the C library keeps it and has a function for that (glibc)."""
    with suppress(AttributeError, OSError, TypeError):
        ctypes.CDLL(None).malloc_trim(0)


def _left_in_groups(root: Path) -> Iterator[int]:
    """Yield what each control group around this process leaves it; a group without a limit is passed over."""
    mounted = root / "sys/fs/cgroup"
    for line in _text(root / "proc/self/cgroup").splitlines():
        number, controllers, path = [*line.split(":", 2), "", ""][:3]
        if number == "0" and not controllers:  # the second version of control groups
            folder, names = mounted, ("memory.max", "memory.current")
        elif "memory" in controllers.split(","):
            folder, names = mounted / "memory", ("memory.limit_in_bytes", "memory.usage_in_bytes")
        else:
            continue
        own = Path(path.lstrip("/"))
        for group in (own, *own.parents):  # a container often sees its own group as the root
            limit, used = (_text(folder / group / name).strip() for name in names)
            if limit.isdecimal() and used.isdecimal():
                given_back = _RECLAIMABLE.findall(_text(folder / group / "memory.stat"))
                yield int(limit) - int(used) + max(map(int, given_back), default=0)


def _text(path: Path) -> str:
    """Return a file of the system, nothing where there is none."""
    try:
        return path.read_text(encoding="ascii", errors="replace")
    except OSError:
        return ""
