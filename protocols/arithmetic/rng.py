"""A cryptographic random stream that can be forked by label.

A stream is ChaCha20 keyed with 256 bits. `Stream.from_system()` takes the key from the operating system, and is the
only constructor that production code uses. `Stream.insecure_from_seed(seed)` exists for tests and demonstrations:
it has `insecure` in its name, and everything made from it carries the mark.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
from collections.abc import Mapping
from itertools import islice

from cryptography.hazmat.primitives.ciphers import Cipher, CipherContext, algorithms
from typing_extensions import override

from protocols.arithmetic import words

KEY_BYTES = 32
_BLOCK = 4096


class Stream:
    """Stream of uniform bytes, bits and integers from one key; `fork(label)` gives an independent stream."""

    __slots__ = ("_buffer", "_drawn", "_generator", "_key", "insecure")

    def __init__(self, key: bytes, *, insecure: bool) -> None:
        if len(key) != KEY_BYTES:
            raise ValueError(f"a stream key has {KEY_BYTES} bytes, got {len(key)}")
        self._key = key
        self._generator: CipherContext | None = None  # most streams are only forked
        self._buffer, self._drawn = b"", 0
        self.insecure = insecure

    @classmethod
    def from_system(cls) -> Stream:
        """Return a stream keyed by the operating system's generator."""
        return cls(secrets.token_bytes(KEY_BYTES), insecure=False)

    @classmethod
    def insecure_from_seed(cls, seed: int | str) -> Stream:
        """Return a reproducible stream for tests and demonstrations; anybody who knows the seed knows every secret."""
        return cls(hashlib.sha256(f"smc-dp insecure seed {seed}".encode()).digest(), insecure=True)

    @override
    def __repr__(self) -> str:
        return f"Stream({'insecure' if self.insecure else 'secret'})"  # never the key

    @property
    def key(self) -> bytes:
        """Secret key, for a role's state; its holder can replay every draw."""
        return self._key

    def fork(self, label: str) -> Stream:
        """Return an independent stream determined by this stream's key and the label, whatever was drawn so far."""
        key = hmac.digest(self._key, b"fork:" + label.encode(), "sha256")
        return Stream(key, insecure=self.insecure)

    def forks(self, *labels: str) -> Forks:
        """Return the forks under these labels, and nothing that leads to another."""
        return Forks({label: self.fork(label).key for label in labels}, insecure=self.insecure)

    def spawn(self) -> Stream:
        """Return an independent stream keyed by the next bytes of this one: every call gives another, as no fork
        does.
        """
        return Stream(self.bytes(KEY_BYTES), insecure=self.insecure)

    def bytes(self, n: int) -> bytes:
        """Draw the next n bytes, uniform."""
        start, end = self._drawn, self._drawn + n
        if end > len(self._buffer):
            if self._generator is None:
                self._generator = Cipher(algorithms.ChaCha20(self._key, bytes(16)), mode=None).encryptor()
            left = self._buffer[start:]
            self._buffer = left + self._generator.update(bytes(max(_BLOCK, n - len(left))))
            start, end = 0, n
        self._drawn = end
        return self._buffer[start:end]

    def bits(self, k: int) -> int:
        """Draw an integer uniform on [0, 2**k)."""
        if k < 0:
            raise ValueError(f"a number of bits is not negative, got {k}")
        n = (k + 7) // 8
        return int.from_bytes(self.bytes(n), "big") >> (8 * n - k)

    def numbers(self, count: int, k: int) -> words.Vector:
        """Draw `count` integers uniform on [0, 2**k): the same as from `bits`, one after the other."""
        if k < 1:
            return tuple(self.bits(k) for _ in range(count))
        width = (k + 7) // 8
        drawn, spare = words.from_bytes(self.bytes(count * width), width), 8 * width - k
        if not spare:
            return drawn
        return words.Words(drawn.array >> spare) if isinstance(drawn, words.Words) else tuple(x >> spare for x in drawn)

    def below(self, n: int) -> int:
        """Draw an integer uniform on [0, n), by rejection."""
        if n <= 0:
            raise ValueError(f"the bound must be positive, got {n}")
        k = (n - 1).bit_length()
        while (x := self.bits(k)) >= n:
            pass
        return x


class Forks:
    """Keys of some forks of a deleted stream, by label: what was drawn under other labels stays unknown."""

    __slots__ = ("_keys", "insecure")

    def __init__(self, keys: Mapping[str, bytes], *, insecure: bool) -> None:
        self._keys = dict(keys)
        self.insecure = insecure

    @override
    def __repr__(self) -> str:
        return f"Forks({', '.join(self._keys)})"  # never the keys

    @property
    def left(self) -> Mapping[str, bytes]:
        """Secret keys by label, for a role's state, in the order in which they are drawn with."""
        return self._keys

    def fork(self, label: str) -> Stream:
        """Return the stream under this label, as `Stream.fork` would give it; KeyError for another label."""
        return Stream(self._keys[label], insecure=self.insecure)

    def without_first(self) -> Forks:
        """Return the forks that are left once the first was drawn with."""
        return Forks(dict(islice(self._keys.items(), 1, None)), insecure=self.insecure)
