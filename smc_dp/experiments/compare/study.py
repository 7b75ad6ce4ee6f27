"""Study: a plan, panels of figures, and what a paper says should come out, with the place where it says so.

Verdicts on a paper's claims are computed from the trials.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from smc_dp.experiments.compare import guarantee
from smc_dp.experiments.compare.guarantee import GridGuarantee
from smc_dp.experiments.compare.plan import GridPlan
from smc_dp.experiments.compare.results import Summary, Trial, summarise

Axis: TypeAlias = Literal["epsilon", "inverse epsilon", "setting"]
MeasureName: TypeAlias = Literal["accuracy", "error", "auc", "seconds"]

_LESS = ("error", "seconds")  # of which less is better
_FEWEST = 2  # trials that decide anything
_MOST_SHOWN = 6  # of the places of a claim, whose means are all shown
MEASURES = {"accuracy": "test accuracy", "error": "test error", "auc": "area under the ROC curve", "seconds": "seconds"}


@dataclass(frozen=True)
class Point:
    """One place on one curve: names as in the results, epsilon as asked, infinite without noise.

    `trust`: unless it is named, `aggregator`, and `none` for a baseline.
    """

    setting: str
    method: str
    calibration: str
    epsilon: float = math.inf
    trust: str = ""

    def __post_init__(self) -> None:
        if not self.trust:
            object.__setattr__(self, "trust", "none" if self.calibration == "none" else "aggregator")


@dataclass(frozen=True)
class PaperFigure:
    """A number that a paper's text gives, and the tolerance within which an outcome counts as the same.

    `in_paper` False: the number comes from elsewhere, as its quotation says, and no figure shows it. `at_least`: a
    better outcome counts as the same.
    """

    point: Point
    value: float
    measure: MeasureName
    quotation: str
    within: float = 0.02
    in_paper: bool = True
    at_least: bool = False


@dataclass(frozen=True)
class PaperClaim:
    """A paper's claim about two curves, at one or more places: the first does better than the second, or as well.

    `as_well`: the largest difference that counts as "as well"; None where the first has to be better.
    """

    quotation: str
    measure: MeasureName
    pairs: tuple[tuple[Point, Point], ...]
    as_well: float | None = None


@dataclass(frozen=True)
class Panel:
    """One picture: these settings and curves against this axis. Where none are named, all; baselines always count.

    With the axis `setting`, `places` says where on it each of the settings stands.
    """

    title: str
    settings: tuple[str, ...]
    axis: Axis = "epsilon"
    measure: MeasureName = "accuracy"
    methods: tuple[str, ...] = ()
    calibrations: tuple[str, ...] = ()
    epsilons: tuple[float, ...] = ()
    axis_title: str = ""
    places: tuple[float, ...] = ()

    def shows(self, point: Point) -> bool:
        """Return whether this point belongs to the picture."""
        baseline = point.calibration == "none"
        return (
            point.setting in self.settings
            and (point.method in self.methods or not self.methods)
            and (point.calibration in self.calibrations or baseline or not self.calibrations)
            and (point.epsilon in self.epsilons or baseline or not self.epsilons)
        )


@dataclass(frozen=True)
class Study:
    """A plan and its page. `differs`: sentences on what is not as in the paper, and why; notes where it is `ours`."""

    name: str
    title: str
    introduction: str
    plan: GridPlan
    panels: tuple[Panel, ...]
    figures: tuple[PaperFigure, ...] = ()
    claims: tuple[PaperClaim, ...] = ()
    differs: tuple[str, ...] = ()
    ours: bool = False


@dataclass(frozen=True)
class ClaimVerdict:
    """Verdict on a claim: `yes`, `no`, `open` (within two standard errors, or a single trial) or `no data`."""

    quotation: str
    paper: str
    here: str
    answer: Literal["yes", "no", "open", "no data"]


def plan_study(name: str, title: str, introduction: str, plan: GridPlan, differs: tuple[str, ...] = ()) -> Study:
    """Return a study without a paper: one panel for each setting."""
    panels = tuple(Panel(setting.name, (setting.name,)) for setting in plan.settings)
    return Study(name, title, introduction, plan, panels, differs=differs)


def point_of(trial: Trial) -> Point:
    """Return the point to which the trial belongs."""
    return Point(trial.dataset, trial.method, trial.calibration, trial.epsilon, trial.trust)


def trials_at(trials: Sequence[Trial], point: Point) -> list[Trial]:
    """Return the trials of this point."""
    return [trial for trial in trials if point_of(trial) == point]


def judge_number(stated: PaperFigure, trials: Sequence[Trial]) -> ClaimVerdict:
    """Judge whether the mean lies within the tolerance of a paper's number."""
    found = trials_at(trials, stated.point)
    paper = f"{MEASURES[stated.measure]} {stated.value:g}" + (" or better" if stated.at_least else "")
    if not found:
        return ClaimVerdict(stated.quotation, paper, "did not run", "no data")
    measured = summarise(found, stated.measure)
    gain = measured.mean - stated.value
    away = max(0.0, gain if stated.measure in _LESS else -gain) if stated.at_least else abs(gain)
    answer: Literal["yes", "no", "open"] = "yes" if away <= stated.within else "no"
    if measured.n < _FEWEST:
        answer = "open"
    here = stated.point.setting
    if stated.point.epsilon < math.inf:
        here += f", {guarantee.describe_epsilon(stated.point.epsilon, guarantee.worst_guarantee(found))}"
    return ClaimVerdict(stated.quotation, paper, f"{here}: {summary_text(measured)}", answer)


