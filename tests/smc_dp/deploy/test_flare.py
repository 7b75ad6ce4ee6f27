"""FLARE's carrier, its relay's desk and its kit, without FLARE: the way between them is a call of a function."""

from __future__ import annotations

import json
import threading
import time
import tomllib
from pathlib import Path

import pytest
import tomlkit
from support import studies
from support.flare_sites import text_of
from support.relays import PARTIES, joint_study

from protocols.curator import CURATOR_NAME
from smc_dp.core.errors import UnfitError
from smc_dp.deploy.fields import require_relay_host
from smc_dp.deploy.flare import templates
from smc_dp.deploy.flare.local import RelayPlace, site_files
from smc_dp.deploy.flare.provision import flare_names, provision_flare
from smc_dp.deploy.frame import CarrierError, Frame, Lane
from smc_dp.deploy.relay_carrier import RelayCarrier
from smc_dp.deploy.relay_service import RelayService
from smc_dp.deploy.relay_store import RelayStore
from smc_dp.deploy.relay_wire import BATCH_BYTES, FETCH, LAST, SEND, encode_parts
from smc_dp.deploy.study import JointStudy
from tests.support.refusals import refused

NORTH, SOUTH, WEST = PARTIES
STUDY = "ab" * 32
SITES = {"site-1": NORTH, "site-2": SOUTH, "site-3": WEST, "site-4": CURATOR_NAME}


def frame(to: str, number: int, body: bytes = b"sealed", lane: Lane = "envelope", sender: str = NORTH) -> Frame:
    return Frame(STUDY, sender, to, lane, number, body)


@pytest.fixture
def desk() -> RelayService:
    return RelayService(STUDY, RelayStore(), SITES)


def carrier(desk: RelayService, site: str) -> RelayCarrier:
    return RelayCarrier(lambda topic, request, seconds: desk.answer(site, topic, request))


