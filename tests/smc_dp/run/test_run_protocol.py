"""The protocol in a few lines of Python: `run_protocol`, `predict`, `audit_run`, with arrays, files and data frames."""

from __future__ import annotations

import csv
import json
import os
import stat
import subprocess
import sys
from dataclasses import replace
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from support.audited import agreement, hospitals, sum_agreement
from support.audits import OF_THE_RUN
from support.clear import in_the_clear
from support.repetitions import with_slow
from threadpoolctl import threadpool_info, threadpool_limits

from protocols.arithmetic.rng import Stream
from smc_dp import Federation, InputError, Rows, Target, audit_run, predict, run_protocol
from smc_dp.audit.run import checks
from smc_dp.audit.run import report as reports
from smc_dp.audit.run.evidence import load_evidence
from smc_dp.core.arrays import with_bias
from smc_dp.data import sources
from smc_dp.data.bounds import Bounds, NumericColumn, parse_bounds
from smc_dp.data.sources import PreparedData
from smc_dp.methods.collaborative.ofaa import Ofaa
from smc_dp.methods.collaborative.ofpa import Ofpa
from smc_dp.methods.gradients.gradient_descent import MOST_SUMS, GradientDescent
from smc_dp.methods.pathak2010.mean import PathakMean
from smc_dp.methods.registry import find_method
from smc_dp.methods.sums.clipped_average import ClippedAverage
from smc_dp.privacy import pathak2010 as guarantees
from smc_dp.privacy.ledger.history import Limit
from smc_dp.privacy.ledger.ledger import Ledger
from smc_dp.privacy.statement import PrivacyStatement
from smc_dp.run import identities
from smc_dp.run.agreement import PROTOCOLS_BY_METHOD, default_protocol
from smc_dp.run.ledgers import Ledgers
from smc_dp.run.party import LocalParty
from smc_dp.run.protocols import execution
from smc_dp.run.simulation import simulate_run
from smc_dp.run.verify_release import verify_release
from tests.support.refusals import refused

BOUNDS = '[columns]\nage = [0, 100]\nsex = ["f", "m"]\n[label]\nclasses = ["no", "yes"]\ncolumn = "outcome"\n'
QUICK: dict[str, Any] = {"key_bits": 256, "insecure_test_keys": True}


def rows(n: int, seed: int) -> Rows:
    rng = np.random.default_rng(seed)
    X = rng.uniform(-0.5, 0.5, (n, 3))
    return Rows(X, (X[:, 0] > 0).astype(np.int64))


FEDERATION = Federation((rows(60, 1), rows(40, 2), rows(50, 3)), 2)


def write(path: Path, n: int, seed: int, label: bool = True) -> Path:
    rng = np.random.default_rng(seed)
    with path.open("w", newline="") as file:
        out = csv.writer(file)
        out.writerow(["age", "sex", *(["outcome"] if label else [])])
        for _ in range(n):
            age = int(rng.integers(0, 100))
            out.writerow([age, rng.choice(["f", "m"]), *(["yes" if age > 50 else "no"] if label else [])])
    return path


