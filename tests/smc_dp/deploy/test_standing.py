"""How a site stands can be read after its program was killed in the middle of a commit."""

from __future__ import annotations

import json
import shutil
import sqlite3
import time
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from protocols.arithmetic.rng import Stream
from protocols.crypto.identity import Identity
from smc_dp.cli.main import main
from smc_dp.core.errors import Fault
from smc_dp.deploy.site import reason_facts
from smc_dp.deploy.status import check_state, erase_missed, site_status
from smc_dp.deploy.store import DATABASE, KeptState, SiteStore, StateNumber, StoreError, read_facts
from tests.support.refusals import refused
from tests.support.studies import IDENTITIES, site, study, text

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
    assert read_facts(killed) == read_facts(killed) == {"participant": "north", "stage": "setup"}


def test_status_says_why_a_study_ended_by_its_code(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    agreed, signer = study(), IDENTITIES["north"]
    (tmp_path / "study.toml").write_text(text())
    purpose = {"study": agreed.digest, "participant": "north"}
    with closing(SiteStore(tmp_path / "study.north.state", tmp_path / "counters", purpose, signer)) as store:
        fault = Fault("approvals.deadline", {"names": ["south"]})
        store.commit(facts={"since": 0.0, "stage": "approvals", "end": "deadline", **reason_facts(fault)})
    assert main(["status", str(tmp_path / "study.toml"), "--json"]) == 0
    (found,) = json.loads(capsys.readouterr().out)
    assert (found["name"], found["end"], found["code"]) == ("north", "deadline", "approvals.deadline")
    other = study(text().replace("Readmission", "Another"))
    with refused("state.of_another_study", error=StoreError, got=agreed.digest, wanted=other.digest):
        site_status(other, tmp_path / "study.north.state")


@pytest.mark.parametrize(
    ("name", "value"),
    [("waiting", "5"), ("since", '"x"'), ("since", "null"), ("since", "1e300"), ("since", "NaN"), ("stage", "{")],
)
def test_facts_that_were_changed_are_reported_as_such(name: str, value: str, halfway: Path) -> None:
    state = halfway / "study.north.state"
    check_state(study(), "north", state)
    with refused("state.changed", error=StoreError, folder=str(state)):
        check_state(study(), "south", state)
    with closing(sqlite3.connect(state / DATABASE)) as connection, connection:
        connection.execute("INSERT OR REPLACE INTO facts VALUES (?, ?)", (name, value))
    for look in (site_status, lambda *at: erase_missed(*at, halfway / "counters", 0.0)):
        with refused("state.changed", error=StoreError, folder=str(state)):
            look(study(), state)


def test_a_state_that_cannot_be_read_is_not_called_a_changed_one(
    halfway: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("smc_dp.deploy.store._WAIT", 0.0)
    state = halfway / "study.north.state"
    with closing(sqlite3.connect(state / DATABASE, isolation_level=None)) as connection:
        connection.execute("BEGIN EXCLUSIVE")
        with refused("state.unusable", error=StoreError):
            read_facts(state)
    (state / DATABASE).unlink()
    with refused("state.missing", error=StoreError, folder=str(state)):
        read_facts(state)


@pytest.fixture
def halfway(tmp_path: Path) -> Path:
    """A folder of north's, whose program has stopped in the middle of a session, as it is since the start of time."""
    (tmp_path / "study.toml").write_text(text())
    with closing(opened(tmp_path)) as store:
        store.commit(state=lambda: KeptState(1, b"secret"), facts={"session": "00", "stage": "sum0", "since": 0.0})
    return tmp_path


def opened(folder: Path, name: str = "north") -> SiteStore:
    purpose = {"study": study().digest, "participant": name}
    return SiteStore(folder / f"study.{name}.state", folder / "counters", purpose, IDENTITIES[name])


def told(folder: Path, capsys: pytest.CaptureFixture[str], *words: str, counters: str = "counters") -> dict[str, Any]:
    """What a command says of this folder's study as JSON, or of what it refuses."""
    state = ("--state", str(folder / "study.north.state"), "--counters", str(folder / counters))
    code = main([*words, str(folder / "study.toml"), *state, "--json"])
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return {"exit": code, **found}


def is_erased(folder: Path, name: str = "north") -> bool:
    (path,) = (folder / "counters").iterdir()
    number = StateNumber.read(path)  # before a store is opened, which erases what was left
    with closing(opened(folder, name)) as store:
        return store.newest() == KeptState(2, b"") and number == StateNumber(2)


def test_an_abandoned_study_is_erased_at_once_and_for_good(halfway: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = told(halfway, capsys, "study", "abandon")
    assert (found["exit"], found["end"], found["code"]) == (0, "abandoned", "session.abandoned")
    assert is_erased(halfway)
    with closing(opened(halfway)) as store, refused("state.does_not_follow", error=StoreError):
        store.commit(state=lambda: KeptState(3, b"more"))
    assert told(halfway, capsys, "study", "abandon") == found


@pytest.mark.parametrize("words", [("status",), ("study", "abandon")])
def test_a_site_that_has_not_joined_is_told_how(
    words: tuple[str, ...], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "study.toml"
    path.write_text(text())
    assert main([*words, str(path), "--json"]) == 2
    (fault,) = json.loads(capsys.readouterr().out)["faults"]
    assert (fault["code"], fault["fields"]) == ("state.none_beside_study", {"study_file": str(path)})
    assert f"smc-dp join {path}" in fault["message"]


@pytest.mark.parametrize("words", [("status",), ("study", "abandon")])
def test_what_was_killed_while_it_erased_is_erased_by_the_next_command(
    words: tuple[str, ...], halfway: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    with closing(opened(halfway)) as store, monkeypatch.context() as killed:
        killed.setattr(SiteStore, "_write", lambda self, number: None)
        store.commit(facts={"end": "aborted"})
    assert told(halfway, capsys, *words)["end"] == "aborted"
    assert is_erased(halfway)


def test_nothing_is_abandoned_beside_its_program_or_without_its_counters(
    halfway: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with closing(opened(halfway)) as store:
        assert main(["study", "abandon", str(halfway / "study.toml"), "--counters", str(halfway / "counters")]) == 2
        assert told(halfway, capsys, "status")["end"] is None
        assert store.newest() == KeptState(1, b"secret")
    assert main(["study", "abandon", str(halfway / "study.toml"), "--counters", str(halfway / "others")]) == 2
    assert "old state" in capsys.readouterr().err
    assert not is_erased(halfway)


JOIN = ("join", "--ledger", "none.ledger", "--policy", "none.toml")
OPENING: Mapping[str, tuple[str, tuple[str, ...], int]] = {
    "status": ("north", ("status",), 0),
    "abandon": ("north", ("study", "abandon"), 0),
    "join without its files": ("north", JOIN, 2),
    "serve without its relay": ("charlie", ("serve", "--out", "run", "--credentials", "none"), 2),
    "the other command": ("north", ("serve", "--out", "run"), 2),
}


@pytest.mark.parametrize("case", OPENING)
def test_every_command_that_opens_the_state_erases_a_session_that_passed(
    case: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """It reads no file of the site before that but the study and the key, and needs no relay."""
    name, words, code = OPENING[case]
    monkeypatch.chdir(tmp_path)
    (tmp_path / "study.toml").write_text(text())
    site(tmp_path, name)
    for end in (None, "deadline"):
        since = time.time() if end is None else 0.0
        with closing(opened(tmp_path, name)) as store:
            store.commit(
                state=lambda: KeptState(1, b"secret"), facts={"session": "00", "stage": "sum0", "since": since}
            )
        state = ("--state", f"study.{name}.state", "--counters", "counters")
        key = () if words == ("status",) else ("--key", f"{name}.key")
        assert main([*words, "study.toml", *state, *key]) == code
        capsys.readouterr()
        if words == ("study", "abandon"):
            assert read_facts(tmp_path / f"study.{name}.state")["end"] == "abandoned"
            return
        assert read_facts(tmp_path / f"study.{name}.state").get("end") == end
        assert is_erased(tmp_path, name) == (end == "deadline")
        if end is None:
            shutil.rmtree(tmp_path / f"study.{name}.state")
            shutil.rmtree(tmp_path / "counters")


@pytest.mark.parametrize("facts", [{"done": True}, {"session": ""}])
def test_who_is_done_or_has_no_session_yet_has_missed_nothing(
    facts: dict[str, Any], halfway: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with closing(opened(halfway)) as store:
        store.commit(facts=facts)
    assert told(halfway, capsys, "status")["end"] is None
    assert not is_erased(halfway)
