"""The curator protocol with one thing left out: each mutant swaps one stage, and the checks must catch it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import wraps
from typing import Any

from broken.paillier_twins import blind_plaintext_only

from protocols.arithmetic.ring import Ring, Vector
from protocols.arithmetic.rng import Stream
from protocols.crypto.paillier import Ciphertext, Fresh, PublicKey, Uniform
from protocols.pathak2010 import PROGRAM, stage1, stage2, stage3
from protocols.runtime.endpoint import Endpoint
from protocols.runtime.session import Program


class Bent:
    """An object with some of its attributes replaced."""

    def __init__(self, of: Any, **replaced: Any) -> None:
        self.__dict__.update(replaced, _of=of)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._of, name)


def instead(stage: Any, change: Callable[..., tuple[Any, ...]]) -> Any:
    """The stage, with the same coins, on changed arguments."""

    @wraps(stage)
    async def mutated(me: Endpoint, *args: Any) -> Any:
        return await stage(me, *change(*args))

    return mutated


def mutant(*stages: Any, kinds: tuple[type[Any], ...] = ()) -> Program:
    """The protocol with these stages in place of those that they wrap."""
    swapped = {stage.__wrapped__: stage for stage in stages}

    def mutated(role: Any) -> Any:
        async def run(me: Any, *args: Any) -> Any:
            honest = me.stage
            me.stage = lambda stage, *rest: honest(swapped.get(stage, stage), *rest)
            return await role(me, *args)

        return run

    roles_ = {kind: mutated(role) for kind, role in PROGRAM.roles.items()}
    return replace(PROGRAM, roles=roles_, kinds=(*PROGRAM.kinds, *kinds))


def with_parameters(stage: Any, **change: Callable[[Any], Any]) -> Program:
    """The protocol with one stage that reads its parameters differently."""

    def bent(p: Any, *rest: Any) -> tuple[Any, ...]:
        return Bent(p, **{name: value(p) for name, value in change.items()}), *rest

    return mutant(instead(stage, bent))


class NoShares(Ring):
    """Everything in one share."""

    def split(self, x: int, rng: Stream) -> tuple[int, int]:
        """All of it to Charlie."""
        return 0, x

    def split_vector(self, x: Vector, count: int, rng: Stream) -> list[Vector]:
        """All of it to the last one."""
        return [*[(0,) * len(x)] * (count - 1), x]


class StaleKey(PublicKey):
    """Adds plaintexts, and calls what comes out uniform."""

    def blind(self, c: Ciphertext, r: int, rng: Stream) -> Uniform:
        """C (1 + r n): the randomiser of c stays."""
        return blind_plaintext_only(self, c, r, rng)

    def refresh(self, c: Ciphertext, rng: Stream) -> Fresh:
        """The ciphertext as it is."""
        return self.blind(c, 0, rng)


class RefreshingKey(PublicKey):
    """Blinds with the randomness that is good enough for everybody but the owner of the key, and says so."""

    def blind(self, c: Ciphertext, r: int, rng: Stream) -> Uniform:
        """A ciphertext of D(c) + r that is no more than fresh."""
        return self.refresh(self.add(c, self.encrypt(r, rng)), rng)  # type: ignore[return-value]


def _stale(key: Any) -> StaleKey:
    return StaleKey(key.n)


SIZES_UNSHARED = with_parameters(stage1.party, sizes=lambda p: NoShares(p.sizes.bits))
SHORT_BLINDING = with_parameters(stage1.curator, blind_bits=lambda p: p.sizes.bits)
SHORT_MASK = with_parameters(stage3.party, mask_bits=lambda p: p.ring_bits)
NO_MASK = with_parameters(stage3.party, mask_bits=lambda p: 0)
WEIGHTS_UNSHARED = with_parameters(stage3.party, weights=lambda p: NoShares(p.weights.bits))
STALE_BLINDING = mutant(instead(stage1.curator, lambda p, keys: (p, Bent(keys, xi=_stale(keys.xi)))))
REFRESHED_BLINDING = mutant(instead(stage1.curator, lambda p, keys: (p, Bent(keys, xi=RefreshingKey(keys.xi.n)))))
REFRESHED_MASK = mutant(instead(stage3.party, lambda p, keys, *w: (p, Bent(keys, zeta=RefreshingKey(keys.zeta.n)), *w)))
STALE_SELECTION = mutant(
    instead(stage2.party, lambda p, keys, eta: (p, Bent(keys, zeta=_stale(keys.zeta)), eta)),
)
NOTHING_SELECTED = mutant(instead(stage2.curator, lambda p, keys, halves, smallest: (p, keys, halves, -1)))


# The comparison, with its two roles swapped in `protocols.comparison.roles`.