@pytest.fixture(autouse=True)
def of_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is the same whatever the run is has tests of its own, and takes ten seconds."""
    monkeypatch.setattr(checks, "CHECKS", OF_THE_RUN)


def test_a_federation_goes_in_and_what_comes_out_can_be_audited_and_used(tmp_path: Path) -> None:
    report = run_protocol(FEDERATION, target=Target(Fraction(5)), test=rows(100, 9), out=tmp_path / "run", **QUICK)
    assert report.agreement.parties == ("party-1", "party-2", "party-3")
    assert (report.agreement.method, report.agreement.protocol) == (PathakMean(0.005), "pathak2010")
    assert report.run_dir == tmp_path / "run"
    found = predict(report.run_dir, rows(100, 9).X)
    assert set(found.labels) <= {"0", "1"}
    accuracy = np.mean([int(label) for label in found.labels] == rows(100, 9).y)
    assert accuracy == report.comparison.accuracy > 0.7
    assert found.accuracy is None
    assert found.insecure == report.insecure != ()
    unknown = predict(report.run_dir, np.array([[0.1, np.nan, 0.3], [0.1, 0.2, 0.3], [np.inf, 0, 0]]))
    assert [label == "" for label in unknown.labels] == [True, False, True]
    not_finite = ["prediction.not_finite"]
    assert [[fault.code for fault in faults] for faults in unknown.reasons] == [not_finite, [], not_finite]
    assert audit_run(report.run_dir).passed


def blas_threads() -> list[int]:
    return [found["num_threads"] for found in threadpool_info() if found["user_api"] == "blas"]


def test_linear_algebra_of_a_simulation_has_one_thread_and_afterwards_as_many_as_before(tmp_path: Path) -> None:
    heard: list[list[int]] = []
    with threadpool_limits(2, "blas"):
        before = blas_threads()
        run_protocol(FEDERATION, out=tmp_path / "run", progress=lambda *_: heard.append(blas_threads()), **QUICK)
        assert max(map(max, heard)) == 1 < max(before)
        assert blas_threads()[: len(before)] == before


LOADED_LATER = """
from threadpoolctl import threadpool_info
from smc_dp.core.threads import one_thread
with one_thread():
    import scipy.optimize
    print({found["num_threads"] for found in threadpool_info() if found["user_api"] == "blas"})
