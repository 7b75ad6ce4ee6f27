"""The garbled argmin once more, slow and obvious: one point, one bit and one gate at a time, in plain integers."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence

from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

Point = tuple[int, int]
Gate = Callable[[int, int], int]
P = 2**255 - 19
D = -121665 * pow(121666, -1, P) % P
BASE: Point = (
    15112221349535400772501151409588531511454012693041857206046113283949847762202,
    46316835694926478169428394003475163141307993866256225615783033603165251855960,
)


def plus(p: Point, q: Point) -> Point:
    """The sum of two points of edwards25519, by the complete law."""
    (x, y), (z, w) = p, q
    t = D * x * y * z * w
    return (x * w + y * z) * pow(1 + t, -1, P) % P, (y * w + x * z) * pow(1 - t, -1, P) % P


def times(scalar: int, p: Point) -> Point:
    found: Point = (0, 1)
    for bit in bin(scalar)[2:]:
        found = plus(found, found)
        found = plus(found, p) if bit == "1" else found
    return found


def encoded(p: Point) -> bytes:
    return (p[1] | (p[0] & 1) << 255).to_bytes(32, "little")


def transfer_key(session: bytes, i: int, A: Point, R: Point, common: Point) -> bytes:
    about = session + i.to_bytes(2, "big") + encoded(A) + encoded(R) + encoded(common)
    return hashlib.sha256(b"smc-dp transfer\0" + about).digest()


def column(key: bytes, count: int) -> list[int]:
    """So many bits of ChaCha20 under this key, the lowest bit of each byte first."""
    spun = Cipher(algorithms.ChaCha20(key, bytes(16)), mode=None).encryptor().update(bytes((count + 7) // 8))
    return [byte >> i & 1 for byte in spun for i in range(8)]


def hashed(session: bytes, x: int, tweak: int) -> int:
    key = hashlib.sha256(b"smc-dp garbling permutation\0" + session).digest()[:16]

    def pi(block: int) -> int:
        made = Cipher(algorithms.AES128(key), modes.ECB()).encryptor().update(block.to_bytes(16, "little"))
        return int.from_bytes(made, "little")

    return pi(pi(x) ^ tweak) ^ pi(x)


def garbling(session: bytes, delta: int, tables: list[int]) -> Gate:
    """A gate of zero labels, which adds its two ciphertexts to the tables."""

    def gate(a: int, b: int) -> int:
        t = len(tables)  # two ciphertexts a gate, two tweaks a gate
        a0, a1 = hashed(session, a, t), hashed(session, a ^ delta, t)
        b0, b1 = hashed(session, b, t + 1), hashed(session, b ^ delta, t + 1)
        first, second = a0 ^ a1 ^ (b & 1) * delta, b0 ^ b1 ^ a
        tables.extend((first, second))
        return a0 ^ (a & 1) * first ^ b0 ^ (b & 1) * (second ^ a)

    return gate


def evaluating(session: bytes, tables: Sequence[int]) -> Gate:
    """A gate of labels."""
    rest = iter(enumerate(tables))

    def gate(a: int, b: int) -> int:
        (t, first), (_, second) = next(rest), next(rest)
        return hashed(session, a, t) ^ (a & 1) * first ^ hashed(session, b, t + 1) ^ (b & 1) * (second ^ a)

    return gate


def place(gate: Gate, numbers: list[list[int]]) -> list[int]:
    """The wires of the place of the smallest number; each number is its wires, the lowest bit first."""
    known: list[list[int]] = [[] for _ in numbers]
    while len(numbers) > 1:
        pairs = range(len(numbers) // 2)
        less = [0 for _ in pairs]
        for i in range(len(numbers[0])):
            for m in pairs:
                left, right = numbers[2 * m][i], numbers[2 * m + 1][i]
                less[m] ^= gate(left ^ right, less[m] ^ left)
        if len(numbers) == 2:
            numbers = [[], []]
        size = len(numbers[0])
        carried = [n + k for n, k in zip(numbers, known, strict=True)]
        won: list[list[int]] = [[] for _ in pairs]
        for i in range(len(carried[0])):
            for m in pairs:
                left, right = carried[2 * m][i], carried[2 * m + 1][i]
                won[m].append(left ^ gate(less[m], left ^ right))
        won += carried[2 * len(pairs) :]
        numbers = [w[:size] for w in won]
        known = [[*w[size:], top] for w, top in zip(won, [*less, 0], strict=False)]
    return known[0]


def numbers_of(data: bytes) -> list[int]:
    """Labels or ciphertexts that stand one after the other."""
    return [int.from_bytes(data[i : i + 16], "little") for i in range(0, len(data), 16)]


def wired(labels: Sequence[int], K: int, value_bits: int) -> list[list[int]]:
    """For each of K numbers the labels of c, which all share, below those of its own bits."""
    ties = list(labels[K * value_bits :])
    return [ties + list(labels[j * value_bits : (j + 1) * value_bits]) for j in range(K)]


def lock(session: bytes, labels: Sequence[int]) -> tuple[bytes, bytes]:
    made = hashlib.sha512(b"smc-dp row lock\0" + session + b"".join(x.to_bytes(16, "little") for x in labels)).digest()
    return made[:16], made[16:48]
