"""Long-term identities in a folder: made once, private, and what an audit pins."""

from __future__ import annotations

import json
import stat
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from protocols.arithmetic.rng import Stream
from protocols.crypto.identity import Identity
from protocols.curator import CURATOR_NAME
from smc_dp.cli.identities import new_identities
from smc_dp.cli.main import main
from smc_dp.core.errors import InputError
from smc_dp.run import identities
from tests.support.refusals import refused

PARTIES = ("north-0", "north-1")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    identities.create_identities(tmp_path / "ids", PARTIES, Stream.insecure_from_seed(1))
    return tmp_path / "ids"


def test_keys_are_private_and_the_public_file_is_what_an_audit_reads(folder: Path) -> None:
    names = ("charlie", "north-0", "north-1")
    files = [f"{name}.{kind}" for name in names for kind in ("key", "pub")]
    assert sorted(p.name for p in folder.iterdir()) == sorted([*files, "identities.json"])
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert {stat.S_IMODE(p.stat().st_mode) for p in folder.glob("*.key")} == {0o600}
    found = identities.load_identities(folder)
    assert set(found) == {*PARTIES, CURATOR_NAME}
    handed_over = [identities.parse_pinned(str(folder / f"{name}.pub")) for name in names]
    assert handed_over == [(name, found[name].public) for name in names]
    assert identities.read_identities(folder / "identities.json") == {name: found[name].public for name in found}
    public = (folder / "identities.json").read_text()
    for identity in found.values():
        assert identity.seed.hex() not in public
        assert identity.seed.hex() not in repr(found)


def test_system_randomness_makes_different_ones(tmp_path: Path) -> None:
    for name in ("a", "b"):
        assert main(["identities", "new", str(tmp_path / name), *PARTIES]) == 0
    keys = [identity.seed for name in ("a", "b") for identity in identities.load_identities(tmp_path / name).values()]
    assert len(set(keys)) == 6


def test_nothing_is_overwritten(folder: Path, tmp_path: Path) -> None:
    before = {p.name: p.read_bytes() for p in folder.iterdir()}
    with refused("identities.folder_exists"):
        identities.create_identities(folder, PARTIES, Stream.insecure_from_seed(2))
    assert {p.name: p.read_bytes() for p in folder.iterdir()} == before
    (tmp_path / "file").write_bytes(b"")
    for place in ("file", "file/below"):
        with pytest.raises(InputError):
            identities.create_identities(tmp_path / place, PARTIES, Stream.insecure_from_seed(2))


@pytest.mark.parametrize("names", [["one"], ["a", "a"], ["a", "charlie"], ["a", "b/c"], ["a", "public"]])
def test_names_that_no_run_could_have_are_refused(tmp_path: Path, names: list[str]) -> None:
    with pytest.raises(InputError):
        identities.create_identities(tmp_path / "ids", names, Stream.insecure_from_seed(1))
    assert not (tmp_path / "ids").exists()


def test_names_must_be_those_of_the_run_and_share_no_key(folder: Path) -> None:
    assert set(identities.load_run_identities(folder, (*PARTIES, CURATOR_NAME))) == {*PARTIES, CURATOR_NAME}
    with refused("identities.no_key", name="north-2"):
        identities.load_run_identities(folder, (*PARTIES, CURATOR_NAME, "north-2"))
    with refused("identities.not_taking_part", name="north-1"):
        identities.load_run_identities(folder, (PARTIES[0], CURATOR_NAME))
    public = json.loads((folder / "identities.json").read_text())
    public["north-1"] = public["north-0"]
    (folder / "identities.json").write_text(json.dumps(public))
    (folder / "north-1.key").unlink()
    with refused("identities.no_own_key", name="north-0"):
        identities.load_identities(folder)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("north-0.key", b""),
        ("north-0.key", b"AB" * 32),
        ("north-0.key", b"ab " * 21 + b"a"),
        ("north-0.key", b"\xff" * 64),
        ("north-0.key", b"ab" * 32),
        ("north-0.key", None),
        ("4.key", b"cd" * 32),
        ("identities.json", None),
        ("identities.json", b"{}"),
        ("identities.json", b'{"north-0": "00"}'),
    ],
)
def test_a_spoilt_folder_is_one_line_without_secrets(
    folder: Path, name: str, content: bytes | None, capsys: pytest.CaptureFixture[str]
) -> None:
    if content is None:
        (folder / name).unlink()
    else:
        (folder / name).write_bytes(content)
        (folder / name).chmod(0o600)
    assert main(["identities", "show", str(folder)]) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.count("\n") == 1
    assert content is None or len(content) < 20 or content.decode("latin-1") not in printed.err


def test_a_folder_without_public_keys_is_refused_for_that(tmp_path: Path) -> None:
    for folder in (tmp_path, tmp_path / "none"):
        with refused("identities.no_public_keys"):
            identities.load_identities(folder)


