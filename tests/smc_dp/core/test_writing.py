"""A folder is there whole or not at all, and a file is never written over."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from smc_dp.core import writing
from smc_dp.core.writing import (
    fresh_folder,
    open_scratch,
    refuse_existing,
    replace_file,
    write_file,
    write_folder,
    write_new,
)
from tests.support.refusals import refused

CONTENTS = {"a.json": [b"{}", b"\n"], "b.bin": [b"\x00" * 10]}


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_a_folder_holds_what_was_given_with_the_rights_that_were_asked_for(tmp_path: Path) -> None:
    write_folder(tmp_path / "deep" / "secret", CONTENTS, 0o700)
    assert {name: (tmp_path / "deep" / "secret" / name).read_bytes() for name in CONTENTS} == {
        "a.json": b"{}\n",
        "b.bin": bytes(10),
    }
    assert stat.S_IMODE((tmp_path / "deep" / "secret").stat().st_mode) == 0o700
    assert stat.S_IMODE((tmp_path / "deep" / "secret" / "a.json").stat().st_mode) == 0o600
    assert names(tmp_path / "deep") == ["secret"]


@pytest.mark.parametrize("where", ["_write", "fsync", "rename"])
def test_a_failure_at_any_step_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, where: str) -> None:
    def fail(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    place = {"_write": writing, "fsync": writing.os, "rename": Path}[where]
    monkeypatch.setattr(place, where, fail)
    with refused("folder.not_written"):
        write_folder(tmp_path / "run", CONTENTS, 0o777)
    assert names(tmp_path) == []


def test_a_folder_that_appears_meanwhile_is_not_replaced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(writing, "sync_folder", lambda folder: (tmp_path / "run").mkdir(exist_ok=True))
    with refused("folder.exists"):
        write_folder(tmp_path / "run", CONTENTS, 0o777)
    assert names(tmp_path) == ["run"]
    assert names(tmp_path / "run") == []


def test_a_file_is_never_written_over(tmp_path: Path) -> None:
    write_file(tmp_path / "key", b"1", 0o600)
    with pytest.raises(FileExistsError):
        write_file(tmp_path / "key", b"2", 0o600)
    assert (tmp_path / "key").read_bytes() == b"1"


def full(handle: int) -> None:
    raise OSError(28, "No space left on device")


def test_a_file_is_replaced_whole_or_stays_as_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "file"
    replace_file(path, b"first", "here")
    replace_file(path, b"second", "here", 0o600)
    assert (path.read_bytes(), path.stat().st_mode & 0o777) == (b"second", 0o600)
    monkeypatch.setattr(os, "fsync", full)
    with refused("file.not_written", at="here"):
        replace_file(path, b"third", "here")
    assert path.read_bytes() == b"second"
    assert list(tmp_path.iterdir()) == [path]


def test_half_a_file_is_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "fsync", full)
    with refused("file.not_written"):
        write_new(tmp_path / "report.html", b"half", "report")
    assert list(tmp_path.iterdir()) == []


def test_what_cannot_be_made_is_refused_before_the_work(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    os.symlink(tmp_path / "nowhere", tmp_path / "dangling")
    for name in ("file", "dangling"):
        with refused("folder.exists"):
            refuse_existing(tmp_path / name)
    with refused("folder.not_writable"):
        refuse_existing(tmp_path / "file" / "run")
    refuse_existing(tmp_path / "new" / "run")


def test_fresh_folders_differ() -> None:
    assert len({fresh_folder() for _ in range(20)}) == 20
    assert {folder.parent for folder in (fresh_folder(), fresh_folder())} == {Path("runs")}


def test_a_scratch_file_has_no_name_and_is_gone_when_closed(tmp_path: Path) -> None:
    with open_scratch(tmp_path / "not" / "yet" / "there") as scratch:
        scratch.write(b"x" * 100_000)
        scratch.seek(0)
        assert scratch.read() == b"x" * 100_000
        assert names(tmp_path) == []
    assert names(tmp_path) == []
