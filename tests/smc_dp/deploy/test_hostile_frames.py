"""What a hostile relay, or a participant, can put in the way: a session may stop, and that is all."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from support import sites
from support.sites import MESSAGES, Sites

from protocols.runtime.session import PUBLIC_NAME
from smc_dp.deploy.frame import Frame, Lane
from smc_dp.deploy.store import StoreError
from smc_dp.run.status_message import Code, Notice
from tests.support.refusals import refused

_LAST_WORDS: tuple[Code, ...] = ("done", "aborted")


@pytest.fixture(scope="module")
def greeted(curator_run: Sites, fast_folder: Path) -> Iterator[Sites]:
    run = Sites(curator_run.study, Path(tempfile.mkdtemp(dir=fast_folder)))
    yield run.run(until=lambda: run.facts("P1").get("stage") not in (None, "", "approvals", "setup"))
    run.close()


@pytest.fixture
def under_way(greeted: Sites, fast_path: Path) -> Iterator[Sites]:
    """All have greeted, and P1 waits for letters."""
    run = greeted.again(fast_path / "run")
    yield run
    run.close()


def notice(
    run: Sites, name: str, code: Code, number: int = 0, lane: Lane = "notice", session: bytes | None = None
) -> Frame:
    site = run.going["P1"]._site
    assert site is not None
    said = Notice.made(
        run.study.digest, site.session.id if session is None else session, name, code, b"", sites.identity(name)
    )
    return Frame(run.study.digest, name, PUBLIC_NAME, lane, number, said.encode())


def of_another_session(run: Sites) -> Frame:
    return notice(run, "P2", "aborted", 7, session=bytes(32))


def in_another_lane(run: Sites) -> Frame:
    return notice(run, "P2", "refused", lane="refusal", session=b"")


def another_approval(run: Sites) -> Frame:
    body = sites.approval(run.study, "P2", "again").encode()
    return Frame(run.study.digest, "P2", PUBLIC_NAME, "approval", 1, body)


@pytest.mark.parametrize("made", [of_another_session, in_another_lane, another_approval])
def test_what_says_nothing_of_this_session_changes_nothing(
    made: Callable[[Sites], Frame], curator_run: Sites, under_way: Sites
) -> None:
    run = under_way
    run.relay.put(made(run))
    run.run(until=lambda: run.facts("P1").get("done", False))
    run.begin("P1")  # reads all of it once more
    run.run()
    assert sites.ends(run) == ["released"] * 4
    assert run.releases() == curator_run.releases()


@pytest.mark.parametrize("name", ["P2", "P3"])
def test_an_approval_that_another_key_signed_or_that_came_as_anothers_makes_no_session(
    name: str, curator_run: Sites, fast_path: Path
) -> None:
    run = Sites(curator_run.study, fast_path)
    body = sites.approval(run.study, name).encode()
    if name == "P2":
        given = sites.approval(run.study, "P2")
        body = given.model_copy(update={"signature": sites.approval(run.study, "P3").signature}).encode()
    run.relay.put(Frame(run.study.digest, "P2", PUBLIC_NAME, "approval", 0, body))
    run.away = {"P2"}
    run.run(until=lambda: "P1" in run.ends)
    assert (run.ends["P1"], run.at["P1"].entries()) == ("aborted", [])
    assert run.facts("P1")["code"] == ("approval.not_signed" if name == "P2" else "approval.other_sender")
    run.close()


@pytest.mark.parametrize(
    ("sender", "to", "lane", "code"),
    [
        ("P1", "P2", "envelope", "parcel.not_from_here"),
        ("P2", "P3", "notice", "parcel.not_for_us"),
        ("P9", PUBLIC_NAME, "notice", "parcel.of_nobody"),
    ],
)
def test_what_no_relay_should_bring_ends_the_session_and_blames_nobody(
    sender: str, to: str, lane: Lane, code: str, under_way: Sites
) -> None:
    run = under_way
    name = "P1" if sender == "P1" else "charlie"
    site = run.going[name]._site
    assert site is not None
    frame = Frame(run.study.digest, sender, to, lane, 99, b"anything")
    site.step([frame])
    assert site.end == "aborted"
    assert run.facts(name)["code"] == code
    assert "somebody" in run.facts(name)["why"]
    assert run.evidence(name) == [frame.encode()]


def test_both_of_two_frames_under_one_key_are_kept(under_way: Sites) -> None:
    run = under_way
    site = run.going["P1"]._site
    assert site is not None
    known = next(p for p in run.stores["P1"].received() if p.lane == "envelope")
    other = Frame(known.study, known.sender, known.to, known.lane, known.number, b"another")
    site.step([other])
    assert site.end == "aborted"
    assert known in run.stores["P1"].received()
    assert run.evidence("P1") == [other.encode()]


def test_a_party_that_is_done_ends_nothing_and_charlie_does(under_way: Sites) -> None:
    run = under_way
    going = run.going["P1"]
    for name in ("P2", "charlie"):
        for number, code in enumerate(_LAST_WORDS):
            body, public = notice(run, name, code).body, sites.identity(name).public
            going._note(number, Notice.read(body, run.study.digest, name, public))
    assert {name: said.code for name, said in going.notices.items()} == {"P2": "done", "charlie": "aborted"}


def test_a_clock_that_was_set_back_sends_nothing(under_way: Sites) -> None:
    run = under_way
    run.clock.now -= 3600
    with refused("clock.set_back", error=StoreError):
        run.going["P1"]._is_late(MESSAGES)


def silent_but_talking(run: Sites) -> float:
    """P2 sends no letter and a refusal at each turn of the others: for how long they go on waiting."""
    run.away.add("P2")
    since = run.clock.now
    for number in range(20):
        for name in {"P1", "P3", "charlie"} - run.ends.keys():
            run.turn(name)
        run.clock.now += MESSAGES * 2 / 3
        run.relay.put(notice(run, "P2", "refused", number, "refusal", b""))
        if len(run.ends) == 3:
            break
    return run.clock.now - since


def test_who_is_silent_is_not_waited_for_longer_because_of_what_else_it_sends(under_way: Sites) -> None:
    run = under_way
    assert silent_but_talking(run) <= 4 * MESSAGES
    assert "deadline" in run.ends.values()
    assert [run.at[name].entries() for name in ("P1", "P3")] == [["refunded"]] * 2
