"""Report of the quality of a release on labelled rows: blocks for a screen, and a page that is for its owner alone."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from smc_dp.core.version import __version__
from smc_dp.pages.blocks import Banner, FactList, Page, PageBlock, PageTable, Prose, Section, coded_prose, format_counts
from smc_dp.pages.shortening import shorten
from smc_dp.run.metrics import ClassMetrics, Metrics
from smc_dp.run.metrics_pictures import draw_calibration, draw_confusion
from smc_dp.run.regression_metrics import RegressionComparison, RegressionMetrics

PRIVATE = "private: made from this site's rows"
"""First words of every report and page of metrics."""
_PRIVATE = (
    f"{PRIVATE}. The figures are exact: no noise is in them, and no privacy statement covers them. Do not publish them."
)
_PUBLIC = "These rows are of a public data set, so the figures reveal nothing about anybody's rows."
_MOST_CLASSES, _MOST_DRAWN, _MOST_MISTAKES = 12, 4, 20  # a wider picture has small letters on a telephone


def metrics_page(found: Mapping[str, Metrics | RegressionMetrics], of: str, *, public: bool = False) -> Page:
    """Return the page of the figures of some releases, by name; of one its name does not matter.

    of: the rows that they are of, such as a file. public: whether everybody may have these rows.
    """
    single = len(found) == 1
    sections = (tuple(_sections_of(one)) for one in found.values())
    predicts = any(isinstance(one, RegressionMetrics) for one in found.values())
    known = "outcomes" if predicts else "classes"
    rows = max(one.rows for one in found.values())
    return Page(
        title=f"How well {_does(single=single, predicts=predicts)} {shorten(of)}",
        notices=(
            Banner(_PUBLIC, "plain", "metrics.public") if public else Banner(_PRIVATE, "secret", "metrics.private"),
        ),
        sections=next(sections) if single else tuple(map(Section, found, sections)),
        made=(f"Made by smc-dp {__version__} from {rows:,} rows with known {known}.",),
        on_every_sheet="" if public else PRIVATE,
    )


def _does(*, single: bool, predicts: bool) -> str:
    if predicts:
        return "a release predicts" if single else "releases predict"
    return "a release classifies" if single else "releases classify"


def metrics_blocks(found: Metrics | RegressionMetrics, of: str) -> Iterator[PageBlock]:
    """Yield the figures for the owner's screen."""
    yield Prose(f"Results on {found.rows:,} rows of {of}, {_PRIVATE}", "metrics.private")
    yield from _sections_of(found)


def brief_blocks(found: Metrics) -> Iterator[PageBlock]:
    """Yield the figures without those beside the accuracy, which a report of a run has elsewhere."""
    yield FactList(tuple(_facts(found)))
    yield from _reading(found)


def figures_by_release(found: Mapping[str, Metrics]) -> PageTable:
    """Return a table of the main figures of several releases, by name."""
    terms = [[value.partition(" (")[0] for _, value in _facts(one)] for one in found.values()]
    first = next(iter(found.values()))
    names = [term for term, _ in _facts(first)]
    rows = tuple(zip(names, *terms, strict=True))
    positive = f". Sensitivity and precision are those of the class {shorten(first.classes[1].name)}"
    of = "" if first.threshold is None else positive
    return PageTable(f"Other figures on the test rows{of}", ("figure", *found), rows, tuple(range(1, len(found) + 1)))


def regression_comparison_blocks(found: RegressionComparison) -> Iterator[PageBlock]:
    """Yield the figures of a simulation on test rows, and what they mean."""
    yield Prose(f"On {found.metrics.rows:,} test rows:")
    yield FactList(tuple(_regression_facts(found.metrics)))
    yield Prose("Only a simulation can compare these errors (RMSE): it has the rows of all. They are not released:")
    others = {f"{name} alone": value for name, value in found.alone.items()} | {"pooled, no privacy": found.pooled}
    yield FactList(tuple((name, f"{value:.4g}") for name, value in others.items()))


def _sections_of(found: Metrics | RegressionMetrics) -> Iterator[Section]:
    if isinstance(found, RegressionMetrics):
        yield Section("Figures", (FactList(tuple(_regression_facts(found))),))
    else:
        yield from _sections(found)


def _regression_facts(found: RegressionMetrics) -> Iterator[tuple[str, str]]:
    yield "root mean squared error", f"{found.rmse:.4g} (always predicting the mean: {found.base_rmse:.4g})"
    yield "R squared", "not defined" if found.r_squared is None else f"{found.r_squared:.3f}"
    slope, intercept = ("not defined" if x is None else f"{x:.4g}" for x in (found.slope, found.intercept))
    yield "calibration slope", f"{slope} (calibrated: 1)"
    yield "calibration intercept", f"{intercept} (calibrated: 0)"


