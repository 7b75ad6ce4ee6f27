"""Run folders that an earlier version wrote: they are used as on their first day.

`stored` has three of them: two classes by the curator protocol with short keys, three classes by a secure sum without
shares, and votes on public rows. Columns were numbers and lists of texts then, and nothing was said of empty cells.
Their sessions had another wire format, which this version does not verify: their releases are used without the
transcript.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from protocols.programs import LAST_RELEASE
from smc_dp import predict
from smc_dp.cli.main import main
from smc_dp.cli.schemas import json_schema
from smc_dp.data.bounds import Bounds
from smc_dp.run.agreement import Agreement
from smc_dp.run.folder import parse_release as read_stated
from smc_dp.run.folder import read_public_rows, read_release_file
from smc_dp.run.release import RELEASE, TRANSCRIPT
from smc_dp.run.verify_release import verify_release

STORED = Path(__file__).parent / "stored"
ROWS = "age,sex\n56,m\n90,m\n5,f\n30,f\n110,f\n86,f\n39,m\n"
# What the version that wrote them said of these rows.
SAID = {
    "mean": ("yes", "yes", "no", "no", "yes", "yes", "yes"),
    "newton": ("low", "low", "mid", "mid", "high", "mid", "low"),
    "votes": ("yes", "yes", "no", "no", "yes", "yes", "yes"),
}


@pytest.mark.parametrize("name", SAID)
def test_a_stored_run_is_read_and_used(name: str, tmp_path: Path) -> None:
    (tmp_path / "rows.csv").write_text(ROWS)
    shutil.copytree(STORED / name, run := tmp_path / "run")
    (run / TRANSCRIPT).unlink()
    assert predict(run, tmp_path / "rows.csv").labels == SAID[name]
    assert verify_release(run).missing_files_text is not None


@pytest.mark.parametrize("name", SAID)
def test_an_earlier_wire_format_is_refused_in_one_line(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    for command in (["predict", str(STORED / name), "--data", "rows.csv"], ["audit", str(STORED / name)]):
        assert main(command) == 2
        out, err = capsys.readouterr()
        assert (out, err.count("\n")) == ("", 1)
        assert LAST_RELEASE in err


@pytest.mark.parametrize("name", SAID)
def test_what_was_agreed_on_has_the_digest_of_then(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """And with one key more in what is hashed of the bounds, as columns of today have it, every old run is lost."""
    stated = json.loads((STORED / name / RELEASE).read_text())
    assert set(stated) <= set(json_schema("release")["properties"]) - {"dates", "bins", "missing", "aliases"}
    agreed, whole = agreement_of(name).digest, Bounds.as_dict
    assert agreed == stated["parameters"]["agreed"]

    def more(bounds: Bounds) -> dict[str, Any]:
        return {**whole(bounds), "aliases": []}

    monkeypatch.setattr(Bounds, "as_dict", more)
    assert agreement_of(name).digest != agreed


def agreement_of(name: str) -> Agreement:
    """Return what a stored release says that its parties agreed on."""
    document = read_release_file(STORED / name)
    return read_stated(document, read_public_rows(STORED / name, document)).agreement