"""


@pytest.mark.slow
def test_a_library_that_is_loaded_in_a_simulation_has_one_thread_too() -> None:
    known = {**os.environ, "OPENBLAS_NUM_THREADS": "2"}
    assert subprocess.run([sys.executable, "-c", LOADED_LATER], env=known, capture_output=True).stdout == b"{1}\n"


def test_identities_and_views_are_really_looked_at(tmp_path: Path) -> None:
    names = ("party-1", "party-2", "party-3")
    identities.create_identities(tmp_path / "own", names, Stream.from_system())
    identities.create_identities(tmp_path / "foreign", names, Stream.from_system())
    given = identities.load_run_identities(tmp_path / "own", (*names, "charlie"))
    run, views = tmp_path / "run", tmp_path / "views"
    run_protocol(FEDERATION, out=run, views=views, identities=given, **QUICK)
    assert [stat.S_IMODE(path.stat().st_mode) for path in (views, views / "1.view")] == [0o700, 0o600]

    def statuses(**options: Any) -> dict[str, str]:
        return {f.check.name: f.outcome.status for f in audit_run(run, **options).findings}

    alone = statuses()
    assert alone["identities"] == alone["messages-recomputed"] == "not possible"
    known = statuses(identities=tmp_path / "own" / "identities.json", views=views)
    assert known["identities"] == known["messages-recomputed"] == "passed"
    foreign = statuses(identities=tmp_path / "foreign" / "identities.json", views=views)
    assert {name for name, status in foreign.items() if status == "failed"} == {"identities"}
    (views / "1.view").write_bytes((views / "1.view").read_bytes()[:-1])
    with refused("state.not_plain", at="1.view"):
        audit_run(run, views=views)


@pytest.mark.parametrize(("changes", "why"), [
    ({"method": "pathak2010"}, partial(refused, "method.is_a_protocol", method="pathak2010", known="prr_mean")),
    ({"method": "wsum"}, partial(refused, "protocol.no_such_setting", setting="key_bits", method="wsum")),
    ({"drop_out": {"a": 1}}, partial(refused, "drop_out.not_possible", protocol="pathak2010")),
    ({"target": 0}, partial(refused, "number.not_positive", at="target: epsilon")),
    ({"target": Target(None)}, partial(refused, "epsilon.infinite")),
    ({"key_bits": 1024, "insecure_test_keys": False}, partial(refused, "key_bits.too_short", least=2048)),
    ({"bounds": "bounds.toml"}, partial(refused, "data.of_encoded_rows")),
    ({"auxiliary": "rows.csv"}, partial(refused, "data.of_encoded_rows")),
    ({"out": "."}, partial(refused, "folder.exists")),
    ({"views": "."}, partial(refused, "folder.exists")),
    ({"method": PathakMean(0.1, as_published=True)}, partial(refused, "method.made_for_others", wanted="prr_mean")),
    ({"link": "moon"}, partial(refused, "value.unknown", at="parameters: link")),
    ({"key_bits": 512.0}, partial(refused, "value.no_setting", at="protocol: key_bits")),
    ({"label": "y"}, partial(refused, "data.of_encoded_rows")),
    ({"target": Fraction(10**210 + 1, 10**210)}, partial(refused, "number.not_a_ratio", at="target: epsilon")),
    ({"test": np.zeros((2, 3))}, partial(refused, "data.of_encoded_rows")),
    ({"test": Rows(np.zeros((2, 2)), np.array([0, 1]))}, partial(refused, "federation.wrong_width", width=3)),
    ({"test": Rows(np.zeros((2, 3)), np.array([0, 5]))}, partial(refused, "rows.unknown_class", row=2, last=1)),
    ({"out": "run", "views": "run"}, partial(refused, "folder.not_apart")),
    ({"out": "run", "views": "run/views"}, partial(refused, "folder.not_apart")),
    ({"out": "views/run", "views": "views"}, partial(refused, "folder.not_apart")),
    ({"target": Target(1), "epsilon": 2}, partial(refused, "option.contradicts", name="epsilon", other="target")),
    ({"method": PathakMean(0.1), "lam": 0.2}, partial(refused, "option.contradicts", name="lam", other="method")),
    ({"colour": "red"}, partial(refused, "document.unknown_key", key="'colour'")),
])  # fmt: skip
def test_what_cannot_be_run_is_refused_before_anything_is_sent(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, changes: dict[str, Any], why: Any
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(execution, "run_session", lambda *_, **__: pytest.fail("a message would have been sent"))
    books = Ledgers(tmp_path / "books", Limit(Fraction(3), Fraction(0)))
    with why():
        run_protocol(FEDERATION, **{**QUICK, "ledgers": books, **changes})
    assert not list(tmp_path.iterdir())  # no folder, and no ledger that was charged


def test_names_that_no_release_could_have_are_refused(tmp_path: Path) -> None:
    refusals: dict[Any, str] = {
        ("Charlie", "b", "c"): "party.reserved_name",
        ("a=b", "c", "d"): "party.wrong_name",
        (" a", "b", "c"): "party.wrong_name",
        (1, 2, 3): "parties.no_names",
    }
    for names, code in refusals.items():
        with refused(code):
            run_protocol(replace(FEDERATION, names=names), out=tmp_path / "x", **QUICK)


def whole_bounds(d: int) -> Bounds:
    return Bounds(tuple(NumericColumn(f"x{i}", -1, 1) for i in range(d)), ("0", "1"), clip=1, bias=0)


def test_whole_numbers_in_bounds_and_settings_are_what_they_mean(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A digest must not tell 1 from 1.0: JSON does not, and an honest run would look forged."""
    monkeypatch.setattr(execution, "run_session", in_the_clear)
    for number, method in enumerate((PathakMean(1), PathakMean(np.float64(0.1)))):
        run_protocol(FEDERATION, bounds=whole_bounds(3), method=method, out=tmp_path / str(number), **QUICK)
        assert len(predict(tmp_path / str(number), np.zeros((2, 3))).labels) == 2
    with refused("parameter.out_of_range", name="lambda"):
        PathakMean(True)


def test_a_file_whose_path_has_an_equals_sign_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(execution, "run_session", in_the_clear)
    (tmp_path / "bounds.toml").write_text(BOUNDS)
    files = {name: write(tmp_path / f"{name}=1.csv", 50, seed) for seed, name in enumerate(("north", "south"))}
    report = run_protocol(files, method="prr_mean", bounds=tmp_path / "bounds.toml", out=tmp_path / "run")
    assert report.agreement.parties == ("north", "south")


