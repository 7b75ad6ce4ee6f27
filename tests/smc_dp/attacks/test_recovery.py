"""The attack on OFPA: the printed form gives a record away, the form with a proof does not."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from protocols.arithmetic.rng import Stream
from smc_dp.attacks.ofpa_record_recovery import recover_record
from smc_dp.data.federation import Federation, Rows
from smc_dp.methods.collaborative.ofpa import Ofpa
from smc_dp.privacy.target import Target


def party(n: int, d: int, seed: int, label: int = 1) -> Rows:
    """Labelled rows; the last one is the secret."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    X /= np.linalg.norm(X, axis=1, keepdims=True) * (1 + 1e-9)
    X *= rng.uniform(0.5, 1, size=(n, 1))
    y = (4 * X[:, 0] + rng.logistic(size=n) > 0).astype(np.int64)
    y[-1] = label
    return Rows(X, y)


def attacked(rows: Rows, method: Ofpa, target: Target) -> tuple[float, bool]:
    """The largest error in any feature of the recovered record, and whether the label is right."""
    uploads = method.train(Federation((rows, party(50, rows.X.shape[1], 99)), 2)).release(
        target, Stream.insecure_from_seed(0)
    )
    known = rows.take(np.arange(len(rows) - 1))
    x, label = recover_record(known, uploads.uploads[:, 0])
    return float(np.abs(x - rows.X[-1]).max()), label == rows.y[-1]


@pytest.mark.parametrize("label", [0, 1])
@pytest.mark.parametrize("epsilon", ["0.8", "5"])
def test_the_printed_form_gives_a_record_away(epsilon, label):
    rows = party(1500, 5, 1, label)
    target = Target(Fraction(epsilon), "paper", "laplace")
    error, right = attacked(rows, Ofpa(rounds=10), target)
    assert error < 1e-6
    assert right
    fewer, right = attacked(rows, Ofpa(rounds=3), target)
    assert fewer > 0.01  # the twin: fewer equations than features
    assert right  # but one round is enough for the label


def test_the_form_with_a_proof_does_not():
    rows = party(1500, 5, 1)
    for rounds in (1, 10):
        for epsilon in ("0.8", "5"):
            error, _ = attacked(rows, Ofpa(rounds=rounds), Target(Fraction(epsilon)))
            assert error >= 0.1


def test_labels_of_the_form_with_a_proof_are_guesses():
    right = [attacked(party(200, 3, seed, seed % 2), Ofpa(), Target(Fraction(1, 2)))[1] for seed in range(60)]
    assert 10 <= sum(right) <= 50


def test_the_truncated_reading_is_not_what_this_attack_needs():
    error, _ = attacked(party(1500, 5, 1), Ofpa(10, "truncated"), Target(Fraction(5), "paper", "laplace"))
    assert error > 0.1


@pytest.mark.slow
def test_the_attack_at_the_size_of_a_party_of_the_paper():
    for epsilon in ("0.1", "0.8"):
        rows = party(4500, 8, 3)
        error, right = attacked(rows, Ofpa(rounds=32), Target(Fraction(epsilon), "paper", "laplace"))
        assert error < 1e-6
        assert right
