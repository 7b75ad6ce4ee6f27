"""`predict` answers every row that it can, says why not for the others, and keeps metrics where the rows are."""

from __future__ import annotations

import csv
import json
import os
import re
import tomllib
from pathlib import Path

import numpy as np
import pytest
from support.shown import ShownPage

from smc_dp.cli.main import main
from smc_dp.run.metrics_report import PRIVATE
from smc_dp.run.publication import publish_run

BOUNDS = """
[columns]
age = [0, 100]
sex = ["f", "m"]
[label]
column = "out"
classes = ["no", "yes"]
[rows]
bias = 0.1
"""
METRICS = (
    "auc", "brier", "base_brier", "sensitivity", "balanced_accuracy", "confusion", "majority", "accuracy", "metrics",
)  # fmt: skip


def patients(n: int, seed: int) -> list[str]:
    rng = np.random.default_rng(seed)
    ages = rng.integers(20, 90, n)
    ill = rng.random(n) < 1 / (1 + np.exp(-(ages - 70) / 8))
    sexes = rng.choice(["f", "m"], n)
    return [
        f"{i},{age},{sex},{'yes' if y else 'no'}" for i, (age, sex, y) in enumerate(zip(ages, sexes, ill, strict=True))
    ]


def write(path: Path, rows: list[str]) -> Path:
    path.write_text("\n".join(["id,age,sex,out", *rows]) + "\n")
    return path


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("predict")
    for name, n, seed in (("north", 300, 1), ("south", 200, 2), ("test", 250, 3), ("other", 250, 4)):
        write(folder / f"{name}.csv", patients(n, seed))
    (folder / "bounds.toml").write_text(BOUNDS)
    parties = [f"--party={folder / name}.csv" for name in ("north", "south")]
    told = ["--bounds", str(folder / "bounds.toml"), "--colluders", "0", "--epsilon", "3", "--json"]
    assert main(["run", *parties, *told, "--out", str(folder / "run")]) == 0
    return folder


@pytest.fixture
def asked(made: Path, capsys: pytest.CaptureFixture[str]):
    def ask(data: Path, *options: str) -> tuple[int, str, str]:
        capsys.readouterr()
        code = main(["predict", str(made / "run"), "--data", str(data), *options])
        return code, *capsys.readouterr()

    return ask


def test_one_row_that_does_not_fit_stops_no_other(made: Path, asked, tmp_path: Path) -> None:
    rows = patients(250, 3)
    rows[2], rows[4], rows[6], rows[8] = "2,,f,yes", "4,x,q,no", "6,50,f,maybe", "8,50,m,"
    bad = write(tmp_path / "bad.csv", rows)
    code, out, err = asked(bad, "--out", str(tmp_path / "p.csv"))
    assert code == 1
    assert "2 of 250 rows do not fit" in err
    assert "1 of 250 rows have a label that is no class" in err
    with (tmp_path / "p.csv").open(newline="") as file:
        found = list(csv.DictReader(file))
    assert [at for at, row in enumerate(found) if not row["prediction"]] == [2, 4]
    assert [at for at, row in enumerate(found) if row["reason"]] == [2, 4]
    assert {found[at][name] for at in (2, 4) for name in ("score", "probability yes")} == {""}
    code, out, err = asked(made / "test.csv", "--json")
    whole = json.loads(out)
    assert (code, err, set(map(len, whole["reasons"]))) == (0, "", {0})
    labels = [line.rpartition(",")[2] for line in (made / "test.csv").read_text().split()[1:]]
    right = sum(own == said for own, said in zip(labels, whole["predictions"], strict=True))
    assert whole["accuracy"] == right / len(labels)
    code, out, _ = asked(bad, "--json")
    told = json.loads(out)
    assert code == 1
    assert [[fault["code"] for fault in faults] for faults in told["reasons"] if faults] == [
        ["cell.empty"], ["cell.not_a_number", "cell.unknown_level"]
    ]  # fmt: skip
    same = [at for at in range(250) if at not in (2, 4, 6, 8)]
    assert [told["scores"][at] for at in same] == [whole["scores"][at] for at in same]
    assert told["metrics"]["rows"] == 246
    code, out, _ = asked(bad)
    assert (code, len(out.splitlines())) == (1, 250)


