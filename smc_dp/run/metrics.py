"""Quality of a release on rows whose classes are known: how often it is right, how it ranks, how sure it should be.

These are exact figures of rows, without noise. No privacy statement covers them, so they stay with the owner of the
rows: no file of a run folder has them. scikit-learn computes them.
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from smc_dp.core.arrays import Array
from smc_dp.methods.method import HasOpenScale, MechanismSpec
from smc_dp.methods.model import probabilities
from smc_dp.methods.statistics.describe import DescribeSum
from smc_dp.run.threshold import HALF, Threshold

_BINS = 10
_NEARLY_ALL = 0.95  # of the rows, and of those of other classes


@dataclass(frozen=True)
class CalibrationBin:
    """Rows whose probability is above `low` and at most `high`: their number, mean probability, and observed share.

    The lowest bin has rows of probability 0, too.
    """

    low: float
    high: float
    rows: int
    predicted: float
    observed: float


@dataclass(frozen=True)
class ClassMetrics:
    """Figures of one class against all others; None where nothing is there to count.

    rows: those of this class. sensitivity: share of them that get this class. specificity: share of the others that do
    not. precision: share of the rows with this class predicted that have it.
    """

    name: str
    rows: int
    sensitivity: float | None
    specificity: float | None
    precision: float | None


@dataclass(frozen=True)
class Metrics:
    """Figures of a release on labelled rows.

    rows: their number. threshold: of the probability of the second of two classes, None for more. accuracy, and
    majority: that of always answering the class of most of these rows. balanced_accuracy: mean sensitivity of the
    classes that occur; auc: area under the ROC curve, one class against the others averaged over those that occur; both
    None where all rows have one class. brier: mean squared error of the probabilities, summed over the classes where
    there are more than two; base_brier: that of always answering the shares of the classes in these rows. calibration:
    for two classes of the second one; for more of the class that is predicted. Both are None or empty for a release
    without probabilities. confusion: rows by true class, columns by predicted one.
    """

    rows: int
    classes: tuple[ClassMetrics, ...]
    confusion: tuple[tuple[int, ...], ...]
    accuracy: float
    majority: float
    balanced_accuracy: float | None
    auc: float | None
    brier: float | None
    base_brier: float
    calibration: tuple[CalibrationBin, ...]
    threshold: Threshold | None

    @property
    def margin(self) -> float:
        """Two standard errors of the accuracy on so many rows: a smaller difference says nothing."""
        return 2 * math.sqrt(self.accuracy * (1 - self.accuracy) / self.rows)

    @property
    def beats_majority(self) -> bool:
        """True where the accuracy is above that of the majority class by more than the margin."""
        return self.accuracy > self.majority + self.margin

    @property
    def nearly_one_class(self) -> int | None:
        """Number of the class that nearly all rows get, nearly all rows of other classes among them; None without."""
        counts = np.array(self.confusion)
        c = int(counts.sum(axis=0).argmax())
        answered, others = int(counts[:, c].sum()), self.rows - int(counts[c].sum())
        missed = answered - int(counts[c, c])
        return c if others and min(answered / self.rows, missed / others) >= _NEARLY_ALL else None

    @property
    def largest(self) -> ClassMetrics:
        """Class of most of these rows, the first of equals."""
        return max(self.classes, key=lambda found: found.rows)

    def as_dict(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        return asdict(self)


def has_probabilities(spec: MechanismSpec) -> bool:
    """Return whether the length of released weights says how sure the model is of a class."""
    if isinstance(spec, DescribeSum) or not spec.public.classes:
        return False
    return spec.knows_rows if isinstance(spec, HasOpenScale) else True


def released_probabilities(spec: MechanismSpec, scores: Array) -> Array | None:
    """Return the probabilities of rows with these scores; None for a release that has none."""
    return probabilities(scores) if has_probabilities(spec) else None


def measure_release(
    y: NDArray[np.int64],
    scores: Array,
    sure: Array | None,
    names: tuple[str, ...],
    threshold: Threshold = HALF,
) -> Metrics:
    """Measure a release on rows of classes y: (n,), n > 0.

    scores, and sure, their probabilities: (n,), of the second of two classes, or (n, k), of k > 2; `sure` is None
    without probabilities. names: those of all classes. The threshold counts for two classes only.
    """
    from sklearn import metrics  # seconds, which a command that measures nothing should not pay

    several = scores.ndim == 2
    predicted = scores.argmax(axis=1) if several else threshold.passed(scores).astype(np.int64)
    confusion = metrics.confusion_matrix(y, predicted, labels=range(len(names)))
    counts = confusion.sum(axis=1)
    present = np.flatnonzero(counts)
    balanced = area = None
    if len(present) > 1:
        # The mean of the recalls, for `balanced_accuracy_score` warns of classes that are predicted and do not occur.
        balanced = float(metrics.recall_score(y, predicted, labels=present, average="macro", zero_division=0))
        ranked = _by_class(scores if sure is None or not several else sure)
        area = float(np.mean([metrics.roc_auc_score(y == c, ranked[:, c]) for c in present]))
    return Metrics(
        rows=len(y),
        classes=tuple(_of_class(c, name, confusion) for c, name in enumerate(names)),
        confusion=tuple(map(tuple, confusion.tolist())),
        accuracy=float(metrics.accuracy_score(y, predicted)),
        majority=float(counts.max() / len(y)),
        balanced_accuracy=balanced,
        auc=area,
        brier=None if sure is None else _brier(y, sure),
        base_brier=_brier(y, np.tile(counts / len(y), (len(y), 1)) if several else np.full(len(y), counts[1] / len(y))),
        calibration=() if sure is None else _calibration(y, predicted, sure),
        threshold=None if several else threshold,
    )


def _by_class(found: Array) -> Array:
    """Return a column for each class: (n, k)."""
    return found if found.ndim == 2 else np.column_stack([-found, found])


def _of_class(c: int, name: str, confusion: NDArray[np.int64]) -> ClassMetrics:
    right, of_class, answered = confusion[c, c], confusion[c].sum(), confusion[:, c].sum()
    others = confusion.sum() - of_class
    return ClassMetrics(
        name,
        int(of_class),
        _share(right, of_class),
        _share(others - (answered - right), others),
        _share(right, answered),
    )


def _share(some: int, of_all: int) -> float | None:
    return float(some / of_all) if of_all else None


def _brier(y: NDArray[np.int64], sure: Array) -> float:
    """Return the mean squared error, summed over the classes where there are more than two (Brier 1950)."""
    from sklearn.metrics import brier_score_loss

    if sure.ndim == 1:
        return float(brier_score_loss(y, sure, pos_label=1))
    each = ((y == c).astype(np.int64) for c in range(sure.shape[1]))
    return float(sum(brier_score_loss(own, sure[:, c], pos_label=1) for c, own in enumerate(each)))


def _calibration(y: NDArray[np.int64], predicted: NDArray[np.int64], probability: Array) -> tuple[CalibrationBin, ...]:
    """Return bins of equal width; empty ones are left out."""
    from sklearn.calibration import calibration_curve

    several = probability.ndim == 2
    right, sure = ((y == predicted).astype(np.int64), probability.max(axis=1)) if several else (y, probability)
    observed, mean = calibration_curve(right, sure, pos_label=1, n_bins=_BINS, strategy="uniform")
    edges = np.linspace(0, 1, _BINS + 1)
    rows = np.bincount(np.searchsorted(edges[1:-1], sure), minlength=_BINS)  # the bins of `calibration_curve`
    return tuple(
        CalibrationBin(float(edges[i]), float(edges[i + 1]), int(rows[i]), float(mean[at]), float(observed[at]))
        for at, i in enumerate(np.flatnonzero(rows).tolist())
    )
