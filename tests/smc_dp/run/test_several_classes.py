"""Three classes from files to predictions: the release, what is refused of it, the comparison, who is for two alone."""

from __future__ import annotations

import csv
import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support import forgeries as f
from support.audited import hospitals
from support.repetitions import with_slow

from smc_dp import Federation, Rows, personalise, predict, run_protocol
from smc_dp.audit.run import leakage
from smc_dp.audit.run.checks import CHECKS
from smc_dp.audit.run.conformity import publication
from smc_dp.audit.run.derived_parameters import derive_parameters
from smc_dp.audit.run.evidence import load_evidence
from smc_dp.audit.run.report import audit_evidence
from smc_dp.cli.main import main
from smc_dp.data.sources import PreparedData
from smc_dp.methods.method import FOR_ANY_CLASSES
from smc_dp.methods.registry import METHODS
from smc_dp.methods.sums.weighted_sum import WeightedSum
from smc_dp.privacy.target import Target
from smc_dp.run import folder as run_folder
from smc_dp.run.agreement import PROTOCOLS_BY_METHOD, Agreement, SettledRun, inform_of_rows
from smc_dp.run.auxiliary import AuxiliaryRows
from smc_dp.run.protocols.registry import find_terms, settle_protocol
from smc_dp.run.release import RELEASE, TRANSCRIPT
from smc_dp.run.verify_release import verify_release
from tests.support.refusals import refused

CLASSES = ("low", "mid", "high")
BOUNDS = '[columns]\nx = [-1, 1]\ny = [-1, 1]\n[label]\nclasses = ["low", "mid", "high"]\ncolumn = "level"\n'
NORTH = np.array([[0.0, 1.0], [0.87, -0.5], [-0.87, -0.5]])  # one direction for each class


def points(n: int, seed: int) -> Rows:
    X = np.random.default_rng(seed).uniform(-0.7, 0.7, (n, 2))
    return Rows(X, np.asarray((X @ NORTH.T).argmax(axis=1), dtype=np.int64))


