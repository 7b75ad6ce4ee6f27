"""Known data files by their SHA-256, in a folder with one folder for each data set, and the idx format of MNIST."""

from __future__ import annotations

import hashlib
import math
import struct
from pathlib import Path
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from smc_dp.core import reading
from smc_dp.core.errors import InputError
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


def parse_idx(content: bytes, shape: tuple[int, ...], source: str) -> NDArray[np.uint8]:
    """Return the array in an idx file of unsigned bytes; raise InputError unless it has exactly that shape."""
    header = _header(shape)
    if not content.startswith(header):
        got = content[: len(header)].hex() or "nothing"
        raise InputError("idx.wrong_header", shape=str(shape), header=header.hex(), got=got).within(source)
    size = len(header) + math.prod(shape)
    if len(content) != size:
        raise InputError("idx.wrong_size", size=size, got=len(content)).within(source)
    return np.frombuffer(content, dtype=np.uint8, offset=len(header)).reshape(shape)


def _header(shape: tuple[int, ...]) -> bytes:
    return struct.pack(f">HBB{len(shape)}I", 0, 8, len(shape), *shape)
