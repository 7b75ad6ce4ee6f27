"""What is audited: two neighbours, how to draw their outputs, and what is claimed of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from protocols.arithmetic.rng import Stream
from smc_dp.arrays import Array
from smc_dp.audit.epsilon import scores
from smc_dp.audit.epsilon.bounds import Worlds
from smc_dp.audit.epsilon.one_run import Guesses
from smc_dp.methods.neighbours import Score
from smc_dp.privacy.statement import PrivacyStatement

Tick: TypeAlias = Callable[[int], None]
"""Hears how many draws more there are."""

_BLOCK = 500  # draws between two ticks


@dataclass(frozen=True, eq=False)
class Case:
    """One mechanism with two neighbours, 0 and 1, that move it as far as is known.

    draw: one output of a neighbour, (width,). centres: what both would be without noise. canaries: one run with so many
    secret bits, where there is such a thing. whole: outputs are integers. scale: of the noise, where a sampler in
    floats could have made it. own_scores: more that an attacker of this mechanism would look at.
    """

    name: str
    neighbours: str
    claim: PrivacyStatement
    centres: tuple[Array, Array]
    draw: Callable[[int, Stream], Array]
    canaries: Callable[[int, Stream], Guesses] | None = None
    whole: bool = False
    scale: float | None = None
    own_scores: tuple[Score, ...] = ()

    def outputs(self, world: int, trials: int, rng: Stream, tick: Tick) -> Array:
        """Independent draws: (trials, width)."""
        drawn = []
        for i in range(trials):
            drawn.append(self.draw(world, rng))
            if (i + 1) % _BLOCK == 0 or i + 1 == trials:
                tick(i % _BLOCK + 1)
        return np.array(drawn)

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
