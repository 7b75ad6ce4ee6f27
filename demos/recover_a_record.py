"""OFPA as published gives a record away: see a server read it off the uploads, and see the form with a proof hold.

A hospital trains with others by collaborative logistic regression, with noise in its objective but none on the bias.
The server happens to know all of the hospital's records but one. You will see it compute that record, to at least six
digits, from no more uploads than there are features, at any epsilon. The same attack on objective perturbation, with
noise on all coordinates and a regulariser, gets nothing. Data and noise come from seeds (INSECURE, so that runs agree).

    python recover_a_record.py [--page FILE.html]
"""

from __future__ import annotations

import argparse
from fractions import Fraction
from pathlib import Path

import numpy as np

from protocols.arithmetic.rng import Stream
from smc_dp.attacks.ofpa_record_recovery import recover_record
from smc_dp.attacks.recovery_picture import Recovery, draw_recoveries
from smc_dp.data.federation import Federation, Rows
from smc_dp.methods.collaborative.ofpa import Ofpa
from smc_dp.pages.blocks import Page, Section
from smc_dp.pages.html import write_page
from smc_dp.privacy.target import Target

FEATURES = ROUNDS = 6
MADE = "Made by demos/recover_a_record.py, of made-up patients and noise from seeds (INSECURE)."


def hospital(n: int, seed: int) -> Rows:
    """Make up patients in the unit ball."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, FEATURES))
    X *= rng.uniform(0.4, 0.999, size=(n, 1)) / np.linalg.norm(X, axis=1, keepdims=True)
    y = (4 * X[:, 0] - 2 * X[:, 1] + rng.logistic(size=n) > 0).astype(np.int64)
    return Rows(X, y)


def main() -> None:
    """Attack both forms at three epsilons."""
    parser = argparse.ArgumentParser(description="Recover the one record of a hospital that a server does not know.")
    parser.add_argument("--page", type=Path, metavar="FILE.html", help="draw what was found, into a new file")
    options = parser.parse_args()
    found: dict[tuple[Fraction, str], Recovery] = {}
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
            found[epsilon, title] = Recovery(f"{title}, epsilon {float(epsilon):g}".capitalize(), x, label)
            error = float(np.abs(x - secret).max())
            print(f"  epsilon = {float(epsilon):g}: {np.round(x, 6)}, label {label}; it is off by up to {error:.1g}")
            if (error < 1e-6, error >= 0.1) != (calibration == "paper", calibration == "proven"):
                raise SystemExit(f"{title}: the attack did not end as it should")
    if options.page:
        in_pairs = [found[at] for at in sorted(found)]
        drawing = draw_recoveries(secret, int(rows.y[-1]), in_pairs)
        write_page(
            options.page, Page("A record recovered", (Section("Both forms", (drawing,)),), made=(MADE,)), "--page"
        )


if __name__ == "__main__":
    main()
