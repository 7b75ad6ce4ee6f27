"""Sites exchange the head of a transcript after the release, and nothing that fails there takes the release away."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from unittest.mock import Mock

import pytest
from support import sites
from support.hubs import At, HubCarrier, body
from support.relay_carriers import PassingCarrier
from support.sites import LINEAR, MESSAGES, Sites

from protocols.curator import CURATOR_NAME
from protocols.runtime.session import PUBLIC_NAME
from smc_dp.core.errors import InputFault
from smc_dp.deploy.frame import CarrierError, Frame
from smc_dp.deploy.ledger_heads import MOST_HEAD_BYTES, may_carry, own_witness
from smc_dp.deploy.store import StoreError
from smc_dp.run.cosigned_transcript import CosignedTranscript
from smc_dp.run.release import COSIGNED
from tests.smc_dp.run.test_cosigned_transcript import outcome
from tests.support.refusals import refused

STUDY = sites.joint(LINEAR)
CURATOR = sites.identity(CURATOR_NAME)
SESSION = bytes(range(32))
HEAD, COSIGNED_BY_P1 = At(CURATOR_NAME, PUBLIC_NAME, "head", 0), At("P1", CURATOR_NAME, "cosigned", 0)


def of_another_transcript(body: bytes) -> bytes:
    signed = CosignedTranscript.read(body).head
    session = bytes.fromhex(signed.text.split("\n")[0].partition("/")[2])
    return CosignedTranscript.sign(session, b"other\n", CURATOR).encode()


@pytest.mark.parametrize("make", [of_another_transcript, lambda content: b"nothing"])
def test_a_party_does_not_cosign_another_head_and_has_its_release(
    make: Callable[[bytes], bytes], tmp_path: Path
) -> None:
    run = Sites(STUDY, tmp_path, between=lambda name, way: HubCarrier(way, HEAD.becomes(body(make)))).run()
    assert set(run.ends.values()) == {"released"}
    assert not any(frame.lane == "cosigned" and frame.to == CURATOR_NAME for frame in run.frames())
    assert all((here.folder / "run" / COSIGNED).exists() == (name == CURATOR_NAME) for name, here in run.at.items())
    assert "did not cosign" in " ".join(run.said["P1"])
    assert outcome(run.at[CURATOR_NAME].folder / "run").code == "cosigned.by_nobody"


def test_a_false_cosignature_counts_for_nobody_and_is_waited_for_one_deadline(tmp_path: Path) -> None:
    def of_p2(frame: Frame) -> Frame:
        found = CosignedTranscript.read(frame.body)
        with own_witness(tmp_path / "P2" / "counters", sites.identity("P2").public, lambda: 1.0) as witness:
            return replace(frame, body=found.stating(SESSION, witness.key, sites.identity("P2")).encode()[:-90] + b"\n")

    run = Sites(STUDY, tmp_path, between=lambda name, way: HubCarrier(way, COSIGNED_BY_P1.becomes(of_p2))).run()
    assert outcome(run.at[CURATOR_NAME].folder / "run").fault.fields["names"] == ("P2", "P3")


def test_the_curator_waits_for_one_deadline_and_no_longer_and_comes_back_for_what_came_late(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its store has the transcript and all messages of the session: it is read once for all looks."""
    run = Sites(STUDY, tmp_path)
    run.run(until=lambda: run.ends.get("P1") == "released")
    run.away = {"P2", "P3"}
    run.run(until=lambda: run.facts(CURATOR_NAME).get("end") == "released")
    store, before = run.stores[CURATOR_NAME], run.clock.now
    reads = {name: Mock(wraps=getattr(store, name)) for name in ("received", "outgoing")}
    for name, read in reads.items():
        monkeypatch.setattr(store, name, read)
    run.run()
    assert MESSAGES < run.clock.now - before < 2 * MESSAGES
    assert all(sum(not asked.kwargs for asked in read.mock_calls) <= 1 for read in reads.values())  # of all frames
    folder = run.at[CURATOR_NAME].folder / "run"
    assert (run.ends[CURATOR_NAME], outcome(folder).fault.fields["names"]) == ("released", ("P1",))
    run.away = set()
    run.run()
    run.begin(CURATOR_NAME)
    run.run()
    assert outcome(folder).fault.fields["names"] == STUDY.parties


def test_a_clock_that_was_set_back_after_the_release_keeps_nobody(tmp_path: Path) -> None:
    run = Sites(STUDY, tmp_path)
    run.run(until=lambda: run.ends.get("P1") == "released")
    run.away = {"P2", "P3"}
    run.run(until=lambda: run.facts(CURATOR_NAME).get("end") == "released")
    run.clock.now = before = run.clock.now - 1e6
    run.run()
    assert run.ends[CURATOR_NAME] == "released"
    assert run.clock.now - before < MESSAGES
    assert (run.at[CURATOR_NAME].folder / "run" / COSIGNED).exists()


def is_over(run: Sites) -> bool:
    return run.facts(CURATOR_NAME).get("end") == "released"


def is_handed_over(run: Sites) -> bool:
    return any(frame.lane == "transcript" for frame in run.frames())