def test_a_threshold_is_chosen_on_other_rows(made: Path, asked, tmp_path: Path) -> None:
    _, out, _ = asked(made / "test.csv", "--json", "--threshold-from", str(made / "other.csv"))
    told = json.loads(out)
    assert told["metrics"]["threshold"]["chosen_on"] == str(made / "other.csv")
    at = told["metrics"]["threshold"]["probability"]
    assert told["predictions"] == ["yes" if p > at else "no" for p in told["probabilities"]]
    code, again, _ = asked(made / "test.csv", "--json", "--threshold", str(at))
    public = json.loads(again)
    assert public["predictions"] == told["predictions"]
    assert public["metrics"]["threshold"] == {"probability": at, "chosen_on": None, "shared": 0}
    code, out, _ = asked(made / "test.csv", "--json", "--threshold-from", str(made / "test.csv"))
    assert (code, json.loads(out)["error"]["code"]) == (2, "threshold.same_rows")


def test_a_public_threshold_decides_the_classes(made: Path, asked) -> None:
    _, out, _ = asked(made / "test.csv", "--json", "--threshold", "0.2")
    told = json.loads(out)
    assert told["metrics"]["threshold"] == {"probability": 0.2, "chosen_on": None, "shared": 0}
    assert told["predictions"] == ["yes" if p > 0.2 else "no" for p in told["probabilities"]]
    assert any(0.2 < p <= 0.5 for p in told["probabilities"])


@pytest.mark.parametrize(
    ("options", "code"),
    [
        (("--threshold", "0"), "option.not_positive"),
        (("--threshold", "1"), "threshold.not_inside"),
        (("--threshold", "0.2", "--threshold-from", "other.csv"), "threshold.two"),
        (("--threshold-from", "unlabelled.csv"), "threshold.no_labels"),
        (("--threshold-from", "one.csv"), "threshold.one_class"),
        (("--metrics", "page.html"), "option.page_without_classes"),
    ],
)
def test_what_does_not_fit_is_refused(made: Path, asked, tmp_path: Path, options: tuple[str, ...], code: str) -> None:
    write(tmp_path / "other.csv", patients(50, 9))
    write(tmp_path / "unlabelled.csv", [row.rpartition(",")[0] + "," for row in patients(50, 9)])
    write(tmp_path / "one.csv", [row for row in patients(50, 9) if row.endswith("no")])
    data = tmp_path / "unlabelled.csv" if "--metrics" in options else made / "test.csv"
    status, out, _ = asked(data, "--json", *options)
    assert (status, json.loads(out)["error"]["code"]) == (2, code)
    assert not Path("page.html").exists()


def test_nothing_of_the_metrics_leaves_the_site(made: Path, asked, tmp_path: Path) -> None:
    """Neither the run folder nor a published copy has a figure of private rows, and the page is its owner's."""
    before = {file.name: file.read_bytes() for file in (made / "run").iterdir()}
    page = tmp_path / "metrics.html"
    code, _, err = asked(made / "test.csv", "--metrics", str(page), "--out", str(tmp_path / "p.csv"))
    assert code == 0
    assert page.stat().st_mode & 0o777 == 0o600
    assert PRIVATE in ShownPage(page.read_text()).text
    assert PRIVATE in err
    assert {file.name: file.read_bytes() for file in (made / "run").iterdir()} == before
    copied = publish_run(made / "run", tmp_path / "public")
    assert set(copied) == set(os.listdir(tmp_path / "public"))
    for name in copied:
        text = (tmp_path / "public" / name).read_text().lower()
        assert [word for word in METRICS if f'"{word}"' in text] == []
    code, out, _ = asked(made / "test.csv", "--json", "--metrics", str(made / "run" / "metrics.html"))
    assert (code, json.loads(out)["error"]["code"]) == (2, "option.inside_the_run")


