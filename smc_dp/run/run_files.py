"""Files of a run folder: read from the disk at each access, or read once and held in memory."""

from __future__ import annotations

import errno
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from typing_extensions import override

from smc_dp.core import reading
from smc_dp.core.errors import InputError
from smc_dp.run.release import RELEASE

_PERSONAL_MARK = b'{\n  "format": "smc-dp personal model '


@dataclass(frozen=True, repr=False)
class RunFiles:
    """Bytes of the files of a run folder by name, as they were when they were read.

    Several readers of these bytes, such as an audit and a prediction, see the same run whatever happens to the folder.
    """

    folder: Path
    contents: Mapping[str, bytes]

    @override
    def __str__(self) -> str:
        return str(self.folder)


RunPlace: TypeAlias = Path | RunFiles
"""Run folder, or the files that were read from it."""


def path_of(place: RunPlace, name: str) -> Path:
    """Return the path of a file of a run, for messages."""
    return (place.folder if isinstance(place, RunFiles) else place) / name


def has_file(place: RunPlace, name: str) -> bool:
    """Return whether a run has a file of this name."""
    return name in place.contents if isinstance(place, RunFiles) else os.path.lexists(place / name)


def is_personal_model(path: Path) -> bool:
    """Return whether a file begins as one that `smc-dp personalise` writes."""
    if not path.is_file():
        return False
    with path.open("rb") as file:
        return file.read(len(_PERSONAL_MARK)) == _PERSONAL_MARK


def _require_run(folder: Path, name: str) -> None:
    """Raise InputError for no folder, and for one that holds several runs in place of the file."""
    if is_personal_model(folder):
        raise InputError("personal.no_release", file=str(folder))
    if not folder.is_dir():
        raise InputError("run.no_folder", run=str(folder))
    if os.path.lexists(folder / name):
        return
    if name != RELEASE:
        raise InputError("run.lacks_file", path=str(folder / name))
    if runs := sorted(path.parent.name for path in folder.glob(f"*/{name}")):
        raise InputError("run.several_runs", run=str(folder), runs=runs, first=str(folder / runs[0]))
    raise InputError("run.no_release", run=str(folder))


def read_run_file(place: RunPlace, name: str, limit: int) -> bytes:
    """Return a file of a run; raise InputError if it is missing, no plain file, or longer than `limit` bytes."""
    if not isinstance(place, RunFiles):
        _require_run(place, name)
        return reading.read_file(place / name, limit)
    where = str(path_of(place, name))
    if name not in place.contents:
        raise InputError("file.unreadable", why=os.strerror(errno.ENOENT)).within(where)
    content = place.contents[name]
    if len(content) > limit:
        raise InputError("file.too_large", most=limit).within(where)
    return content