def test_a_run_is_about_what_was_agreed_on(tmp_path: Path) -> None:
    """Other parties, other bounds, or coins that the marks do not tell of: refused before anything is charged."""
    data, other = hospitals((9, 8), 2), hospitals((9, 8, 7), 2)
    seeded, system = Stream.insecure_from_seed(1), Stream.from_system()
    turned = replace(agreement(data), parties=data.federation.names[::-1])
    for agreed in (agreement(other), turned, agreement(hospitals((9, 8), 3))):
        with refused("agreement.of_other_data"):
            simulate_run(data, agreed, seeded, tmp_path / "run")
    three_classes = replace(data, federation=replace(data.federation, classes=3))
    with refused("agreement.of_other_data"):
        simulate_run(three_classes, agreement(data), seeded, tmp_path / "run")
    for agreed, rng in ((agreement(data), system), (agreement(data, seeded=False), seeded)):
        with refused("randomness.wrong_mark", mark="insecure seed"):
            simulate_run(data, agreed, rng, tmp_path / "run")
    assert not list(tmp_path.iterdir())


def test_printed_steps_guarantee_nothing_wherever_they_are_computed() -> None:
    """The released integers equal the exact sum modulo the number of parties."""
    method = PathakMean(0.1, as_published=True)
    trained, exact = (
        method.train(FEDERATION),
        PathakMean(0.1).train(FEDERATION).release(Target(None), Stream.from_system()),
    )
    for calibration in ("proven", "paper"):
        release = trained.release(Target(1, calibration), Stream.from_system())  # type: ignore[arg-type]
        assert (release.privacy.kind, release.privacy.epsilon) == ("none", None)
        sums = [np.rint((m.W[1] - m.W[0]) * 3 * 2.0**40).astype(int) % 3 for m in (release.model, exact.model)]  # type: ignore[attr-defined]
        assert sums[0].tolist() == sums[1].tolist()


def test_other_inputs_that_do_not_fit_are_refused(tmp_path: Path) -> None:
    three = Federation((rows(9, 1), rows(9, 2)), 3)
    with refused("bounds.other_classes", classes=3, got=2):
        run_protocol(three, bounds=whole_bounds(3), out=tmp_path / "x")
    wide = sources.dataset("breast_cancer")
    with refused("bounds.other_dimension", dimension=3, got=31):
        run_protocol(FEDERATION, bounds=wide.bounds, out=tmp_path / "x", **QUICK)
    with refused("bounds.missing"):
        run_protocol(["north.csv", "south.csv"], out=tmp_path / "x")
    with refused("table.no_file_or_frame", name="test", got="Rows"):
        run_protocol(["north.csv", "south.csv"], bounds=whole_bounds(3), test=rows(3, 1), out=tmp_path / "x")
    run_protocol(FEDERATION, out=tmp_path / "run", **QUICK)
    with refused("prediction.other_width", dimension=3, shape="(2, 4)"):
        predict(tmp_path / "run", np.zeros((2, 4)))


# Data frames in place of files.


def patients(n: int, seed: int) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    age = rng.integers(0, 100, n)
    out = np.where(age + rng.normal(0, 8, n) > 50, "yes", "no")
    return pd.DataFrame({"id": range(n), "age": age, "sex": rng.choice(["f", "m"], n), "outcome": out})


FRAMES = {"party-1": patients(60, 1), "party-2": patients(50, 2)}


TEST = patients(40, 3)
HOW: dict[str, Any] = {"bounds": parse_bounds(BOUNDS), "insecure_seed": 7, "target": 5.0, "colluders": 0}


