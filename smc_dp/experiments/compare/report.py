"""Report of a grid of trials: what was run, what came out, and what it guarantees."""

from __future__ import annotations

import math
import platform
from collections.abc import Iterable, Iterator, Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from smc_dp.core.errors import one_line
from smc_dp.core.writing import replace_file
from smc_dp.data.dataset_info import DATASET_INFO
from smc_dp.experiments.compare import charts, guarantee, secure
from smc_dp.experiments.compare.results import Trial, summarise
from smc_dp.experiments.compare.runner import ExperimentGrid
from smc_dp.experiments.compare.study import ClaimVerdict, Point, Study, judge_claim, judge_number, point_of
from smc_dp.methods.registry import METHODS
from smc_dp.pages.blocks import Banner, Bullets, Page, PageBlock, PageTable, Picture, Prose, Section
from smc_dp.pages.html import html
from smc_dp.pages.shortening import first_texts
from smc_dp.privacy.statement import short_delta

_CHANGED = {
    "replace": "one record, replaced",
    "addremove": "one record, added or removed",
    "party": "all records of a party",
}
_LIBRARIES = ("smc-dp", "numpy", "scipy", "scikit-learn", "joblib", "matplotlib")
_MOST_ROWS = 80  # of tables of means that a screen shows
_MOST_FAILED = 20  # cells that are named
_OPEN = (
    "“open” means that the difference is within two standard errors, trials taken as independent, or that there is a "
    "single trial. Claims in quotation marks are the paper’s; those that are not say so. Only claims are written by "
    "hand; what came out is computed from the trials."
)
_COLUMNS = {
    **{"method": "method", "trust": "trust", "calibration": "calibration", "epsilon": "epsilon asked"},
    **{"guaranteed_epsilon": "guaranteed epsilon", "guaranteed_delta": "delta", "n": "n"},
    **{"accuracy": "accuracy", "auc": "AUC", "seconds": "seconds"},
}


def write_report(study: Study, grid: ExperimentGrid, folder: Path, seconds: float) -> Path:
    """Write figures/*.png and index.html into the folder after a run of so many seconds; return the page's path."""
    pictures = []
    (folder / "figures").mkdir(exist_ok=True)
    for number, panel in enumerate(study.panels, start=1):
        wide, narrow = (
            charts.draw_panel(panel, study, grid.trials, chart_format) for chart_format in (charts.WIDE, charts.NARROW)
        )
        if wide is not None and narrow is not None:
            replace_file(folder / "figures" / f"{number:02d}.png", wide, "figure")
            pictures.append(Picture(wide, narrow, panel.title))
    file = folder / "index.html"
    replace_file(file, html(grid_page(study, grid, pictures, seconds)).encode(), "page")
    return file


def grid_page(study: Study, grid: ExperimentGrid, pictures: Sequence[Picture], seconds: float) -> Page:
    """Return the page of a grid; failed cells come first."""
    failed = [Banner(text, "failed", "compare.cells_failed") for text in failures(grid)]
    return Page(study.title, report_sections(study, grid, pictures), tuple(failed), tuple(_made(study, grid, seconds)))


def report_sections(study: Study, grid: ExperimentGrid, pictures: Sequence[Picture] = ()) -> tuple[Section, ...]:
    """Return the report of a grid; a screen shows means, unless they are many, and claims."""
    return tuple(section for section in _sections(study, grid, pictures) if section.blocks)


def _sections(study: Study, grid: ExperimentGrid, pictures: Sequence[Picture]) -> Iterator[Section]:
    about = (
        "Pictures and sentences have the epsilon that a release really guarantees, which can be far from the one asked "
        "for: the printed noise of a paper is proved to give another, or none. What guarantees nothing stands on grey, "
        "beside the axis, in the order of the epsilon asked for; baselines are horizontal lines."
    )
    unlike = secure.guarantee_difference(study.plan, grid.trials)
    also = (Prose(unlike),) if unlike else ()
    yield Section("What was compared", (Prose(study.introduction), Prose(about), *pictures, *also), details=True)
    judged = judge_all(study, grid.trials)
    rows = tuple((v.quotation, v.paper, v.here, v.answer) for v in judged)
    claims = PageTable("Claims", ("claim", "states", "here", "came out"), rows)
    yield Section("Claims, and what came out", (Prose(_OPEN), claims) if judged else ())
    heading = "What is not as in the paper, and why" if judged and not study.ours else "Notes"
    yield Section(heading, (Bullets(study.differs),) if study.differs else (), details=True)
    yield Section("What each curve really guarantees", tuple(_guarantees(study, grid)), details=True)
    found = mean_rows(grid.trials)
    yield Section("Means", tuple(_means(study, found, grid.trials)), details=len(found) > _MOST_ROWS)
    names = dict.fromkeys(setting.dataset for setting in study.plan.settings)
    notes = tuple(f"{name}: {note}" for name in names if name in DATASET_INFO for note in DATASET_INFO[name].notes)
    yield Section("The data", (Bullets(notes),) if notes else (), details=True)


