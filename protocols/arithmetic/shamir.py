"""Shamir's secret sharing of byte strings over GF(256), byte by byte: any `threshold` shares give the secret, fewer
give nothing, whatever else is known.

The field is that of AES, x^8 + x^4 + x^3 + x + 1. Every byte string is a share, so there is nothing to check in one;
with a field of fewer than 2^256 elements a 256-bit seed would wrap. Share x of at most 255 is the value at x, the
secret that at 0. Products go through tables: an attacker who can time memory accesses on the same machine is out of
scope.

A. Shamir, "How to share a secret", 1979.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from types import MappingProxyType

import numpy as np
import numpy.typing as npt

from protocols.arithmetic.rng import Stream
from protocols.errors import LocalError

MOST_SHARES = 255
_POLYNOMIAL = 0x11B


def _doubled(a: int) -> int:
    return a << 1 ^ (_POLYNOMIAL if a & 0x80 else 0)


def _powers() -> tuple[int, ...]:
    found = [1]
    for _ in range(MOST_SHARES - 1):
        found.append(found[-1] ^ _doubled(found[-1]))  # times x + 1
    return tuple(found)


_EXP = _powers()
_LOG = {a: i for i, a in enumerate(_EXP)}


def multiply(a: int, b: int) -> int:
    """Return the product in GF(256)."""
    return _EXP[(_LOG[a] + _LOG[b]) % MOST_SHARES] if a and b else 0


def inverse(a: int) -> int:
    """Return 1/a in GF(256); raise `LocalError` for zero."""
    if not a:
        raise LocalError("sharing.zero_has_no_inverse")
    return _EXP[-_LOG[a] % MOST_SHARES]


def _products() -> npt.NDArray[np.uint8]:
    logs = np.array([0, *(_LOG[a] for a in range(1, 256))])
    found: npt.NDArray[np.uint8] = np.array(_EXP, np.uint8)[np.add.outer(logs, logs) % MOST_SHARES]
    found[0] = found[:, 0] = 0
    return found.reshape(-1)


_PRODUCTS = _products()  # 256 a + b -> a times b
_TIMES = tuple(row.tobytes() for row in _PRODUCTS.reshape(256, 256))  # for bytes.translate


def deal(secret: bytes, threshold: int, count: int, rng: Stream) -> tuple[bytes, ...]:
    """Return shares 1 to `count` of the secret, each as long as it; `threshold` of them open it.

    Raises `LocalError` unless 1 <= threshold <= count <= 255.
    """
    if not 1 <= threshold <= count <= MOST_SHARES:
        raise LocalError("sharing.threshold_outside", most_shares=MOST_SHARES, threshold=threshold, shares=count)
    coefficients = [secret, *(rng.bytes(len(secret)) for _ in range(threshold - 1))]
    rows, shares = np.arange(1, count + 1, dtype=np.intp)[:, np.newaxis] << 8, np.zeros((count, len(secret)), np.uint8)
    for coefficient in reversed(coefficients):  # Horner's rule, for all places and bytes at once
        shares = _PRODUCTS.take(rows | shares) ^ np.frombuffer(coefficient, np.uint8)
    return tuple(share.tobytes() for share in shares)


def combine(shares: Mapping[int, bytes]) -> bytes:
    """Return the secret from at least `threshold` shares, by their x; from fewer, or wrong ones, any string.

    Raises `LocalError` for no share, an x outside 1 to 255, or shares of different lengths.
    """
    lengths = {len(share) for share in shares.values()}
    if len(lengths) != 1 or not all(1 <= x <= MOST_SHARES for x in shares):
        raise LocalError("sharing.shares_do_not_fit", most_shares=MOST_SHARES, shares=len(shares))
    total, length = 0, lengths.pop()
    for x, weight in weights(tuple(shares)).items():
        total ^= int.from_bytes(shares[x].translate(_TIMES[weight]), "big")
    return total.to_bytes(length, "big")


@lru_cache(maxsize=16)  # the same holders open the shares of all dealers
def weights(places: tuple[int, ...]) -> Mapping[int, int]:
    """Return the factors by which the values at these places give the value at 0: Lagrange's coefficients."""
    found: dict[int, int] = {}
    for x in places:
        above = below = 1
        for other in places:
            if other != x:
                above, below = multiply(above, other), multiply(below, other ^ x)
        found[x] = multiply(above, inverse(below))
    return MappingProxyType(found)
