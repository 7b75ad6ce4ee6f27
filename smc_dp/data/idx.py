"""The idx format of the MNIST files: two zero bytes, type 8 (bytes), the number of axes, their lengths, the bytes."""

from __future__ import annotations

import math
import struct

import numpy as np
from numpy.typing import NDArray

from smc_dp.core.errors import InputError


def parse_idx(content: bytes, shape: tuple[int, ...], source: str) -> NDArray[np.uint8]:
    """The array in an idx file of unsigned bytes; raises InputError unless it has exactly that shape."""
    header = _header(shape)
    if not content.startswith(header):
        got = content[: len(header)].hex() or "nothing"
        raise InputError(f"{source}: wanted an idx file of bytes, shape {shape}, header {header.hex()}, got {got}")
    size = len(header) + math.prod(shape)
    if len(content) != size:
        raise InputError(f"{source}: wanted an idx file of {size} bytes, got {len(content)}")
    return np.frombuffer(content, dtype=np.uint8, offset=len(header)).reshape(shape)


def idx_file(array: NDArray[np.uint8]) -> bytes:
    """The idx file of this array."""
    return _header(array.shape) + array.tobytes()


def _header(shape: tuple[int, ...]) -> bytes:
    return struct.pack(f">HBB{len(shape)}I", 0, 8, len(shape), *shape)
