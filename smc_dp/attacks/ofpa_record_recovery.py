"""`ofpa-record-recovery`: OFPA leaves the bias without noise, and with it an exact equation for the last record."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import scipy

from protocols.arithmetic.rng import Stream
from smc_dp.attacks.attack import StepCode, Variant, describe_attack
from smc_dp.attacks.synthetic import ball_rows
from smc_dp.core.arrays import Array
from smc_dp.data.federation import Federation, Rows
from smc_dp.methods.collaborative.ofpa import Ofpa, noise_as_published
from smc_dp.methods.collaborative.rounds import append_one
from smc_dp.privacy.objective_perturbation import PerturbedObjective
from smc_dp.privacy.target import Target

_SMALLEST = 2.0**-50  # what a probability is at least taken for, where uploads are not exact minimisers


# OFPA perturbs w but not the bias alpha, so the derivative by alpha vanishes exactly: the sum over all records of
# sigmoid(w.x_i + alpha) - y_i is zero, whatever the noise. The known records leave a single term, which gives the label
# by its sign and w.x by its size. Each round is one linear equation for x, and d rounds have one solution.
def recover_record(known: Rows, uploads: Array) -> tuple[Array, int]:
    """Return the one record that is not among the known ones, x: (d,), and its label, from one party's uploads.

    known: the other n - 1 records. uploads: (T, d+1), that party's (w, alpha) of T rounds; with fewer than d rounds the
    shortest x that fits. Against uploads that are not minimisers of the objective as published the answer is a guess.
    """
    scores = append_one(known.X) @ uploads.T
    missing = -(scipy.special.expit(scores) - known.y[:, np.newaxis]).sum(axis=0)  # sigmoid - y of the last record
    label = int(np.median(missing) < 0)
    probability = np.clip(missing + label, _SMALLEST, 1 - _SMALLEST)
    products = scipy.special.logit(probability) - uploads[:, -1]
    x, *_ = np.linalg.lstsq(uploads[:, :-1], products, rcond=None)
    return x, label


ROWS, FEATURES, ROUNDS = 1200, 4, 6
_EPSILON = Fraction(1, 2)
_TOLERANCE = 1e-6


_AS_PUBLISHED, _PROVEN = Target(_EPSILON, "paper", "laplace"), Target(_EPSILON)


def attack_release(rows: Rows, target: Target, rng: Stream) -> tuple[Array, int]:
    """Return the server's answer for the last record of a party that has these rows."""
    release = Ofpa(rounds=ROUNDS).train(Federation((rows,), 2)).release(target, rng)
    return recover_record(rows.take(np.arange(ROWS - 1)), release.uploads[:, 0])


def _against(target: Target, name: str, words: str) -> Variant:
    def trial(rng: Stream, _key_bits: int) -> bool:
        rows = ball_rows(ROWS, FEATURES, rng)
        x, label = attack_release(rows, target, rng)
        return bool(np.abs(x - rows.X[-1]).max() < _TOLERANCE and label == rows.y[-1])

    code: tuple[StepCode, ...] = (Ofpa.proven_party, PerturbedObjective.linear)
    if target.calibration == "paper":
        code = (Ofpa.party_as_published, noise_as_published)
    return Variant(name, "OFPA", words, "succeeds" if target.calibration == "paper" else "fails", trial, code=code)


ATTACK = describe_attack(
    "ofpa-record-recovery",
    variants=(
        _against(_AS_PUBLISHED, "as published", "OFPA as published"),
        _against(_PROVEN, "proven", "OFPA as objective perturbation with noise on all coordinates"),
    ),
    uses_keys=False,
    known_rows=ROWS - 1,
    rounds=ROUNDS,
    features=FEATURES,
    close=_TOLERANCE,
)
