"""Case of an audit of epsilon: two neighbours, a sampler of their outputs, and the claim."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from protocols.arithmetic.rng import Stream
from smc_dp.audit.epsilon import case
from smc_dp.audit.epsilon.bounds import Worlds
from smc_dp.audit.epsilon.canary import NeighbourDistance
from smc_dp.audit.epsilon.one_run import Canaries
from smc_dp.core.arrays import Array
from smc_dp.methods.neighbours import Score
from smc_dp.privacy.statement import PrivacyStatement

Tick: TypeAlias = Callable[[int], None]
"""Hears the number of further draws."""

_BLOCK = 500  # draws between two ticks


@dataclass(frozen=True, eq=False)
class Case:
    """One mechanism with two neighbours, 0 and 1, that move it as far as is known.

    draw: one output of a neighbour, (width,). centres: both outputs without noise. noise: what is added to either,
    where it is known; then the same draws serve both neighbours. canaries: one run with so many secret bits, where
    there is such a thing. whole: outputs are integers. scale: of the noise, where a sampler in floats could have made
    it. own_scores: further scores by an attacker of this mechanism. neighbour_distance: of neighbours
    that were searched for, beside the claimed sensitivity.
    """

    name: str
    neighbours: str
    claim: PrivacyStatement
    centres: tuple[Array, Array]
    draw: Callable[[int, Stream], Array]
    noise: Callable[[Stream], Array] | None = None
    canaries: Callable[[int, Stream], Canaries] | None = None
    whole: bool = False
    scale: float | None = None
    own_scores: tuple[Score, ...] = ()
    neighbour_distance: NeighbourDistance | None = None

    def both(self, trials: int, rng: Stream, tick: Tick) -> tuple[Array, Array]:
        """Draw outputs of both neighbours: (trials, width) each, independent within each of them.

        Every limit is about one neighbour, and holds whether or not its draws depend on those of the other.
        """
        noise = self.noise
        if noise is None:
            return self.outputs(0, trials, rng, tick), self.outputs(1, trials, rng, tick)
        drawn = _repeated(lambda: noise(rng), trials, lambda more: tick(2 * more))
        return drawn + self.centres[0], drawn + self.centres[1]

    def outputs(self, world: int, trials: int, rng: Stream, tick: Tick) -> Array:
        """Draw independent outputs of one neighbour: (trials, width)."""
        return _repeated(lambda: self.draw(world, rng), trials, tick)

    def where(self, outputs: tuple[Array, Array]) -> Worlds:
        """Return scores by the places of the outputs."""
        first, second = (
            np.concatenate(
                [case.distance_scores(drawn, self.centres), *(own(drawn)[np.newaxis] for own in self.own_scores)]
            )
            for drawn in outputs
        )
        return first, second

    def digits(self, outputs: tuple[Array, Array]) -> Worlds | None:
        """Return scores by the last digits; None where outputs have none that survive rounding."""
        kinds = []
        for drawn in outputs:
            found = [case.residue_scores(drawn)] if self.whole else []
            found += [] if self.scale is None else [case.float_scores(drawn, self.centres, self.scale)]
            kinds.append(found)
        if not kinds[0]:
            return None
        first, second = (np.concatenate(found) for found in kinds)
        return first, second


def _repeated(draw: Callable[[], Array], trials: int, tick: Tick) -> Array:
    drawn = []
    for i in range(trials):
        drawn.append(draw())
        if (i + 1) % _BLOCK == 0 or i + 1 == trials:
            tick(i % _BLOCK + 1)
    return np.array(drawn)


PRIMES = (2, 3, 5, 7, 11, 13)  # noise that is multiplied by K parties has one residue modulo a prime factor of K
_UNIFORM_BITS = 53
_WINDOW = 16  # candidates on either side: exp and log err by less than 3 of them for noise within 36 scales


def distance_scores(outputs: Array, centres: tuple[Array, Array]) -> Array:
    """Return distances from the two outputs without noise, and what lies between: (scores, draws).

    The log-likelihood ratio of each noise in use is among them, but for rounding: the projection on the difference for
    Gaussian noise, the difference of the distances in L2 for K-norm noise, in L1 for Laplace noise. Single distances
    detect noise with too much mass near zero. outputs: (draws, width); centres: (width,).
    """
    first, second = (outputs - centre for centre in centres)
    apart = centres[1] - centres[0]
    rows = [first @ apart]
    for order in (1, 2):
        near, far = (np.linalg.norm(part, order, axis=1) for part in (first, second))
        rows += [near - far, near, far]
    found: Array = np.array(rows)
    return found


def residue_scores(outputs: Array) -> Array:
    """Return whether the first coordinate has each residue modulo each small prime; whole outputs (draws, width)."""
    whole = outputs[:, 0].astype(np.int64)
    return np.array([whole % prime == r for prime in PRIMES for r in range(prime)], dtype=np.float64)


def float_scores(outputs: Array, centres: tuple[Array, Array], scale: float) -> Array:
    """Return whether the textbook sampler in floats could have led from each centre to the output: (2, draws).

    Its noise is -scale log(u) with a sign, for u a multiple of 2^-53. Rounded to floats and added, it reaches only some
    floats, and others from another centre (Mironov, CCS 2012). All u that could lead to the output are tried, which
    settles the question for centres within ten scales of zero.
    """
    return np.array([_reachable(outputs[:, 0], float(centre[0]), scale) for centre in centres], dtype=np.float64)


def _reachable(values: Array, centre: float, scale: float) -> Array:
    noise = values - centre
    nearest = np.rint(np.exp(-np.abs(noise) / scale) * 2.0**_UNIFORM_BITS)
    found = np.zeros(len(values), dtype=bool)
    for step in range(-_WINDOW, _WINDOW + 1):
        u = np.clip((nearest + step) * 2.0**-_UNIFORM_BITS, 2.0**-_UNIFORM_BITS, 1.0)
        found |= centre + np.sign(noise) * (scale * -np.log(u)) == values
    return found