@pytest.mark.parametrize(
    ("read", "since"), [("received", is_over), ("outgoing", is_handed_over), ("facts", is_handed_over)]
)
def test_a_store_that_fails_after_the_release_is_reported_and_the_release_stands(
    read: str, since: Callable[[Sites], bool], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = Sites(STUDY, tmp_path)
    run.run(until=lambda: since(run))
    monkeypatch.setattr(run.stores[CURATOR_NAME], read, Mock(side_effect=StoreError("state.in_use")))
    run.run()
    assert run.ends == dict.fromkeys(STUDY.names, "released")
    assert str(InputFault("state.in_use")) in run.said[CURATOR_NAME]


@pytest.mark.parametrize("read", ["outgoing", "facts"])
def test_a_curator_whose_store_fails_before_the_transcript_is_handed_over_is_told_to_come_back(
    read: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = Sites(STUDY, tmp_path)
    run.run(until=lambda: is_over(run))
    assert not is_handed_over(run)
    with monkeypatch.context() as patch, refused("record.not_handed_over", error=StoreError):
        patch.setattr(run.stores[CURATOR_NAME], read, Mock(side_effect=StoreError("state.in_use")))
        run.run()
    run.begin(CURATOR_NAME)
    assert run.run().ends == dict.fromkeys(STUDY.names, "released")


class Contradicting(PassingCarrier):
    """A relay that hands over each frame twice, and beside each cosignature another frame and one that nobody sends."""

    def fetch(self, seconds: float) -> list[Frame]:
        found = self.inner.fetch(seconds)
        made = [replace(p, body=b"y") for p in found if p.lane == "cosigned"]
        return [*found, *found, *made, *(replace(p, number=1) for p in made), *(replace(p, to="P3") for p in made)]


def test_frames_that_repeat_or_contradict_each_other_do_not_keep_the_curator_from_its_end(tmp_path: Path) -> None:
    run = Sites(
        STUDY, tmp_path, between=lambda name, inner: Contradicting(inner) if name == CURATOR_NAME else inner
    ).run()
    assert set(run.ends.values()) == {"released"}
    assert outcome(run.at[CURATOR_NAME].folder / "run").fault.fields["names"] == STUDY.parties


def test_a_head_that_the_curator_has_not_is_not_answered(tmp_path: Path) -> None:
    """The answer would have the key of the cosignature under the transcript."""
    run = Sites(STUDY, tmp_path)
    run.relay.put(Frame(STUDY.digest, CURATOR_NAME, "P1", "head", 0, b"x"))
    run.run()
    assert set(run.ends.values()) == {"released"}
    assert outcome(run.at[CURATOR_NAME].folder / "run").fault.fields["names"] == STUDY.parties


@pytest.mark.parametrize("back", [0.0, 1e6])
def test_a_relay_that_is_gone_after_the_release_keeps_nobody_for_longer_than_a_deadline(
    back: float, tmp_path: Path
) -> None:
    tries: list[Sequence[Frame]] = []

    class Gone(PassingCarrier):
        def send(self, frames: Sequence[Frame]) -> None:
            if any((p.lane, p.to) == ("cosigned", CURATOR_NAME) for p in frames):
                tries.append(frames)
                run.clock.now -= back if len(tries) == 2 else 0.0
                assert len(tries) < 1000, "it tries without end"
                raise CarrierError("relay.gone")
            self.inner.send(frames)

    run = Sites(STUDY, tmp_path, between=lambda name, inner: Gone(inner) if name == "P1" else inner)
    before = run.clock.now
    run.run()
    assert set(run.ends.values()) == {"released"}
    assert back or MESSAGES < run.clock.now - before < 4 * MESSAGES


def test_a_party_whose_witness_is_unusable_has_its_release(tmp_path: Path) -> None:
    run = Sites(STUDY, tmp_path)
    run.run(until=lambda: (run.at[CURATOR_NAME].folder / "run").exists())
    next((tmp_path / "P1" / "counters").glob("*.witness")).write_bytes(b"junk" * 1000)
    run.run()
    assert set(run.ends.values()) == {"released"}
    assert "did not cosign" in " ".join(run.said["P1"])


def test_frames_of_the_head_of_a_transcript_go_from_the_curator_to_all_and_back() -> None:
    def fits(sender: str, to: str, number: int = 0, size: int = 1) -> bool:
        lane = "head" if to == PUBLIC_NAME else "cosigned"
        return may_carry(STUDY.names, Frame("a" * 64, sender, to, lane, number, bytes(size)))  # type: ignore[arg-type]

    assert fits(CURATOR_NAME, PUBLIC_NAME)
    assert fits("P1", CURATOR_NAME)
    assert not fits("P1", PUBLIC_NAME)
    assert not fits("P4", CURATOR_NAME)
    assert not fits("P1", CURATOR_NAME, 1)
    # The curator is a witness, and has no ledger.
    assert may_carry(STUDY.names, Frame("a" * 64, CURATOR_NAME, "P1", "seen", 0, b"x"))
    assert not may_carry(STUDY.names, Frame("a" * 64, CURATOR_NAME, "P1", "head", 0, b"x"))
    assert not may_carry(STUDY.names, Frame("a" * 64, "P1", CURATOR_NAME, "seen", 0, b"x"))
    assert not fits(CURATOR_NAME, PUBLIC_NAME, 1)
    assert not fits(CURATOR_NAME, PUBLIC_NAME, size=MOST_HEAD_BYTES + 1)
