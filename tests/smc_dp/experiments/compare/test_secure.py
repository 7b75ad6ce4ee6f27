"""Entries in which nobody is trusted: the real parts and their sum, kept apart from those with a trusted aggregator."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest

from smc_dp.core.errors import Fault
from smc_dp.data.load_pool import load_pool
from smc_dp.data.partition import Partition
from smc_dp.experiments.compare import charts, defaults, report, runner, secure, study, task
from smc_dp.experiments.compare.plan import GridEntry, GridPlan, GridSetting, plain_data
from smc_dp.experiments.compare.results import Trial
from smc_dp.experiments.compare.study import Panel, PaperClaim, Point
from smc_dp.methods.functionality import SumWithShares
from smc_dp.methods.sums import simulated_sum, weighted_sum
from smc_dp.methods.sums.threat_model import ThreatModel
from smc_dp.pages.html import html
from tests.support.refusals import refused

SETTING = GridSetting("s", "breast_cancer", Partition(parties=5))
CLEAR = GridEntry("wsum", "wsum", "proven", (Fraction(1), Fraction(2), None), draws=2)
SECURE = replace(CLEAR, noise="ddg", trust="secure", colluders=1, dropouts=1)
PLAN = GridPlan((SETTING,), (CLEAR, SECURE, GridEntry("batch", "batch", None, (None,))), repeats=1)


@pytest.fixture(scope="module")
def grid(tmp_path_factory: pytest.TempPathFactory) -> runner.ExperimentGrid:
    return runner.run_grid(PLAN, tmp_path_factory.mktemp("grid") / "out", None, jobs=1)


def test_the_two_are_kept_apart_in_tables_statements_and_on_the_page(grid: runner.ExperimentGrid) -> None:
    assert grid.failures == ()
    found = {(t.method, t.trust, t.epsilon): (t.delta, t.guaranteed_epsilon, t.guaranteed_delta) for t in grid.trials}
    assert found["wsum", "secure", 2.0] == (1e-5, 2.0, pytest.approx(1e-5))
    assert found["wsum", "aggregator", 2.0] == (0.0, 2.0, 0.0)
    assert found["wsum", "secure", math.inf] == found["batch", "none", math.inf] == (0.0, None, None)
    rows = {(row["trust"], row["epsilon"]): row["n"] for row in report.mean_rows(grid.trials)}
    assert rows["secure", "1"] == rows["aggregator", "1"] == 2
    adversaries = {s["trust"]: s["statement"]["adversary"] for s in grid.statements if s["epsilon"] == "1"}
    assert "at least 3 honest parties (5 parties, minus 1 " in adversaries["secure"]
    assert "trusted aggregator" in adversaries["aggregator"]
    text = html(report.grid_page(study.plan_study("x", "X", "Words", PLAN), grid, [], 1.0))
    assert (
        "Secure on s: a run holds against Charlie and any 1 of 5 parties, even if they are malicious, while up to 1"
        in text
    )
    assert text.count(secure.CAP) == text.count(simulated_sum.ONE_PLACE_CAVEAT) == 1
    alone = replace(PLAN, entries=(CLEAR,))
    assert list(secure.secure_sum_notes(alone)) == []


def test_a_secure_trial_is_the_sum_of_everybody_s_part_with_its_own_share(monkeypatch: pytest.MonkeyPatch) -> None:
    """And no target has a say in what is trained: five models for three epsilons; the twin trains anew for each."""
    pool, summed, trained = load_pool("breast_cancer"), list[Any](), list[Any]()
    ideal, train_all = simulated_sum.ideal, weighted_sum.train_all
    monkeypatch.setattr(simulated_sum, "ideal", lambda f, parts, rng: summed.append((f, parts)) or ideal(f, parts, rng))
    monkeypatch.setattr(weighted_sum, "train_all", lambda *given: trained.append(given) or train_all(*given))
    cells = {cell.entry.shown_trust: cell for cell in PLAN.cells()}
    together = task.run_cells(pool, [cells["secure"]], 7)[0]
    assert (len(summed), len(trained)) == (2 + 2 + 1, 5)
    for functionality, parts in summed:
        assert isinstance(functionality, SumWithShares)
        assert len(parts) == 5
    shares = [part.noise for _, parts in summed[:4] for part in parts]
    assert all(any(share) for share in shares)
    assert len(set(shares)) == len(shares)
    assert not any(any(part.noise) for part in summed[4][1])  # no noise was asked for
    assert {sum(part.numbers[-1] for part in parts) for _, parts in summed} == {455}
    alone = [
        task.run_cells(pool, [replace(cells["secure"], entry=replace(SECURE, epsilons=(e,)))], 7)[0]
        for e in SECURE.epsilons
    ]
    assert len(trained) == 5 + 3 * 5
    assert [(t.epsilon, t.accuracy, t.auc) for t in together.trials] == [
        (t.epsilon, t.accuracy, t.auc) for outcome in alone for t in outcome.trials
    ]
    assert {t.guaranteed_epsilon for t in together.trials} == {None}  # the noise of a seed
    summed.clear()
    task.run_cells(pool, [cells["aggregator"]], 7)
    assert summed == []  # the twin: in the clear the noise is drawn for the sum


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"colluders": 5}, "colluders.too_many"),
        ({"dropouts": 3}, "dropouts.too_many"),
        ({"method": "prr_mean"}, "trust.no_secure_sum"),
        ({"noise": "gauss"}, "noise.not_of_protocol"),
        ({"method": "batch", "calibration": None, "epsilons": (None,)}, "comparison.secure_without_noise"),
    ],
)
def test_what_no_secure_sum_computes_is_no_plan(change: dict[str, Any], code: str) -> None:
    entry = replace(SECURE, **{"label": str(change.get("method", "wsum")), **change})
    with refused(code):
        replace(PLAN, entries=(entry,))
    many = GridSetting("many", "a9a", Partition(parties=2001, per_party=2))
    with refused("parties.too_many_for_sum", most=2000, dropouts=1, got=2001):
        replace(PLAN, settings=(SETTING, many))
    assert replace(PLAN, settings=(SETTING, many), entries=(CLEAR, replace(SECURE, settings=("s",))))


def chosen(methods: list[str], **asked: Any) -> tuple[list[tuple[str, str, str]], list[Fault]]:
    """Method, trust and noise of each entry, and what is skipped."""
    settings: dict[str, Any] = {
        "noise": None,
        "delta": Fraction(1, 10**5),
        "draws": 1,
        "threat_model": ThreatModel(5, 2, 0),
    }
    calibrations = asked.pop("calibrations", ("proven",))
    found, skipped = defaults.make_entries(methods, calibrations, (Fraction(1),), **settings | asked)
    assert all((e.colluders, e.dropouts) == (2, 0) for e in found if e.shown_trust == "secure")
    return [(e.method, e.shown_trust, e.noise) for e in found], skipped


def test_both_are_compared_where_both_exist() -> None:
    clear, summed = ("wsum", "aggregator", "knorm"), ("wsum", "secure", "ddg")
    found, skipped = chosen(["wsum", "local", "batch"], calibrations=("proven", "paper"))
    assert (found, [why.code for why in skipped]) == (
        [clear, summed, ("local", "aggregator", "knorm"), ("batch", "none", "knorm")],
        ["comparison.other_calibration"] * 2,
    )
    assert chosen(["wsum"], trusts=("secure",))[0] == [summed]
    assert chosen(["wsum"], trusts=("aggregator",))[0] == [clear]
    assert chosen(["wsum"], noise="vg")[0] == [("wsum", "secure", "vg")]
    assert chosen(["wsum"], threat_model=ThreatModel(1000, 2, 0)) == ([clear, summed], [])
    for threat_model, most in ((ThreatModel(1001, 2, 0), 1000), (ThreatModel(2001, 2, 1), 2000)):
        found, (why,) = chosen(["wsum"], threat_model=threat_model)
        assert (found, why.code, why.fields["most"]) == ([clear], "parties.too_many_for_sum", most)
        assert why.place == "wsum is skipped for calibration proven, trust secure: "
    assert chosen(["local"], trusts=("secure",))[1][0].code == "comparison.no_secure_sum"


def test_sums_of_gradients_are_secure_entries_like_others() -> None:
    """Of several sums each, in four columns, and by no more than the number of all rows for `gd`."""
    entries = [GridEntry(m, m, "proven", (Fraction(3), None), "ddg", trust="secure") for m in ("newton", "gd")]
    plan = GridPlan((replace(SETTING, deal=Partition(parties=4, features=4)),), tuple(entries), repeats=1)
    outcomes = [task.run_cells(load_pool("breast_cancer"), [cell], None)[0] for cell in plan.cells()]
    assert [o.failure for o in outcomes] == [None, None]
    for outcome in outcomes:
        stated = dict(outcome.statements)["3"]
        assert (stated.kind, stated.epsilon, stated.unit) == ("zcdp", 3.0, "record")
        assert "at least 3 honest parties (4 parties, minus 0 " in stated.adversary
        assert min(t.accuracy for t in outcome.trials) > 0.7
    assert "taken to be 455, a public figure" in dict(outcomes[1].statements)["3"].plain_words()


def test_the_page_names_every_adversary_of_a_curve() -> None:
    """The twin has one setting, and so one adversary."""
    other = replace(SETTING, name="t", deal=Partition(parties=3))
    plan = replace(PLAN, settings=(SETTING, other), entries=(replace(SECURE, dropouts=0, epsilons=(Fraction(1),)),))
    pool, rows = load_pool("breast_cancer"), list[dict[str, Any]]()
    for cell in plan.cells():
        (stated,) = [s for _, s in task.run_cells(pool, [cell], None)[0].statements]
        rows.append({"method": "wsum", "trust": "secure", "calibration": "proven", "epsilon": "1",
                     "statement": plain_data(stated)})  # fmt: skip
    words = report.guarantee_rows(rows)[0]["words"]
    assert "Against Charlie and any 1 of 5 parties" in words
    assert "Against Charlie and any 1 of 3 parties" in words
    assert "of 3 parties" not in report.guarantee_rows(rows[:1])[0]["words"]
    said = list(secure.secure_sum_notes(plan))
    assert [line.partition(":")[0] for line in said[1:3]] == ["Secure on s", "Secure on t"]


def trial(trust: str, epsilon: float, accuracy: float, repeat: int) -> Trial:
    return Trial("s", "wsum", trust, "proven", epsilon, 0.0, repeat, accuracy, 0.5, 1.0, epsilon, 0.0)


TRIALS = [
    trial(trust, e, a + r / 100, r) for trust, a in (("aggregator", 0.8), ("secure", 0.6)) for e in (1.0, 2.0)
    for r in (0, 1, 2)
]  # fmt: skip


def drawn_alike(trials: list[Trial]) -> bool:
    """Whether a reader of the picture could take one curve for another."""
    lines = charts.panel_curves(Panel("s", ("s",)), study.plan_study("x", "X", "Words", PLAN), trials)
    looks = [(charts.lighten(charts.method_colour(line.method), line.shade), charts._dash(line)) for line in lines]
    return len({line.label for line in lines}) < 2 or len(set(looks)) < 2


def test_curves_and_claims_tell_them_apart() -> None:
    lines = charts.panel_curves(Panel("s", ("s",)), study.plan_study("x", "X", "Words", PLAN), TRIALS)
    assert {line.label: round(line.points[0][1].mean, 3) for line in lines} == {"wsum": 0.81, "wsum (secure)": 0.61}
    assert not drawn_alike(TRIALS)
    assert drawn_alike([replace(t, trust="aggregator") for t in TRIALS])  # the twin: as if the column were not there
    clear, summed = Point("s", "wsum", "proven", 1.0), Point("s", "wsum", "proven", 1.0, "secure")
    better = PaperClaim("better", "accuracy", ((clear, summed),))
    judged = study.judge_claim(better, TRIALS)
    assert judged.answer == "yes"
    assert "wsum (proven) and wsum (proven, secure): 0.810 and 0.610" in judged.here
    assert study.judge_claim(replace(better, pairs=((summed, clear),)), TRIALS).answer == "no"
    assert (clear.trust, Point("s", "batch", "none").trust) == ("aggregator", "none")


def test_the_page_says_where_the_protocol_is_not_all_that_differs(grid: runner.ExperimentGrid) -> None:
    """The twins: pure noise on both sides, a delta on both, and one curve alone."""
    said = secure.guarantee_difference(PLAN, grid.trials)
    assert said == f"wsum: {secure.UNLIKE}"
    assert said in html(report.grid_page(study.plan_study("x", "X", "Words", PLAN), grid, [], 1.0))
    given = [replace(t, delta=0.0, guaranteed_epsilon=None, guaranteed_delta=None) for t in grid.trials]
    for deltas, wanted in (((0.0, 1e-5), said), ((0.0, 0.0), ""), ((1e-5, 1e-5), "")):
        by = dict(zip(("aggregator", "secure", "none"), (*deltas, 0.0), strict=True))
        assert secure.guarantee_difference(PLAN, [replace(t, delta=by[t.trust]) for t in given]) == wanted
    assert secure.guarantee_difference(PLAN, [t for t in grid.trials if t.trust == "secure"]) == ""
    pure = replace(grid, trials=tuple(given))
    assert secure.UNLIKE not in html(report.grid_page(study.plan_study("x", "X", "Words", PLAN), pure, [], 1.0))


def test_a_public_cap_is_never_below_the_largest_party() -> None:
    for n in (1, 9, 10, 99, 100, 101, 999, 1000, 9768, 123_456):
        cap = secure.rounded_up(n)
        assert n <= cap < n * 1.1 + 1
        assert str(cap).rstrip("0") == str(cap)[:2].rstrip("0")
