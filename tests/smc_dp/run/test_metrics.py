"""Metrics of a release beside scikit-learn called in other ways, and beside formulas by hand."""

from __future__ import annotations

import math
from fractions import Fraction
from xml.etree import ElementTree

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn import metrics as sk

from smc_dp.methods.model import probabilities
from smc_dp.pages.blocks import Drawing, texts_by_code
from smc_dp.run.metrics import Metrics, measure_release
from smc_dp.run.metrics_report import PRIVATE, brief_blocks, metrics_blocks, metrics_page
from smc_dp.run.threshold import HALF, Threshold, choose_threshold
from tests.support.refusals import refused

NAMES = ("no", "yes")
SEVERAL = ("low", "mid", "high")


def drawn(n: int, seed: int, classes: int = 2) -> tuple[np.ndarray, np.ndarray]:
    """Classes and scores that have something to do with each other."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, classes, n)
    if classes == 2:
        return y, rng.normal(size=n) + y - 0.7
    return y, rng.normal(size=(n, classes)) + np.eye(classes)[y]


def of(y: np.ndarray, scores: np.ndarray, threshold: Threshold = HALF) -> Metrics:
    names = NAMES if scores.ndim == 1 else SEVERAL
    return measure_release(y, scores, probabilities(scores), names, threshold)


@pytest.mark.parametrize("at", [0.5, 0.2, 0.81])
def test_figures_of_two_classes_are_those_of_counting(at: float) -> None:
    y, scores = drawn(500, 7)
    found = of(y, scores, Threshold(at))
    taken = [1 / (1 + math.exp(-s)) > at for s in scores]
    count = {(t, p): sum(a == t and b == p for a, b in zip(y, taken, strict=True)) for t in (0, 1) for p in (0, 1)}
    assert found.confusion == ((count[0, 0], count[0, 1]), (count[1, 0], count[1, 1]))
    assert found.accuracy == pytest.approx((count[0, 0] + count[1, 1]) / 500)
    assert found.majority == pytest.approx(max((y == 0).sum(), (y == 1).sum()) / 500)
    yes, no = found.classes[1], found.classes[0]
    assert yes.sensitivity == pytest.approx(count[1, 1] / (count[1, 1] + count[1, 0]))
    assert yes.specificity == pytest.approx(count[0, 0] / (count[0, 0] + count[0, 1]))
    assert yes.precision == pytest.approx(count[1, 1] / (count[1, 1] + count[0, 1]))
    assert (no.sensitivity, no.specificity) == (yes.specificity, yes.sensitivity)
    assert found.balanced_accuracy == pytest.approx(sk.balanced_accuracy_score(y, taken))
    curve = sk.roc_curve(y, scores)
    assert found.auc == pytest.approx(sk.auc(curve[0], curve[1]))
    shares = found.margin / 2
    assert shares == pytest.approx(math.sqrt(found.accuracy * (1 - found.accuracy) / 500))


def test_probabilities_and_their_errors_are_those_of_the_formulas() -> None:
    y, scores = drawn(300, 1)
    found = of(y, scores)
    p = [1 / (1 + math.exp(-s)) for s in scores]
    assert found.brier == pytest.approx(sum((a - b) ** 2 for a, b in zip(p, y, strict=True)) / 300)
    share = y.mean()
    assert found.base_brier == pytest.approx(share * (1 - share))
    for one in found.calibration:
        inside = [i for i in range(300) if one.low < p[i] <= one.high or p[i] == one.low == 0]
        assert one.rows == len(inside) > 0
        assert one.predicted == pytest.approx(sum(p[i] for i in inside) / len(inside))
        assert one.observed == pytest.approx(sum(y[i] for i in inside) / len(inside))
    assert sum(one.rows for one in found.calibration) == 300


def test_figures_of_several_classes_are_one_against_all_others() -> None:
    y, scores = drawn(400, 3, classes=3)
    found = of(y, scores)
    P = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
    predicted = scores.argmax(axis=1)
    assert found.threshold is None
    assert found.confusion == tuple(tuple(int(((y == t) & (predicted == c)).sum()) for c in range(3)) for t in range(3))
    assert found.auc == pytest.approx(sk.roc_auc_score(y, P, multi_class="ovr", average="macro"))
    assert found.balanced_accuracy == pytest.approx(sk.balanced_accuracy_score(y, predicted))
    assert found.brier == pytest.approx(np.mean(((P - np.eye(3)[y]) ** 2).sum(axis=1)))
    base = np.bincount(y) / 400
    assert found.base_brier == pytest.approx(1 - (base**2).sum())
    assert sum(one.rows for one in found.calibration) == 400
    mean = sum(one.rows * one.observed for one in found.calibration) / 400
    assert mean == pytest.approx(found.accuracy)  # of the predicted class, being right is what is observed


@settings(max_examples=20, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 2), st.lists(st.floats(-50, 50), min_size=3, max_size=3)), min_size=1))
def test_any_rows_of_several_classes_are_measured(rows: list[tuple[int, list[float]]]) -> None:
    y = np.array([c for c, _ in rows])
    found = of(y, np.array([scores for _, scores in rows]))
    assert sum(map(sum, found.confusion)) == len(rows) == sum(one.rows for one in found.classes)
    assert (found.auc is None) == (found.balanced_accuracy is None) == (len(set(y)) == 1)
    assert 0 <= found.brier <= 2
    assert list(metrics_blocks(found, "rows"))


def test_rows_of_one_class_have_no_figure_that_needs_both() -> None:
    found = of(np.zeros(30, dtype=np.int64), np.linspace(-3, 1, 30))
    assert (found.auc, found.balanced_accuracy, found.classes[1].sensitivity) == (None, None, None)
    assert found.classes[1].specificity == found.accuracy
    said = " ".join(str(block) for block in metrics_blocks(found, "rows"))
    assert "not defined" in said


def test_a_release_without_a_scale_has_no_probabilities_and_says_so() -> None:
    y, scores = drawn(100, 2)
    found = measure_release(y, scores, None, NAMES)
    assert (found.brier, found.calibration) == (None, ())
    assert found.auc == of(y, scores).auc
    assert "metrics.no_probabilities" in texts_by_code(metrics_blocks(found, "rows"))


def test_success_that_the_majority_class_has_too_is_called_none() -> None:
    """On Bank Marketing an accuracy of .963 looks like success, where the majority class has .962."""
    y = np.array([0] * 962 + [1] * 38)
    scores = np.where(np.arange(1000) < 963, -1.0, 1.0)
    found = of(y, scores)
    assert (found.accuracy, found.majority, found.beats_majority) == (pytest.approx(0.999), pytest.approx(0.962), True)
    scores[-37:] = -1.0
    poor = of(y, scores)
    assert (poor.accuracy, poor.beats_majority) == (pytest.approx(0.962), False)
    assert "metrics.no_better_than_majority" in texts_by_code(metrics_blocks(poor, "rows"))
    assert "metrics.no_better_than_majority" not in texts_by_code(metrics_blocks(found, "rows"))


@pytest.mark.parametrize(("classes", "drawn_too"), [(2, True), (4, True), (5, False)])
def test_a_page_has_a_picture_of_the_confusion_matrix_with_its_numbers(classes: int, drawn_too: bool) -> None:
    y, scores = drawn(500, 3, classes)
    names = NAMES if classes == 2 else tuple(f"class {c}" for c in range(classes))
    found = measure_release(y, scores, None, names)
    blocks = [block for section in metrics_page({"": found}, "test.csv").sections for block in section.blocks]
    pictures = [block for block in blocks if isinstance(block, Drawing) and block.title == "Confusion matrix"]
    assert len(pictures) == drawn_too
    for picture in pictures:
        texts = [str(text.text) for text in ElementTree.fromstring(picture.svg.markup("x")).iter("text")]
        assert [int(text) for text in texts if text.isdigit()] == [n for counts in found.confusion for n in counts]
        assert {*names, "predicted class"} <= set(texts)


def test_a_page_is_private_on_every_sheet() -> None:
    y, scores = drawn(100, 2)
    page = metrics_page({"": of(y, scores)}, "test.csv")
    assert page.on_every_sheet == PRIVATE
    assert page.notices[0].look == "secret"
    assert page.notices[0].text.startswith(page.on_every_sheet)


def test_a_threshold_is_inside_and_passes_what_is_above_it() -> None:
    for wrong in (0, 1, -0.5, 1.5, math.nan, math.inf, True, "0.5", None):
        with refused("threshold.not_inside"):
            Threshold(wrong)  # type: ignore[arg-type]
    scores = np.array([-1.0, 0.0, 5e-324, 1.0])
    assert HALF.passed(scores).tolist() == [False, False, True, True]  # the sign counts, where 1/(1 + e^-s) rounds
    p = probabilities(scores)
    assert Threshold(0.7).passed(scores).tolist() == (p > 0.7).tolist()


@pytest.mark.parametrize("seed", range(5))
def test_the_chosen_threshold_has_the_largest_sum_of_sensitivity_and_specificity(seed: int) -> None:
    y, scores = drawn(60, seed)
    chosen = choose_threshold(y, scores)

    def gain(at: float) -> Fraction:
        taken = probabilities(scores) > at
        return Fraction(int((taken & (y == 1)).sum()), int((y == 1).sum())) - Fraction(
            int((taken & (y == 0)).sum()), int((y == 0).sum())
        )

    assert gain(chosen) == max(gain(at) for at in np.linspace(0, 1, 5001))
    assert chosen == round(chosen, 6)


def test_a_threshold_of_one_class_or_of_useless_scores() -> None:
    with refused("threshold.one_class"):
        choose_threshold(np.ones(5, dtype=np.int64), np.arange(5.0))
    assert 0 < choose_threshold(np.array([0, 1]), np.array([3.0, 3.0])) < 1
    assert 0 < choose_threshold(np.array([0, 1]), np.array([1e9, 2e9])) < 1
    assert 0 < choose_threshold(np.array([1, 0]), np.array([-1e9, -5.0])) < 1


def test_predictions_of_nearly_one_class_are_named_and_a_rare_class_that_is_found_is_none() -> None:
    y = np.repeat([0, 1], [880, 120])
    for found, wanted in ((0, True), (5, True), (12, False), (120, False)):
        guess = np.where(np.arange(1000) >= 1000 - found, 1.0, -1.0)
        measured = measure_release(y, guess, None, ("no", "yes"))
        assert (measured.nearly_one_class is not None) is wanted
        assert ("metrics.nearly_one_class" in texts_by_code(brief_blocks(measured))) is wanted
    only = measure_release(np.zeros(10, dtype=np.int64), -np.ones(10), None, ("no", "yes"))
    assert only.nearly_one_class is None  # no row has another class
