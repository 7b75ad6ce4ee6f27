"""What a plan says follows from its figures by rules that are written down; the small clinic is named beforehand."""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest
from support.commands import refusal
from support.refusals import refused
from support.text_file import TextFile, as_text
from syrupy.assertion import SnapshotAssertion

import smc_dp
from smc_dp.cli.main import main
from smc_dp.core.errors import InputError
from smc_dp.data.bounds import Bounds, NumericColumn, parse_bounds
from smc_dp.methods.expected_accuracy import AccuracyInterval, ExpectedAccuracy, expected_accuracy
from smc_dp.methods.expected_gain import expected_gain
from smc_dp.pages.blocks import texts_by_code
from smc_dp.planning import recommendation, report
from smc_dp.planning.candidate import Candidate, Circumstances
from smc_dp.planning.plan import Plan
from smc_dp.run.agreement import PROTOCOLS_BY_METHOD
from smc_dp.run.settings import RunSettings

SIZES = {"north": 5000, "south": 800, "clinic": 30}


def among(*sizes: int, dimension: int = 13, **asked: object) -> Circumstances:
    names = tuple(f"p{j}" for j in range(len(sizes)))
    return Circumstances(names, sizes, dimension, settings=RunSettings.from_options(**asked))


@pytest.fixture(scope="module")
def paper() -> Plan:
    return smc_dp.plan(SIZES, 12, method="prr_mean")


@pytest.fixture(scope="module")
def usual() -> Plan:
    return smc_dp.plan(SIZES, 12)


def told(plan: Plan) -> dict[str, str]:
    return texts_by_code(report.recommendation_blocks(plan))


def test_the_text_of_a_plan_is_that_of_the_snapshot(usual: Plan, paper: Plan, snapshot: SnapshotAssertion) -> None:
    timed = replace(usual, cost=replace(usual.cost, cpu_seconds=2.5))
    plans = (timed, paper, smc_dp.plan([60, 40], 12, epsilon=0.2), smc_dp.plan([20] * 60, 5))
    assert as_text(*(block for plan in plans for block in report.blocks(plan, cost=True))) == snapshot(
        extension_class=TextFile
    )


def test_the_clinic_of_thirty_rows_is_named_before_it_spoils_anything(paper: Plan) -> None:
    assert paper.planned.left_out == ("clinic",)
    assert dict(paper.stay) == {"north": 5000, "south": 800}
    with_it, without = paper.planned.expected, paper.planned.without
    assert with_it.interval.high > without.interval.high + recommendation.MATTERS
    assert "clinic" in told(paper)["plan.leave_parties_out"]
    # The twin: a clinic as large as the others is not.
    even = smc_dp.plan({**SIZES, "clinic": 800}, 12, method="prr_mean")
    assert even.planned.left_out == ()
    assert "plan.leave_parties_out" not in told(even)


def test_the_page_prints_what_its_program_prints(capsys: pytest.CaptureFixture[str]) -> None:
    page = (Path(smc_dp.__file__).parent / "planning" / "README.md").read_text(encoding="utf-8")
    program = page.split("```python\n")[1].split("```")[0]
    (said,) = [line.split("  # ")[1] for line in program.splitlines() if "  # " in line]
    exec(program, {})
    assert capsys.readouterr().out.splitlines()[0] == said


def test_a_small_party_never_hurts_where_rows_are_added_up(usual: Plan) -> None:
    assert (usual.method, usual.advised) == ("newton", "newton")
    assert usual.planned.left_out == ()
    assert usual.planned.least_rows == 1
    assert dict(usual.stay) == SIZES
    assert "plan.small_party_harmless" in told(usual)


def test_the_least_number_of_rows_is_the_least_that_does_no_harm() -> None:
    candidate = Candidate.build("prr_mean", among(5000, 800))
    least = recommendation.least_rows(candidate)
    assert 30 < least < 800
    harms = [
        recommendation.is_spoilt_by(candidate.expected_with((5000, 800, n)), candidate.expected)
        for n in (least - 1, least)
    ]
    assert harms == [True, False]
    assert recommendation.parties_to_leave_out(Candidate.build("prr_mean", among(5000, 800, least))) == ()
    assert recommendation.parties_to_leave_out(Candidate.build("prr_mean", among(5000, 800, least - 1))) == (2,)