def test_frames_are_the_run_of_their_files(tmp_path: Path) -> None:
    (tmp_path / "bounds.toml").write_text(BOUNDS)
    for name, frame in [*FRAMES.items(), ("test", TEST)]:
        frame.to_csv(tmp_path / f"{name}.csv", index=False)
    files = [tmp_path / f"{name}.csv" for name in FRAMES]
    wanted = run_protocol(files, test=tmp_path / "test.csv", out=tmp_path / "files", **HOW)
    polars = [pl.from_dict(frame.to_dict("list")) for frame in FRAMES.values()]
    for name, data, test in (
        ("pandas", [*FRAMES.values()], TEST),
        ("polars", polars, pl.from_dict(TEST.to_dict("list"))),
        ("named", dict(FRAMES), TEST),
        ("mixed", [files[0], FRAMES["party-2"]], tmp_path / "test.csv"),
    ):
        found = run_protocol(data, test=test, out=tmp_path / name, **(HOW | {"bounds": tmp_path / "bounds.toml"}))
        assert found.comparison == wanted.comparison
        releases = [json.loads((tmp_path / run / "release.json").read_text()) for run in ("files", name)]
        assert releases[0]["weights"] == releases[1]["weights"]
    told = predict(tmp_path / "files", tmp_path / "test.csv", "id")
    for frame in (TEST, pl.from_dict(TEST.to_dict("list"))):
        assert predict(tmp_path / "files", frame, "id") == told
    with refused("table.no_file_or_frame", name="rows", got="dict"):
        predict(tmp_path / "files", {"age": [1]})  # type: ignore[arg-type]
    with refused("threshold.same_rows", file="a data frame"):
        predict(tmp_path / "files", TEST, threshold_from=TEST)
    # One row or column more makes no other rows of them.
    for others in (pd.concat([TEST, TEST[:1]]), TEST.assign(more=1)):
        with refused("threshold.same_rows", file="a data frame"):
            predict(tmp_path / "files", TEST, threshold_from=others)


def test_what_is_no_frame_of_each_party_is_refused(tmp_path: Path) -> None:
    given: dict[str, Any] = HOW | {"out": tmp_path / "x"}
    for data in (FRAMES["party-1"], "north.csv", 42, {1, 2}):
        with refused("data.not_of_parties", got=type(data).__name__):
            run_protocol(data, **given)  # type: ignore[arg-type]
    with refused("table.no_file_or_frame", name="data", got="list"):
        run_protocol([[1, 2], [3, 4]], **given)  # type: ignore[list-item]
    with refused("table.no_file_or_frame", name="test", got="int"):
        run_protocol([*FRAMES.values()], test=3, **given)  # type: ignore[arg-type]
    with refused("bounds.missing_for_frames"):
        run_protocol([*FRAMES.values()], **(given | {"bounds": None}))
    with refused("party.same_rows"):
        run_protocol([FRAMES["party-1"], FRAMES["party-1"].copy()], **given)
    with refused("cell.unknown_level", at="party party-2: column 'sex', row 3"):
        run_protocol([FRAMES["party-1"], FRAMES["party-2"].assign(sex=["f", "m", "x"] + ["f"] * 47)], **given)
    assert not (tmp_path / "x").exists()


# A party with rows of one class only.


def of_one_class(folder: Path) -> dict[str, Path]:
    """Rows of a lone class each, and between them both."""
    (folder / "bounds.toml").write_text(f"{BOUNDS}[rows]\nclip = 2.0\n")
    found = {}
    for name, outcome, ages in (("east", "no", (10, 45)), ("mid", "no", (5, 50)), ("west", "yes", (55, 95))):
        found[name] = folder / f"{name}.csv"
        found[name].write_text("age,sex,outcome\n" + "".join(f"{age},f,{outcome}\n" for age in range(*ages)))
    return found


@pytest.mark.parametrize(
    "method", with_slow([name for name in PROTOCOLS_BY_METHOD if name not in ("prr_mean", "linear")], "gd")
)
def test_a_party_with_one_class_takes_part_in_every_sum(method: str, tmp_path: Path) -> None:
    """And the figures of the end are there. Twin: the mean of the curator protocol, below."""
    files, held_out = of_one_class(tmp_path), write(tmp_path / "test.csv", 50, 7)
    public = {"auxiliary": write(tmp_path / "open.csv", 10, 8)} if method == "soft_ss" else {}
    report = run_protocol(
        files, bounds=tmp_path / "bounds.toml", method=method, target=1000, test=held_out, out=tmp_path / "run",
        insecure_seed=3, **public,
    )  # fmt: skip
    assert not says_one_class(report.agreement.spec.statement)
    assert set(report.comparison.individual) == set(files)
    assert report.comparison.pooled > 0.9
    if method in ("newton", "ofaa"):
        assert report.comparison.accuracy > max(report.comparison.individual.values())


