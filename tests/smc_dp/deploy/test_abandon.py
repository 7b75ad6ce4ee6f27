"""A site that gives a study up erases first, then tells the others and settles its ledger, and says the same again."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from support import sites
from support.refusals import refused
from support.relay_carriers import InMemoryCarrier
from support.sites import LINEAR, MESSAGES, Sites, one_sum

from smc_dp.deploy import abandon as given_up
from smc_dp.deploy.abandon import Abandonment
from smc_dp.deploy.frame import Carrier, CarrierError, Frame
from smc_dp.deploy.status import erase_missed, site_status
from smc_dp.deploy.store import StateNumber
from smc_dp.run.status_message import Notice

SUM = one_sum()


class AwayCarrier(InMemoryCarrier):
    """The relay cannot be reached."""

    def send(self, frames: Sequence[Frame]) -> None:
        raise CarrierError("relay.not_reached", why="it is away", hint="")


def begun(stated: dict[str, Any], folder: Path, until: Callable[[Sites], bool]) -> Sites:
    """A session as far as that, in which P1's program is stopped then."""
    run = Sites(sites.joint(stated), folder)
    run.run(until=lambda: until(run))
    run.stop("P1")
    return run


def in_stage(stage: str) -> Callable[[Sites], bool]:
    return lambda run: run.facts("P1").get("stage") == stage


def has_input(run: Sites) -> bool:
    """P1's masked input is committed and on its way."""
    return bool(run.facts("P1").get("left"))


def abandon(run: Sites, kind: Callable[..., Carrier] = InMemoryCarrier, *, with_key: bool = True) -> Abandonment:
    here = run.at["P1"]
    key = here.folder / "P1.key"
    if not key.exists():
        key.write_text(f"{sites.identity('P1').seed.hex()}\n")
        key.chmod(0o600)
    return given_up.abandon_study(
        run.study, here.folder / "state", here.folder / "counters", key=key if with_key else None,
        ledger=here.ledger if with_key else None, carrier=lambda study, name, _: kind(run.relay, name, study.digest),
    )  # fmt: skip


def notices(run: Sites) -> list[str]:
    """The codes of what P1 told all others."""
    study, public = run.study.digest, sites.identity("P1").public
    said = [p for p in run.frames() if p.sender == "P1" and p.lane in ("notice", "refusal")]
    return [Notice.read(p.body, study, "P1", public).code for p in said]


def is_erased(run: Sites) -> bool:
    (path,) = (run.at["P1"].folder / "counters").glob("*.counter")
    return not StateNumber.read(path).key


def test_the_others_go_on_at_once_without_a_party_that_gives_up(tmp_path: Path) -> None:
    run = begun(SUM, tmp_path, has_input)
    found = abandon(run)
    assert (found.notified, found.charged, found.settled) == (True, True, True)
    assert (found.status.end, found.status.code) == ("abandoned", "session.abandoned_charged")
    assert (notices(run), is_erased(run), run.at["P1"].entries()) == (["aborted"], True, ["open"])
    run.away.add("P1")
    before = run.clock.now
    run.run()
    assert [run.ends[name] for name in ("P2", "P3", "charlie")] == ["released"] * 3
    assert run.clock.now - before < MESSAGES, "nobody waits for its deadline"


def test_where_nobody_may_be_lost_its_word_ends_the_session_for_all(tmp_path: Path) -> None:
    run = begun(LINEAR, tmp_path, in_stage("submission"))
    found = abandon(run)
    assert (found.notified, found.charged, found.status.code) == (True, False, "session.abandoned")
    assert run.at["P1"].entries() == ["refunded"]
    run.away.add("P1")
    run.run()
    assert {run.ends[name] for name in ("P2", "P3", "charlie")} == {"ended"}


def test_before_the_session_the_others_hear_that_it_does_not_take_part(tmp_path: Path) -> None:
    run = Sites(sites.joint(SUM), tmp_path)
    run.begin("P1")
    run.turn("P1")
    run.stop("P1")
    found = abandon(run)
    assert (found.notified, found.charged, notices(run)) == (True, False, ["refused"])


def test_a_relay_that_is_away_changes_nothing_but_that_nobody_knows(tmp_path: Path) -> None:
    run = begun(SUM, tmp_path, in_stage("setup"))
    found = abandon(run, AwayCarrier)
    assert (found.notified, found.settled, is_erased(run)) == (False, True, True)
    assert "it is away" in found.why_not_notified.on_screen()
    assert run.at["P1"].entries() == ["refunded"]
    assert notices(run) == []
    again = abandon(run)
    assert (again.notified, again.status, notices(run)) == (True, found.status, ["aborted"])
    assert abandon(run).as_dict() == again.as_dict()
    assert notices(run) == ["aborted"]


@pytest.mark.parametrize(("until", "entry"), [(in_stage("setup"), "refunded"), (has_input, "open")])
def test_without_a_key_it_erases_and_its_program_does_the_rest(
    until: Callable[[Sites], bool], entry: str, tmp_path: Path
) -> None:
    """An input that was committed, and perhaps not sent, does not leave any more, and stays charged."""
    run = begun(SUM, tmp_path, until)
    found = abandon(run, with_key=False)
    assert (found.notified, found.settled, is_erased(run), notices(run)) == (False, False, True, [])
    assert found.charged == (entry == "open")
    before = [p for p in run.frames() if (p.sender, p.lane) == ("P1", "envelope")]
    run.begin("P1")
    run.turn("P1")
    assert (run.ends["P1"], run.at["P1"].entries(), notices(run)) == ("abandoned", [entry], ["aborted"])
    assert [p for p in run.frames() if (p.sender, p.lane) == ("P1", "envelope")] == before
    run.stop("P1")
    here = run.at["P1"]
    assert site_status(run.study, here.folder / "state") == found.status
    assert erase_missed(run.study, here.folder / "state", here.folder / "counters", run.clock.now) == found.status


def test_a_study_that_is_over_stays_as_it_ended(tmp_path: Path) -> None:
    run = Sites(sites.joint(SUM), tmp_path).run()
    run.stop("P1")
    found = abandon(run)
    assert (found.status.end, found.notified, found.settled) == ("released", True, True)
    assert (notices(run), run.at["P1"].entries()) == (["done"], ["released"])


def test_the_key_of_another_site_is_refused_before_anything_is_done(tmp_path: Path) -> None:
    run = begun(SUM, tmp_path, in_stage("setup"))
    key = run.at["P1"].folder / "P1.key"
    key.write_text(f"{sites.identity('P2').seed.hex()}\n")
    key.chmod(0o600)
    with refused("key.of_another_site", name="P1"):
        abandon(run)
    assert not is_erased(run)