def failures(grid: ExperimentGrid) -> list[str]:
    """Return how many cells failed, and the first of them with the reason; nothing where none did."""
    if not grid.failures:
        return []
    said = [f"{describe_cell(f)}: {one_line(f['failure'])}" for f in grid.failures]
    cells = f"{len(said)} cell{'' if len(said) == 1 else 's'} failed, all parameters are in failures.json"
    return [cells, *(f"failed: {text}" for text in first_texts(said, _MOST_FAILED, 400))]


def _guarantees(study: Study, grid: ExperimentGrid) -> Iterator[PageBlock]:
    yield Prose(
        "On the left of an arrow the epsilon asked for, on the right what the releases really guarantee, at worst over "
        "all settings and repeats. Without noise nothing is guaranteed. Guarantees are of one release: a reader of all "
        "of them would add them up."
    )
    if said := tuple(secure.secure_sum_notes(study.plan)):
        yield Bullets(said)
    headings = ("method", "trust", "calibration", "asked → guaranteed", "what is protected")
    rows = (
        (g["method"], g["trust"], g["calibration"], "; ".join(g["given"]), g["unit"], g["words"])
        for g in guarantee_rows(grid.statements)
    )
    yield PageTable("Guarantees", (*headings, "against whom, and what else to know"), tuple(rows))


def _means(study: Study, rows: Sequence[dict[str, Any]], trials: Sequence[Trial]) -> Iterator[PageBlock]:
    said = (
        "Mean ± standard deviation over n trials, in brackets the standard error of the mean over partitions of the "
        "rows. Each trial is one release. The guarantee is the worst of them."
    )
    undefined = (
        " Where no area under the curve (AUC) stands, it is not defined in some of the trials: there were no scores to "
        "put the test rows in order, or all of them are of one class."
    )
    lacks = any(math.isnan(trial.auc) for trial in trials)
    yield Prose(f"{said} Every trial is in results.csv.{undefined if lacks else ''}")
    for setting in study.plan.settings:
        cells = (tuple(str(row[name]) for name in _COLUMNS) for row in rows if row["setting"] == setting.name)
        yield PageTable(setting.name, tuple(_COLUMNS.values()), tuple(cells), numbers=tuple(range(3, len(_COLUMNS))))


def judge_all(study: Study, trials: Sequence[Trial]) -> list[ClaimVerdict]:
    """Judge numbers and claims, the paper's and ours: numbers first."""
    numbers = [judge_number(stated, trials) for stated in study.figures]
    return numbers + [judge_claim(claim, trials) for claim in study.claims]


def describe_cell(failure: dict[str, Any]) -> str:
    """Return a failed cell's parameters in short."""
    entry = failure["entry"]
    calibration = f", {entry['calibration']}" if entry["calibration"] else ""
    trust = ", secure" if entry["trust"] == "secure" else ""
    return f"{entry['label']}{calibration}{trust} on {failure['setting']['name']}, data repeat {failure['repeat']}"


def mean_rows(trials: Sequence[Trial]) -> list[dict[str, Any]]:
    """Return a row for each setting, method, trust, calibration and epsilon asked for, in the order of the trials."""
    by_point: dict[Point, list[Trial]] = {}
    for trial in trials:
        by_point.setdefault(point_of(trial), []).append(trial)
    return [
        {
            **{"setting": point.setting, "method": point.method, "trust": point.trust},
            "calibration": point.calibration,
            "epsilon": "no noise" if point.epsilon == math.inf else f"{point.epsilon:g}",
            **_guaranteed(some),
            "n": len(some),
            **{name: _spread(some, name) for name in ("accuracy", "auc", "seconds")},
        }
        for point, some in by_point.items()
    ]


