"""Only what a role consumes is progress: whatever corrupted participants send, every site ends in bounded time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from support import sites
from support.corrupted import ROUND, Corrupted, anything, course, patience, site_of
from support.sites import GREETINGS, LINEAR, MESSAGES, PRR_MEAN, PromptCarrier, Sites, few_sums, newton

from protocols.arithmetic.rng import Stream
from protocols.curator import CURATOR_NAME
from protocols.runtime.envelope import STAGE_END
from smc_dp.deploy.frame import CarrierError, Frame
from smc_dp.deploy.session_driver import SessionDriver
from smc_dp.deploy.status import erase_missed
from tests.smc_dp.deploy.test_kills import Killed

STUDIES: Mapping[str, Mapping[str, Any]] = {
    "pathak2010": PRR_MEAN,
    "linear": LINEAR,
    "sum without drop-outs": few_sums(colluders=1, dropouts=0),
}


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sites]:
    """The run of four parties as far as that P1 is in the first sum."""
    run = Sites(sites.joint(newton(dropouts=1), 4), tmp_path_factory.mktemp("played"))
    yield run.run(until=lambda: run.facts("P1").get("stage") == "sum0")
    run.close()


@pytest.mark.parametrize("gone", [("P2", "P3"), (CURATOR_NAME,)])
def test_status_messages_of_those_who_end_first_start_no_clock_again(gone: tuple[str, ...], run: Sites) -> None:
    run.away.update(gone)
    found = course(run, lambda: None)
    assert not found.late(run)
    assert max(found.ended.values()) <= patience("P1") + 3 * ROUND


@pytest.mark.parametrize("start", ["slow", "again"])
def test_junk_in_each_look_from_the_start_does_not_make_a_holder_late(start: str, tmp_path: Path) -> None:
    """P4 is silent and P2 sends junk: P1 and P3 accuse P4 after one deadline, before Charlie would give them up. P1
    gets the last approval and all greetings with one look, after the others have waited half a deadline for what it
    has seen of their ledgers, or is started again between them.
    """
    run = Sites(sites.joint(newton(dropouts=1), 4), tmp_path)
    if start == "slow":
        run.away.update({"P1", "P4"})
        run.run(until=lambda: sum(frame.lane == "approval" for frame in run.frames()) == 3)
        run.begin("P1")
        run.turn("P1")
        run.away.discard("P4")
        run.run(until=lambda: sum(frame.lane == "envelope" for frame in run.frames()) == 4)
        run.away.clear()
    else:
        run.run(until=lambda: "P1" in run.stores and run.stores["P1"].newest() is not None)
        run.begin("P1")
    run.run(until=lambda: run.facts("P1").get("stage") == "setup")
    corrupted, stages = Corrupted(run, "P2"), iter(["setup", *(f"sum{r}" for r in range(8))])
    run.away.add("P4")
    began = run.clock.now - sites.NOON
    found = course(run, lambda: (stage := next(stages, None)) and corrupted.sign(STAGE_END, stage))
    assert {found.consumed[name] for name in ("P1", "P3")} == {began + MESSAGES + ROUND - MESSAGES % ROUND}
    assert {mark.sender for mark in site_of(run, CURATOR_NAME).actor.marks} == {"P2", "P4"}


def test_junk_in_each_look_does_not_put_off_a_deadline_of_charlie_who_begins_last(tmp_path: Path) -> None:
    """P4 is silent, P2 and P3 send junk. Charlie gets the last approval and all greetings with one look."""
    run = Sites(sites.joint(newton(dropouts=1), 4), tmp_path)
    run.away.update({CURATOR_NAME, "P4"})
    run.run(until=lambda: sum(frame.lane == "approval" for frame in run.frames()) == 3)
    run.begin(CURATOR_NAME)
    run.turn(CURATOR_NAME)
    run.away.discard("P4")
    run.run(until=lambda: sum(frame.lane == "envelope" for frame in run.frames()) == 4)
    run.away.clear()
    run.run(until=lambda: bool(run.facts(CURATOR_NAME).get("session")))
    stages = ["setup", *(f"sum{r}" for r in range(8))]
    signed = product([Corrupted(run, name) for name in ("P2", "P3")], stages)
    run.away.add("P4")
    found = course(run, lambda: (junk := next(signed, None)) and junk[0].sign(STAGE_END, junk[1]))
    assert not found.late(run)


@pytest.mark.parametrize(
    ("parties", "corrupted", "stage"),
    [
        (4, ("P1",), "setup"),
        (4, (CURATOR_NAME,), "sum1"),
        *(
            pytest.param(*case, marks=pytest.mark.slow)
            for case in (
                *((4, ("P1",), "sum1"), (10, ("P1", "P2", "P3"), "setup"), (10, ("P9", CURATOR_NAME), "sum1")),
                (16, ("P1", "P2", "P3", "P4", "P5"), "setup"),
            )
        ),
    ],
)
def test_whatever_is_sent_every_site_ends_in_time(
    parties: int, corrupted: tuple[str, ...], stage: str, tmp_path: Path
) -> None:
    run = Sites(sites.joint(newton(colluders=len(corrupted), dropouts=1), parties), tmp_path)
    honest = next(name for name in run.study.parties if name not in corrupted)
    run.run(until=lambda: run.facts(honest).get("stage") == stage)
    act_and_end(run, corrupted, Stream.insecure_from_seed(f"{parties} {corrupted} {stage}"), silent=stage == "sum1")


OF_EVERY_PROGRAM = [
    *(("pathak2010", (), 1), ("pathak2010", ("P2", CURATOR_NAME), 4), ("linear", ("P1",), 1)),
    *(("linear", (CURATOR_NAME,), 4), ("sum without drop-outs", ("P2", CURATOR_NAME), 1)),
    ("sum without drop-outs", (), 4),
]


@pytest.mark.parametrize(("stated", "corrupted", "read"), OF_EVERY_PROGRAM)
def test_sites_of_every_program_end_in_time(stated: str, corrupted: tuple[str, ...], read: int, tmp_path: Path) -> None:
    """Where no party may be lost, too: the last party, or a corrupted one, falls silent, or sends what it likes."""
    run = Sites(sites.joint(STUDIES[stated], 4), tmp_path)
    honest = next(name for name in run.study.parties if name not in corrupted)
    run.run(until=lambda: run.facts(honest).get("read", 0) >= read)
    act_and_end(run, corrupted, Stream.insecure_from_seed(f"{stated} {corrupted} {read}"), silent=not corrupted)


def act_and_end(run: Sites, corrupted: tuple[str, ...], draws: Stream, *, silent: bool) -> None:
    """From here on the corrupted ones send anything, and the last party is silent, or not; every other site ends."""
    takers = [Corrupted(run, name) for name in corrupted]
    run.away.update({run.study.parties[-1]} if silent else set())

    def act() -> None:
        for who in takers:
            anything(who, draws)

    found = course(run, act)
    assert not found.late(run), (found, found.late(run))


def test_all_approvals_are_waited_for_as_long_as_one(tmp_path: Path) -> None:
    """An approval that comes shortly before the deadline does not postpone it."""
    run = Sites(sites.joint(newton(dropouts=1), 4), tmp_path)
    run.begin("P1")
    run.away.update({"P2", "P3", "P4", CURATOR_NAME})
    rounds = iter(["", "", "P2", "", "", "", "P3"] + [""] * 9)
    course(run, lambda: run.begin(name) if (name := next(rounds)) else None)
    assert run.facts("P1")["code"] == "approvals.deadline"
    assert run.clock.now - sites.NOON <= GREETINGS + 2 * ROUND


def test_what_is_consumed_after_a_restart_is_progress_too(run: Sites) -> None:
    before = site_of(run, "P1").consumed
    run.begin("P1")
    run.turn("P1")
    assert site_of(run, "P1").consumed == before, "what is read again while a stage is run again is not counted twice"
    since = run.facts("P1")["since"]
    run.clock.now += 1
    run.run(until=lambda: run.facts("P1")["stage"] == "sum1")
    assert run.facts("P1")["since"] > since


def test_a_deadline_survives_a_restart_and_stands_still_without_the_relay(
    run: Sites, monkeypatch: pytest.MonkeyPatch
) -> None:
    run.away.update({"P2", "P3", "P4", CURATOR_NAME})
    run.turn("P1")
    since = run.facts("P1")["since"]
    run.clock.now += MESSAGES
    run.begin("P1")
    run.turn("P1")
    assert run.facts("P1")["since"] == since, "a restart is no progress"
    send, out = SessionDriver._exchange, run.clock.now + 1000

    def unreachable(self: SessionDriver, left: float) -> object:
        def ask() -> None:
            if run.clock.now < out:
                raise CarrierError("relay.unreachable")

        self._reached(ask)
        return send(self, left)

    monkeypatch.setattr(SessionDriver, "_exchange", unreachable)
    run.turn("P1")
    assert run.facts("P1")["since"] >= since + 1000
    assert "P1" not in run.ends
    monkeypatch.undo()
    course(run, lambda: None)
    assert run.clock.now - sites.NOON <= patience("P1") + 1000 + 6 * ROUND


def test_time_counts_again_for_a_program_that_was_killed_while_its_relay_was_away(
    run: Sites, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What it tried for does not count, what it was dead for does; the first command after that needs no relay."""
    run.turn("P1")
    killed = run.clock.now + 10 * patience("P1")

    def unreachable(self: PromptCarrier, seconds: float) -> list[Frame]:
        if run.clock.now >= killed:
            raise Killed
        raise CarrierError("relay.not_reached", why="it is away", hint="")

    monkeypatch.setattr(PromptCarrier, "fetch", unreachable)
    with pytest.raises(Killed):
        run.turn("P1")
    run.stop("P1")
    state, counters = run.at["P1"].folder / "state", run.at["P1"].folder / "counters"
    for passed, end in ((patience("P1") - 2 * ROUND, None), (patience("P1") + ROUND, "deadline")):
        assert erase_missed(run.study, state, counters, killed + passed).end == end


