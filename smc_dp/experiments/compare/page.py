"""One HTML page, with its pictures inside it: what was run, what came out, and what it guarantees."""

from __future__ import annotations

import base64
import math
import platform
from collections.abc import Iterable, Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import jinja2

from smc_dp.data.dataset_info import FACTS
from smc_dp.experiments.compare import charts, guarantee, results, secure
from smc_dp.experiments.compare.results import Trial, summary
from smc_dp.experiments.compare.runner import ExperimentGrid
from smc_dp.experiments.compare.study import ClaimVerdict, Point, Study, judge_claim, judge_number, point_of
from smc_dp.methods.registry import METHODS

_CHANGED = {
    "replace": "one record, replaced",
    "addremove": "one record, added or removed",
    "party": "all records of a party",
}
_NARROW = 900  # pixels of a page that shows the narrow pictures
_LIBRARIES = ("smc-dp", "numpy", "scipy", "scikit-learn", "joblib", "matplotlib")


def write(study: Study, grid: ExperimentGrid, folder: Path, seconds: float) -> Path:
    """Write figures/*.png and index.html into the folder; the page's path. `seconds`: what the run just took."""
    images = []
    (folder / "figures").mkdir(exist_ok=True)
    for number, panel in enumerate(study.panels, start=1):
        wide, narrow = (charts.draw(panel, study, grid.trials, form) for form in (charts.WIDE, charts.NARROW))
        if wide is not None and narrow is not None:
            results.write(folder / "figures" / f"{number:02d}.png", wide)
            images.append({"wide": _text(wide), "narrow": _text(narrow), "alt": panel.title})
    page = folder / "index.html"
    results.write(page, render(study, grid, images, seconds).encode())
    return page


def _text(png: bytes) -> str:
    return base64.b64encode(png).decode()


def render(study: Study, grid: ExperimentGrid, images: Sequence[dict[str, str]], seconds: float) -> str:
    """The page as text; everything that is not the template is escaped."""
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("smc_dp.experiments.compare", "."),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
    )
    return environment.get_template("page.html.j2").render(
        study=study,
        images=images,
        narrow=_NARROW,
        verdicts=verdicts(study, grid.trials),
        failures=[{"where": where(f), "why": f["failure"]} for f in grid.failures],
        guarantees=guarantees(grid.statements),
        secure=list(secure.sentences(study.plan)),
        unlike=secure.unlike(study.plan, grid.trials),
        tables=[
            {"title": s.name, "rows": means([t for t in grid.trials if t.dataset == s.name])}
            for s in study.plan.settings
        ],
        undefined=any(math.isnan(trial.auc) for trial in grid.trials),
        notes=_notes(study),
        made=_made(study, grid, seconds),
    )


def verdicts(study: Study, trials: Sequence[Trial]) -> list[ClaimVerdict]:
    """Numbers and claims, the paper's and ours, judged: numbers first."""
    numbers = [judge_number(stated, trials) for stated in study.stated]
    return numbers + [judge_claim(claim, trials) for claim in study.claims]


def where(failure: dict[str, Any]) -> str:
    """A failed cell's parameters in short."""
    entry = failure["entry"]
    calibration = f", {entry['calibration']}" if entry["calibration"] else ""
    trust = ", secure" if entry["trust"] == "secure" else ""
    return f"{entry['label']}{calibration}{trust} on {failure['setting']['name']}, data repeat {failure['repeat']}"


def means(trials: Sequence[Trial]) -> list[dict[str, Any]]:
    """A row for each setting, method, trust, calibration and epsilon asked for, in the order of the trials."""
    rows = []
    by_point: dict[Point, list[Trial]] = {}
    for trial in trials:
        by_point.setdefault(point_of(trial), []).append(trial)
    for point, some in by_point.items():
        rows.append(
            {
                **{"setting": point.setting, "method": point.method},
                **{"trust": point.trust, "calibration": point.calibration},
                **{"epsilon": _infinite(point.epsilon), **_guaranteed(some), "n": len(some)},
                **{name: _spread(some, name) for name in ("accuracy", "auc", "seconds")},
            }
        )
    return rows


def _spread(trials: Sequence[Trial], measure: str) -> str:
    found = summary(trials, measure)
    if math.isnan(found.mean):
        return ""
    return f"{found.mean:.3f} ± {found.deviation:.3f}" if found.n > 1 else f"{found.mean:.3f}"