def _sections(found: Metrics) -> Iterator[Section]:
    yield Section("Figures", tuple(_figures(found)))
    if len(found.classes) > 2:
        headings = ("class", "rows", "sensitivity", "specificity", "precision")
        rows = tuple((one.name, *format_counts(one.rows), *_of_class(one)) for one in found.classes)
        yield Section("Classes", (PageTable("Each class against all others", headings, rows, (1, 2, 3, 4)),))
    yield Section("Confusion matrix", tuple(_confusion(found)))
    if found.calibration:
        yield Section("Calibration", tuple(_calibration(found)))


def _figures(found: Metrics) -> Iterator[PageBlock]:
    facts = (
        ("accuracy", f"{found.accuracy:.3f} (two standard errors: {found.margin:.3f})"),
        (f"always answering {shorten(found.largest.name)}", f"{found.majority:.3f}"),
    )
    yield FactList((*facts, *_facts(found)))
    yield from _reading(found)


def _facts(found: Metrics) -> Iterator[tuple[str, str]]:
    """Yield the terms and values of the figures but the accuracy, each with what it is to be compared with."""
    present = sum(one.rows > 0 for one in found.classes)
    yield "balanced accuracy", _figure(found.balanced_accuracy, f"always the same answer: {1 / present:.3f}")
    yield "area under the ROC curve", _figure(found.auc, "chance: 0.500")
    if found.threshold is not None:
        second, name = found.classes[1], shorten(found.classes[1].name)
        for term, value, count in (
            ("sensitivity", second.sensitivity, f"share of the {second.rows:,} rows of {name} found"),
            ("specificity", second.specificity, f"share of the {found.classes[0].rows:,} others not taken for {name}"),
            ("precision", second.precision, f"share of the rows taken for {name} that are {name}"),
        ):
            yield term, _figure(value, count)
    yield "Brier score", _figure(found.brier, f"always predicting the shares of the classes: {found.base_brier:.3f}")


def _reading(found: Metrics) -> Iterator[Prose]:
    """Yield how the figures are to be read: the threshold, and where the accuracy says nothing."""
    if found.threshold is not None and found.brier is not None:
        at, name = f"{found.threshold.probability:g}", shorten(found.classes[1].name)
        if found.threshold.chosen_on is None:
            yield coded_prose("metrics.public_threshold", threshold=at, name=name)
        else:
            file = found.threshold.chosen_on
            yield coded_prose("metrics.chosen_threshold", threshold=at, name=name, file=file)
            if found.threshold.shared:
                yield coded_prose("metrics.shared_rows", count=found.threshold.shared, file=file)
    if (c := found.nearly_one_class) is not None:
        answered, one = sum(counts[c] for counts in found.confusion), found.classes[c]
        missed, others = answered - found.confusion[c][c], found.rows - one.rows
        yield coded_prose(
            "metrics.nearly_one_class", name=shorten(one.name), answered=answered, rows=found.rows, missed=missed,
            others=others,
        )  # fmt: skip
    if not found.beats_majority:
        yield coded_prose("metrics.no_better_than_majority", name=shorten(found.largest.name))
    if found.brier is None:
        yield coded_prose("metrics.no_probabilities")


def _of_class(one: ClassMetrics) -> tuple[str, ...]:
    return tuple(
        "-" if value is None else f"{value:.3f}" for value in (one.sensitivity, one.specificity, one.precision)
    )


def _figure(value: float | None, beside: str) -> str:
    return "not defined" if value is None else f"{value:.3f} ({beside})"


def _confusion(found: Metrics) -> Iterator[PageBlock]:
    names = [shorten(one.name) for one in found.classes]
    if len(names) > _MOST_CLASSES:
        wrong = sorted(
            ((count, names[k], names[c]) for k, counts in enumerate(found.confusion) for c, count in enumerate(counts)
             if count and c != k),
            key=lambda one: -one[0],
        )[:_MOST_MISTAKES]  # fmt: skip
        told = tuple((name, other, *format_counts(count)) for count, name, other in wrong)
        yield PageTable("Most frequent mistakes", ("true class", "predicted class", "rows"), told, numbers=(2,))
        return
    rows = tuple((name, *format_counts(*counts)) for name, counts in zip(names, found.confusion, strict=True))
    numbers = tuple(range(1, len(names) + 1))
    yield PageTable("True class in rows, predicted class in columns", ("true class", *names), rows, numbers)
    if len(names) <= _MOST_DRAWN:
        yield draw_confusion(found)


def _calibration(found: Metrics) -> Iterator[PageBlock]:
    of = f"class {shorten(found.classes[1].name)}" if len(found.classes) == 2 else "the predicted class"
    yield coded_prose("metrics.calibration", of=of)
    headings = ("probability", "rows", "mean probability", "observed share")
    rows = tuple(
        (f"{one.low:.1f} to {one.high:.1f}", *format_counts(one.rows), f"{one.predicted:.3f}", f"{one.observed:.3f}")
        for one in found.calibration
    )
    yield PageTable(f"Probability of {of}", headings, rows, numbers=(1, 2, 3))
    yield draw_calibration(found)