def test_the_mean_of_models_refuses_a_party_with_one_class_before_anybody_trains_or_pays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(LocalParty, "contribution", property(lambda _: pytest.fail("a party trained")))
    files, books = of_one_class(tmp_path), Ledgers(tmp_path / "books", Limit(Fraction(9), Fraction(0)))
    options: dict[str, Any] = {"bounds": tmp_path / "bounds.toml", "out": tmp_path / "run", "ledgers": books, **QUICK}
    with pytest.raises(InputError) as refused:
        run_protocol(files, **options)
    where = f"party east ({files['east']}): column 'outcome'"
    assert str(refused.value) == f"{where}: all 35 rows are 'no', wanted both 'no' and 'yes'"
    assert not books.folder.exists()
    monkeypatch.setattr(PathakMean, "needs_two_classes", False)  # the twin lets them train
    with pytest.raises(pytest.fail.Exception, match="trained"):
        run_protocol(files, **options)


def test_who_refuses_a_party_for_its_one_class_says_so_in_its_statement() -> None:
    """That there is a run at all then tells something of the rows. Twin: the statements of the sums, above."""
    found: dict[str, Any] = {name: find_method(name) for name in PROTOCOLS_BY_METHOD}
    assert [name for name, method in found.items() if method.needs_two_classes] == ["prr_mean"]
    assert says_one_class(agreement(hospitals((9, 8), 2)).spec.statement)


def says_one_class(privacy: PrivacyStatement) -> bool:
    return any("only one class" in caveat for caveat in privacy.caveats)


# The linear path.


def test_it_gives_the_release_of_the_curator_protocol_bit_for_bit(tmp_path: Path) -> None:
    """From one seed the parties train and draw the same; and the second party, the smallest, sets the noise in both."""
    both = [
        run_protocol(FEDERATION, out=tmp_path / name, insecure_seed=7, protocol=name, **more)
        for name, more in (("linear", {}), ("pathak2010", {"key_bits": 256, "insecure_test_keys": True}))
    ]
    ours, theirs = (json.loads((report.run_dir / "release.json").read_text())["weights"] for report in both)
    assert ours == theirs
    other = run_protocol(FEDERATION, out=tmp_path / "other", insecure_seed=8, protocol="linear")
    assert json.loads((other.run_dir / "release.json").read_text())["weights"] != ours  # twin: other noise


def test_its_run_is_audited_and_charged(tmp_path: Path) -> None:
    books = Ledgers(tmp_path / "ledgers", Limit(Fraction(2), Fraction(0)))
    made: dict[str, Any] = {"out": tmp_path / "run", "views": tmp_path / "views", "ledgers": books}
    report = run_protocol(FEDERATION, protocol="linear", **made)
    assert [standing.left for standing in report.standings.values()] == [1, 1, 1]
    found = reports.audit_evidence(load_evidence(tmp_path / "run", views=tmp_path / "views"), OF_THE_RUN)
    assert found.passed
    done = {finding.check.name for finding in found.findings if finding.outcome.status == "passed"}
    assert {"openings", "result", "messages-recomputed", "cost", "noise"} <= done


@pytest.mark.parametrize(
    ("parties", "named", "protocol"),
    [
        (2, (), "pathak2010"),
        (19, (), "pathak2010"),
        (20, (), "linear"),
        (1000, (), "linear"),
        (1000, ("key_bits",), "pathak2010"),
        (20, ("comparison",), "pathak2010"),
        (3, ("ring_degree",), "linear"),
        (20, ("colluders",), "linear"),
    ],
)
def test_from_twenty_parties_on_a_run_takes_it(parties: int, named: tuple[str, ...], protocol: str) -> None:
    assert default_protocol("prr_mean", parties, named) == protocol
    assert default_protocol("newton", parties, named) == "secure_sum"
    assert default_protocol("vote", parties, named) == ""