def _guaranteed(trials: Sequence[Trial]) -> dict[str, str]:
    """The worst of these releases; nothing where one of them guarantees nothing."""
    found = guarantee.worst(trials)
    epsilon, delta = ("", "") if found is None else (guarantee.short(found.epsilon), f"{found.delta:g}")
    return {"guaranteed_epsilon": epsilon, "guaranteed_delta": delta}


def _infinite(epsilon: float) -> str:
    return "no noise" if epsilon == math.inf else f"{epsilon:g}"


def guarantees(statements: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """A row for each curve: what is guaranteed at each epsilon, at worst over settings and repeats.

    Where an epsilon was asked for, the releases without noise are left out: they guarantee nothing. The words are the
    caveats that hold at every epsilon.
    """
    curves: dict[tuple[str, str, str], dict[str, dict[str, Any]]] = {}
    adversaries: dict[tuple[str, str, str], list[str]] = {}
    for found in statements:
        curve, epsilon, statement = _curve(found), found["epsilon"], found["statement"]
        worst = curves.setdefault(curve, {})
        if statement["kind"] != "none":
            adversaries.setdefault(curve, []).append(statement["adversary"])
        if epsilon not in worst or _weakness(statement) > _weakness(worst[epsilon]):
            worst[epsilon] = statement
    rows = []
    for curve, worst in curves.items():
        noisy = {epsilon: s for epsilon, s in worst.items() if epsilon != "inf"} or worst
        names = dict(zip(("method", "trust", "calibration"), curve, strict=True))
        rows.append({**names, **_guarantee(noisy, dict.fromkeys(adversaries.get(curve, ())))})
    return rows


def _curve(found: dict[str, Any]) -> tuple[str, str, str]:
    return found["method"], found["trust"], found["calibration"]


def _guarantee(worst: dict[str, dict[str, Any]], adversaries: Iterable[str]) -> dict[str, Any]:
    given = [f"{'' if epsilon == 'inf' else epsilon + ' → '}{_given(s)}" for epsilon, s in worst.items()]
    private = [s for s in worst.values() if s["kind"] != "none"]
    some = next(iter(worst.values()))
    always = [c for c in some["caveats"] if all(c in s["caveats"] for s in worst.values())]
    words = [f"Against {adversary}." for adversary in adversaries] if private else []
    unit = _CHANGED[private[0]["adjacency"]] if private else "nothing"
    return {"given": given, "unit": unit, "words": " ".join(words + always)}


def _weakness(statement: dict[str, Any]) -> float:
    return math.inf if statement["kind"] == "none" else float(statement["epsilon"])


def _given(statement: dict[str, Any]) -> str:
    if statement["kind"] == "none":
        return "nothing"
    delta = f", delta = {statement['delta']:g}" if statement["delta"] else ""
    mu = f", mu = {statement['mu']:.3g}" if statement.get("mu") else ""
    rho = f" (zCDP, rho = {statement['rho']:.3g}{mu})" if statement["rho"] else ""
    return f"epsilon = {guarantee.short(statement['epsilon'])}{delta}{rho}"


def _notes(study: Study) -> list[str]:
    names = dict.fromkeys(setting.dataset for setting in study.plan.settings)
    return [f"{name}: {note}" for name in names if name in FACTS for note in FACTS[name].notes]


def _made(study: Study, grid: ExperimentGrid, seconds: float) -> list[str]:
    plan = study.plan
    seed = "the system's generator" if plan.insecure_seed is None else f"the INSECURE seed {plan.insecure_seed}"
    work = sum(t.seconds for t in grid.trials)
    return [
        f"{len(grid.trials)} trials over {plan.repeats} deals of the rows by public seeds; noise from {seed}.",
        f"The last run of the command took {seconds:.0f} s (finished cells are kept from earlier runs). Training and "
        f"release, added up over the trials as if each had trained anew: {work:.0f} s.",
        _lambdas(),
        f"Plan: SHA-256 {plan.digest}, in plan.json.",
        f"Python {platform.python_version()}, " + ", ".join(f"{name} {_version(name)}" for name in _LIBRARIES) + ".",
    ]


def _lambdas() -> str:
    """What λ multiplies, and in which methods."""
    named: dict[str, list[str]] = {}
    for name, method in METHODS.items():
        if method.lambda_multiplies:
            named.setdefault(method.lambda_multiplies, []).append(name)
    return "λ multiplies " + ", and ".join(f"{what} in {', '.join(names)}" for what, names in named.items()) + "."


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "(not installed)"
