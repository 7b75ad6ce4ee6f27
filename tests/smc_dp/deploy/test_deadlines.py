"""Who does not return is waited for as long as the study says; what that costs whom; and who comes back too late."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from support import sites
from support.sites import GREETINGS, LINEAR, MESSAGES, PRR_MEAN, Sites, few_sums

from protocols.curator import CURATOR_NAME
from protocols.runtime.envelope import HELLO, STAGE_END, Envelope
from protocols.runtime.session import PUBLIC_NAME
from smc_dp.deploy.frame import Frame
from smc_dp.deploy.store import StoreError
from smc_dp.privacy.ledger.ledger import Ledger
from smc_dp.run.status_message import Notice
from tests.support.refusals import refused

SUM, BRITTLE_SUM = few_sums(), few_sums(colluders=1, dropouts=0)


def made(run: Sites, name: str) -> list[Envelope]:
    """What this participant has committed to send: it may be out."""
    store = run.stores.get(name)
    return [Envelope.decode(p.body) for p in store.outgoing() if p.lane == "envelope"] if store else []


def has_sent(name: str, kind: str, stage: str = "") -> Callable[[Sites], bool]:
    return lambda run: any(e.kind == kind and e.stage.startswith(stage) for e in sites.sent(run, name))


def only_one_has_put_in(run: Sites) -> bool:
    """P2's masked input of the first sum is made, and P3's is not."""
    there = {name: any(e.kind == "Masked" for e in made(run, name)) for name in run.study.parties}
    return there["P2"] and not there["P3"]


def share_is_out(run: Sites, name: str) -> bool:
    return any(e.is_public and e.kind not in (HELLO, STAGE_END) for e in made(run, name))


def some_shares_are_out(run: Sites) -> bool:
    """Somebody's share is out, and P1's is not."""
    return not share_is_out(run, "P1") and any(share_is_out(run, name) for name in run.study.names)


def approved(name: str) -> Callable[[Sites], bool]:
    return lambda run: any(p.sender == name for p in run.frames())


@dataclass(frozen=True)
class Absence:
    """In which study who stays away from when on; how it ends for the others and for all when it comes back too late;
    what everybody's charge comes to, by party; how long that takes at most; and the code of an end with what it names.
    """

    stated: Mapping[str, Any]
    gone: str
    when: Callable[[Sites], bool]
    ends: Mapping[str, str]
    back: str
    charges: tuple[str, str, str]
    within: float = GREETINGS + 15
    why: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


def all_end(end: str, *, gone: str = "P3", **others: str) -> dict[str, str]:
    return {name: end for name in ("P1", "P2", "P3", "charlie") if name != gone} | others


RELEASED, ENDED = all_end("released"), all_end("ended", charlie="deadline")
CASES = {
    "sum: the masked input is out": Absence(
        SUM, "P3", has_sent("P3", "Masked", "sum1"), RELEASED, "released", ("released",) * 3
    ),
    "sum: nothing of it is out": Absence(
        SUM, "P3", has_sent("P3", "Ready"), RELEASED, "released", ("released", "released", "refunded"), 2 * GREETINGS
    ),
    "sum: shares are not dealt": Absence(SUM, "P3", has_sent("P3", HELLO), ENDED, "ended", ("refunded",) * 3),
    "sum: Charlie": Absence(
        SUM, "charlie", has_sent("P3", "Masked", "sum1"), all_end("deadline", gone="charlie"), "deadline",
        ("open",) * 3, 4 * 2 * MESSAGES, {"P1": ("message.will_not_come", "Survivors", "charlie")},
    ),
    "sum without drop-outs: its masked input is out": Absence(
        BRITTLE_SUM, "P3", has_sent("P3", "Masked"), ENDED, "ended", ("open",) * 3,
        why={"charlie": ("message.will_not_come", "Masked", "P3")},
    ),
    "sum without drop-outs: its masked input is not out": Absence(
        BRITTLE_SUM, "P3", only_one_has_put_in, ENDED, "ended", ("open", "open", "refunded"),
        why={"charlie": ("message.will_not_come", "Masked", "P3")},
    ),
    "sum: it has approved and never greets": Absence(
        SUM, "P3", approved("P3"), ENDED, "deadline", ("refunded",) * 3, 4 * GREETINGS,
        {"charlie": ("greeting.not_there", "P3")},
    ),
    "curator: it has approved and never greets": Absence(
        LINEAR, "P3", approved("P3"), all_end("ended", charlie="deadline"), "deadline", ("refunded",) * 3,
        why={"charlie": ("greeting.not_there", "P3"), "P2": ("session.ended_by_others", "charlie")},
    ),
    "curator: in the middle": Absence(
        PRR_MEAN, "P3", lambda run: len(sites.sent(run, "P3")) > 3, ENDED, "ended", ("refunded",) * 3,
        why={"P1": ("session.ended_by_others", "charlie")},
    ),
    "curator: shares are out, its own is not": Absence(
        LINEAR, "P1", some_shares_are_out, all_end("ended", gone="P1", charlie="deadline"), "ended",
        ("refunded", "open", "open"), why={"charlie": ("release.no_value", "P1")},
    ),
}  # fmt: skip


RARER = (
    *("sum: the masked input is out", "curator: shares are out, its own is not"),
    *("sum: nothing of it is out", "sum: it has approved and never greets"),
)


@pytest.mark.parametrize(
    "case", [pytest.param(case, marks=pytest.mark.slow if case in RARER else ()) for case in CASES]
)
def test_who_stays_away_is_waited_for_and_pays_for_what_left(case: str, tmp_path: Path) -> None:
    absence = CASES[case]
    run = Sites(sites.joint(absence.stated), tmp_path)
    run.run(until=lambda: absence.when(run))
    run.away.add(absence.gone)
    run.run()
    assert run.ends == absence.ends
    assert MESSAGES <= run.clock.now - sites.NOON <= absence.within
    for name, (code, *named) in absence.why.items():
        facts, site = run.facts(name), run.going[name]._site
        assert code == facts["code"] or (site is not None and code == site.actor.why.code)
        assert all(word in facts["why"] for word in named)
    assert len(set(run.releases().values())) == (set(run.ends.values()) == {"released"})
    if absence.gone in run.study.parties:
        assert run.at[absence.gone].entries() in ([], ["open"])  # nothing is given back to who is not there
    run.away.clear()
    run.run()
    assert run.ends[absence.gone] == absence.back
    assert tuple(run.at[name].entries()[0] for name in run.study.parties) == absence.charges
    assert len(set(run.releases().values())) <= 1
    assert all(len(run.at[name].entries()) == 1 for name in run.study.parties)


def test_without_all_approvals_nothing_begins_and_nothing_is_charged(tmp_path: Path) -> None:
    run = Sites(sites.joint(LINEAR), tmp_path)
    run.away.add("P2")
    run.run()
    assert run.ends == all_end("deadline", gone="P2")
    assert {run.facts(name)["code"] for name in run.ends} == {"approvals.deadline"}
    assert not any(p.lane == "envelope" for p in run.frames())
    assert [run.at[name].entries() for name in run.study.parties] == [[], [], []]
    assert GREETINGS <= run.clock.now - sites.NOON <= GREETINGS + 15


def test_a_clock_that_was_set_back_is_one_line(tmp_path: Path) -> None:
    run = Sites(sites.joint(LINEAR), tmp_path)
    run.away.add("P2")
    run.begin("P1")
    run.turn("P1")
    run.clock.now -= 3600
    with refused("clock.set_back", error=StoreError, seconds=3600.0):
        run.turn("P1")


def test_a_ledger_that_cannot_be_read_ends_nothing(curator_run: Sites, tmp_path: Path) -> None:
    """One line, and once it is there again the same command goes on."""
    run = Sites(curator_run.study, tmp_path)
    run.run(until=lambda: share_is_out(run, "P1"))
    ledger = run.at["P1"].ledger
    whole = ledger.read_bytes()
    ledger.write_bytes(b"spoilt")
    with refused("ledger.not_readable", at="own.ledger"):
        run.run()
    ledger.write_bytes(whole)
    Ledger.open(ledger).close()
    run.begin("P1")
    run.run()
    assert sites.stage_result(run) == sites.stage_result(curator_run)
    assert run.at["P1"].entries() == ["released"]


def test_who_was_away_takes_the_record_although_a_party_came_back_after_it(tmp_path: Path) -> None:
    """P3 vanishes and is given up; P1 is away when the record comes, and finds later letters of P3 before it."""
    run = Sites(sites.joint(SUM), tmp_path)
    run.run(until=lambda: "sum1" in run.facts("P3").get("stage", ""))
    run.away.add("P3")
    run.run(until=lambda: bool(run.facts("P1").get("done")))
    run.away.add("P1")
    run.run(until=lambda: run.ends.get("charlie") == "released")
    before = len(run.frames())
    run.away.discard("P3")
    for _ in range(3):
        if "P3" not in run.ends:
            run.turn("P3")
    assert any((p.sender, p.to, p.lane) == ("P3", PUBLIC_NAME, "envelope") for p in run.frames()[before:])
    run.away.clear()
    run.run()
    assert run.ends["P1"] == "released", run.facts("P1")["why"]
    assert run.at["P1"].entries() == ["released"]
    assert len({run.releases()[name] for name in ("P1", "P2", "charlie")}) == 1


def test_who_vanished_costs_one_deadline_and_is_waited_for_again_once_it_is_back(tmp_path: Path) -> None:
    """Once as long as the study says, and not again for each sum that follows."""
    study = Sites(sites.joint(few_sums(colluders=1), 4), tmp_path)
    study.run(lambda: study.facts("P4").get("stage") == "sum1")
    study.away.add("P4")
    study.run(lambda: study.facts(CURATOR_NAME)["stage"] == "sum3")
    waited = study.clock.now - sites.NOON
    assert MESSAGES < waited < 2 * MESSAGES
    study.away.clear()
    study.begin("P4")
    study.run()
    assert sites.ends(study) == ["released"] * 5
    assert study.clock.now - sites.NOON < 2 * MESSAGES
    assert len(set(study.releases().values())) == 1
    charlie = study.going[CURATOR_NAME]._site
    missed = {mark.stage for _, mark in charlie.marks}
    assert {"sum1", "sum2"} <= missed <= {"sum1", "sum2", "sum3"}
    study.close()


def test_a_refusal_is_heard_before_there_is_a_session(tmp_path: Path) -> None:
    study = Sites(sites.joint(BRITTLE_SUM), tmp_path)
    digest = study.study.digest
    for number, signer in enumerate(("P2", "P3")):  # the second is signed by somebody else
        notice = Notice.made(digest, b"", "P2", "refused", b"", sites.identity(signer))
        study.relay.put(Frame(digest, "P2", PUBLIC_NAME, "refusal", number, notice.encode()))
    study.away.add("P2")
    study.begin("P1")
    study.turn("P1")
    assert study.said["P1"].count("status of P2: refused") == 1
    assert study.said["P1"].count("ignored a malformed status message of 'P2'") == 1
    assert study.facts("P1")["waiting"] == ["P2", "P3", "charlie"]
    study.away.clear()
    assert sites.ends(study.run()) == ["released"] * 4  # it has thought again
    study.close()
