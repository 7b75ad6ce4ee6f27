"""How a site stands can be read after its program was killed in the middle of a commit."""

from __future__ import annotations

import json
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from protocols.arithmetic.rng import Stream
from protocols.crypto.identity import Identity
from smc_dp.cli.main import main
from smc_dp.core.errors import Fault
from smc_dp.deploy.join import Part
from smc_dp.deploy.site import reason
from smc_dp.deploy.status import site_status
from smc_dp.deploy.store import SiteStore, StoreError, standing
from tests.support.refusals import refused
from tests.support.studies import IDENTITIES, study, text

ROWS = 200


def test_a_commit_that_a_killed_program_has_left_half_done_did_not_happen(tmp_path: Path) -> None:
    signer = Identity.generate(Stream.insecure_from_seed("north"))
    store = SiteStore(tmp_path / "state", tmp_path / "counters", {"participant": "north"}, signer)
    store.commit(facts={"stage": "setup"})
    inside = store._connection
    inside.execute("PRAGMA cache_size = 1")  # so that it writes to the file before the end
    inside.execute("BEGIN IMMEDIATE")
    inside.executemany("INSERT INTO facts VALUES (?, ?)", [(f"fact {n}", f'"{"x" * 500}"') for n in range(ROWS)])
    killed = tmp_path / "killed"
    shutil.copytree(tmp_path / "state", killed)  # what is on the disk now
    assert (killed / "site.db-journal").stat().st_size > 0
    store.close()
    with (
        closing(sqlite3.connect(f"{(killed / 'site.db').as_uri()}?mode=ro", uri=True)) as looking_only,
        pytest.raises(sqlite3.OperationalError, match="readonly"),  # who may not undo it cannot read
    ):
        looking_only.execute("SELECT name FROM facts")
    assert standing(killed) == standing(killed) == {"participant": "north", "stage": "setup"}


def test_status_says_why_a_study_ended_by_its_code(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    agreed, signer = study(), IDENTITIES["north"]
    (tmp_path / "study.toml").write_text(text())
    purpose = {"study": agreed.digest, "participant": "north"}
    with closing(SiteStore(tmp_path / "study.north.state", tmp_path / "counters", purpose, signer)) as store:
        fault = Fault("approvals.deadline", {"names": ["south"]})
        store.commit(facts={"since": 0.0, "stage": "approvals", "end": "deadline", **reason(fault)})
    assert main(["status", str(tmp_path / "study.toml"), "--json"]) == 0
    (found,) = json.loads(capsys.readouterr().out)
    assert (found["name"], found["end"], found["code"]) == ("north", "deadline", "approvals.deadline")
    other = study(text().replace("Readmission", "Another"))
    with refused("state.of_another_study", error=StoreError, got=agreed.digest, wanted=other.digest):
        site_status(other, tmp_path / "study.north.state")


def test_a_part_says_why_it_ended_by_its_code() -> None:
    part = Part("north", "ab" * 32, "deadline", "no approvals of south", "approvals.deadline", False, Path("run"))
    assert (part.as_dict()["end"], part.as_dict()["code"]) == ("deadline", "approvals.deadline")