def test_its_statement_names_its_own_limits() -> None:
    data = hospitals((12, 8, 20), 2)
    ours, theirs = (agreement(data, protocol=name, seeded=False).statement for name in ("linear", "pathak2010"))
    assert (ours.kind, ours.epsilon, ours.unit, ours.adjacency) == (theirs.kind, theirs.epsilon, "record", "replace")
    assert ours.adversary == guarantees._LINEAR_ADVERSARY
    assert [guarantees._ONE_KEY in stated.caveats for stated in (theirs, ours)] == [True, False]
    assert guarantees._SELECTS_NONE in theirs.caveats[0]
    assert guarantees._SELECTS_NONE not in " ".join(ours.caveats)
    assert {*ours.caveats} >= {*guarantees._BOTH_HUBS}
    assert guarantees.by_linear_path(theirs).adversary == ours.adversary


# Other sums.


PLAIN = hospitals((12, 8, 20), 2)


def with_constant(data: PreparedData) -> PreparedData:
    """The same rows with a constant, as their bounds say."""
    bounds = replace(data.bounds, bias=0.5)
    parties = tuple(Rows(with_bias(rows.X, 0.5), rows.y) for rows in data.federation.parties)
    return PreparedData(Federation(parties, 2, names=data.federation.names), None, bounds)


@pytest.mark.parametrize("method", [Ofaa(), Ofpa(lam=0.1)], ids=lambda method: method.name)
def test_a_bias_of_its_own_goes_to_the_constant_of_the_rows(method: Any, tmp_path: Path) -> None:
    """What a release predicts is what the model of its sum predicts; a run on rows without a constant is refused."""
    data, target = with_constant(PLAIN), Target(Fraction(9), noise=method.secure_noises[0])
    agreed = sum_agreement(data, method, target)
    simulate_run(data, agreed, Stream.insecure_from_seed("bias"), tmp_path / "run")
    released = verify_release(tmp_path / "run").release
    parts = [
        LocalParty(who, rows, agreed, Stream.insecure_from_seed("bias").fork(f"party {who}")).contribution
        for who, rows in data.federation.by_name.items()
    ]
    model: Any = agreed.spec.model(sum_of(parts))
    X = data.federation.pooled().X
    scores = model.scores(X)[:, 1] - model.scores(X)[:, 0]
    assert np.allclose(X @ np.array(released.weights), scores, rtol=1e-9, atol=1e-9)
    assert not np.allclose(X @ model.theta[:-1], scores)  # twin: without its bias
    assert predict(tmp_path / "run", X).missing_files_text is None
    with refused("bounds.no_constant", name=method.name):
        sum_agreement(PLAIN, method, target)


def sum_of(parts: list[Any]) -> tuple[int, ...]:
    return tuple(map(sum, zip(*(vector for part in parts for vector in (part.numbers, part.noise)), strict=True)))


def test_a_guarantee_for_a_party_is_charged_to_its_account_and_to_that_of_records(tmp_path: Path) -> None:
    books = Ledgers(tmp_path / "books", Limit(Fraction(6, 5), Fraction(1, 10**5)))
    for name, method in (("of a record", "wsum"), ("of a party", ClippedAverage(0.1))):
        target = Target(Fraction("0.75"), noise="ddg")
        report = run_protocol(PLAIN.federation, method=method, target=target, out=tmp_path / name, ledgers=books)
        assert report.privacy.unit == name.split()[-1]
    with Ledger.open(books.path(PLAIN.federation.names[0])) as ledger:
        charged = [(e.unit, e.adjacency, e.kind) for e in ledger.history().entries if e.state == "reserved"]
    assert charged == [("record", "replace", "zcdp"), ("party", "party", "zcdp")]
    with refused("budget.passed"):  # twin: 3/4 more of the same unit is beyond the limit
        run_protocol(PLAIN.federation, method=method, target=target, out=tmp_path / "more", ledgers=books)


def test_a_hundred_sums_can_be_predicted_with(tmp_path: Path) -> None:
    data = hospitals((12, 8, 20), 2)
    agreed = sum_agreement(data, GradientDescent(rows=10**6), Target(Fraction(100), noise="ddg"))
    assert len(agreed.spec.functionality.each) == MOST_SUMS
    simulate_run(data, agreed, Stream.insecure_from_seed(1), tmp_path / "run")
    assert len(predict(tmp_path / "run", np.zeros((2, data.bounds.dimension))).labels) == 2