def test_as_few_are_left_out_as_it_takes_and_two_stay() -> None:
    assert recommendation.parties_to_leave_out(Candidate.build("prr_mean", among(20, 5000, 25, 4000))) == (0, 2)
    assert recommendation.parties_to_leave_out(Candidate.build("prr_mean", among(20, 5000))) == ()
    far = Candidate.build("prr_mean", among(10**6, 10**6, 9 * 10**5))
    assert recommendation.parties_to_leave_out(far) == ()  # a little less stands out, and nobody would see it


def test_a_plan_tells_each_party_whether_it_is_better_alone(usual: Plan) -> None:
    advice = {name: found.advice for name, found in usual.gains.items()}
    assert advice == {"north": "as good alone", "south": "as good alone", "clinic": "take part"}
    text = told(usual)
    assert "plan.nobody_gains" not in text
    assert "north, south" in text["plan.as_good_alone"]
    assert "clinic" in text["plan.better_together"]
    gain = usual.gains["clinic"].gain
    assert (
        gain
        == expected_gain(
            30, sum(SIZES.values()), 13, 2, Candidate.build("newton", among(*SIZES.values())).expected.signal
        ).gain
    )
    assert usual.as_dict()["gains"]["clinic"] == {"rows": 30, "gain": gain, "advice": "take part"}
    noisy = smc_dp.plan([500, 400], 60, epsilon=0.1)
    assert {"plan.nobody_gains", "plan.better_alone"} <= set(told(noisy))
    assert told(noisy)["plan.advised_method"].startswith("If you run it all the same, take")
    for method in ("gd", "wsum", "prr_mean"):
        assert smc_dp.plan(SIZES, 12, method=method).gains == {}  # no figures were made of them
    assert smc_dp.plan([20] * 60, 5, method="avg_clip").gains == {}


def test_a_plan_says_where_a_study_takes_another_lambda() -> None:
    among_known, settings = smc_dp.plan([3000] * 3, 10, method="wsum"), RunSettings.from_options(method="wsum")
    in_study = settings.settle(3).with_usual_lambda(3, 11, 2).method.lam
    lam = among_known.candidate.method.lam
    assert lam < in_study
    assert (among_known.as_dict()["lambda"], among_known.as_dict()["study_lambda"]) == (lam, in_study)
    text = texts_by_code(report.blocks(among_known))["plan.lambda_of_study"]
    assert f"`--lambda {lam:g}`" in text
    assert f"{in_study:g}." in text
    for same in ({"method": "wsum", "lam": lam}, {"method": "wsum_ar"}):
        told_to_both = smc_dp.plan([3000] * 3, 10, **same)
        assert "plan.lambda_of_study" not in texts_by_code(report.blocks(told_to_both))
        assert told_to_both.candidate.study_lambda == told_to_both.candidate.method.lam


