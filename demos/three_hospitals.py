"""Three hospitals train one classifier together, and nobody sees anybody's patients or model.

You will see the parts of a run: each hospital trains on its own rows, the curator protocol adds the three models and
the noise of the smallest hospital behind encryption (3072-bit keys, all messages really made), four shares are
published, and Dave, a stranger, adds them and classifies patients that no hospital has seen. At the end the script
checks that the shares add up to the released weights and that the classifier beats the majority class.

    python three_hospitals.py
"""

from __future__ import annotations

import json
import tempfile
import textwrap
from pathlib import Path

import numpy as np

from smc_dp import run_protocol
from smc_dp.data import sources
from smc_dp.methods.model import classify
from smc_dp.run.release import SHARES
from smc_dp.run.verify_release import verify_release


def progress(stage: str, done: int, total: int) -> None:
    """Print how far a run is."""
    print(f"  {stage}: {done} of {total}")


def main() -> None:
    """Train, release, predict, check."""
    data = sources.dataset("breast_cancer", parties=3)
    for name, rows in data.federation.by_name.items():
        print(f"{name} holds {len(rows)} patients with {rows.X.shape[1]} numbers each")

    with tempfile.TemporaryDirectory() as place:
        run = Path(place) / "run"
        # epsilon = 1, lambda by a public rule, noise as proven, keys of 3072 bits: what is not said
        settings = {"method": "prr_mean", "bounds": data.bounds, "test": data.test}
        report = run_protocol(data.federation, **settings, out=run, progress=progress)
        published = verify_release(run).release  # from here on, what Dave has
        document = json.loads((run / SHARES).read_text(encoding="utf-8"))

    shares = {name: [int(text) for text in texts] for name, texts in document["shares"].items()}
    print("\nThe first of the published numbers; each alone is a uniformly random integer:")
    for name, share in shares.items():
        print(f"  {name:<12}{share[0]:>22}")
    weights = [signed(sum(column), int(document["modulus"])) for column in zip(*shares.values(), strict=True)]
    weights = [total / 2 ** document["fraction_bits"] / (len(shares) - 1) for total in weights]
    print(f"Their sum, over 2^{document['fraction_bits']} and 3 hospitals, is the first weight: {weights[0]:.6f}")

    if data.test is None or report.comparison is None:
        raise SystemExit("the data set has no held-out rows")
    predicted = classify(weights, data.test.X)
    reached, majority = float(np.mean(predicted == data.test.y)), report.comparison.majority
    print(f"\nDave classifies {len(data.test)} new patients, {reached:.1%} of them correctly.")
    print(f"Always answering the majority class: {majority:.1%}.")
    print(f"All data in one place and no privacy: {report.comparison.pooled:.1%}.")
    print("\n" + textwrap.fill(report.privacy.plain_words(), width=100))

    if max(abs(a - b) for a, b in zip(weights, published.weights, strict=True)) > 1e-12:
        raise SystemExit("the shares do not add up to the released weights")
    if reached <= majority:
        raise SystemExit("the release is no better than the majority class")


def signed(value: int, modulus: int) -> int:
    """Return the integer nearest to zero that is the value modulo the modulus."""
    return (value + modulus // 2) % modulus - modulus // 2


if __name__ == "__main__":
    main()
