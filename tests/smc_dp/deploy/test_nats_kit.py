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
from support.relays import PARTIES, joint_study

from protocols.curator import CURATOR_NAME
from smc_dp.cli.main import main
from smc_dp.deploy.nats.connection import CA_FILE, CERTIFICATE_FILE, KEY_FILE
from smc_dp.deploy.nats.provision import provision_relay, subjects_of
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
        assert private or path == kit / "sites", path


def test_certificates_are_for_the_host_and_for_seats_and_not_for_names(kit: Path) -> None:
    by = x509.load_pem_x509_certificate((kit / "operator" / CA_FILE).read_bytes())
    relay = x509.load_pem_x509_certificate((kit / "operator" / "server.pem").read_bytes())
    relay.verify_directly_issued_by(by)
    hosts = relay.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    assert hosts.get_values_for_type(x509.DNSName) == ["relay.example.org"]
    subjects = subjects_of(joint_study("tls://relay.example.org"))
    for n, name in enumerate(subjects.names):
        site = x509.load_pem_x509_certificate((kit / "sites" / name / CERTIFICATE_FILE).read_bytes())
        site.verify_directly_issued_by(by)
        assert site.subject.rfc4514_string() == f"CN={subjects.stream}-p{n}"
        with pytest.raises((InvalidSignature, ValueError)):
            relay.verify_directly_issued_by(site)
    text = (kit / "operator" / "server.conf").read_text()
    assert not [name for name in subjects.names if name in text]
    assert "port: 4222" in text


def test_the_page_says_what_the_authority_can_do_and_names_every_folder(kit: Path) -> None:
    page = (kit / "operator" / "README.txt").read_text()
    for words in (
        "Two systems",
        "  can: ",
        "  cannot: ",
        "smc-dp study open STUDY.toml --provisioning-kit KIT",
        "nats-server -c",
    ):
        assert words in page
    assert re.findall(r"^ +sites/(\S+)$", page, re.MULTILINE) == [*PARTIES, CURATOR_NAME]


def test_a_kit_is_never_written_over_and_needs_an_address(kit: Path) -> None:
    with refused("kit.exists"):
        provision_relay(joint_study("tls://relay.example.org"), kit)
    with refused("relay.no_nats_address"):
        provision_relay(joint_study("flare://relay.example.org"), kit.with_name("other"))


def test_the_commands_make_a_kit_and_say_what_is_wrong(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file, out = tmp_path / "study.toml", tmp_path / "kit"
    file.write_text(studies.text())
    assert main(["study", "provision", str(file), "--engine", "pigeon", "--out", str(out)]) == 2
    assert capsys.readouterr().err == "error: --engine: wanted nats or flare, got 'pigeon'\n"
    assert main(["study", "provision", str(file), "--engine", "nats", "--out", str(out)]) == 0
    said = capsys.readouterr().out.splitlines()
    assert said == [
        f"Next steps: {out / 'operator' / 'README.txt'}. SECRET: all other files in {out}.",
        *(f"Hand over: {out / 'sites' / name}" for name in (*studies.PARTIES, CURATOR_NAME)),
    ]
    assert main(["study", "open", str(file), "--provisioning-kit", str(tmp_path)]) == 2
    assert capsys.readouterr().err.startswith(f"error: credentials {tmp_path / 'operator' / CA_FILE}: cannot be read")
