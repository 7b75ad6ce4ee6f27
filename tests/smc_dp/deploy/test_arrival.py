"""What may arrive at a site follows from the parameters: nothing else is kept, and its sender alone is blamed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from support import sites
from support.corrupted import Corrupted, course, site_of
from support.sites import Sites, few_sums

from protocols.curator import CURATOR_NAME
from protocols.runtime import message, state
from protocols.runtime.envelope import STAGE_END, Envelope
from protocols.runtime.session import PUBLIC_NAME
from smc_dp.deploy.arrival import MOST_NOTICES, Arrivals, longest_frame
from smc_dp.deploy.frame import Frame

LONG = 1 << 20
STUDY = sites.joint(few_sums())


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sites]:
    """All parties have put in for the first sum, but for P1, which is about to and is corrupted."""
    found = Sites(STUDY, tmp_path_factory.mktemp("played"))
    yield found.run(until=lambda: found.facts("P2").get("stage") == "sum0")
    found.close()


def payload(who: Corrupted, kind: str, stage: str, more: int = 0) -> bytes:
    """So many bytes as a message of this kind has, and some more."""
    return bytes(message.size(who.session.kinds[kind], who.session.layout_in(stage)) + more)


def seal(to: str, kind: str, stage: str, more: int = 0) -> Callable[[Corrupted], object]:
    return lambda who: who.seal(to, kind, stage, payload(who, kind, stage, more))


def each(*acts: Callable[[Corrupted], object]) -> Callable[[Corrupted], object]:
    return lambda who: [act(who) for act in acts]


C = CURATOR_NAME
REFUSED: dict[str, tuple[Callable[[Corrupted], object], str, str]] = {
    "five overlong messages": (each(*[seal(C, "Masked", "sum0", LONG)] * 5), C, "arrival.too_long"),
    "more than the longest of its link": (
        lambda who: who.seal(C, "Unmask", "sum0", bytes(Arrivals(who.session).most_bytes("P1", C))),
        C,
        "arrival.too_long",
    ),
    "one byte too many": (seal(C, "Masked", "sum1", 1), C, "arrival.another_size"),
    "one byte too few": (seal(C, "Masked", "sum1", -1), C, "arrival.another_size"),
    "an unknown kind": (lambda who: who.seal(C, "Junk", "sum0", b"junk"), C, "arrival.not_declared"),
    "a kind without a route": (seal(C, "Survivors", "sum0"), C, "arrival.not_declared"),
    "a stage without this kind": (seal(C, "Masked", "setup"), C, "arrival.not_declared"),
    "a stage that is none": (lambda who: who.seal(C, "Masked", "sum99", b""), C, "arrival.not_declared"),
    "two of a kind": (each(seal(C, "Masked", "sum3"), seal(C, "Masked", "sum3")), C, "arrival.too_many_of_a_kind"),
    "an earlier stage": (each(seal(C, "Masked", "sum3"), seal(C, "Masked", "sum2")), C, "arrival.earlier_stage"),
    "a signed stage that is none": (lambda who: who.sign(STAGE_END, "sum99"), "P2", "arrival.not_declared"),
    "a signed stage twice": (lambda who: who.sign(STAGE_END, "setup"), "P2", "arrival.too_many_of_a_kind"),
    "a signed message too long": (lambda who: who.sign(STAGE_END, "sum0", bytes(LONG)), "P2", "arrival.too_long"),
}


@pytest.mark.parametrize("what", REFUSED)
def test_what_the_parameters_do_not_allow_is_refused_and_its_sender_is_blamed(what: str, run: Sites) -> None:
    act, reader, code = REFUSED[what]
    there = len(run.frames())
    act(Corrupted(run, "P1"))
    sent = run.frames()[there:]
    run.turn(reader)
    run.turn(reader) if reader not in run.ends else None
    assert run.ends.get(reader) == "aborted"
    assert run.facts(reader)["code"] == code
    assert run.facts(reader)["why"].startswith("P1: ")
    kept = [*(p.encode() for p in run.stores[reader].received()), *run.evidence(reader)]
    assert not [p for p in sent if p.encode() in kept and len(p.body) > LONG]
    run.begin(reader)
    run.run(until=lambda: reader in run.ends)
    assert run.ends[reader] == "aborted"


def test_every_message_of_whole_sessions_may_arrive_and_none_more(curator_run: Sites, sum_run: Sites) -> None:
    for whole, disputed in ((curator_run, 0), (sum_run, 4)):
        session = whole.study.session(sites.approvals(whole.study))
        limits = Arrivals(session)
        mail = [p for p in whole.frames() if p.lane == "envelope"]
        assert not [fault for p in mail if (fault := limits.too_much(p))]
        envelopes = [Envelope.decode(p.body) for p in mail]
        assert not [fault for e in envelopes if (fault := limits.unexpected(e) or limits.count(e))]
        last = {(e.sender, e.to): e for e in envelopes}
        for e, p in zip(last.values(), {(p.sender, p.to): p for p in mail}.values(), strict=True):
            assert limits.count(e), "one more of it"
            assert limits.too_much(replace(p, number=p.number + 1 + disputed)), "one more on the link"
            assert limits.too_much(replace(p, body=bytes(limits.most_bytes(e.sender, e.to) + 1)))
        assert max(len(p.encode()) for p in whole.frames()) <= longest_frame(whole.study)


@pytest.mark.parametrize(
    ("sender", "to", "number", "body", "code"),
    [
        ("P1", PUBLIC_NAME, 99, b"x", "envelope.malformed"),
        ("P2", "P3", 1 << 40, None, "arrival.too_many"),
        ("P2", C, 40, None, "arrival.too_many"),
    ],
)
def test_nobody_is_blamed_for_what_nobody_is_seen_to_have_made(
    sender: str, to: str, number: int, body: bytes | None, code: str, run: Sites
) -> None:
    session = site_of(run, C).session
    made = Envelope(session.id, sender, to, "Masked", "sum0", number, 1, bytes(32), b"x")
    run.relay.put(Frame(STUDY.digest, sender, to, "envelope", number, made.encode() if body is None else body))
    run.turn(C)
    run.turn(C) if C not in run.ends else None
    assert run.facts(C)["code"] == code
    assert not run.facts(C)["why"].startswith(f"{sender}:")


def test_before_the_session_nothing_overlong_is_kept_either(tmp_path: Path) -> None:
    run = Sites(STUDY, tmp_path)
    run.relay.put(Frame(STUDY.digest, "P1", "P2", "envelope", 0, bytes(LONG)))
    run.begin("P2")
    run.turn("P2")
    assert (run.ends["P2"], run.facts("P2")["code"]) == ("aborted", "arrival.too_long")
    assert run.stores["P2"].received() == []
    assert run.evidence("P2") == []


def test_status_messages_approvals_and_parts_of_a_record_are_bounded_too(run: Sites) -> None:
    who = Corrupted(run, "P1")
    before = len(run.stores["P2"].received())
    for number in range(100):
        who.say("aborted")
        who.say("refused", session=False)
        who.put(PUBLIC_NAME, "approval", number + 1, b"x")
        who.put(PUBLIC_NAME, "transcript", number, b"x")
        who.put("P2", "notice", number, b"x")
        who.put(PUBLIC_NAME, "notice", 1000 + number, bytes(1 << 19))
    for _ in range(4):
        run.turn("P2")
    assert "P2" not in run.ends
    assert len(run.stores["P2"].received()) - before <= MOST_NOTICES + 3
    limits, spoken = Arrivals(who.session), Frame(STUDY.digest, "P1", PUBLIC_NAME, "notice", 0, b"x")
    assert [limits.may_be_kept(replace(spoken, number=MOST_NOTICES - n)) for n in (1, 0)] == [True, False]
    assert not [p for p in run.stores["P2"].received() if len(p.body) > LONG]
    assert 0 < sum("P1" in line for line in run.said["P2"]) <= MOST_NOTICES + 3, "its owner's log is bounded, too"


def test_a_state_that_nobody_could_load_is_one_line(run: Sites, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(state, "MAX_STATE_BYTES", 2000)
    course(run, lambda: None)
    assert run.ends[C] == "aborted"
    assert run.facts(C)["code"] == "state.too_large"
    monkeypatch.undo()
    run.begin(C)
    run.run(until=lambda: C in run.ends)
    assert run.ends[C] == "aborted"
