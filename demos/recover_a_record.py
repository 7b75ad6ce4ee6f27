"""OFPA as published gives a record away: see a server read it off the uploads, and see the form with a proof hold.

A hospital trains with others by collaborative logistic regression, with noise in its objective but none on the bias.
The server happens to know all of the hospital's records but one. You will see it compute that record, to at least six
digits, from no more uploads than there are features, at any epsilon. The same attack on objective perturbation, with
noise on all coordinates and a regulariser, gets nothing. Data and noise come from seeds (INSECURE, so that runs agree).

    python recover_a_record.py
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from protocols.arithmetic.rng import Stream
from smc_dp.attacks.ofpa_record_recovery import recover_record
from smc_dp.data.federation import Federation, Rows
from smc_dp.methods.collaborative.ofpa import Ofpa
from smc_dp.privacy.target import Target

FEATURES = ROUNDS = 6


def hospital(n: int, seed: int) -> Rows:
    """Make up patients in the unit ball."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, FEATURES))
    X *= rng.uniform(0.4, 0.999, size=(n, 1)) / np.linalg.norm(X, axis=1, keepdims=True)
    y = (4 * X[:, 0] - 2 * X[:, 1] + rng.logistic(size=n) > 0).astype(np.int64)
    return Rows(X, y)


def main() -> None:
    """Attack both forms at three epsilons."""
    federation = Federation((hospital(2000, 1), hospital(900, 2)), 2, names=("north", "south"))
    rows = federation.parties[0]
    known, secret = rows.take(np.arange(len(rows) - 1)), rows.X[-1]
    print(f"The secret record of north: {np.round(secret, 6)}, label {rows.y[-1]}")
    for title, calibration, noise in (("as published", "paper", "laplace"), ("with a proof", "proven", "knorm")):
        print(f"\n{ROUNDS} rounds of OFPA {title}. The server computes:")
        for epsilon in (Fraction(1, 2), Fraction(1), Fraction(3)):
            target = Target(epsilon, calibration, noise)
            trained = Ofpa(rounds=ROUNDS).train(federation)
            release = trained.release(target, Stream.insecure_from_seed(f"{epsilon}"))
            x, label = recover_record(known, release.uploads[:, 0])
            error = float(np.abs(x - secret).max())
            print(f"  epsilon = {float(epsilon):g}: {np.round(x, 6)}, label {label}; it is off by up to {error:.1g}")
            if (error < 1e-6, error >= 0.1) != (calibration == "paper", calibration == "proven"):
                raise SystemExit(f"{title}: the attack did not end as it should")


if __name__ == "__main__":
    main()