def test_a_plan_advises_against_what_comes_to_nothing_and_says_how_many_rows_would_do(usual: Plan) -> None:
    found = smc_dp.plan([60, 40], 12, epsilon=0.2)
    first = ["plan.do_not_begin", "plan.nobody_gains", "plan.advised_method", "plan.expected_loss"]
    assert list(told(found))[:4] == first
    assert "newton" in told(found)["plan.advised_method"]
    needed = found.planned.rows_needed
    assert f"{needed:,} rows in all" in told(found)["plan.expected_loss"]
    bands = [
        Candidate.build("newton", among(n * 6 // 10, n * 4 // 10, epsilon=Fraction(1, 5))).expected.interval
        for n in (needed + 9, needed * 3 // 4)
    ]
    assert [band.high <= recommendation.LITTLE for band in bands] == [True, False]
    assert "plan.do_not_begin" not in told(usual)
    assert recommendation.rows_needed(Candidate.build("avg_clip", among(600, 400))) is None  # which rows do not help


def test_where_all_is_lost_either_way_the_signal_decides() -> None:
    more, fewer = (
        ExpectedAccuracy(0.5, AccuracyInterval(-0.02, 0.5)),
        ExpectedAccuracy(2.0, AccuracyInterval(-0.02, 0.5)),
    )
    assert recommendation.is_spoilt_by(more, fewer)
    assert not recommendation.is_spoilt_by(fewer, more)
    assert not recommendation.is_spoilt_by(
        replace(more, interval=AccuracyInterval(0.0, 0.01)), replace(fewer, interval=AccuracyInterval(0.0, 0.005))
    )


def made(circumstances: Circumstances) -> list[Candidate]:
    found = []
    for name in PROTOCOLS_BY_METHOD:
        try:
            found.append(Candidate.build(name, circumstances))
        except InputError:
            continue
    return found


def test_trust_comes_first_then_what_nobody_has_to_guess_then_what_may_be_lost() -> None:
    found = made(among(5000, 800, 700))
    best = recommendation.recommend(found)
    assert best.method.name == "newton"
    assert {one.method.name for one in recommendation.eligible(found)} == {"newton", "gd", "ofaa"}
    by_paper = [one for one in found if one.method.name in ("prr_mean", "avg_clip")]
    alone = recommendation.recommend(by_paper)
    assert alone is not None  # where nobody can do without trust, somebody has to
    assert alone.method.name == "prr_mean"
    assert recommendation.recommend([one for one in found if one.method.protects != "record"]) is None


def test_every_method_that_a_run_has_and_that_protects_records_has_its_place() -> None:
    records = {name for name in PROTOCOLS_BY_METHOD if smc_dp.METHODS[name].protects == "record"}
    assert records - {"logistic", "linear"} == set(recommendation.PREFERRED)
    assert len(recommendation.PREFERRED) == len(records) - 2  # a plan does not know widths of intervals


def test_of_what_nobody_has_to_guess_the_least_may_be_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    def advised(**high: float) -> str:
        """A lambda may lose less to noise, because it has less to lose."""
        monkeypatch.setattr(
            "smc_dp.methods.expected_accuracy.accuracy_interval",
            lambda name, *_: AccuracyInterval(0.0, high.get(name, 0.3)),
        )
        best = recommendation.recommend(made(among(90, 80, 70)))
        return "" if best is None else best.method.name

    assert advised(wsum=0.01) == "newton"
    assert advised(gd=0.3 - 2 * recommendation.TIED) == "gd"
    assert advised(gd=0.3 - recommendation.TIED / 2) == "newton"


def test_beyond_a_thousand_columns_another_method_is_advised() -> None:
    found = smc_dp.plan([5000, 5000, 5000], 1100)
    assert found.advised != "newton"
    assert (
        recommendation.largest_sum(Candidate.build("newton", among(50, 50, dimension=1101)))
        > recommendation.LARGEST_SUM
    )
    assert (
        recommendation.largest_sum(Candidate.build("newton", among(50, 50, dimension=1001)))
        < recommendation.LARGEST_SUM
    )


def test_the_figures_are_those_of_the_method_and_of_no_other(usual: Plan) -> None:
    agreed = Candidate.build("newton", among(*SIZES.values()))
    assert usual.planned.expected == agreed.expected
    assert agreed.expected.signal == pytest.approx(agreed.spec.signal(5830))  # type: ignore[attr-defined]
    fewer = replace(agreed, target=replace(agreed.target, epsilon=Fraction(1, 10)))
    assert fewer.expected.signal < agreed.expected.signal
    none = [replace(agreed.target, noise="self"), replace(agreed.target, epsilon=None)]
    assert [expected_accuracy(agreed.method, target, agreed.terms, (9, 9), 13, 2) for target in none] == [None, None]


def test_a_file_of_bounds_says_columns_and_classes_of_which_a_number_has_none() -> None:
    bounds = Bounds(tuple(NumericColumn(f"x{i}", 0, 1) for i in range(4)), ("a", "b", "c"))
    found = smc_dp.plan([500, 500], bounds=bounds)
    assert (found.dimension, found.classes) == (5, 3)
    assert "classes: prr_mean is for two classes" in (found.of("prr_mean").refused or "")
    assert "plan.bounds_leave_rows_out" not in told(found)
    leaving = replace(bounds, missing="leave out", label="y")
    assert " y" in told(smc_dp.plan([500, 500], bounds=leaving))["plan.bounds_leave_rows_out"]
    of_number = parse_bounds('[label]\ncolumn = "y"\nrange = [0, 9]\n[columns]\na = [0, 1]\n')
    with refused("plan.of_number"):
        smc_dp.plan([900, 700], bounds=of_number)


def of_five(rows: int, dimension: int, method: str = "newton") -> Candidate:
    return Candidate.build(method, among(*(rows,) * 5, dimension=dimension))


@pytest.mark.parametrize(("rows", "dimension"), [(4000, 20), (10_000, 20), (10_000, 101), (6000, 7)])
def test_features_are_offered_where_the_signal_allows(rows: int, dimension: int) -> None:
    found = recommendation.features_to_offer(of_five(rows, dimension))
    for count in range(64, recommendation.MOST_OFFERED + 1, 32):
        fits = of_five(rows, dimension + count).expected.signal >= recommendation.SIGNAL_OF_FEATURES
        assert fits == (found is not None and count <= found)
    assert recommendation.features_to_offer(of_five(100 * rows, dimension)) == recommendation.MOST_OFFERED
    assert recommendation.features_to_offer(of_five(rows // 100, dimension)) is None
    assert recommendation.features_to_offer(of_five(100 * rows, dimension, "wsum")) is None


def test_a_plan_says_where_features_may_pay_and_plans_none() -> None:
    many, few = (told(smc_dp.plan([n] * 5, 20)) for n in (50_000, 500))
    assert "plan.features_may_pay" in many
    assert "plan.features_may_pay" not in few
    with refused("plan.no_features"):
        smc_dp.plan([5000] * 3, 12, method="newton", features="fourier:64")


def test_whole_parties_are_spoken_of_where_they_are_many_and_small() -> None:
    assert "plan.protect_whole_parties" in told(smc_dp.plan([20] * 60, 5))
    assert "plan.protect_whole_parties" not in told(smc_dp.plan([200] * 60, 5))


# The command.


def test_the_command_says_what_the_function_says(capsys: pytest.CaptureFixture[str]) -> None:
    sizes = ",".join(f"{name}={n}" for name, n in SIZES.items())
    arguments = ["plan", "--sizes", sizes, "--columns", "12", "--method", "prr_mean"]
    assert main([*arguments, "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    found = smc_dp.plan(SIZES, 12, method="prr_mean")
    assert told.pop("answer") == [said.text for said in report.recommendation_blocks(found)]
    assert told.pop("codes") == [said.code for said in report.recommendation_blocks(found)]
    assert told == json.loads(json.dumps(found.as_dict()))
    assert main(arguments) == 0
    out = capsys.readouterr().out
    assert all(said.text in out for said in report.recommendation_blocks(found))


@pytest.mark.parametrize("asked", [{"colluders": 5}, {"dropouts": 2}])
def test_more_protection_than_any_secure_sum_has_is_no_reason_for_a_method_without_it(asked: dict[str, int]) -> None:
    with refused("plan.no_method"):
        smc_dp.plan([900, 700], 3, **asked)  # type: ignore[arg-type]
    assert smc_dp.plan([900, 700], 3).method == "newton"
    with refused("protocol.no_such_setting"):  # as a run refuses it
        smc_dp.plan([900, 700], 3, method="prr_mean", **asked)  # type: ignore[arg-type]


_SIZES = "--sizes: wanted numbers of rows, such as 5000,800, or each party once, such as north=5000,south=800;"


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        ("--sizes 500", "--sizes: wanted the numbers of rows of at least 2 parties, got 1"),
        ("--sizes 500,x", f"{_SIZES} got 'x'"),
        ("--sizes 500,x1", f"{_SIZES} got 'x1'"),
        ("--sizes 500,0", "--sizes: party-2: wanted a number of rows from 1 to 10000000, got 0"),
        ("--sizes a=5,b", f"{_SIZES} got 'b'"),
        ("--sizes a=5,a=6", f"{_SIZES} got 'a' again"),
        ("--sizes 500,500 --epsilon 0", "--epsilon: wanted a positive number, written as 0.1 or 1e-3, got '0'"),
        ("--sizes 500,500 --method x", "--method: wanted one of "),
        ("--sizes 500,500 --method soft_ss", "--method: soft_ss needs public rows without labels"),
        ("--sizes 500,500 --protocol linear", "--protocol: goes with --method, and none was given"),
        ("--sizes 500,500 --method newton --colluders 2", "--colluders: wanted at most 1 of 2 parties, got 2"),
        ("--sizes 500,500 --method prr_mean --classes 3", "--classes: prr_mean is for two classes, and there are 3"),
    ],
)
def test_what_cannot_be_planned_is_one_line(
    arguments: str, line: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert refusal(capsys, tmp_path, "plan", "--columns", "3", *arguments.split()).startswith(line)