def judge_claim(claim: PaperClaim, trials: Sequence[Trial]) -> ClaimVerdict:
    """Judge whether the claim holds at every place: by more than two standard errors, or within its tolerance."""
    pairs = [(trials_at(trials, first), trials_at(trials, second)) for first, second in claim.pairs]
    paper = "better" if claim.as_well is None else f"as well, to {claim.as_well:g}"
    if not pairs or not all(first and second for first, second in pairs):
        return ClaimVerdict(claim.quotation, paper, "did not run", "no data")
    means = [(summarise(first, claim.measure), summarise(second, claim.measure)) for first, second in pairs]
    answers = [_better(a, b, claim) for a, b in means]
    given = [(guarantee.worst_guarantee(first), guarantee.worst_guarantee(second)) for first, second in pairs]
    places = zip(claim.pairs, given, means, strict=True)
    here = "; ".join(f"{_where(pair, found)}: {a.mean:.3f} and {b.mean:.3f}" for pair, found, (a, b) in places)
    if len(pairs) > _MOST_SHOWN:
        here = ", ".join(f"{answer} at {answers.count(answer)}" for answer in dict.fromkeys(answers))
        here += f" of {len(pairs)} places: {_ranges(given)}"
    return ClaimVerdict(claim.quotation, paper, here, next(a for a in ("no", "open", "yes") if a in answers))


def summary_text(value: Summary) -> str:
    """Return the mean and standard deviation with the number of trials; a single one has no deviation."""
    spread = f"s.d. {value.deviation:.3f}, " if value.n > 1 else ""
    return f"{value.mean:.3f} ({spread}n = {value.n})"


def _where(pair: tuple[Point, Point], given: tuple[GridGuarantee | None, GridGuarantee | None]) -> str:
    """Describe the points of two means; what is the same for both is said once."""
    first, second = (_parts(point, found) for point, found in zip(pair, given, strict=True))
    once = [part for part, other in zip(first, second, strict=True) if part == other and part]
    apart = [(part, other) for part, other in zip(first, second, strict=True) if part != other]
    each = [", ".join(part for part in side if part) for side in zip(*apart, strict=True)]
    return ", ".join([*once, *([" and ".join(each)] if each else [])])


def _parts(point: Point, found: GridGuarantee | None) -> tuple[str, str, str]:
    """Return the setting, method and epsilon of a point, the last empty for a baseline."""
    if point.calibration == "none":
        return point.setting, point.method, ""
    by = f"{point.calibration}, secure" if point.trust == "secure" else point.calibration
    return point.setting, f"{point.method} ({by})", guarantee.describe_epsilon(point.epsilon, found)


def _ranges(given: Sequence[tuple[GridGuarantee | None, GridGuarantee | None]]) -> str:
    """Describe the guarantees of the releases on either side of a claim of many places."""
    first, second = (_range(side) for side in zip(*given, strict=True))
    return f"{first} on both sides" if first == second else f"{first} against {second}"


def _range(given: Sequence[GridGuarantee | None]) -> str:
    private = sorted(found.epsilon for found in given if found is not None)
    if not private:
        return "nothing guaranteed"
    low, high = guarantee.round_up_epsilon(private[0]), guarantee.round_up_epsilon(private[-1])
    words = f"guaranteed ε = {low}" + (f" to {high}" if high != low else "")
    return words if len(private) == len(given) else words + " or nothing"


def _better(first: Summary, second: Summary, claim: PaperClaim) -> Literal["yes", "no", "open"]:
    if min(first.n, second.n) < _FEWEST:
        return "open"
    gain = first.mean - second.mean
    if claim.measure in _LESS:
        gain = -gain
    if claim.as_well is not None:
        return "yes" if gain >= -claim.as_well else "no"
    doubt = 2 * math.sqrt(first.deviation**2 / first.n + second.deviation**2 / second.n)
    return "yes" if gain > doubt else "no" if gain < -doubt else "open"
