"""The page of learning by secure sums: equal guarantees, what it expects and when that counts, and who is left out."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest

from smc_dp.core.errors import InputError
from smc_dp.data.federation import Public
from smc_dp.experiments.compare import peers, report, runner, study
from smc_dp.experiments.compare.plan import GridEntry, GridPlan
from smc_dp.experiments.compare.results import Trial
from smc_dp.experiments.compare.study import PaperFigure, Point, Study
from smc_dp.experiments.reproduce import papers, sums
from tests.support.data_folder import DATA, needs_data

SHAPES = {
    "a9a": (123, 32_561),
    "Bank": (52, 36_169),
    "Credit": (34, 24_000),
    "breast cancer": (31, 455),
    "KDD-99": (124, 41_168),
}
HUNDREDTH = Fraction(1, 100)


def even(rows: int) -> tuple[int, ...]:
    return tuple(rows // 10 + (j < rows % 10) for j in range(10))


PUBLIC = {name: Public(10, d, 2, even(n)) for name, (d, n) in SHAPES.items()}
PUBLIC["a9a, 10 %"] = Public(5, 123, 2, (3256, 6512, 6512, 6512, 9769))


@pytest.fixture(scope="module")
def shown() -> Study:
    return papers.ready_study("sums")


def unequal(entries: list[GridEntry]) -> list[tuple[str, str, float]]:
    """Where what is asked of printed noise guarantees less epsilon than all others have, or 1 % more."""
    found = []
    for entry in entries:
        method: Any = entry.make()
        for name in entry.settings:
            for asked, wanted in zip(entry.epsilons, sums._EPSILONS, strict=True):
                assert asked is not None
                given = Fraction(method.statement(PUBLIC[name], entry.target(asked)).epsilon)
                if not wanted <= given <= wanted * (1 + HUNDREDTH):
                    found.append((entry.label, name, float(given)))
    return found


def test_printed_noise_is_asked_for_as_much_as_guarantees_the_same(shown):
    """Never a smaller epsilon than the others have; the twin asks all for the same, which guarantees other figures."""
    printed = [e for e in shown.plan.entries if e.calibration == "paper"]
    assert {e.method for e in printed} == {"prr_mean", "ofaa"}
    assert {name for e in printed for name in e.settings} == {*PUBLIC}
    assert unequal(printed) == []
    assert len(unequal([replace(e, epsilons=sums._EPSILONS) for e in printed])) == 4 * 11


def test_every_other_curve_gets_what_it_asks_for_and_in_secure_ones_a_quarter_colludes(shown):
    for entry in shown.plan.entries:
        if entry.calibration == "proven":
            assert set(entry.epsilons) in ({*sums._EPSILONS}, {*sums._BY_PARTY})
            assert entry.delta == Fraction(1, 10**5)
    secure = [e for e in shown.plan.entries if e.trust == "secure"]
    assert {e.method for e in secure} == {"newton", "gd", "wsum", "ofaa", "ofpa", "soft_ss", "avg_clip"}
    assert {e.noise for e in secure if e.method != "ofpa"} == {"ddg"}
    parties = {s.name: s.deal.parties for s in shown.plan.settings}
    among = {
        (parties[name], e.colluders, e.dropouts) for e in secure for name in e.settings if e.label != "newton, t = 0"
    }
    assert among == {(3, 1, 0), (5, 2, 0), (10, 3, 0), (50, 13, 0), (200, 50, 0)}
    nobody = {(parties[name], e.colluders) for e in secure for name in e.settings if e.label == "newton, t = 0"}
    assert nobody == {(3, 0), (10, 0), (50, 0)}


def test_a_missing_peer_is_left_out_and_the_page_says_how_to_install_it(shown, monkeypatch):
    def missing() -> Any:
        raise InputError(peers.NO_DIFFPRIVLIB)

    monkeypatch.setattr(peers, "load_diffprivlib", missing)
    without = papers.ready_study("sums")
    labels = {e.label for e in without.plan.entries}
    assert not any("diffprivlib" in label for label in labels)
    assert "DP-SGD" in labels
    assert "smc-dp[peers]" in without.differs[0]
    spoken = {p.method for claim in without.claims for pair in claim.pairs for p in pair}
    drawn = {label for panel in without.panels for label in panel.methods}
    assert spoken | drawn <= labels

    monkeypatch.setattr(peers, "load_diffprivlib", lambda: object)
    both = papers.ready_study("sums")
    assert {e.label for e in both.plan.entries} - labels == {"diffprivlib", "diffprivlib, C = 0.02"}
    assert not any("diffprivlib:" in sentence for sentence in both.differs)
    assert len(both.claims) == len(without.claims) + 2


def trials(*accuracies: float) -> list[Trial]:
    return [
        Trial("s", "m", "secure", "proven", 0.5, 0.0, j, accuracy, 0.5, 1.0) for j, accuracy in enumerate(accuracies)
    ]


def test_better_than_expected_counts_as_expected():
    """The twin, a number that has to be met from both sides, does not count it."""
    expected = PaperFigure(Point("s", "m", "proven", 0.5, "secure"), 0.8, "accuracy", "ours", 0.005, at_least=True)
    twin = replace(expected, at_least=False)
    for accuracies, answers in (
        ((0.9, 0.9), ("yes", "no")),
        ((0.796, 0.796), ("yes", "yes")),
        ((0.79, 0.79), ("no", "no")),
    ):
        assert tuple(study.judge_number(s, trials(*accuracies)).answer for s in (expected, twin)) == answers
    error = replace(expected, measure="error", value=0.2)
    assert study.judge_number(error, trials(0.9, 0.9)).answer == "yes"
    assert study.judge_number(error, trials(0.7, 0.7)).answer == "no"
    assert "0.8 or better" in study.judge_number(expected, trials(0.9, 0.9)).paper


def only(plan: GridPlan, settings: set[str], methods: set[str], draws: int, repeats: int) -> GridPlan:
    kept = tuple(s for s in plan.settings if s.name in settings)
    entries = tuple(
        replace(e, draws=draws if e.calibration else 1, settings=tuple(settings & {*e.settings}))
        for e in plan.entries
        if e.label in methods and (settings & {*e.settings} or not e.settings)
    )
    return replace(plan, settings=kept, entries=entries, repeats=repeats)


@pytest.mark.slow
def test_the_page_is_made_of_secure_sums(tmp_path, shown):
    """The smallest part of the grid, through the whole machinery."""
    plan = only(shown.plan, {"breast cancer"}, {"batch", "newton", "prr_mean"}, 1, 1)
    small = replace(shown, plan=plan)
    grid = runner.run_grid(plan, tmp_path / "out", None, jobs=1)
    assert grid.failures == ()
    newton = [t for t in grid.trials if t.method == "newton"]
    assert {(t.trust, t.guaranteed_epsilon, t.guaranteed_delta) for t in newton} == {
        ("secure", float(epsilon), 1e-5) for epsilon in sums._EPSILONS
    }
    text = report.write_report(small, grid, tmp_path / "out", 1.0).read_text()
    assert ">Notes</h2>" in text
    assert "or better" in text
    assert "any 3 of 10 parties" in text
    assert "one place" in text


@pytest.mark.slow
@needs_data
def test_adult_comes_out_as_expected(tmp_path, shown):
    """At reduced size; the twin expects more than no privacy at all gives."""
    plan = only(shown.plan, {"a9a"}, {"newton", "wsum"}, 3, 1)
    grid = runner.run_grid(plan, tmp_path / "out", DATA, jobs=1)
    assert grid.failures == ()
    expected = [s for s in shown.figures if s.point.setting == "a9a"]
    assert len(expected) == 4
    assert [study.judge_number(s, grid.trials).answer for s in expected] == ["yes"] * 4
    assert {study.judge_number(replace(s, value=0.86), grid.trials).answer for s in expected} == {"no"}
    (better,) = (c for c in shown.claims if "weighted sum of models" in c.quotation)
    here = replace(better, pairs=tuple(pair for pair in better.pairs if pair[0].setting == "a9a"))
    assert study.judge_claim(here, grid.trials).answer in ("yes", "open")
    turned = replace(here, pairs=tuple((b, a) for a, b in here.pairs))
    assert study.judge_claim(turned, grid.trials).answer == "no"