def test_a_secret_key_in_place_of_the_public_file_is_named_and_not_shown(folder: Path) -> None:
    secret = (folder / "north-0.key").read_bytes()
    with refused("identities.secret_instead") as caught:
        identities.parse_identities(secret, "north-0.key")
    assert secret.decode().strip() not in str(caught.value)
    with refused("identities.no_public_file"):
        identities.parse_identities(secret[1:], "north-0.key")
    with refused("json.unreadable"):
        identities.parse_identities(b"{", "north-0.key")


def test_keys_that_others_can_read_are_warned_of(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["identities", "show", str(folder)]) == 0
    assert capsys.readouterr().err == ""
    (folder / "north-1.key").chmod(0o640)
    assert main(["identities", "show", str(folder)]) == 0
    printed = capsys.readouterr()
    (said,), key = printed.err.splitlines(), folder / "north-1.key"
    assert said.startswith(f"warning: {key}: ")
    assert said.endswith(f" chmod 600 {key}")
    assert len(printed.out.splitlines()) == 3


@pytest.mark.parametrize("method", [["--method", "prr_mean"], []], ids=["one method", "both"])
def test_a_run_signs_with_them(
    method: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    identities.create_identities(Path("ids"), ("hospital-1", "hospital-2"), Stream.insecure_from_seed(1))
    run = ["run", "--parties", "2", "--identities", "ids", "--out", "run", *method]
    if method:
        assert main([*run, "--key-bits", "512", "--insecure-test-keys"]) == 0
        head = json.loads(Path("run", "transcript.jsonl").read_text().split("\n", 1)[0])
        assert head["identities"] == json.loads(Path("ids", "identities.json").read_text())
    identities.create_identities(Path("other"), ("hospital-1", "hospital-2", "hospital-3"), Stream.from_system())
    assert main([*run, "--identities", "other", "--out", "no"]) == 2
    assert "hospital-3 does not take part in the run" in capsys.readouterr().err
    assert not Path("no").exists()


# One participant's own.


def test_one_name_makes_a_private_key_and_a_line_to_hand_over_and_writes_over_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["identities", "new", "north"]) == 0
    assert {path.name for path in tmp_path.iterdir()} == {"north.key", "north.pub"}
    secret, line = ((tmp_path / name).read_text().split() for name in ("north.key", "north.pub"))
    assert line == ["north", Identity(bytes.fromhex(secret[0])).public.hex()]
    assert stat.S_IMODE((tmp_path / "north.key").stat().st_mode) == 0o600
    out = capsys.readouterr().out
    assert line[1] in out
    assert secret[0] not in out
    for left in ("north.key", "north.pub"):  # either of them is enough to refuse, and is left as it is
        kept = {path.name: path.read_text() for path in tmp_path.iterdir()}
        assert main(["identities", "new", "north"]) == 2
        assert f"{min(kept)}: exists already" in capsys.readouterr().err
        assert {path.name: path.read_text() for path in tmp_path.iterdir()} == kept
        (tmp_path / left).unlink()
    for names in (["../north"], ["north pole"], [""]):
        assert main(["identities", "new", *names]) == 2
        assert list(tmp_path.iterdir()) == []
    with refused("identities.one_party", party="south"):
        new_identities(["north", "south"])
    assert list(tmp_path.iterdir()) == []


def test_one_key_and_one_line_are_read_back(tmp_path: Path) -> None:
    key, line, public = identities.create_identity(tmp_path, "north", Stream.insecure_from_seed(1))
    assert identities.read_identity(key).public == public
    assert identities.read_public_key(line) == identities.parse_pinned(str(line)) == ("north", public)
    assert identities.parse_pinned(f"south={public.hex()}") == ("south", public)
    *_, charlies = identities.create_identity(tmp_path, CURATOR_NAME, Stream.insecure_from_seed(2))
    of_file = identities.parse_pinned_curator(str(tmp_path / f"{CURATOR_NAME}.pub"))
    assert of_file == identities.parse_pinned_curator(charlies.hex()) == {CURATOR_NAME: charlies}
    with refused("identities.not_the_curator", curator_name="charlie", name="north"):
        identities.parse_pinned_curator(str(line))


@pytest.mark.parametrize(
    ("line", "rule"),
    [
        ("north", partial(refused, "identities.no_public_key")),
        (f"north {'0' * 63}", partial(refused, "json.not_hexadecimal", digits=64)),
        (f"north {'0' * 64}\nsouth {'0' * 64}", partial(refused, "json.not_hexadecimal", digits=64)),
        ("x" * 300, partial(refused, "file.too_large", most=256)),
        ("\u00e9 " + "0" * 64, partial(refused, "party.wrong_name")),
    ],
)
def test_a_line_that_is_no_public_key_is_refused(line: str, rule: Any, tmp_path: Path) -> None:
    (tmp_path / "north.pub").write_text(line)
    with rule():
        identities.read_public_key(tmp_path / "north.pub")