def write(path: Path, n: int, seed: int) -> str:
    found = points(n, seed)
    with path.open("w", newline="") as file:
        rows = [(x, y, CLASSES[c]) for (x, y), c in zip(found.X.tolist(), found.y.tolist(), strict=True)]
        csv.writer(file).writerows([("x", "y", "level"), *rows])
    return str(path)


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the files of three parties, a test file, bounds and the folder of their run."""
    folder = tmp_path_factory.mktemp("several")
    (folder / "bounds.toml").write_text(BOUNDS)
    parties = [f"--party={write(folder / f'{name}.csv', 300, j)}" for j, name in enumerate(("north", "south", "west"))]
    own = ["--bounds", str(folder / "bounds.toml"), "--test", write(folder / "test.csv", 400, 9)]
    assert main(["run", *parties, *own, "--epsilon", "3", "--insecure-seed", "1", "--out", str(folder / "run")]) == 0
    return folder


def test_a_release_has_weights_of_every_class_and_labels_are_those_of_the_largest_score(place: Path) -> None:
    document = json.loads((place / "run" / RELEASE).read_text())
    assert (document["classes"], document["parameters"]["method"]) == (list(CLASSES), "newton")
    W = np.array(document["weights"])
    assert W.shape == (3, 3)  # two columns and the bias
    found = predict(place / "run", place / "test.csv")
    assert found.accuracy > 0.8
    assert found.classes == CLASSES
    scores = np.array(found.scores)
    assert scores.shape == (400, 3)
    assert found.labels == tuple(CLASSES[k] for k in scores.argmax(axis=1))
    one = np.array([[0.1, 0.2, 0.3]])
    np.testing.assert_allclose(predict(place / "run", one).scores, one @ W.T)
    assert "lambda" not in document["parameters"]


def test_the_command_writes_a_column_for_the_score_of_every_class(
    place: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["predict", str(place / "run"), "--data", str(place / "test.csv")]
    assert main([*arguments, "--out", str(tmp_path / "p.csv")]) == 0
    with (tmp_path / "p.csv").open(newline="") as file:
        head, *rows = csv.reader(file)
    named = [f"{what} {name}" for what in ("score", "probability") for name in ("low", "mid", "high")]
    assert head == ["row", "prediction", *named, "reason"]
    capsys.readouterr()
    assert main([*arguments, "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["classes"] == list(CLASSES)
    assert [[float(cell) for cell in row[2:5]] for row in rows] == told["scores"]
    assert [[float(cell) for cell in row[5:8]] for row in rows] == told["probabilities"]
    assert [row[1] for row in rows] == told["predictions"]


@pytest.mark.parametrize("name", with_slow(sorted(set(FOR_ANY_CLASSES) - {"newton"}), "gd"))
def test_own_files_of_three_classes_are_learnt_audited_and_predicted_by_every_method_that_is_listed(
    name: str, place: Path, tmp_path: Path
) -> None:
    """As `newton` learns them above. Of three parties, which protect themselves whole, little is learnt."""
    run = str(tmp_path / "run")
    parties = [f"--party={place / name}.csv" for name in ("north", "south", "west")]
    own = ["--bounds", str(place / "bounds.toml"), "--test", str(place / "test.csv"), "--epsilon", "20"]
    own += ["--auxiliary", str(place / "test.csv")] if name == "soft_ss" else []
    own += ["--lambda", "0.01"] if name.startswith("wsum") else []
    own += ["--method", name, "--colluders", "0", "--insecure-seed", "3"]  # accuracies of one draw
    assert main(["run", *parties, *own, "--out", run]) == 0
    of_this_run = [check for check in CHECKS if check not in leakage.CHECKS]
    audited = audit_evidence(load_evidence(Path(run)), of_this_run)
    assert audited.passed
    assert {f.check.name: f.outcome.status for f in audited.findings}["mechanism"] == "passed"
    found = predict(run, place / "test.csv")
    assert found.accuracy > (0.8 if METHODS[name].protects == "record" else 0.2)
    assert (found.probabilities is None) == (name == "wsum_ar")  # its number of rows is hidden


def test_a_site_personalises_a_release_of_three_classes(place: Path, tmp_path: Path) -> None:
    found = personalise(place / "run", place / "north.csv", test=place / "test.csv")
    assert found.accuracy.personalised > 0.9
    found.write(tmp_path / "own.model")
    assert predict(tmp_path / "own.model", place / "test.csv").accuracy == pytest.approx(found.accuracy.personalised)


def test_noise_for_two_classes_does_not_do_for_three(
    place: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The broken twin: parties who calibrate a sum of three classes by the bound of two; an audit makes its own."""
    two = WeightedSum.sensitivity_to
    monkeypatch.setattr(WeightedSum, "sensitivity_to", lambda self, most, classes=2: two(self, most))
    parties = [f"--party={place / name}.csv" for name in ("north", "south")]
    run = ["run", *parties, "--bounds", str(place / "bounds.toml"), "--method", "wsum", "--lambda", "0.01"]
    assert main([*run, "--colluders", "0", "--out", str(tmp_path / "run")]) == 0
    (mechanism,) = (check for check in CHECKS if check.name == "mechanism")
    (found,) = audit_evidence(load_evidence(tmp_path / "run"), [mechanism]).findings
    assert (found.outcome.status, found.outcome.code) == ("failed", "noise.sensitivity")


Document = dict[str, Any]


def put(**fields: Any) -> Callable[[Document], None]:
    return lambda document: document.update(fields)


def slightly(document: Document) -> None:
    document["weights"][2][1] += 2.0**-16


def two_of_three(document: Document) -> None:
    """A release of two classes, of the difference of the weights of two of three."""
    first, second, _ = document["weights"]
    document["weights"] = [b - a for a, b in zip(first, second, strict=True)]
    document["classes"] = document["classes"][:2]


EDITS: dict[str, tuple[Callable[[Document], None], str]] = {
    "a weight": (slightly, "release.other_weights"),
    "weights of other classes": (lambda d: d["weights"].reverse(), "release.other_weights"),
    "one list of three": (put(weights=[0.0] * 3), "weights.not_numbers"),
    "a class too few": (put(weights=[[0.0] * 3] * 2), "weights.other_classes"),
    "lists in lists": (put(weights=[[[0.0]] * 3] * 3), "document.wrong_value"),
    "classes in another order": (put(classes=["mid", "low", "high"]), "session.bound_to_another"),
    "two of three classes": (two_of_three, "release.other_parameter"),
    "very many classes": (put(classes=[str(i) for i in range(1001)]), "classes.wrong_number"),
}


@pytest.mark.parametrize("name", EDITS)
def test_a_release_of_another_shape_or_of_other_weights_is_refused(name: str, place: Path, tmp_path: Path) -> None:
    change, code = EDITS[name]
    with refused(code):
        verify_release(f.edited(place / "run", tmp_path / "run", RELEASE, change))


