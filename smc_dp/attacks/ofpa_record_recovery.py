"""`ofpa-record-recovery`: OFPA leaves the bias without noise, and with it an exact equation for the last record.

The attack itself is `smc_dp.attacks.recovery`; here it meets both forms on fresh rows and fresh noise.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from protocols.arithmetic.rng import Stream
from smc_dp.attacks.attack import MeasuredAttack, Variant
from smc_dp.attacks.recovery import recover
from smc_dp.attacks.synthetic import in_the_ball
from smc_dp.data.federation import Federation
from smc_dp.methods.collaborative.ofpa import Ofpa
from smc_dp.privacy.target import Target

ROWS, FEATURES, ROUNDS = 1200, 4, 6
EPSILON = Fraction(1, 2)
CLOSE = 1e-6


def _against(target: Target, name: str, words: str) -> Variant:
    def trial(rng: Stream, _key_bits: int) -> bool:
        rows = in_the_ball(ROWS, FEATURES, rng)
        release = Ofpa(rounds=ROUNDS).train(Federation((rows,), 2)).release(target, rng)
        x, label = recover(rows.take(np.arange(ROWS - 1)), release.uploads[:, 0])
        return bool(np.abs(x - rows.X[-1]).max() < CLOSE and label == rows.y[-1])

    return Variant(name, "OFPA", words, "succeeds" if target.calibration == "paper" else "fails", trial)


ATTACK = MeasuredAttack(
    name="ofpa-record-recovery",
    paper="OFPA and OFAA",
    step="Algorithm 2",
    flaw="The objective has noise on all coordinates but the bias.",
    attacker="the server",
    takes=f"the known {ROWS - 1} records and the {ROUNDS} models that the party uploads",
    success=f"all {FEATURES} features of the last record are stated within {CLOSE:g}, and its label",
    when="if all records but one are known and there are as many uploads as features, at any epsilon",
    steps=(
        "At each upload the residuals of all records add up to zero exactly, for the bias has no noise.",
        "The server subtracts those of the records that it knows; one number is left.",
        "Its sign is the label of the last record, its size one linear equation for the features.",
        "As many uploads as there are features have one solution.",
    ),
    variants=(
        _against(Target(EPSILON, "paper", "laplace"), "printed", "OFPA as printed"),
        _against(Target(EPSILON), "proven", "OFPA as objective perturbation with noise on all coordinates"),
    ),
    uses_keys=False,
    reading="Epsilon is 1/2; the printed form loses at any epsilon.",
)
