"""`smc-dp run --method wsum|wsum_ar`: its defaults, what it says, and what it refuses in one line."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path

import pytest

from smc_dp.cli.main import main
from smc_dp.privacy.ledger.history import Limit
from smc_dp.privacy.ledger.ledger import Ledger

THREE = ("--parties", "3", "--lambda", "1")


def test_the_method_is_enough(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """No delta, so vg; one colluder, nobody vanishes; the file of shares is not there, and predict does without."""
    assert main(["run", "--method", "wsum", *THREE, "--out", "a"]) == 0
    out = capsys.readouterr().out
    for said in (
        "the curator and any 1 of the 3 parties",
        "2 honest parties whose noise stays secret",
        "Written to a: release.json, tr",
    ):
        assert said in out
    assert "--method" not in out  # nothing is left to mend
    stated = json.loads((folder / "a" / "release.json").read_text())
    assert (stated["privacy"]["kind"], stated["parameters"]["noise"]) == ("approx", "vg")
    assert [stated["parameters"][name] for name in ("colluders", "dropouts", "sizes")] == [1, 0, "released"]
    assert main(["publish", "a", "--to", "b"]) == 0
    assert capsys.readouterr().out == "Written to b: release.json, transcript.jsonl\n"


def test_json_says_who_took_part(capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ("--delta", "1e-6", "--dropouts", "1", "--colluders", "0", "--json")
    assert main(["run", "--method", "wsum_ar", *THREE, *arguments, "--drop-out", "hospital-2:5", "--out", "a"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert list(report)[:7] == ["method", "protocol", "parties", "dimension", "took_part", "dropped_out", "left_out"]
    assert (report["took_part"], report["dropped_out"]) == (["hospital-1", "hospital-3"], ["hospital-2"])
    assert (report["privacy"]["kind"], report["privacy"]["delta"]) == ("zcdp", pytest.approx(1e-6))
    assert json.loads(Path("a/release.json").read_text())["parameters"]["sizes"] == "hidden"


def test_a_budget_without_a_delta_has_that_of_the_run(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def limits(place: str) -> set[Limit]:
        return {Ledger.open(path).history().limit for path in (folder / place).glob("*.ledger")}

    charged = ("run", "--method", "wsum", *THREE, "--ledgers")
    assert main([*charged, "l", "--delta", "1e-6", "--budget", "3", "--epsilon", "0.5", "--out", "a"]) == 0
    assert limits("l") == {Limit(Fraction(3), Fraction(1, 10**6))}
    capsys.readouterr()
    for other in (["--budget", "2"], ["--budget", "3", "--budget-delta", "1e-5"]):  # another limit is another
        assert main([*charged, "l", "--delta", "1e-6", *other, "--out", "d", "--json"]) == 2
        assert json.loads(capsys.readouterr().out)["error"]["code"] == "ledger.other_limit"
    pure = ("run", "--method", "prr_mean", *THREE, "--insecure-test-keys", "--key-bits", "256", "--ledgers")
    assert main([*pure, "n", "--budget", "3", "--out", "e"]) == 0
    assert limits("n") == {Limit(Fraction(3), Fraction(0))}
    capsys.readouterr()
    assert main([*charged, "n", "--noise", "ddg", "--budget", "3", "--out", "f", "--json"]) == 2
    assert json.loads(capsys.readouterr().out)["error"]["code"] == "budget.other_delta"


@pytest.mark.parametrize(("arguments", "code"), [
    (("--drop-out", "hospital-2:3"), "session.others_could_not_go_on"),
    (("--dropouts", "1", "--colluders", "0", "--drop-out", "hospital-2:1"), "session.none_of_others"),
])  # fmt: skip
def test_where_nobody_can_go_on_the_exit_code_is_one(
    folder: Path, capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], code: str
) -> None:
    assert main(["run", "--method", "wsum", *THREE, *arguments, "--json"]) == 1
    told = capsys.readouterr()
    assert json.loads(told.out)["error"]["code"] == code
    (line,) = [line for line in told.err.splitlines() if not line.endswith("...")]
    assert line.startswith("error: hospital-2 dropped out")
    assert not list(folder.glob("runs/*"))
