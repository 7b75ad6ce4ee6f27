"""The whole protocol: the parties' rows go in, and what is audited is the sum of the shares that everybody sees."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from protocols.arithmetic.rng import KEY_BYTES, Stream
from smc_dp.aggregation import Contribution, Outcome, ProtocolSettings, ideal, secure
from smc_dp.arrays import Array
from smc_dp.audit.epsilon.case import Case
from smc_dp.audit.epsilon.mechanisms import twice
from smc_dp.audit.epsilon.twins import TwinName
from smc_dp.data.preprocess import Examples
from smc_dp.errors import InputError
from smc_dp.learning.solver import minimise
from smc_dp.methods.pathak2010.curator import FRACTION_BITS, RING_BITS, Settings
from smc_dp.privacy.grid import Grid
from smc_dp.privacy.target import Target

NAME = "prr_mean"
SCOPE = (
    "What was looked at is the sum of the published shares of whole runs with toy keys, not the messages in them.\n"
    "A run takes long, so there are few draws: they find gross faults, such as half the noise or residues.\n"
    "Half the noise was drawn by the ideal functionality, whose output has the same law and takes no time."
)
_LAM = Fraction(10)
_KEY_BITS = 256
_SIZES, _PRINTED_SIZES = (4, 8), (4, 8, 8)  # two label flips are two apart modulo 2, so that there K is 3
_GRID = Grid(FRACTION_BITS, RING_BITS)


def case(target: Target, twin: TwinName | None = None, *, clear: bool = False) -> Case:
    """`prr_mean` with toy keys, d = 1; `clear` by the ideal functionality, which has the same law and takes no time.

    `k-times-integer` is the protocol as printed, with the printed noise. InputError for another twin.
    """
    if twin not in (None, "half-noise", "k-times-integer"):
        raise InputError(f"twin: the protocol has half-noise and k-times-integer, got {twin}")
    if target.noise == "gauss" or target.epsilon is None:
        raise InputError("noise: the protocol has knorm and laplace")
    printed = twin == "k-times-integer"
    agreed = Settings(
        target.epsilon, _LAM, "paper" if printed else target.calibration, target.noise, as_printed=printed
    )
    drawn = agreed
    if twin == "half-noise":
        drawn = Settings(twice(target).wanted, _LAM, target.calibration, target.noise)
    sizes = _PRINTED_SIZES if printed else _SIZES
    weights = [_weights(agreed, sizes, world) for world in (0, 1)]

    def draw(world: int, rng: Stream) -> Array:
        parts = _contributions(drawn, sizes, weights[world], rng)
        if clear:
            return _opened(ideal(parts, RING_BITS, rng))
        return _opened(secure(parts, _protocol(drawn), rng=Stream(rng.bytes(KEY_BYTES), insecure=rng.insecure)))

    how = "the protocol as printed" if printed else "the whole protocol"
    return Case(
        f"{how}, {agreed.calibration} {agreed.noise}" + (f": {twin}" if twin else ""),
        f"one record of the smallest of {len(sizes)} parties has the other label; d = 1, toy keys",
        agreed.guarantee(len(sizes), 1),
        (np.array([float(sum(weights[0]))]), np.array([float(sum(weights[1]))])),
        draw,
        whole=True,
    )


def _weights(settings: Settings, sizes: tuple[int, ...], world: int) -> list[int]:
    """Every party's model on the grid."""
    parties = [_examples(n, world if j == 0 else 0) for j, n in enumerate(sizes)]
    models = [minimise(settings.objective, data.X, data.y).weights.tolist() for data in parties]
    return [settings.grid.encode(model)[0] for model in models]


def _examples(n: int, bit: int) -> Examples:
    """A record at 1 with the label that the bit says, others at 0."""
    y = np.where(np.arange(n) % 2, 1.0, -1.0)
    y[0] = 2.0 * bit - 1
    return Examples(np.eye(n)[:, :1], y)


def _contributions(settings: Settings, sizes: tuple[int, ...], weights: list[int], rng: Stream) -> list[Contribution]:
    return [
        Contribution(f"party {j}", n, (w,), tuple(settings.noise_of(n, len(sizes), 1).sample(rng)))
        for j, (n, w) in enumerate(zip(sizes, weights, strict=True))
    ]


def _protocol(settings: Settings) -> ProtocolSettings:
    return ProtocolSettings(1, RING_BITS, key_bits=_KEY_BITS, as_printed=settings.as_printed, insecure_test_keys=True)


def _opened(outcome: Outcome) -> Array:
    """The sum of all published shares as a signed integer; floats hold what is needed of it."""
    total = sum(share[0] for share in outcome.shares.values())
    return np.array([float(_GRID.lift(total))])
