"""The whole protocol: the parties' rows go in, and what is audited is the sum of the shares that everybody sees."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from protocols import pathak2010
from protocols.arithmetic.rng import Stream
from protocols.pathak2010 import as_published
from protocols.pathak2010.parameters import Parameters
from smc_dp.audit.epsilon.case import Case
from smc_dp.audit.epsilon.mechanisms import twice
from smc_dp.audit.epsilon.twins import TwinName
from smc_dp.core.arrays import Array
from smc_dp.core.errors import InputError
from smc_dp.data.federation import Public, Rows
from smc_dp.methods.functionality import Contribution, Vector, ideal
from smc_dp.methods.pathak2010.mean import PathakMean
from smc_dp.methods.pathak2010.models import model_of
from smc_dp.privacy.target import PRINTED, Target
from smc_dp.run.protocols.execution import open_session, run_session

NAME = "prr_mean"
SCOPE = (
    "What was looked at is the sum of the published shares of whole runs with toy keys, not the messages in them.\n"
    "A run takes long, so there are few draws: they find gross faults, such as half the noise or residues.\n"
    "Half the noise was drawn by the ideal functionality, whose output has the same law and takes no time."
)
_LAM = 10.0
_KEY_BITS = 256
_WHOSE = ("the smallest", "the second")
_SIZES, _PRINTED_SIZES = (4, 8), (4, 8, 8)  # two label flips are two apart modulo 2, so that there K is 3


def case(target: Target, twin: TwinName | None = None, *, clear: bool = False) -> Case:
    """`prr_mean` with toy keys, d = 1; `clear` by the ideal functionality, which has the same law and takes no time.

    `k-times-integer` is the protocol as printed, with the printed noise; `stripped` what the smallest party makes of
    the release, which takes its own noise off. InputError for another twin.
    """
    if twin not in (None, "half-noise", "k-times-integer", "stripped"):
        raise InputError("twin.not_of_protocol", got=twin)
    if target.noise not in PRINTED or target.epsilon is None:
        raise InputError("noise.not_of_whole_protocol")
    printed = twin == "k-times-integer"
    method = PathakMean(_LAM, as_printed=printed)
    agreed = replace(target, calibration="paper") if printed else target
    drawn = twice(target) if twin == "half-noise" else agreed
    sizes = _PRINTED_SIZES if printed else _SIZES
    public = Public(len(sizes), 1, 2)
    functionality = method.functionality(public, agreed)
    changed = 1 if twin == "stripped" else 0
    bits = [[world if j == changed else 0 for j in range(len(sizes))] for world in (0, 1)]
    weights = [[model_of(_rows(*party), _LAM)[0] for party in zip(sizes, labels, strict=True)] for labels in bits]
    parameters = Parameters(tuple(f"party {j}" for j in range(len(sizes))), 1, _KEY_BITS)
    program = as_published.PROGRAM if printed else pathak2010.PROGRAM

    def draw(world: int, rng: Stream) -> Array:
        parts = [
            Contribution(n, (w,), tuple(method.law(drawn, n, public).sample(rng)))
            for n, w in zip(sizes, weights[world], strict=True)
        ]
        known = float(parts[0].noise[0]) if twin == "stripped" else 0.0
        if clear:
            return _opened(ideal(functionality, parts, rng)) - known
        own = rng.spawn()
        return _opened(run_session(functionality, parts, open_session(program, parameters, own), rng=own).value) - known

    how = "the protocol as printed" if printed else "the whole protocol"
    return Case(
        f"{how}, {agreed.calibration} {agreed.noise}" + (f": {twin}" if twin else ""),
        f"one record of {_WHOSE[changed]} of {len(sizes)} parties has the other label; d = 1, toy keys",
        replace(method, as_printed=False).statement(public, agreed, "secure"),  # what the noise is said to give
        (np.array([float(sum(weights[0]))]), np.array([float(sum(weights[1]))])),
        draw,
        whole=True,
    )


def _rows(n: int, bit: int) -> Rows:
    """A record at 1 with the label that the bit says, others at 0."""
    y = (np.arange(n) + 1) % 2
    y[0] = bit
    return Rows(np.eye(n)[:, :1], y)


def _opened(value: Vector) -> Array:
    """Return the released sum; floats hold what is needed of it."""
    return np.array([float(value[0])])