def _spread(trials: Sequence[Trial], measure: str) -> str:
    found = summarise(trials, measure)
    if math.isnan(found.mean):
        return ""
    error = "" if math.isnan(found.error) or measure == "seconds" else f" ({found.error:.3f})"
    return f"{found.mean:.3f} ± {found.deviation:.3f}{error}" if found.n > 1 else f"{found.mean:.3f}"


def _guaranteed(trials: Sequence[Trial]) -> dict[str, str]:
    """Return the worst guarantee of these releases; "none" where one of them guarantees nothing."""
    found = guarantee.worst_guarantee(trials)
    if found is None:
        return {"guaranteed_epsilon": "none", "guaranteed_delta": ""}
    epsilon, delta = guarantee.round_up_epsilon(found.epsilon), short_delta(found.delta)
    return {"guaranteed_epsilon": epsilon, "guaranteed_delta": delta}


def guarantee_rows(statements: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return a row for each curve: the guarantee at each epsilon, at worst over settings and repeats.

    Where an epsilon was asked for, releases without noise are left out, for they guarantee nothing. The words are the
    caveats that hold at every epsilon.
    """
    curves: dict[tuple[str, str, str], dict[str, dict[str, Any]]] = {}
    adversaries: dict[tuple[str, str, str], list[str]] = {}
    for found in statements:
        curve, epsilon = (found["method"], found["trust"], found["calibration"]), found["epsilon"]
        statement = found["statement"]
        worst = curves.setdefault(curve, {})
        if statement["kind"] != "none":
            adversaries.setdefault(curve, []).append(statement["adversary"])
        worst[epsilon] = max(worst.get(epsilon, statement), statement, key=_weakness)  # of equals the first
    rows = []
    for curve, worst in curves.items():
        noisy = {epsilon: s for epsilon, s in worst.items() if epsilon != "inf"} or worst
        names = dict(zip(("method", "trust", "calibration"), curve, strict=True))
        rows.append({**names, **_guarantee(noisy, dict.fromkeys(adversaries.get(curve, ())))})
    return rows


def _guarantee(worst: dict[str, dict[str, Any]], adversaries: Iterable[str]) -> dict[str, Any]:
    given = [f"{'' if epsilon == 'inf' else epsilon + ' → '}{_given(s)}" for epsilon, s in worst.items()]
    private = [s for s in worst.values() if s["kind"] != "none"]
    always = [c for c in next(iter(worst.values()))["caveats"] if all(c in s["caveats"] for s in worst.values())]
    words = [f"Against {adversary}." for adversary in adversaries] if private else []
    unit = _CHANGED[private[0]["adjacency"]] if private else "nothing"
    return {"given": given, "unit": unit, "words": " ".join(words + always)}


def _weakness(statement: dict[str, Any]) -> float:
    return math.inf if statement["kind"] == "none" else float(statement["epsilon"])


def _given(statement: dict[str, Any]) -> str:
    if statement["kind"] == "none":
        return "nothing"
    delta = f", delta = {short_delta(statement['delta'])}" if statement["delta"] else ""
    mu = f", mu = {statement['mu']:.3g}" if statement.get("mu") else ""
    rho = f" (zCDP, rho = {statement['rho']:.3g}{mu})" if statement["rho"] else ""
    return f"epsilon = {guarantee.round_up_epsilon(statement['epsilon'])}{delta}{rho}"


def _made(study: Study, grid: ExperimentGrid, seconds: float) -> list[str]:
    plan = study.plan
    seed = "the system's generator" if plan.insecure_seed is None else f"the INSECURE seed {plan.insecure_seed}"
    work = sum(t.seconds for t in grid.trials)
    lambdas: dict[str, list[str]] = {}
    for name, method in METHODS.items():
        if method.lambda_multiplies:
            lambdas.setdefault(method.lambda_multiplies, []).append(name)
    return [
        f"{len(grid.trials)} trials over {plan.repeats} partitions of the rows by public seeds; noise from {seed}.",
        f"The last run of the command took {seconds:.0f} s (finished cells are kept from earlier runs). Training and "
        f"release, added up over the trials as if each had trained anew: {work:.0f} s.",
        "λ multiplies " + ", and ".join(f"{what} in {', '.join(names)}" for what, names in lambdas.items()) + ".",
        f"Plan: SHA-256 {plan.digest}, in plan.json.",
        f"Python {platform.python_version()}, " + ", ".join(f"{name} {_version(name)}" for name in _LIBRARIES) + ".",
    ]


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "(not installed)"
