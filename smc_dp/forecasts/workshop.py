"""What operations are measured with: keys, vectors and seeds of the lengths that a program's parameters say."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from protocols.arithmetic.ring import Vector
from protocols.arithmetic.rng import Stream
from protocols.crypto import dgk, garbling, masking, oblivious, paillier
from protocols.linear.parameters import SIZE_BITS
from smc_dp.forecasts.letters import seconds_of

SESSION = bytes(32)
MOST_BITS = 4096  # of keys that are made for a calibration; powers of longer ones cost as the cube of their length
_MOST_NUMBERS, _MOST_PARTIES = 5000, 1000
_LONG = 0.4  # seconds
BITS = 32  # of a comparison that is measured
FEW = 8  # bits of a comparison, or factors of one power, that are measured together


@dataclass(frozen=True)
class Workshop:
    """What is measured with, under these parameters of a program: made when it is first used."""

    p: Any

    @cached_property
    def rng(self) -> Stream:
        """Coins."""
        return Stream.from_system()

    @cached_property
    def bits(self) -> int:
        """The length of keys that are made here."""
        return int(min(self.p.key_bits, MOST_BITS))

    @property
    def longer(self) -> float:
        """How many times more a power costs under the keys of the program."""
        return float((self.p.key_bits / self.bits) ** 3)

    @cached_property
    def key(self) -> paillier.PrivateKey:
        """A Paillier key."""
        return paillier.generate(self.bits, self.rng, self.p.exponents)

    @cached_property
    def ciphertext(self) -> paillier.Fresh:
        """A ciphertext under it."""
        return self.key.public.encrypt(1, self.rng)

    @cached_property
    def comparison(self) -> dgk.DgkPrivateKey:
        """A key of the comparison."""
        return dgk.generate(self.bits, self.p.u, self.rng)

    @cached_property
    def offered(self) -> list[dgk.FreshBit]:
        """Some bits under it."""
        return self.comparison.encrypt_all([j % 2 for j in range(BITS)], self.rng)

    @cached_property
    def d(self) -> int:
        """How many numbers of a vector are measured."""
        return int(min(self._length, _MOST_NUMBERS))

    @property
    def _length(self) -> int:
        return int(self.p.dimension if hasattr(self.p, "dimension") else max(self.p.length(r) for r in range(self.p.R)))

    @property
    def wider(self) -> float:
        """How many times more the program's vectors have."""
        return self._length / self.d

    @cached_property
    def ring(self) -> Any:
        """Where they are."""
        return self.p.weights if hasattr(self.p, "weights") else self.p.ring

    @cached_property
    def vector(self) -> Vector:
        """One of them."""
        return self.ring.random_vector(self.d, self.rng)  # type: ignore[no-any-return]

    @cached_property
    def seeds(self) -> list[bytes]:
        """Secrets of 32 bytes."""
        return [self.rng.bytes(masking.SECRET_BYTES) for _ in range(FEW)]

    @cached_property
    def point(self) -> bytes:
        """A public key on the curve."""
        return masking.public_key(self.seeds[0])

    @cached_property
    def crowd(self) -> int:
        """For how many parties a garbled search is measured."""
        return int(min(self.p.K, _MOST_PARTIES))

    @cached_property
    def search(self) -> _Search:
        """A garbled search among them."""
        return _searched(self.crowd, self.rng)

    def garble(self) -> garbling.Garbled:
        """The gates of that search."""
        ones, ranks = [1] * self.crowd, range(self.crowd)
        return garbling.garble(SESSION, self.search.choice, self.search.extended.u, ones, ranks, SIZE_BITS)

    @cached_property
    def garbled(self) -> garbling.Garbled:
        """The same, once."""
        return self.garble()

    @property
    def larger(self) -> float:
        """How many times more gates the search of the program has."""
        return garbling.ands(self.p.K, SIZE_BITS) / garbling.ands(self.crowd, SIZE_BITS)

    def once(self, make: Callable[[], Any]) -> float:
        """Seconds of the first call."""
        begun = time.process_time()
        make()
        return time.process_time() - begun

    def made(self, make: Callable[[], Any]) -> float:
        """Seconds of a key, the mean of a few: how long one takes is a matter of luck."""
        return seconds_of(make, _LONG, 3) * self.longer

    def mean(self, make: Callable[[], Any], least: int = 3) -> float:
        """Seconds of a call."""
        return seconds_of(make, least=least)

    def power(self, make: Callable[[], Any]) -> float:
        """Seconds of a call that is powers under a key of the program."""
        return self.mean(make) * self.longer


@dataclass(frozen=True)
class _Search:
    """Both sides of a garbled search on sizes that are all 1."""

    offer: oblivious.Offer
    choice: oblivious.Choice
    bits: bytes
    extended: Any


def _searched(crowd: int, rng: Stream) -> _Search:
    offer = oblivious.offer(rng)
    choice = oblivious.choose(SESSION, offer.A, rng)
    bits = garbling.chosen([1] * crowd, 0, SIZE_BITS)
    return _Search(offer, choice, bits, oblivious.extend(SESSION, offer, choice.points, bits))
