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

SHA256 = MappingProxyType(
    {
        "a9a/a9a.gz": "82d347cf414924a79e7972829fdeb99ff23346742c49a3bc76b89ff8736a485e",
        "a9a/a9a.t.gz": "d52d0c91c3f108f1bf34e4af73003a01ce19c3fcf099f319f084ebb349b8d16c",
        "bank/bank-full.csv.gz": "2cf6b847bc108d650d72750b04817c3a1cba305ebde1fe8f5174d8ac0bdc0d23",
        "covtype/covtype_random10k.csv.gz": "d218a781fc00a86ac5fd94f8a145514de1d79e15a9ce9522e58531b241dc2bee",
        "credit_default/default_of_credit_card_clients.csv.gz": (
            "aaca3239d55524e99bc3a76aeeebf55b0b93a94f4a888d67d72ba8cfc92986f4"
        ),
        "har/har_timedomain265.npz": "bbf2fe442ca008ce67a5f1b25bf891117f8438ba702ba02d1b91fe3d6fa95aeb",
        "kdd99/corrected.gz": "74f0daef49b242badc09f2adbd457dea6a45b4f77177efbd11216d333651044b",
        "kdd99/kddcup.data_10_percent.gz": "7bfaa8cef1350f72842018c32893e2fa4539d57efbb22f998eb74ecefc3da3b4",
        "mnist/t10k-images-idx3-ubyte.gz": "5634745efa576a17e7d4cf5cd9d09123c75e6538e5114267c2d156edaf519341",
        "mnist/t10k-labels-idx1-ubyte.gz": "ae18e77e031ccde52407f794d123116439864147d33ac992975f85dd4dc42af6",
        "mnist/train-images-idx3-ubyte.gz": "71524e2cd1ad2968737f7f2f2ff69cbfc32df8ccddff51593f7cb2d4e0eb5b64",
        "mnist/train-labels-idx1-ubyte.gz": "fe03b8bd7915f70bf5aa08be480aa413fbd85afcaa58b35d230d335f284fd88e",
    }
)
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


def idx_file(array: NDArray[np.uint8]) -> bytes:
    """Return the idx file of this array."""
    return _header(array.shape) + array.tobytes()


def _header(shape: tuple[int, ...]) -> bytes:
    return struct.pack(f">HBB{len(shape)}I", 0, 8, len(shape), *shape)
