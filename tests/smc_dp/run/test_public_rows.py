"""Runs of `soft_ss`: public rows that everybody agrees on, published beside the release, and read with suspicion."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support import forgeries as f
from support.audited import hospitals

from smc_dp import InputError, predict, run_protocol
from smc_dp.audit.run.conformity import publication
from smc_dp.audit.run.evidence import load_evidence
from smc_dp.cli.main import main
from smc_dp.core.arrays import Array
from smc_dp.data import sources
from smc_dp.data.bounds import Bounds, NumericColumn
from smc_dp.data.federation import Federation, Rows
from smc_dp.methods.hamm2016.votes import PUBLIC_ROWS_CAVEAT
from smc_dp.methods.sums.soft_statistic import SoftStatistic
from smc_dp.methods.sums.weighted_sum import WeightedSum
from smc_dp.pages.html import html
from smc_dp.privacy.ledger.history import Limit
from smc_dp.privacy.ledger.ledger import Ledger
from smc_dp.privacy.target import Target
from smc_dp.run.agreement import SettledRun
from smc_dp.run.auxiliary import AuxiliaryRows
from smc_dp.run.ledgers import Ledgers
from smc_dp.run.protocols.registry import SumTerms
from smc_dp.run.publication import publish_run
from smc_dp.run.release import AUXILIARY, RELEASE, TRANSCRIPT
from smc_dp.run.release_report import run_page
from smc_dp.run.report import Report
from smc_dp.run.verify_release import verify_release
from tests.support.refusals import refused

METHOD, TARGET = SoftStatistic(0.01, lam_global=0.1), Target(Fraction(30), noise="ddg")


def separable(n: int, seed: int) -> Rows:
    X = np.random.default_rng(seed).uniform(-0.7, 0.7, (n, 2))
    return Rows(X, (X[:, 0] > 0).astype(np.int64))


HOSPITALS = tuple(f"hospital-{j}" for j in range(1, 13))
DATA = Federation(tuple(separable(12, j) for j in range(12)), 2, separable(60, 99).X, names=HOSPITALS)
TEST = separable(400, 100)


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Report:
    """A run on the public rows of a federation, each party with a ledger."""
    folder = tmp_path_factory.mktemp("soft")
    books = Ledgers(folder / "books", Limit(Fraction(31), Fraction(1, 10**5)))
    return run_protocol(DATA, method=METHOD, target=TARGET, test=TEST, out=folder / "run", ledgers=books)


def test_a_run_learns_and_is_charged_by_party(run: Report) -> None:
    """And all that it publishes is what may be published, and serves a stranger."""
    found = run.comparison
    assert found.accuracy > 0.9
    assert (run.privacy.unit, run.privacy.adjacency, run.privacy.kind) == ("party", "party", "zcdp")
    assert PUBLIC_ROWS_CAVEAT in run.privacy.caveats
    with Ledger.open(run.run_dir.parent / "books" / "hospital-1.ledger") as ledger:
        assert [e.unit for e in ledger.history().entries if e.state == "reserved"] == ["party"]
    to = run.run_dir.parent / "published"
    assert publish_run(run.run_dir, to) == (RELEASE, AUXILIARY, TRANSCRIPT)
    assert "The auxiliary rows are public (auxiliary.json)." in html(run_page(to))
    assert predict(to, TEST.X).missing_files_text is None
    parameters = json.loads((to / RELEASE).read_bytes())["parameters"]
    assert parameters["auxiliary"] == hashlib.sha256((to / AUXILIARY).read_bytes()).hexdigest()


# What is done to the folder -> what the one line of `predict` says.


def rows_of(folder: Path) -> Array:
    return np.array(json.loads((folder / AUXILIARY).read_bytes())["rows"])


def written(folder: Path, content: bytes, *, digests: bool = False, agreed: bool = False) -> None:
    """Other public rows, as far as somebody goes in making the release fit."""
    (folder / AUXILIARY).write_bytes(content)
    digest = hashlib.sha256(content).hexdigest()
    if digests:
        f.change_json(folder / RELEASE, lambda d: d["digests"].update({AUXILIARY: digest}))
    if agreed:
        f.change_json(folder / RELEASE, lambda d: d["parameters"].update(auxiliary=digest))


def nudged(folder: Path) -> bytes:
    """One number of one row in its last digit."""
    X = rows_of(folder)
    X[3, 1] = np.nextafter(X[3, 1], 0)
    return AuxiliaryRows(X).content


def as_json(X: Array) -> bytes:
    return json.dumps({"rows": X.tolist()}).encode()


def long(X: Array) -> Array:
    X[5] = (0.9, 0.9)
    return X


FORGED: dict[str, tuple[Callable[[Path], Any], str]] = {
    "missing": (lambda at: (at / AUXILIARY).unlink(), "auxiliary.json: cannot be read"),
    "not stated": (
        lambda at: f.change_json(at / RELEASE, lambda d: d["digests"].pop(AUXILIARY)),
        "auxiliary: soft_ss needs public rows",
    ),
    "a changed row": (lambda at: written(at, nudged(at)), "auxiliary.json does not have the digest"),
    "and what was agreed": (lambda at: written(at, nudged(at), digests=True, agreed=True), "differ:"),
    "outside the ball": (
        lambda at: written(at, as_json(long(rows_of(at))), digests=True),
        "auxiliary.json: row 6: wanted a Euclidean norm of at most 1",
    ),
    "written otherwise": (
        lambda at: written(at, as_json(rows_of(at)), digests=True, agreed=True),
        "auxiliary.json: is not written as these rows are",
    ),
}


@pytest.mark.parametrize("case", FORGED)
def test_other_public_rows_are_refused_in_one_line(
    case: str, run: Report, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    edit, said = FORGED[case]
    at = shutil.copytree(run.run_dir, tmp_path / "run")
    (tmp_path / "rows.csv").write_text("x1,x2\n0.5,-0.5\n")
    order = ["predict", str(at), "--data", str(tmp_path / "rows.csv")]
    assert main(order) == 0
    edit(at)
    capsys.readouterr()
    assert main(order) != 0
    error = capsys.readouterr().err
    assert said in error
    assert error.count("\n") == 1
    with pytest.raises(InputError):
        publish_run(at, tmp_path / "to")


def test_more_rows_than_can_be_read_are_refused(run: Report, monkeypatch: pytest.MonkeyPatch) -> None:
    assert verify_release(run.run_dir).missing_files_text is None
    monkeypatch.setattr("smc_dp.run.auxiliary._MOST_NUMBERS", 119)
    with refused("auxiliary.too_large", whose="auxiliary.json", most=59, d=2, got=60):
        verify_release(run.run_dir)
    with refused("auxiliary.too_large", whose="the auxiliary rows", most=59, d=2, got=60):
        run_protocol(DATA, method=METHOD)


def test_an_audit_sees_other_public_rows(run: Report, tmp_path: Path) -> None:
    """Whatever the release was made to say: the session is bound to what was agreed on."""
    honest = load_evidence(run.run_dir)
    assert publication.check_files(honest).status == publication.check_release(honest).status == "passed"
    assert publication.check_agreement(honest).status == "passed"
    at = shutil.copytree(run.run_dir, tmp_path / "run")
    written(at, nudged(at))
    assert publication.check_files(load_evidence(at)).status == "failed"
    written(at, nudged(at), digests=True, agreed=True)
    assert publication.check_files(load_evidence(at)).status == "passed"
    assert publication.check_agreement(load_evidence(at)).status == "failed"
    (at / AUXILIARY).unlink()
    with refused("run.lacks_file", path=str(at / AUXILIARY)):
        load_evidence(at)


# Where they come from


def test_own_files_and_data_sets_bring_public_rows(tmp_path: Path) -> None:
    for name, rows in (("north", separable(9, 1)), ("south", separable(8, 2)), ("open", separable(30, 3))):
        lines = [f"{a},{b},{('no', 'yes')[y]}" for (a, b), y in zip(rows.X, rows.y, strict=True)]
        (tmp_path / f"{name}.csv").write_text("\n".join(["x,y,sick", *lines]))
    bounds = Bounds((NumericColumn("x", -1.0, 1.0), NumericColumn("y", -1.0, 1.0)), ("no", "yes"), "sick")
    parties = [("north", tmp_path / "north.csv"), ("south", tmp_path / "south.csv")]
    found = sources.read_own_files(parties, bounds, auxiliary=tmp_path / "open.csv")
    assert found.federation.unlabelled is not None
    as_party = sources.read_own_files([*parties, ("open", tmp_path / "open.csv")], bounds)
    assert (found.federation.unlabelled == as_party.federation.parties[2].X).all()
    (tmp_path / "open.csv").write_text("x\n0.5\n")  # twin
    with refused("table.no_column", at="open.csv", column="'y'"):
        sources.read_own_files(parties, bounds, auxiliary=tmp_path / "open.csv")

    dealt, without = (sources.dataset("breast_cancer", auxiliary=n) for n in (100, None))
    assert dealt.federation.unlabelled is not None
    assert without.federation.unlabelled is None
    everybody = np.vstack([dealt.federation.unlabelled, dealt.federation.pooled().X])
    assert len(everybody) == len(without.federation.pooled().X)
    assert (np.sort(everybody, axis=0) == np.sort(without.federation.pooled().X, axis=0)).all()  # nobody has them twice
    with refused("auxiliary.wrong_number", name="breast_cancer", rows=455, last=454):
        sources.dataset("breast_cancer", auxiliary=456)


def test_the_command_line_deals_public_rows(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "run"
    order = ["run", "--method", "soft_ss", "--parties", "4", "--split", "10,10,40,40", "--out", str(out)]
    assert main([*order, "--auxiliary", "40", "--json"]) == 0
    assert len(rows_of(out)) == 40
    capsys.readouterr()
    for options, said in (
        ([], "auxiliary: soft_ss needs public rows without labels that all parties have"),
        (["--auxiliary", "x"], "--auxiliary"),
        (["--auxiliary", "0"], "--auxiliary: wanted how many rows"),
        (["--method", "wsum", "--auxiliary", "40"], "auxiliary: wsum uses no public rows"),
    ):
        assert main([*order[:-2], *options]) != 0
        assert said in capsys.readouterr().err


def test_what_does_not_go_together_is_refused(tmp_path: Path) -> None:
    rows, bare = separable(60, 99).X, replace(DATA, unlabelled=None)
    many = hospitals((4, 4, 4), 1100)
    wide = AuxiliaryRows(np.zeros((2, 1100)))
    learner = partial(refused, "method.with_learner")
    refusals: list[tuple[Callable[[], Any], Any]] = [
        (lambda: run_protocol(bare, method=METHOD), partial(refused, "auxiliary.missing", name="soft_ss")),
        (lambda: run_protocol(bare, method=WeightedSum(), auxiliary=rows), partial(refused, "auxiliary.not_used")),
        (lambda: run_protocol(DATA, method=METHOD, auxiliary=rows), partial(refused, "auxiliary.twice")),
        (lambda: run_protocol(bare, method=METHOD, auxiliary=rows[:, :1]), partial(refused, "federation.wrong_width")),
        (lambda: run_protocol(DATA, method=SoftStatistic(learner=lambda X, y: None)), learner),  # type: ignore[arg-type, return-value]
        (
            lambda: SettledRun(METHOD, TARGET, "secure_sum", SumTerms(sizes="hidden")).with_parties(
                many.federation.names, many.bounds, wide
            ),
            partial(refused, "auxiliary.too_wide", most=1024, classes=2, got=1100),
        ),
    ]  # fmt: skip
    for made, why in refusals:
        with why():
            made()
    # a method that needs none leaves those of a federation alone, and says nothing of them
    report = run_protocol(DATA, method=WeightedSum(), target=TARGET, out=tmp_path / "wsum")
    assert not (report.run_dir / AUXILIARY).exists()
    assert "auxiliary" not in (report.run_dir / RELEASE).read_text()
