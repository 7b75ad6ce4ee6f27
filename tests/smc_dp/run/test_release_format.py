"""Formats of release.json: format 1 is read with the sentences of today and verified, any other is refused.

`stored/statements_of_format_1.json` is what the last version that wrote format 1 said of the settings beside it.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from support.refusals import refused

from smc_dp.cli.main import main
from smc_dp.data import tabular_datasets
from smc_dp.run.agreement import REASONS
from smc_dp.run.release import RELEASE, TRANSCRIPT
from smc_dp.run.release_consistency import statement_fault
from smc_dp.run.release_format import RELEASE_FORMAT, WITHOUT_COEFFICIENTS, in_current_format
from smc_dp.run.settings import RunSettings

STORED = Path(__file__).parent / "stored"
FORMAT_1: list[dict[str, Any]] = json.loads((STORED / "statements_of_format_1.json").read_text())
BOUNDS = tabular_datasets.load_tabular("breast_cancer").bounds


@pytest.mark.parametrize("then", FORMAT_1, ids=lambda then: then["name"])
def test_a_statement_of_format_1_is_that_of_today_in_other_sentences(then: dict[str, Any]) -> None:
    settings = {name: value for name, value in then["settings"].items() if name != "seeded"}
    settings |= {"lam": 0.1}  # what was usual then
    settled = RunSettings.from_options(**settings).settle(then["parties"], seeded="seeded" in then["settings"])
    agreed = settled.with_parties(tuple(f"site-{j}" for j in range(then["parties"])), BOUNDS)
    found = in_current_format({"privacy": then["privacy"], "insecure": then["insecure"]})
    assert found["insecure"] == [REASONS[mark] for mark in agreed.marks]
    assert statement_fault(then["privacy"], agreed.statement.as_dict()) is not None
    assert statement_fault(found["privacy"], agreed.statement.as_dict()) is None
    assert in_current_format(found) == found
    # A false sentence stays false, whatever format a release claims to have.
    false = {**then["privacy"], "caveats": [*then["privacy"]["caveats"][1:], "It holds against everybody."]}
    fault = statement_fault(in_current_format({"privacy": false})["privacy"], agreed.statement.as_dict())
    assert fault is not None
    assert fault.code == "privacy.other_value"


@pytest.mark.parametrize("stated", ["smc-dp release 1", "smc-dp release 4", 2, None, ["smc-dp release 2"]])
def test_another_format_is_refused(stated: object) -> None:
    with refused("release.other_format", wanted=RELEASE_FORMAT):
        in_current_format({"format": stated})


@pytest.mark.parametrize(
    "release", [{"privacy": 3}, {"privacy": {"caveats": {"a": 1}, "adversary": None}}, {"insecure": [1]}]
)
def test_what_is_no_text_is_left_to_the_reader(release: dict[str, Any]) -> None:
    assert in_current_format(release) == {**release, "format": WITHOUT_COEFFICIENTS}


def test_commands_refuse_a_run_of_another_format_in_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shutil.copytree(STORED / "mean", run := tmp_path / "run")
    text = json.loads((run / RELEASE).read_text())
    (run / RELEASE).write_text(json.dumps({"format": "smc-dp release 4", **text}))
    for command in (["audit", str(run)], ["show", str(run)], ["predict", str(run), "--data", "rows.csv"]):
        assert main(command) == 2
        out, err = capsys.readouterr()
        assert (out, err.count("\n")) == ("", 1)
        assert "smc-dp release 4" in err
    assert (run / TRANSCRIPT).is_file()
