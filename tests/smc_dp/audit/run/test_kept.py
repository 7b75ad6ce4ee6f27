"""What is known of the code is computed once, and known again by the same code and versions alone."""

from __future__ import annotations

import json
import os
import stat
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from support.audited import Folders, toy_run
from support.sessions import PROGRAM, with_roles

from protocols.programs import PROTOCOLS
from protocols.runtime.message import PARTY
from smc_dp.audit.run import checks, kept, leakage
from smc_dp.audit.run.check import CheckOutcome, failed, passed
from smc_dp.audit.run.evidence import Evidence
from smc_dp.audit.run.kept import Kept, cache_folder, is_own

PROTOCOL = PROTOCOLS[PROGRAM.name]


@pytest.fixture(scope="module")
def honest(tmp_path_factory: pytest.TempPathFactory) -> Folders:
    return toy_run(tmp_path_factory.mktemp("honest"), (9, 5), 1, key_bits=256)


@pytest.fixture
def counted(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How often the law was computed; it then says how often."""
    times: list[int] = []
    monkeypatch.setattr(leakage, "_law", lambda *_: times.append(1))
    monkeypatch.setattr(leakage, "judge", lambda _: passed(f"computed {len(times)} times, p = 0.5"))
    return times


def asked(honest: Folders, folder: Path, fresh: bool = False, **changed: Any) -> CheckOutcome:
    evidence: Evidence = replace(honest.evidence(views=False), kept=Kept(folder, fresh), **changed)
    return leakage.law_of_code(evidence)


def entry(folder: Path) -> Path:
    (found,) = folder.glob("law-*.json")
    return found


def test_the_second_audit_takes_what_the_first_found(honest: Folders, tmp_path: Path, counted: list[int]) -> None:
    folder = tmp_path / "new" / "cache"
    first, second = asked(honest, folder), asked(honest, folder)
    assert len(counted) == 1
    assert (first.status, first.detail) == ("passed", "computed 1 times, p = 0.5")
    assert second.status == "passed"
    assert second.detail.startswith(f"{first.detail}; computed on 20")
    assert "with Python 3." in second.detail
    assert "gmpy2 2." in second.detail
    assert second.detail.endswith("from the cache; `fresh` computes it again")
    assert asked(honest, folder, fresh=True).detail == "computed 2 times, p = 0.5"
    assert asked(honest, folder).detail.startswith("computed 2 times"), "what is computed afresh is kept"
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert stat.S_IMODE(entry(folder).stat().st_mode) == 0o600
    assert [path.name for path in folder.iterdir()] == [entry(folder).name]


def test_what_failed_is_kept_as_failed(honest: Folders, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(leakage, "_law", lambda *_: None)
    monkeypatch.setattr(leakage, "judge", lambda _: failed("p = 1e-09"))
    for _ in range(2):
        assert asked(honest, tmp_path / "cache").status == "failed"
    kept.Kept(tmp_path / "no").keep(
        "law", PROTOCOL, honest.evidence(views=False).session.parameters, "not possible", ""
    )
    assert not (tmp_path / "no").exists()


DAMAGE: dict[str, Any] = {
    "cut off": lambda path: path.write_bytes(path.read_bytes()[:-9]),
    "another verdict": lambda path: path.write_text(path.read_text().replace("passed", "failed")),
    "another figure": lambda path: path.write_text(path.read_text().replace("p = 0.5", "p = 0.6")),
    "another code": lambda path: changed(path, lambda entry: entry["key"].update(code="00" * 32)),
    "another version": lambda path: changed(path, lambda entry: entry["key"]["versions"].update(numpy="0.1")),
    "a number for a text": lambda path: changed(path, lambda entry: entry.update(detail=5)),
    "no object": lambda path: path.write_text("[]"),
    "deep": lambda path: path.write_text('{"a":' * 5000),
    "others may write": lambda path: path.chmod(0o666),
    "others may write beside it": lambda path: path.parent.chmod(0o777),
    "a link": lambda path: linked(path),
    "a pipe": lambda path: (path.unlink(), os.mkfifo(path)),
    "huge": lambda path: os.truncate(path, 1 << 40),
}


def changed(path: Path, change: Any) -> None:
    """Another entry, with a digest that fits."""
    document = json.loads(path.read_text())
    change(document)
    del document["digest"]
    path.write_text(json.dumps({**document, "digest": kept._digest(document)}))


def linked(path: Path) -> None:
    path.rename(path.with_suffix(".other"))
    path.symlink_to(path.with_suffix(".other"))


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="links, pipes and rights as POSIX has them")
@pytest.mark.parametrize("name", DAMAGE)
def test_a_damaged_or_foreign_entry_is_made_again(
    name: str, honest: Folders, tmp_path: Path, counted: list[int]
) -> None:
    folder = tmp_path / "cache"
    asked(honest, folder)
    DAMAGE[name](entry(folder))
    assert asked(honest, folder).detail == "computed 2 times, p = 0.5"


def test_other_code_and_other_parameters_have_entries_of_their_own(
    honest: Folders, tmp_path: Path, counted: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    asked(honest, tmp_path)
    monkeypatch.setattr(kept, "_digest_of_code", lambda: "11" * 32)
    assert "from the cache" not in asked(honest, tmp_path).detail
    monkeypatch.setattr(kept, "versions", lambda: {"Python": "9"})
    assert "from the cache" not in asked(honest, tmp_path).detail
    assert len(counted) == 3


def test_roles_from_elsewhere_are_not_known_by_the_digest_of_this_code(
    honest: Folders, tmp_path: Path, counted: list[int]
) -> None:
    """A twin that somebody registers under the same name: nothing is taken for it, nothing kept of it."""

    async def party(*_: Any) -> None:
        pass

    twin = replace(PROTOCOL, program=with_roles(PROGRAM, party=party))
    assert PARTY in PROGRAM.roles
    assert is_own(PROTOCOL)
    assert not is_own(twin)
    asked(honest, tmp_path)
    assert "from the cache" not in asked(honest, tmp_path, protocol=twin).detail
    assert len(list(tmp_path.iterdir())) == 1


def test_simulators_from_elsewhere_are_not_known_either_wherever_they_are_declared() -> None:
    sums = PROTOCOLS["secure_sum"]
    assert is_own(sums)
    claim = sums.claim
    assert claim is not None
    assert claim.trials is not None
    assert claim.trials.leaving is not None
    leaving = replace(claim.trials.leaving, who=lambda p: {})
    assert not is_own(replace(sums, claim=replace(claim, trials=replace(claim.trials, leaving=leaving))))


def test_without_a_folder_that_can_be_written_to_it_is_computed(
    honest: Folders, tmp_path: Path, counted: list[int]
) -> None:
    (tmp_path / "file").write_text("")
    for _ in range(2):
        asked(honest, tmp_path / "file" / "cache")
    assert len(counted) == 2


def test_the_folder_is_the_users(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert cache_folder() == tmp_path / "smc-dp" / "audit"
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    for unusable in ("", "relative/path"):
        monkeypatch.setenv("XDG_CACHE_HOME", unusable)
        assert cache_folder() == tmp_path / "home" / ".cache" / "smc-dp" / "audit"


def test_the_command_takes_it_and_makes_it_afresh(
    honest: Folders, tmp_path: Path, counted: list[int], monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    from smc_dp.cli.main import main

    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(checks, "CHECKS", tuple(check for check in checks.CHECKS if check.name == "law"))
    for options in ([], [], ["--fresh"]):
        assert main(["audit", str(honest.run), *options]) == 0
    assert len(counted) == 2
    said = capsys.readouterr().out
    assert " ".join(said.split()).count("from the cache; --fresh computes it again") == 1