def test_the_release_as_it_was_is_used_and_is_what_an_audit_reads_if_it_has_classes(place: Path) -> None:
    """What the refusals above are held against; an audit knows the number of classes from the release alone."""
    assert verify_release(place / "run").missing_files_text is None
    evidence = load_evidence(place / "run")
    assert (derive_parameters(evidence).public.classes, derive_parameters(evidence).public.dimension) == (3, 3)
    found = publication.check_release(evidence)
    assert (found.status, found.code) == ("passed", "release.is_published_sum")
    for classes in (["low"], [str(i) for i in range(1001)]):
        with refused("classes.too_few_or_many"):
            derive_parameters(replace(evidence, release={**evidence.release, "classes": classes}))


def test_without_its_record_the_shape_is_all_that_is_known(place: Path, tmp_path: Path) -> None:
    shutil.copytree(place / "run", tmp_path / "run")
    (tmp_path / "run" / TRANSCRIPT).unlink()
    assert verify_release(tmp_path / "run").missing_files_text
    with refused("weights.other_classes", count=3, got=9):
        verify_release(f.edited(tmp_path / "run", tmp_path / "flat", RELEASE, put(weights=[0.0] * 9)))


THREE = Federation((points(60, 1), points(50, 2), points(70, 3)), 3)


def test_from_python_a_federation_is_enough(tmp_path: Path) -> None:
    report = run_protocol(THREE, target=5.0, test=points(200, 4), out=tmp_path / "run")
    assert (report.agreement.method.name, report.agreement.bounds.classes) == ("newton", ("0", "1", "2"))
    compared = report.comparison
    found = predict(tmp_path / "run", points(200, 4).X)
    assert np.mean([int(label) for label in found.labels] == points(200, 4).y) == compared.accuracy
    assert compared.pooled > 0.95  # twin: as for two classes, the third would never be answered
    assert min(compared.individual.values()) > 0.9
    assert report.as_dict()["baselines"]["lambda"] == compared.baseline_lambda == 1e-4


def agreed(name: str, data: PreparedData) -> Agreement:
    protocol = PROTOCOLS_BY_METHOD[name][0]
    kind: Any = METHODS[name]
    method = inform_of_rows(kind(), data.federation.sizes.tolist())
    target = Target(1, noise=find_terms(protocol).default_noise(method, has_delta=False))
    terms = settle_protocol(protocol, method, {})
    rows = AuxiliaryRows(np.eye(data.bounds.dimension)) if name == "soft_ss" else None
    return SettledRun(method, target, protocol, terms).with_parties(data.federation.names, data.bounds, rows)


def of_classes(classes: int) -> PreparedData:
    data = hospitals((30, 20, 25), 2)
    named_so = replace(data.bounds, classes=tuple(f"c{k}" for k in range(classes)), bias=0.1)  # some learn a bias
    return PreparedData(replace(data.federation, classes=classes), None, named_so)


@pytest.mark.parametrize("name", [name for name in PROTOCOLS_BY_METHOD if name != "linear"])
def test_what_a_protocol_computes_is_for_more_than_two_classes_or_refuses_them(name: str) -> None:
    """The list that a refusal names is the list of those that do not refuse, which say so themselves."""
    assert FOR_ANY_CLASSES[:1] == ("newton",)
    assert getattr(METHODS[name], "binary", True) == (name not in FOR_ANY_CLASSES)
    two, three = of_classes(2), of_classes(3)
    assert agreed(name, two).public.classes == 2
    if name in FOR_ANY_CLASSES:
        assert agreed(name, three).public.classes == 3
        return
    with refused("classes.only_two", method=name, got=3, others=", ".join(FOR_ANY_CLASSES)):
        agreed(name, three)


def test_weights_of_two_classes_are_one_list(tmp_path: Path) -> None:
    """Two classes are as they were: d numbers, one score for each row, and no list of classes beside predictions."""
    two = Federation(tuple(Rows(rows.X, np.minimum(rows.y, 1)) for rows in THREE.parties), 2)
    run_protocol(two, method="newton", target=5.0, out=tmp_path / "run")
    document = json.loads((tmp_path / "run" / RELEASE).read_text())
    assert [type(weight) for weight in document["weights"]] == [float, float]
    assert isinstance(predict(tmp_path / "run", two.parties[0].X).scores[0], float)
    found = f.edited(tmp_path / "run", tmp_path / "nested", RELEASE, lambda d: d.update(weights=[d["weights"]] * 2))
    with refused("weights.not_numbers"):
        run_folder.parse_release(run_folder.read_release_file(found))
