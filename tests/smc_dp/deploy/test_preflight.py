"""Whether a study fits a site: every fault at once, nothing written; and the commands around a study."""

from __future__ import annotations

import json
import tomllib
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from support import studies
from support.studies import IDENTITIES, study, text

from smc_dp.cli.main import main
from smc_dp.data import limits
from smc_dp.data.limits import allow_cells
from smc_dp.deploy import preflight
from smc_dp.deploy.approval import Approval
from smc_dp.deploy.preflight import OwnFiles, PreflightResult, preflight_of_files
from smc_dp.deploy.study import JointStudy
from smc_dp.privacy.ledger.ledger import Ledger
from tests.support.tables import numbers

Paths = dict[str, Path]


@pytest.fixture
def site(tmp_path: Path) -> Paths:
    """What north has at home, its ledger too, and the study beside it."""
    found = studies.site(tmp_path) | {"ledger": tmp_path / "north.ledger", "study": tmp_path / "study.toml"}
    Ledger.create(found["ledger"], Fraction(1), Fraction(1, 10**4)).close()
    found["study"].write_text(text())
    return found


def look(site: Paths, **others: Path | None) -> PreflightResult:
    """North's own look, with some of what it has exchanged."""
    said: dict[str, Any] = {**site, **others}
    files = OwnFiles(said["data"], said["ledger"])
    return preflight_of_files(JointStudy.read(said["study"]), said["key"], said["policy"], files)


def faults_of(site: Paths, **others: Path | None) -> list[str]:
    """The sentences, and the codes of those that have one."""
    return [fault.code or str(fault) for fault in look(site, **others).faults]


def options(site: Paths, *names: str) -> list[str]:
    return [word for name in names for word in (f"--{name}", str(site[name]))]