def test_much_travels_in_heaps_and_nothing_is_lost(desk: RelayService) -> None:
    calls: list[str] = []

    def ask(topic: str, request: bytes, seconds: float) -> bytes:
        calls.append(topic)
        return desk.answer("site-1", topic, request)

    sent = [frame(SOUTH, n, bytes([n]) * (BATCH_BYTES // 2)) for n in range(3)] + [
        frame(SOUTH, n) for n in range(3, 60)
    ]
    RelayCarrier(ask).send(sent)
    assert calls == [SEND] * 3
    south, found = carrier(desk, "site-2"), []
    while came := south.fetch(0):
        assert sum(len(p.body) for p in came) <= BATCH_BYTES
        found += came
        south.taken(came)
    assert found == sent


def test_a_question_waits_no_longer_than_the_relay_is_open(desk: RelayService) -> None:
    timer = threading.Timer(0.05, desk.close)
    timer.start()
    began = time.monotonic()
    assert carrier(desk, "site-3").fetch(60) == []
    assert time.monotonic() - began < 4
    timer.join()


def test_a_question_waits_no_longer_than_the_relay_wants(desk: RelayService, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever the asker says: another program than this carrier may ask."""
    monkeypatch.setattr("smc_dp.deploy.relay_service.LONGEST_WAIT", 0.05)
    began = time.monotonic()
    assert desk.answer("site-3", FETCH, encode_parts([0, 10_000])) == encode_parts([])
    assert time.monotonic() - began < 4


HOSTILE: dict[str, tuple[str, str, bytes, str]] = {
    "nobody": ("site-9", FETCH, encode_parts([0, 0]), "relay.unknown_site"),
    "another sender": ("site-2", SEND, encode_parts([frame(WEST, 0).encode()]), "relay_frame.of_another"),
    "another study": (
        "site-1",
        SEND,
        encode_parts([Frame("cd" * 32, NORTH, WEST, "envelope", 0, b"").encode()]),
        "relay_frame.of_another",
    ),
    "no frame": ("site-1", SEND, encode_parts([b"x"]), "relay_frame.malformed"),
    "no CBOR": ("site-1", FETCH, b"\xff\x00", "relay.malformed_message"),
    "a long array": ("site-1", FETCH, encode_parts([0, 0, 0, 0]), "relay.malformed_message"),
    "true for a number": ("site-1", FETCH, encode_parts([True, 0]), "relay.malformed_message"),
    "a number too large": ("site-1", FETCH, encode_parts([1 << 63, 0]), "relay.malformed_message"),
    "a number below 0": ("site-1", FETCH, encode_parts([-1, 0]), "relay.malformed_message"),
    "no topic": ("site-1", "erase", b"", "relay.unknown_topic"),
    "no lane": ("site-1", LAST, encode_parts([WEST, "air"]), "relay.unknown_lane"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_what_a_site_may_not_ask_is_refused(desk: RelayService, name: str) -> None:
    site, topic, request, code = HOSTILE[name]
    with refused(code, error=CarrierError):
        desk.answer(site, topic, request)
    assert carrier(desk, "site-3").fetch(0) == []


@pytest.mark.parametrize("answer", [b"", encode_parts([1]), encode_parts([1, b"x"]), encode_parts([b"x", 1])])
def test_a_relay_that_answers_nonsense_is_a_carrier_error(answer: bytes) -> None:
    with pytest.raises(CarrierError):
        RelayCarrier(lambda topic, request, seconds: answer).fetch(0)


# The kit, and what its owners fill in.


@pytest.fixture(scope="module")
def study() -> JointStudy:
    return joint_study("flare://relay.example.org:8102")


@pytest.fixture(scope="module")
def kit(study: JointStudy, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("flare") / "kit"
    assert provision_flare(study, folder) == [folder / site for site in SITES]
    return folder


def test_a_job_holds_the_digest_and_sites_allow_one_class(kit: Path, study: JointStudy) -> None:
    client = json.loads((kit / "job/app/config/config_fed_client.json").read_text())
    (executor,) = client["executors"]
    assert executor["executor"] == {"path": templates.EXECUTOR, "args": {"study": study.digest}}
    assert json.loads((kit / "job/meta.json").read_text())["min_clients"] == len(SITES)
    for who, allowed in (*((site, templates.EXECUTOR) for site in SITES), ("relay", templates.CONTROLLER)):
        resources = json.loads((kit / who / "local/resources.json").read_text())
        assert (resources["class_list_enforcement_mode"], resources["class_allow_list"]) == ("enforce", [allowed])
        assert resources.get("allow_log_streaming") is (None if who == "relay" else False)
        rights = json.loads((kit / who / "local/authorization.json").read_text())["permissions"]
        assert (
            {role["byoc"] for role in rights.values()}
            == {role["shell_commands"] for role in rights.values()}
            == {"none"}
        )
        assert [name for name, role in rights.items() if role["submit_job"] != "none"] == ["lead"]
    project = json.loads((kit / "project.yml").read_text())
    assert [p["name"] for p in project["participants"]] == ["relay.example.org", *SITES, templates.LEAD]
    assert all(study.digest in text and f"site-2    {SOUTH}" in text for text in [(kit / "README.txt").read_text()])
    with refused("kit.exists"):
        provision_flare(study, kit)
    with refused("relay.of_another_carrier"):
        provision_flare(joint_study("nats://relay.example"), kit / "other")


def test_a_job_starts_without_whom_the_protocol_can_lose_and_never_without_charlie() -> None:
    sums = studies.SUMS.replace("colluders = 1", "colluders = 0").replace("dropouts = 0", "dropouts = 1")
    found = studies.study(studies.text(protocol=sums))
    meta = json.loads(templates.meta(found, flare_names(found)))
    assert (meta["min_clients"], meta["mandatory_clients"]) == (len(found.names) - 1, ["site-4"])


def test_the_classes_that_the_kit_names_are_there() -> None:
    """By their sources: FLARE, which they need, is not in this environment."""
    root = Path(__file__).resolve().parents[3]
    for path in (templates.EXECUTOR, templates.CONTROLLER):
        module, _, name = path.rpartition(".")
        assert f"class {name}(" in (root / f"{module.replace('.', '/')}.py").read_text()


def test_a_site_and_the_server_read_what_they_wrote(kit: Path, study: JointStudy) -> None:
    relay = RelayPlace.read(kit / "relay/local", study.digest)
    assert relay.sites == flare_names(study) == SITES
    assert relay.rest == 2 * study.deadlines.messages
    assert relay.store_folder == kit / "relay/local/smc_dp" / study.digest / "frames"
    own = kit / "site-2/local/smc_dp" / study.digest
    (own / "study.toml").write_text(tomlkit.dumps(study.model_dump(by_alias=True, exclude_none=True)))
    study_file, files = site_files(kit / "site-2/local", study.digest, "site-2")
    assert study_file == own / "study.toml"
    assert (files.key, files.policy, files.ledger) == (own / f"{SOUTH}.key", own / "own.toml", own / f"{SOUTH}.ledger")
    charlie = tomllib.loads((kit / f"site-4/local/smc_dp/{study.digest}/site-4.toml").read_text())
    assert {"policy", "ledger", "data"}.isdisjoint(charlie)


def test_a_job_for_another_study_or_site_is_refused(study: JointStudy, tmp_path: Path) -> None:
    provision_flare(study, kit := tmp_path / "kit")
    local = kit / "site-2/local"
    own = local / "smc_dp" / study.digest
    changed = text_of(study, 61)
    refusals: dict[str, tuple[str, str]] = {
        "cd" * 32: ("site-2", "job.unknown_study"),
        "../../../etc": ("site-2", "job.no_study"),
        study.digest.upper(): ("site-2", "job.no_study"),
        study.digest: ("../site-2", "flare.no_names"),
    }
    for digest, (site, code) in refusals.items():
        with refused(code):
            site_files(local, digest, site)
    with refused("file.unreadable", at="site-1.toml"):
        site_files(local, study.digest, "site-1")
    with refused("file.unreadable", at="study.toml"):  # not there yet
        site_files(local, study.digest, "site-2")
    (own / "study.toml").write_text(changed)
    with refused("job.other_study"):
        site_files(local, study.digest, "site-2")
    (own / "site-2.toml").write_text('study = "study.toml"\nkey = "k"\nstate = "s"\ncode = "evil"\n')
    with refused("document.unknown_key", key="'code'"):
        site_files(local, study.digest, "site-2")


@pytest.mark.parametrize(
    ("old", "new", "code"),
    [
        ('"north"', '"charlie"', "flare.name_twice"),
        ("site-1", '"a.b"', "flare.no_names"),
        ('"28d"', '"soon"', "deadline.no_duration"),
        ('folder = "frames"', "folder = 3", "document.wrong_value"),
    ],
)
def test_a_relay_file_of_other_things_is_refused(
    kit: Path, study: JointStudy, tmp_path: Path, old: str, new: str, code: str
) -> None:
    own = tmp_path / "smc_dp" / study.digest
    own.mkdir(parents=True)
    (own / "relay.toml").write_text(templates.relay_settings_toml(study, SITES).replace(old, new))
    with refused(code, error=UnfitError):
        RelayPlace.read(tmp_path, study.digest)


@pytest.mark.parametrize("relay", ["nats://a:1", "flare://", "flare://a:b", "flare://a/b", "flare://u@a", "a:8002"])
def test_a_relay_that_is_not_flares_makes_no_kit(relay: str) -> None:
    with refused("relay.of_another_carrier", wanted="flare://relay.example.org:8002"):
        require_relay_host(relay, ("flare",), 8002)
    assert require_relay_host("flare://relay.example.org", ("flare",), 8002) == ("relay.example.org", 8002)