def test_a_site_reads_new_rows_as_its_own_file_says(made: Path, asked, tmp_path: Path) -> None:
    """By `--policy`, or by own.toml beside the rows; what stands beside the rows by their own name goes first."""
    plain, site = write(tmp_path / "plain.csv", patients(9, 8)), tmp_path / "site"
    site.mkdir()
    rows = site / "new.csv"
    rows.write_text(plain.read_text().replace(",", ";"))
    wanted = asked(plain)
    assert asked(rows)[0] == 2
    own = '[file]\nseparator = ";"\n'
    (tmp_path / "policy.toml").write_text(f'{own}[limits]\nmax_epsilon = "1"\nmax_delta = "0"\n')
    assert asked(rows, "--policy", str(tmp_path / "policy.toml"))[:2] == wanted[:2]
    (site / "own.toml").write_text(f"{own}[limits]\n")  # limits that are there are whole
    assert asked(rows)[0] == 2
    (site / "own.toml").write_text(own)
    assert asked(rows)[:2] == wanted[:2]
    (site / "own.toml").write_text(own.replace(";", "|"))
    assert asked(rows)[0] == 2
    (site / "new.csv.toml").write_text('file = {separator = ";"}\n')
    assert asked(rows)[:2] == wanted[:2]


def run_on_test_rows(made: Path, folder: Path, *options: str) -> int:
    parties = [f"--party={made / name}.csv" for name in ("north", "south")]
    told = ["--bounds", str(made / "bounds.toml"), "--colluders", "0", "--insecure-seed", "5"]
    return main(["run", *parties, *told, "--out", str(folder / "run"), *options])


def test_a_run_measures_its_release_as_a_prediction_does(
    made: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_on_test_rows(made, tmp_path, "--test", str(made / "test.csv"), "--json") == 0
    told = json.loads(capsys.readouterr().out)
    assert "metrics" in told["simulation_only"]["fields"]
    assert main(["predict", str(tmp_path / "run"), "--data", str(made / "test.csv"), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["metrics"] == told["metrics"]


def test_a_page_of_a_run_is_its_users_and_says_whose_rows_it_is_of(
    made: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_on_test_rows(made, tmp_path, "--metrics", str(tmp_path / "page.html"), "--json") == 2
    assert json.loads(capsys.readouterr().out)["error"]["code"] == "option.page_without_test_rows"
    assert not (tmp_path / "run").exists()
    page = tmp_path / "own.html"
    assert run_on_test_rows(made, tmp_path, "--test", str(made / "test.csv"), "--metrics", str(page)) == 0
    assert page.stat().st_mode & 0o777 == 0o600
    assert "private: made from this site&#39;s rows" in page.read_text()
    kept = [file.read_text() for file in (tmp_path / "run").iterdir()]
    assert [word for word in METRICS for text in kept if f'"{word}"' in text] == []
    public = tmp_path / "public.html"
    settings = ["--method", "newton", "--epsilon", "5", "--insecure-seed", "1"]
    assert main(["run", *settings, "--out", str(tmp_path / "other"), "--metrics", str(public)]) == 0
    assert public.stat().st_mode & 0o777 == 0o600
    assert "private: made from this site&#39;s rows" not in public.read_text()
    assert "the data set breast_cancer" in public.read_text()


def test_one_line_states_what_is_meant_in_all_columns(made: Path, asked, tmp_path: Path) -> None:
    data, own = write(tmp_path / "new.csv", ["1,50,perhaps,no", "2,60,m,YES"]), tmp_path / "new.csv.toml"
    code, out, err = asked(data)
    assert (code, out.splitlines()) == (1, ["", "no"])
    lines = err[err.index("[aliases.out]") :]
    own.write_text(lines.replace('# LEVEL = ["perhaps"]', 'f = ["perhaps"]'))
    assert tomllib.loads(own.read_text()) == {"aliases": {"sex": {"f": ["perhaps"]}, "out": {"yes": ["YES"]}}}
    code, out, err = asked(data)
    assert (code, len(out.split()), "differs" in err) == (0, 2, False)


def test_what_the_reasons_of_two_rows_say_to_write_goes_into_one_file(made: Path, asked, tmp_path: Path) -> None:
    data = write(tmp_path / "new.csv", ["1,50,F,no", "2,60,M,no"])
    asked(data, "--out", str(tmp_path / "out.csv"))
    lines = re.findall(r"write (.+?) into \[aliases\.sex\] of ", (tmp_path / "out.csv").read_text().replace('""', '"'))
    assert tomllib.loads("\n".join(lines)) == {"f": ["F"], "m": ["M"]}