def kept(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


def test_a_study_that_fits_is_read_whole(site: Paths, tmp_path: Path) -> None:
    before = kept(tmp_path)
    found = look(site)
    assert (found.faults, found.name, found.agreement) == ([], "north", study().agreement())
    assert (len(found.own.rows), found.own.table.rows) == (3, 3)
    assert kept(tmp_path) == before


FAULTS = {
    "a key of nobody": ("key", "ab" * 32, "key.not_in_study"),
    "a key that is none": ("key", "s3cret", "identities.no_secret_key"),
    "a policy that forbids it": ("policy", studies.SITE_POLICY + "min_parties = 4", "terms.min_parties"),
    "rows without a column": ("data", "age,outcome\n1,no\n2,yes\n", "table.no_column"),
    "no rows": ("data", "age,sex,outcome\n", "rows.none"),
    "a book that is none": ("ledger", "not a ledger", "ledger.not_readable"),
}


@pytest.mark.parametrize("what", FAULTS)
def test_each_fault_is_found_alone(what: str, site: Paths, tmp_path: Path) -> None:
    name, content, code = FAULTS[what]
    site[name].chmod(0o600)
    site[name].write_text(content + "\n" if name == "key" else content)
    assert faults_of(site) == [code]
    assert all("s3cret" not in str(f) and "abab" not in str(f).partition("public key")[0] for f in look(site).faults)


def test_fourier_features_that_would_fill_the_memory_of_a_site_are_found(
    site: Paths, monkeypatch: pytest.MonkeyPatch
) -> None:
    site["study"].write_text(text(method=f'{studies.NEWTON}\nfeatures = "fourier:16"'))
    monkeypatch.setattr(limits, "_MOST_FEATURES", 3 * 20)
    with allow_cells(3 * 20):
        assert look(site).faults == []
    monkeypatch.setattr(limits, "_MOST_FEATURES", 3 * 20 - 1)
    with allow_cells(3 * 20 - 1):
        assert faults_of(site) == ["rows.too_many_features"]


def test_every_fault_is_found_together(site: Paths, tmp_path: Path) -> None:
    site["policy"].write_text("[limits]\nmax_epsilon = 0.1\nmax_delta = 0\npurposes = []\n")
    site["data"].write_text("age,sex,outcome\nold,f,no\n2,x,yes\n3,f,maybe\n")
    site["ledger"].unlink()
    Ledger.create(site["ledger"], Fraction(1, 10)).close()
    before = kept(tmp_path)
    assert faults_of(site) == [
        *("terms.max_epsilon", "terms.max_delta", "terms.purposes"),
        *("cell.not_a_number", "cell.unknown_level", "cell.unknown_level"),
        *("form.lines_of_site", "budget.other_delta"),
    ]
    assert kept(tmp_path) == before


def test_nothing_that_is_missing_hides_another_fault(site: Paths) -> None:
    nowhere = site["study"].with_name("nowhere")
    faults = [str(f) for f in look(site, key=nowhere, policy=nowhere, data=nowhere, ledger=nowhere).faults]
    assert len(faults) == 4
    assert all("cannot be read" in fault for fault in faults)
    site["policy"].write_text("[limits]\nmax_epsilon = 1\nmax_delta = 0\nspent = 0\n")
    (fault,) = look(site, data=None).faults  # the policy that cannot be read may name them
    assert (fault.code, fault.place) == ("document.unknown_key", f"site policy {site['policy']}: limits: ")
    missing = faults_of(site, policy=None, data=None, ledger=None)
    assert missing == ["terms.missing", "data.missing", "ledger.none_given"]


def test_the_policy_may_name_the_data_and_their_form(site: Paths) -> None:
    site["data"].write_text("age;sex;outcome\n41,5;f;yes\nNA;m;no\n")
    site["policy"].write_text(f'data = "rows.csv"\n{studies.SITE_POLICY}[file]\nseparator = ";"\ndecimal = ","\n')
    word, *others = look(site, data=None).faults  # the second shows once the first is stated
    assert [fault.code for fault in (word, *others)] == ["cell.not_a_number", "cell.empty_then", "form.lines_of_site"]
    assert "column 'age', line 3" in word.place
    site["data"].write_text("age;sex;outcome\n41,5;f;yes\n7,0;m;no\n")
    found = look(site, data=None)
    assert found.faults == []
    assert numbers(found.own.table, "age").tolist() == [41.5, 7.0]


def test_each_fault_says_who_can_fix_it(site: Paths) -> None:
    site["policy"].write_text("[limits]\nmax_epsilon = 0.1\nmax_delta = 0\n")
    site["data"].write_text("age;sex;outcome\nold;F;no\n2;f;yes\n;f;no\n")
    found = {(fault.code, preflight.fixed_by(fault)) for fault in look(site).faults}
    assert found >= {
        ("terms.max_epsilon", ("author", "site")),
        ("csv.one_column", ("site",)),
        ("cell.not_a_number", ("site",)),
        ("cell.empty", ("author", "site")),
    }


def test_a_ring_too_short_and_rows_of_one_class_are_found_together(site: Paths) -> None:
    site["study"].write_text(studies.by_curator().replace("ring_bits = 64", "ring_bits = 16"))
    site["policy"].write_text("[limits]\nmax_epsilon = 1\nmax_delta = 0\n")
    site["data"].write_text("age,sex,outcome\n1,f,no\n2,m,no\n3,f,no\n")
    one_class, too_short = look(site).faults
    assert (one_class.code, one_class.fields["count"], one_class.fields["only"]) == ("rows.one_class", 3, "'no'")
    assert (too_short.code, too_short.place) == ("grid.too_small", "party north: ")


def test_charlie_has_neither_rows_nor_a_book(site: Paths, tmp_path: Path) -> None:
    key = studies.site(tmp_path, "charlie")["key"]
    found = look(site, key=key, policy=None, data=None, ledger=None)
    assert (found.faults, found.name, found.own) == ([], "charlie", None)


def test_check_prints_every_fault_and_ends_with_2(site: Paths, capsys: pytest.CaptureFixture[str]) -> None:
    given = ["study", "check", str(site["study"]), *options(site, "data", "ledger", "key", "policy")]
    assert main(given) == 0
    fits, _, gain, _ = capsys.readouterr().out.splitlines()
    own = len(site["data"].read_text().splitlines()) - 1
    assert f" {3 * own:,} rows" in gain
    assert study().digest in fits
    assert (main([*given, "--most-cells", "8"]), main([*given, "--most-cells", "9"])) == (2, 0)
    site["policy"].write_text("[limits]\nmax_epsilon = 0.1\nmax_delta = 1e-5\n")
    site["data"].write_text("age,sex,outcome\n\u001b[2J,f,no\n2,m,yes\n")
    capsys.readouterr()
    assert main(given) == 2
    assert all(line.isprintable() for line in capsys.readouterr().out.splitlines())
    assert main([*given, "--json"]) == 2
    said = json.loads(capsys.readouterr().out)
    assert (said["name"], said["fits"]) == ("north", False)
    assert [fault["message"] for fault in said["faults"]] == [str(fault) for fault in look(site).faults]
    assert [(fault["code"], fault["fixed_by"]) for fault in said["faults"]] == [
        ("terms.max_epsilon", ["author", "site"]),
        ("cell.not_a_number", ["site"]),
    ]
    assert [set(fault) for fault in said["faults"]] == [{"code", "place", "message", "fields", "fixed_by"}] * 2


def test_an_approval_is_written_once_and_is_new_each_time(site: Paths, tmp_path: Path) -> None:
    given = ["study", "approve", str(site["study"]), *options(site, "key", "policy")]
    assert main(given) == 0
    path = tmp_path / "study.north.approval"
    first = Approval.read(path)
    study().check_approval(first)
    assert path.stat().st_mode == site["study"].stat().st_mode
    before = kept(tmp_path)
    assert main(given) == 2  # never over another
    assert kept(tmp_path) == before
    assert main([*given, "--out", str(tmp_path / "again.approval")]) == 0
    assert Approval.read(tmp_path / "again.approval").random != first.random


def test_who_may_not_approve_does_not(site: Paths, tmp_path: Path) -> None:
    approve = ["study", "approve", str(site["study"])]
    stranger, beyond = tmp_path / "stranger.key", tmp_path / "beyond.toml"
    stranger.write_text(f"{'ab' * 32}\n")
    beyond.write_text("[limits]\nmax_epsilon = 0.1\nmax_delta = 0\n")
    before = kept(tmp_path)
    for given in (
        ["--key", str(stranger), "--policy", str(site["policy"])],
        ["--key", str(site["key"]), "--policy", str(beyond)],
        ["--key", str(site["key"])],
    ):
        assert main([*approve, *given]) == 2
    assert kept(tmp_path) == before


def public_files(folder: Path) -> list[str]:
    """The lines that all handed over, as options."""
    for name, identity in IDENTITIES.items():
        (folder / f"{name}.pub").write_text(f"{name} {identity.public.hex()}\n")
    (folder / "bounds.toml").write_text(studies.BOUNDS.replace("[bounds.", "["))
    parties = [word for name in studies.PARTIES for word in ("--party", str(folder / f"{name}.pub"))]
    said = ["--title", "Readmission", "--purpose", "research", "--relay", "nats://relay.example:4222"]
    return [*parties, "--curator", str(folder / "charlie.pub"), "--bounds", str(folder / "bounds.toml"), *said]


def test_new_drafts_what_its_options_say(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    given = ["study", "new", "--out", str(tmp_path / "s.toml"), *public_files(tmp_path)]
    assert main([*given, "--epsilon", "0.5", "--delta", "1e-6", "--dropouts", "1", "--colluders", "0"]) == 0
    made = JointStudy.read(tmp_path / "s.toml")
    wanted = text(protocol=studies.SUMS.replace("colluders = 1\ndropouts = 0", "colluders = 0\ndropouts = 1"))
    wanted = wanted.replace('"1/3"', "0.5").replace("1e-5", "1e-6").replace('"12h"', '"1d"')
    assert made.digest == study(f"{wanted}[bounds.rows]\nclip = 1.42\n").digest  # a study states what would be usual
    assert (made.bounds.clip, study(wanted).bounds.clip) == (1.42, 2.0)
    before = kept(tmp_path)
    capsys.readouterr()
    assert main(given) == 2  # never over another
    assert "name another file with --out" in capsys.readouterr().err
    assert kept(tmp_path) == before
    text_of_it = (tmp_path / "s.toml").read_text()
    assert "# how long" in text_of_it.lower()
    assert tomllib.loads(text_of_it)["parties"][0] == {"name": "north", "key": IDENTITIES["north"].public.hex()}


@pytest.mark.parametrize(
    ("more", "out"),
    [
        (["--method", "prr_mean", "--lambda", "0.01", "--key-bits", "2048"], None),
        (["--method", "wsum", "--noise", "vg", "--sizes", "hidden", "--verifiable"], None),
        (["--method", "prr_mean", "--key-bits", "512", "--insecure-test-keys"], None),
        (["--greetings", "soon"], "deadlines: greetings:"),
        (["--key-bits", "512", "--method", "prr_mean"], "--key-bits:"),
        (["--party", f"north={'0' * 64}"], "--party:"),
        (["--party", f"east={'0' * 63}"], "--party: east:"),
    ],
)
def test_new_writes_a_study_or_nothing(
    more: list[str], out: str | None, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Where something is wrong, it names the option."""
    given = ["study", "new", "--out", str(tmp_path / "s.toml"), *public_files(tmp_path), *more]
    before = kept(tmp_path)
    code, said = main(given), capsys.readouterr()
    if out is None:
        assert (code, said.err) == (0, "")
        assert JointStudy.read(tmp_path / "s.toml").digest in said.out
    else:
        assert code == 2
        assert out in said.err
        assert kept(tmp_path) == before


def test_show_has_the_digests_of_a_study_and_of_its_agreement(site: Paths, capsys: pytest.CaptureFixture[str]) -> None:
    """A snapshot has the text."""
    agreed = study()
    assert main(["study", "show", str(site["study"]), "--details"]) == 0
    said = capsys.readouterr().out
    for words in (agreed.digest, *agreed.agreement().statement.plain_words()):
        assert words in said
    assert main(["study", "show", str(site["study"]), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["digest"], found["agreement"]) == (agreed.digest, agreed.agreement().digest)


def test_what_a_hub_calls_its_columns_commands_no_terminal(site: Paths, capsys: pytest.CaptureFixture[str]) -> None:
    many = ", ".join(f'"c{i}"' for i in range(500))
    hostile = f'"\\u001b[2J\\u202eage" = [0, 120]\nward = [{many}]'
    site["study"].write_text(text().replace("age = [0, 120]", hostile))
    assert main(["study", "show", str(site["study"])]) == 0
    said = capsys.readouterr().out
    assert all(line.isprintable() for line in said.splitlines())
    assert "c39, and 460 more" in said
