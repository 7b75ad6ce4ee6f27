"""Known data files by their SHA-256, in a folder with one folder for each data set."""

from __future__ import annotations

import hashlib
from pathlib import Path
from types import MappingProxyType

from smc_dp.core import reading
from smc_dp.core.errors import Fault, InputError
from smc_dp.data.dataset_info import DATASET_INFO

SHA256 = MappingProxyType(dict(sorted(one for info in DATASET_INFO.values() for one in info.digests.items() if one[1])))
"""File in the folder -> the SHA-256 of its bytes."""


def data_path(folder: Path | None, name: str) -> Path:
    """Return the path of a data file; raise InputError without a folder."""
    if folder is None:
        raise InputError("dataset.no_folder").within(f"data file {name}")
    return folder / name


def read_known_file(folder: Path | None, name: str) -> bytes:
    """Read a known file; raise InputError when it cannot be read or has changed."""
    path = data_path(folder, name)
    found = reading.read_file(path, where=f"data file {path}", links=True)
    digest = hashlib.sha256(found).hexdigest()
    if digest != SHA256[name]:
        raise InputError("dataset.wrong_digest", wanted=SHA256[name], got=digest).within(f"data file {path}")
    return found


def verify_files(folder: Path) -> dict[str, Fault | None]:
    """Return what is wrong with each known file in the folder, by name; None for one that is as recorded."""
    found: dict[str, Fault | None] = {}
    for name in SHA256:
        try:
            read_known_file(folder, name)
            found[name] = None
        except InputError as error:
            found[name] = error.fault
    return found
