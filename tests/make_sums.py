"""Print the tables of `smc_dp/experiments/reproduce/README.md`: `python tests/make_sums.py FOLDER`.

FOLDER is that of `smc-dp lab reproduce sums --out FOLDER`, finished. Every figure is a mean, with the standard error
over partitions of the rows, each with the mean of its draws. A place without trials stays empty, and is counted at the
end.
"""

from __future__ import annotations

import math
import sys
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from smc_dp.experiments.compare.plan import GridEntry
from smc_dp.experiments.compare.results import Trial, summarise, trials_from_csv
from smc_dp.experiments.compare.study import Point, point_of
from smc_dp.experiments.reproduce import sums

METHODS = {
    "`newton`, secure": ("newton", "secure", "proven"),
    "the same, t = 0": ("newton, t = 0", "secure", "proven"),
    "DP-SGD, one place": ("DP-SGD", "aggregator", "proven"),
    "`wsum`, secure": ("wsum", "secure", "proven"),
    "`prr_mean` as published": ("prr_mean", "aggregator", "paper"),
    "diffprivlib, one place": ("diffprivlib, C = 0.02", "aggregator", "proven"),
    "a party alone, no privacy": ("alone", "none", "none"),
    "pooled, no privacy": ("batch", "none", "none"),
}
"""Columns of the first table: method, trust and calibration as in results.csv."""
OF_SITES = ("newton", "newton, t = 0", "alone")
BY_AUC = "Bank"


class Places:
    """Trials of a folder by their places, and how many of those that were asked for have none."""

    def __init__(self, trials: Sequence[Trial]) -> None:
        self._found: dict[Point, list[Trial]] = defaultdict(list)
        self.missing = 0
        for trial in trials:
            self._found[point_of(trial)].append(trial)

    def mean(self, setting: str, method: tuple[str, str, str], epsilon: float = math.inf) -> str:
        """Return the mean at a place and its standard error, empty where there are no trials."""
        name, trust, calibration = method
        trials = self._found.get(Point(setting, name, calibration, epsilon, trust))
        if trials is None:
            self.missing += 1
            return ""
        made = summarise(trials, "auc" if setting.startswith(BY_AUC) else "accuracy")
        return f"{short(made.mean)} ({short(made.error)})"


def short(value: float) -> str:
    """Return three digits after the point, without a leading zero."""
    return f"{value:.3f}".removeprefix("0")


def row(*cells: str) -> str:
    """Return a row of a Markdown table as it stands in the list of the page."""
    return f"  | {' | '.join(cells)} |"


def shown(name: str) -> str:
    """Return the name of a data set with what is measured on it."""
    return f"{name} (AUC)" if name == BY_AUC else name


def epsilons(entries: Sequence[GridEntry], setting: str, method: tuple[str, str, str]) -> tuple[float, ...]:
    """Return the epsilons that the plan asks of a method on this setting, none where it is not there."""
    name, trust, calibration = method
    asked = [
        one.epsilons
        for one in entries
        if (one.label, one.shown_trust, one.shown_calibration) == (name, trust, calibration)
        and (not one.settings or setting in one.settings)
    ]
    return tuple(math.inf if epsilon is None else float(epsilon) for epsilon in (asked[0] if asked else ()))


def methods_table(places: Places) -> Iterator[str]:
    """Yield the table of all methods among ten equal sites, at each epsilon of the plan."""
    entries = sums.secure_sums().plan.entries
    yield row("", *METHODS)
    yield "  |" + "---|" * (1 + len(METHODS))
    for name in (*sums._TWO, *sums._MORE):
        cells = (
            " / ".join(places.mean(name, method, epsilon) for epsilon in epsilons(entries, name, method))
            for method in METHODS.values()
        )
        yield row(shown(name), *cells)


def sites_table(places: Places) -> Iterator[str]:
    """Yield the table of other sites at epsilon 1: t of a quarter of them, t = 0, and a party alone."""
    yield row("", *(f"{parties} sites: {what}" for parties in sums._PARTIES for what in ("`newton`", "t = 0", "alone")))
    yield "  |" + "---|" * (1 + 3 * len(sums._PARTIES))
    for name in (*sums._TWO, *sums._MORE):
        for kind in sums._SITES:
            cells = (
                places.mean(sums._GRID[name, parties, kind].name, ("alone", "none", "none"))
                if method == "alone"
                else places.mean(sums._GRID[name, parties, kind].name, (method, "secure", "proven"), 1.0)
                for parties in sums._PARTIES
                for method in OF_SITES
            )
            yield row(f"{shown(name)}, {kind}", *cells)


def main(folder: Path) -> None:
    """Print both tables, and how many places have no trials."""
    file = folder / "results.csv"
    places = Places(trials_from_csv(file.read_bytes(), str(file)))
    print(*methods_table(places), "", *sites_table(places), sep="\n")
    print(f"\nplaces without trials: {places.missing}")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
