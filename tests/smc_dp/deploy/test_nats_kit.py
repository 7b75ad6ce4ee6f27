"""The kit of a relay: who gets what, what is secret, and what its page says."""

from __future__ import annotations

import re
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.exceptions import InvalidSignature
from support import studies
from support.relays import PARTIES, account_of, joint_study

from protocols.curator import CURATOR_NAME
from smc_dp.cli.main import main
from smc_dp.deploy.nats import certificates
from smc_dp.deploy.nats.connection import CA_FILE, CERTIFICATE_FILE, KEY_FILE
from smc_dp.deploy.nats.provision import open_study, provision_relay, readme_of, subjects_of
from smc_dp.deploy.nats.server import study_line
from smc_dp.deploy.study import JointStudy
from tests.support.refusals import refused

CREDENTIALS = {CA_FILE, CERTIFICATE_FILE, KEY_FILE}


@pytest.fixture
def kit(tmp_path: Path) -> Path:
    provision_relay(joint_study("tls://relay.example.org"), tmp_path / "kit")
    return tmp_path / "kit"


def keys(folder: Path) -> Iterator[bytes]:
    yield from (path.read_bytes() for path in folder.rglob("*.key"))


def test_each_site_gets_its_own_key_and_nobody_elses(kit: Path) -> None:
    sites = {path.name: {file.name for file in path.iterdir()} for path in (kit / "sites").iterdir()}
    assert sites == dict.fromkeys((*PARTIES, CURATOR_NAME), CREDENTIALS)
    assert {path.name for path in kit.iterdir()} == {"operator", "sites"}
    assert len(set(keys(kit))) == len(list(keys(kit))) == len(PARTIES) + 1 + 3  # the operator's, relay's, authority's
    for path in kit.rglob("*"):
        private = stat.S_IMODE(path.stat().st_mode) & 0o077 == 0
        assert private or path in (kit / "sites", kit / "operator" / "studies"), path


def test_certificates_are_for_the_host_and_for_names_in_one_study(kit: Path) -> None:
    by = x509.load_pem_x509_certificate((kit / "operator" / CA_FILE).read_bytes())
    relay = x509.load_pem_x509_certificate((kit / "operator" / "server.pem").read_bytes())
    relay.verify_directly_issued_by(by)
    hosts = relay.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    assert hosts.get_values_for_type(x509.DNSName) == ["relay.example.org"]
    subjects = subjects_of(joint_study("tls://relay.example.org"))
    account = account_of(kit, subjects)
    assert account.startswith(f"{subjects.stream}~")
    text = (kit / "operator" / "studies" / subjects.stream / "accounts.conf").read_text()
    for name in subjects.names:
        site = x509.load_pem_x509_certificate((kit / "sites" / name / CERTIFICATE_FILE).read_bytes())
        site.verify_directly_issued_by(by)
        assert site.subject.rfc4514_string() == f"CN={name},O={account}"
        assert f'"CN={name},O={account}"' in text
        with pytest.raises((InvalidSignature, ValueError)):
            relay.verify_directly_issued_by(site)
    assert "port: 4222" in (kit / "operator" / "server.conf").read_text()


def test_the_page_names_the_study_and_every_folder(kit: Path) -> None:
    study = joint_study("tls://relay.example.org")
    page = readme_of(study, kit).read_text()
    assert study_line(subjects_of(study)) in page
    assert re.findall(r"^ +sites/(\S+)$", page, re.MULTILINE) == [*PARTIES, CURATOR_NAME]


def test_a_kit_is_never_written_over_and_needs_an_address(kit: Path) -> None:
    with refused("kit.has_study"):
        provision_relay(joint_study("tls://relay.example.org"), kit)
    with refused("kit.exists"):
        provision_relay(joint_study("tls://relay.example.org"), kit / "sites")
    with refused("relay.of_another_carrier"):
        provision_relay(joint_study("flare://relay.example.org"), kit.with_name("other"))


def files(folder: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_another_study_is_added_and_changes_no_file_but_the_list(kit: Path) -> None:
    before = files(kit)
    second = joint_study("tls://relay.example.org", "Length of stay")
    with refused("kit.not_handed_over"):
        provision_relay(second, kit)
    assert files(kit) == before
    (kit / "sites").rename(kit.with_name("handed"))
    before = files(kit)
    provision_relay(second, kit)
    studies = kit / "operator" / "studies.conf"
    after = files(kit)
    assert [path for path in before if after[path] != before[path]] == [studies]
    streams = [subjects_of(study) for study in (joint_study("tls://relay.example.org"), second)]
    assert studies.read_text().splitlines()[1:] == list(map(study_line, streams))
    assert stat.S_IMODE(studies.stat().st_mode) == 0o600
    by = x509.load_pem_x509_certificate((kit / "operator" / CA_FILE).read_bytes())
    for name in PARTIES:
        x509.load_pem_x509_certificate(
            (kit / "sites" / name / CERTIFICATE_FILE).read_bytes()
        ).verify_directly_issued_by(by)


def test_a_kit_that_cannot_take_a_study_is_refused_and_stays(kit: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (kit / "sites").rename(kit.with_name("handed"))
    second, key = joint_study("tls://relay.example.org", "Length of stay"), kit / "operator" / "ca.key"
    with refused("kit.of_another_relay", host="other.example.org"):
        provision_relay(joint_study("tls://other.example.org"), kit)
    with monkeypatch.context() as patch:
        patch.setattr(certificates, "_LEAST", certificates._LASTS)
        with refused("kit.ends_soon"):
            provision_relay(second, kit)
    away = key.rename(kit.with_name("ca.key"))
    with refused("kit.no_authority_key"):
        provision_relay(second, kit)
    for wrong in (b"no key", next(keys(kit.with_name("handed")))):
        key.write_bytes(wrong)
        with refused("credentials.unusable"):
            provision_relay(second, kit)
    assert not (kit / "sites").exists()
    away.replace(key)
    provision_relay(second, kit)


def test_the_commands_make_a_kit_and_say_what_is_wrong(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file, out = tmp_path / "study.toml", tmp_path / "kit"
    file.write_text(studies.text())
    assert main(["study", "provision", str(file), "--engine", "pigeon", "--out", str(out)]) == 2
    capsys.readouterr()
    assert main(["study", "provision", str(file), "--engine", "nats", "--out", str(out)]) == 0
    said, study = capsys.readouterr().out.splitlines(), JointStudy.read(file)
    assert f" {readme_of(study, out)}. " in said[0]
    assert [line.split(": ")[1] for line in said[1:]] == [
        str(out / "sites" / name) for name in (*studies.PARTIES, CURATOR_NAME)
    ]
    with refused("kit.lacks_study"):
        open_study(study, tmp_path)
    assert main(["study", "open", str(file), "--provisioning-kit", str(tmp_path)]) == 2