class StatusFirstCarrier(PromptCarrier):
    """Brings status messages at once, and all else so many looks later."""

    looks = 3

    def fetch(self, seconds: float) -> list[Frame]:
        self._waited: dict[bytes, int] = getattr(self, "_waited", {})
        found = super().fetch(seconds)
        for frame in found:
            self._waited[frame.digest] = self._waited.get(frame.digest, 0) + 1
        return [p for p in found if p.lane == "notice" or self._waited[p.digest] > self.looks]

    def taken(self, frames: Sequence[Frame]) -> None:
        """Everything is brought again and again."""


def test_a_sum_that_is_given_up_is_charged_to_nobody(tmp_path: Path) -> None:
    """Two of five masked inputs come too late, so Charlie has it signed that the sum is nobody's, and stops: long
    before the certificate comes his word that the session is over.
    """
    run = Sites(sites.joint(newton(colluders=0, dropouts=1), 5), tmp_path)
    run.run(until=lambda: run.facts("P1").get("stage") == "sum0")
    run.away.update({"P4", "P5"})
    run.run(until=lambda: bool(site_of(run, CURATOR_NAME).marks))
    run.away.discard("P4")
    for name in ("P1", "P2", "P3", "P4"):
        run.going[name]._carrier = StatusFirstCarrier(run.relay, name, run.study.digest)
    run.run()
    assert run.ends == {**dict.fromkeys(("P1", "P2", "P3", "P4"), "ended"), CURATOR_NAME: "aborted"}
    assert run.facts("P4")["left"] == ["sum 0"]
    assert [run.at[name].entries() for name in ("P1", "P2", "P3", "P4")] == [["refunded"]] * 4


