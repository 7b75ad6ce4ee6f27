"""Evaluation of a release at a site, on its own rows alone, beside the site's own model.

These are exact figures of private rows, so they stay at the site.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import sqrt
from typing import Any

import numpy as np

from smc_dp.data.federation import Rows
from smc_dp.methods.expected_accuracy import ExpectedAccuracy
from smc_dp.methods.model import classify
from smc_dp.methods.nonprivate import BASELINE_LAMBDA, accuracy_alone
from smc_dp.pages.blocks import Prose
from smc_dp.run.release import PublishedRelease

FEWEST_ROWS = 25  # with fewer rows nothing is said
_FOLDS = 5
_MOST = 20_000  # rows that are looked at


@dataclass(frozen=True)
class LocalComparison:
    """Accuracies on so many own rows: of the release, and of the own model on rows that it was not trained on.

    `planned`: expected accuracy if all parties had as many rows as this site, None where no figure gives it.
    """

    rows: int
    release: float
    alone: float
    planned: ExpectedAccuracy | None

    @property
    def chance(self) -> float:
        """Difference of the two accuracies that chance alone explains: two standard errors."""
        return 2 * sqrt((self.release * (1 - self.release) + self.alone * (1 - self.alone)) / self.rows)

    @property
    def worse_than_planned(self) -> bool:
        """True where the site would do better alone, by more than the planned loss and chance."""
        high = 0.0 if self.planned is None else self.planned.interval.high
        return self.alone - self.release > high + self.chance

    def as_dict(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        return {
            **{"rows": self.rows, "release": self.release, "alone": self.alone},
            "planned": self.planned and self.planned.as_dict(),
            "worse_than_planned": self.worse_than_planned,
        }

    def blocks(self) -> Iterator[Prose]:
        """Yield the report on a release and the own rows, which stays at the site."""
        yield Prose(
            f"On the own {self.rows:,} rows, for this site alone to know: the release {self.release:.3f}, the own "
            f"model alone {self.alone:.3f}, each row by a model that has not seen it."
        )
        if self.worse_than_planned:
            planned = (
                ""
                if self.planned is None
                else f", {self.planned.interval.high:.3f} if all had as many rows as this site"
            )
            yield Prose(
                f"The release does worse than the own model alone, by more than noise was to cost{planned}, and chance "
                "may add: others have fewer rows, or rows of another kind. Ask them how many, and let `smc-dp plan` "
                "say who is worth having, before you take part again. `smc-dp personalise` makes a model for this site "
                "from the release and its own rows.",
                "run.worse_than_own_model",
            )


def evaluate_locally(release: PublishedRelease, rows: Rows) -> LocalComparison | None:
    """Compare the release with the own model alone, fold after fold; None for too few rows, for rows with weights,
    and for a release that is no classifier.

    The own model has no weights, so that its accuracy says nothing of a release that has them.

    Other parties are assumed to have as many rows as this site, because a study announces no sizes.
    """
    is_classifier = not release.agreement.describes and release.bounds.outcome is None
    if len(rows) < FEWEST_ROWS or rows.weights is not None or not is_classifier:
        return None
    n, agreement = len(rows), release.agreement
    step = -(-n // _MOST)
    seen = Rows(rows.X[::step], rows.y[::step])
    right = float(np.mean(classify(release.weights, seen.X, agreement.features) == seen.y))
    by_itself = _alone(seen, agreement.method, len(agreement.bounds.classes))
    return LocalComparison(len(seen), right, by_itself, agreement.expected_accuracy([n] * len(agreement.parties)))


def _alone(rows: Rows, method: Any, classes: int) -> float:
    """Return the cross-validated accuracy of the own model: every fifth row by a model of the other four fifths."""
    lam: float = getattr(method, "lam", BASELINE_LAMBDA)
    fold, right = np.arange(len(rows)) % _FOLDS, 0.0
    for held in range(_FOLDS):
        out = fold == held
        own = accuracy_alone(Rows(rows.X[~out], rows.y[~out]), lam, Rows(rows.X[out], rows.y[out]), classes)
        right += own * out.sum()
    return float(right) / len(rows)
