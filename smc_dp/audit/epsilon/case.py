"""What is audited: two neighbours, how to draw their outputs, and what is claimed of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from protocols.arithmetic.rng import Stream
from smc_dp.audit.epsilon import scores
from smc_dp.audit.epsilon.bounds import Worlds
from smc_dp.audit.epsilon.canary import Reach
from smc_dp.audit.epsilon.one_run import Canaries
from smc_dp.core.arrays import Array
from smc_dp.methods.neighbours import Score
from smc_dp.privacy.statement import PrivacyStatement

Tick: TypeAlias = Callable[[int], None]
"""Hears how many draws more there are."""

_BLOCK = 500  # draws between two ticks


@dataclass(frozen=True, eq=False)
class Case:
    """One mechanism with two neighbours, 0 and 1, that move it as far as is known.

    draw: one output of a neighbour, (width,). centres: what both would be without noise. noise: what is added to
    either, where that is known; then the same draws serve both neighbours. canaries: one run with so many secret bits,
    where there is such a thing. whole: outputs are integers. scale: of the noise, where a sampler in floats could have
    made it. own_scores: more that an attacker of this mechanism would look at. reach: of neighbours that were searched
    for.
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
    reach: Reach | None = None

    def both(self, trials: int, rng: Stream, tick: Tick) -> tuple[Array, Array]:
        """Outputs of both neighbours: (trials, width) each, independent within each of them.

        Every limit is about one neighbour, and holds whether or not its draws have to do with those of the other.
        """
        noise = self.noise
        if noise is None:
            return self.outputs(0, trials, rng, tick), self.outputs(1, trials, rng, tick)
        drawn = _repeated(lambda: noise(rng), trials, lambda more: tick(2 * more))
        return drawn + self.centres[0], drawn + self.centres[1]

    def outputs(self, world: int, trials: int, rng: Stream, tick: Tick) -> Array:
        """Independent draws: (trials, width)."""
        return _repeated(lambda: self.draw(world, rng), trials, tick)

    def where(self, outputs: tuple[Array, Array]) -> Worlds:
        """Scores by the places of the outputs."""
        first, second = (
            np.concatenate([scores.places(drawn, self.centres), *(own(drawn)[np.newaxis] for own in self.own_scores)])
            for drawn in outputs
        )
        return first, second

    def digits(self, outputs: tuple[Array, Array]) -> Worlds | None:
        """Scores by the last digits, where outputs have any that are not rounded away."""
        kinds = []
        for drawn in outputs:
            found = [scores.residues(drawn)] if self.whole else []
            found += [] if self.scale is None else [scores.holes(drawn, self.centres, self.scale)]
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