class OneByOneCarrier(StatusFirstCarrier):
    """Brings status messages at once, and of all else one in each look."""

    def fetch(self, seconds: float) -> list[Frame]:
        taken = self.__dict__.setdefault("_taken", set())
        found = [p for p in PromptCarrier.fetch(self, seconds) if p.digest not in taken]
        return [p for p in found if p.lane == "notice"] + [p for p in found if p.lane != "notice"][:1]

    def taken(self, frames: Sequence[Frame]) -> None:
        self._taken.update(frame.digest for frame in frames)


def test_a_program_that_was_suspended_reads_all_that_was_sent_before_the_session_ended(tmp_path: Path) -> None:
    """P1 wakes up after its deadline: first an empty list comes, and then the certificate that voids its charge."""
    run = Sites(sites.joint(newton(colluders=0, dropouts=1), 7), tmp_path)
    run.run(until=lambda: run.facts("P1").get("stage") == "sum0")
    run.away.update({"P6", "P7"})
    run.run(until=lambda: bool(site_of(run, CURATOR_NAME).marks))
    run.away.add("P1")
    run.run()
    run.clock.now += 2 * patience("P1")
    run.away.discard("P1")
    place = run.going["P1"]._carrier._at
    run.going["P1"]._carrier = OneByOneCarrier(run.relay, "P1", run.study.digest)
    run.going["P1"]._carrier._at = place
    run.run()
    assert run.ends["P1"] == "ended"
    assert run.at["P1"].entries() == ["refunded"]


def counted(run: Sites, name: str) -> Counter[str]:
    """How many messages this participant has sent to whom."""
    return Counter(frame.to for frame in run.frames() if (frame.sender, frame.lane) == (name, "envelope"))


def test_nothing_new_leaves_once_somebody_has_ended_the_session(run: Sites) -> None:
    """P1 reads the result that Charlie had sent before he ended the session, and its next input does not leave."""
    run.run(until=lambda: run.facts(CURATOR_NAME)["stage"] == "sum1")
    run.turn(CURATOR_NAME)
    charlie = Corrupted(run, CURATOR_NAME)
    charlie.say("aborted", sent=counted(run, CURATOR_NAME))
    before = len(run.frames())
    run.turn("P1")
    assert run.facts("P1")["end"] == "ended"
    assert run.facts("P1")["left"] == ["sum 0"]
    assert len(run.frames()) == before


def test_a_status_message_that_promises_more_than_comes_is_believed_at_the_deadline(run: Sites) -> None:
    """That he said before that he was done does not keep Charlie from ending the session."""
    charlie = Corrupted(run, CURATOR_NAME)
    charlie.say("done")
    charlie.say("aborted", sent={"P1": 1 << 30})
    found = course(run, lambda: None)
    assert run.ends["P1"] == "ended"
    assert found.ended["P2"] < patience("P2") < found.ended["P1"]
    assert not found.late(run)


def test_a_word_that_ends_the_session_cannot_be_taken_back(run: Sites) -> None:
    """Who has heard it sends nothing more, and would wait for ever for the one that said it."""
    charlie = Corrupted(run, CURATOR_NAME)
    charlie.say("aborted", sent={"P1": 1 << 30})
    run.turn("P1")
    charlie.say("done")
    found = course(run, lambda: None, rounds=200)
    assert run.ends["P1"] == "ended"
    assert not found.late(run)
