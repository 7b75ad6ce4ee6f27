"""Two sites witness each other's ledgers by hand: head, cosignature, check, and the evidence of two heads."""

from __future__ import annotations

import shutil
from fractions import Fraction
from pathlib import Path

import pytest

from smc_dp.cli.main import main
from smc_dp.privacy.ledger.guarantee import Guarantee
from smc_dp.privacy.ledger.ledger import Ledger

EPSILON = Guarantee("pure", Fraction(1, 10), Fraction(0), "record", "replace")
PARTY = ("--party", "north.pub")
WITNESS = ("--witness", "south.witness", *PARTY)
CHECK = (*PARTY, "--witness", "south.vkey", "--cosigned", "cosigned")


def charge(path: str, run: str) -> None:
    with Ledger.open(Path(path)) as ledger:
        ledger.reserve("a" * 64, "newton", EPSILON, run * 64)


@pytest.fixture(autouse=True)
def north(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A ledger of north with two entries, whose head south has cosigned."""
    assert main(["identities", "new", "north"]) == 0
    assert main(["ledger", "init", "north.ledger", "--budget", "1"]) == 0
    charge("north.ledger", "1")
    capsys.readouterr()
    assert main(["ledger", "witness", "south.witness", "--new", "south"]) == 0
    Path("south.vkey").write_text(capsys.readouterr().out)
    assert main(["ledger", "head", "north.ledger", "--key", "north.key", "--out", "head"]) == 0
    assert main(["ledger", "cosign", "head", *WITNESS, "--out", "cosigned"]) == 0
    capsys.readouterr()


def line(capsys: pytest.CaptureFixture[str]) -> str:
    out, err = capsys.readouterr()
    assert len((out + err).splitlines()) == 1
    return out + err


def test_a_ledger_is_checked_against_what_its_witness_has_seen(capsys: pytest.CaptureFixture[str]) -> None:
    shutil.copy("north.ledger", "older")
    charge("north.ledger", "2")
    assert main(["ledger", "check", "north.ledger", *CHECK]) == 0
    assert "south has seen 2 of all entries (3)" in capsys.readouterr().out
    assert main(["ledger", "head", "north.ledger", "--key", "north.key", "--old", "2", "--out", "head2"]) == 0
    assert main(["ledger", "cosign", "head2", *WITNESS, "--out", "cosigned2"]) == 0
    assert main(["ledger", "compare", "head", "head2", *PARTY]) == 0
    both = (*CHECK, "--cosigned", "cosigned2")
    vkey = Path("south.vkey").read_text().strip()
    assert main(["ledger", "check", "north.ledger", *CHECK[:2], "--witness", vkey, "--cosigned", "cosigned2"]) == 0
    assert "south has seen 3 of all entries (3)" in capsys.readouterr().out
    assert main(["ledger", "check", "older", *both]) == 1
    assert "FAILED: south has seen 3 entries, and this ledger has 2" in capsys.readouterr().out


def test_a_witness_that_has_cosigned_nothing_fails_the_check(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["ledger", "witness", "west.witness", "--new", "west"]) == 0
    Path("west.vkey").write_text(capsys.readouterr().out)
    assert main(["ledger", "check", "north.ledger", *CHECK, "--witness", "west.vkey"]) == 1
    assert "FAILED: no head here is cosigned by west" in capsys.readouterr().out


def test_an_older_copy_gets_no_cosignature(capsys: pytest.CaptureFixture[str]) -> None:
    shutil.copy("north.ledger", "older")
    charge("north.ledger", "2")
    assert main(["ledger", "head", "north.ledger", "--key", "north.key", "--old", "2", "--out", "head2"]) == 0
    assert main(["ledger", "cosign", "head2", *WITNESS, "--out", "cosigned2"]) == 0
    capsys.readouterr()
    assert main(["ledger", "cosign", "head", *WITNESS, "--out", "no"]) == 2
    assert "3 that this witness has seen" in line(capsys)
    assert main(["ledger", "head", "older", "--key", "north.key", "--old", "3", "--out", "no"]) == 2
    assert "older copy" in line(capsys)
    charge("older", "3")
    assert main(["ledger", "head", "older", "--key", "north.key", "--old", "2", "--out", "fork"]) == 0
    assert main(["ledger", "cosign", "fork", *WITNESS, "--out", "no"]) == 2
    capsys.readouterr()
    assert main(["ledger", "compare", "head2", "fork", *PARTY]) == 1
    assert main(["ledger", "compare", "cosigned", "cosigned2", *PARTY]) == 1  # a head alone proves nothing of another
    said = capsys.readouterr().out
    assert ("CONTRADICTED" in said, "UNPROVED" in said) == (True, True)
    assert not Path("no").exists()


def test_a_witness_shows_its_key_and_the_last_head_that_it_cosigned(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["ledger", "witness", "south.witness"]) == 0
    assert capsys.readouterr().out == Path("south.vkey").read_text()
    assert main(["ledger", "witness", "south.witness", *PARTY]) == 0
    assert capsys.readouterr().out.encode() == Path("cosigned").read_bytes()
    assert main(["identities", "new", "west"]) == 0
    capsys.readouterr()
    assert main(["ledger", "witness", "south.witness", "--party", "west.pub"]) == 2
    assert "west.pub" in line(capsys)
    assert main(["ledger", "witness", "south.witness", "--new", "south"]) == 2
    assert "exists" in line(capsys)


@pytest.mark.parametrize(
    ("argv", "name"),
    [
        (["check", "north.ledger", *PARTY, "--witness", "south.vkey"], "--cosigned"),
        (["check", "north.ledger", "--cosigned", "cosigned", "--witness", "south.vkey"], "--party"),
        (["check", "north.ledger", "--cosigned", "cosigned", *PARTY], "--witness"),
        (["check", "north.ledger", *PARTY, "--witness", "x+y", "--cosigned", "cosigned"], "public key"),
        (["check", "north.ledger", *PARTY, "--witness", "south.vkey", "--cosigned", "south.vkey"], "south.vkey"),
        (["cosign", "south.vkey", *WITNESS, "--out", "no"], "south.vkey"),
        (["cosign", "head", "--witness", "none", *PARTY, "--out", "no"], "none"),
        (["head", "north.ledger", "--key", "north.key", "--out", "head"], "head"),
        (["compare", "head", "none", *PARTY], "none"),
    ],
)
def test_what_does_not_fit_is_refused_in_one_line(argv: list[str], name: str, capsys: pytest.CaptureFixture[str]):
    assert main(["ledger", *argv]) == 2
    assert name in capsys.readouterr().err


def test_a_secret_key_in_the_place_of_a_public_one_is_not_shown(capsys: pytest.CaptureFixture[str]) -> None:
    seed = Path("north.key").read_text().strip()
    assert main(["ledger", "check", "north.ledger", *PARTY, "--witness", "north.key", "--cosigned", "cosigned"]) == 2
    said = capsys.readouterr().err
    assert not any(seed[i : i + 8] in said for i in range(len(seed) - 8))
