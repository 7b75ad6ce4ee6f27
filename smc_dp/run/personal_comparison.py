"""Comparison in a simulation: what each party would gain by a personalised model, on the test rows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from statistics import mean

from smc_dp.data.federation import Federation, Rows
from smc_dp.methods.model import FourierFeatures, LinearModel
from smc_dp.methods.personal import FOLDS, PersonalAccuracy, compare_on, fit_length, fit_personal, in_features
from smc_dp.pages.blocks import PageBlock, PageTable, coded_prose

_MOST_NUMBERS = 1 << 22
"""Rows, test rows too, times features times classes, above which a simulation would take longer for it than it ran."""
_NAMED = 20


def compare_personalised(
    federation: Federation,
    release: LinearModel,
    test: Rows,
    *,
    features: FourierFeatures | None = None,
    fits_length: bool,
) -> dict[str, PersonalAccuracy] | None:
    """Return the accuracies of each party with rows enough, by name; None where it would take too long.

    features: those beside the rows that the weights belong to, None where they are of the rows alone. fits_length:
    whether the length of the released weights says nothing.
    """
    if (sum(map(len, federation.parties)) + len(test)) * release.W.size > _MOST_NUMBERS:
        return None
    found, test = {}, in_features(test, features)
    for name, of_party in federation.by_name.items():
        if len(of_party) >= FOLDS:
            rows = in_features(of_party, features)
            start = fit_length(rows, release) if fits_length else release
            found[name] = compare_on(fit_personal(rows, start), start, test)
    return found


def personal_gain_blocks(found: Mapping[str, PersonalAccuracy]) -> Iterator[PageBlock]:
    """Yield the accuracies of each party and their means; of many parties the means alone."""
    each = found.items() if len(found) <= _NAMED else ()
    rows = [(name, *_figures(one.alone, one.release, one.personalised)) for name, one in each]
    every = list(found.values())
    means = (
        mean(one.alone for one in every),
        mean(one.release for one in every),
        mean(one.personalised for one in every),
    )
    caption = "Accuracy of the models that each party could use, on the test rows"
    headings = ("party", "alone, tuned", "release", "personalised")
    yield PageTable(caption, headings, (*rows, ("mean", *_figures(*means))), numbers=(1, 2, 3))
    yield coded_prose("personal.simulated")


def _figures(*values: float) -> tuple[str, ...]:
    return tuple(f"{value:.3f}" for value in values)
