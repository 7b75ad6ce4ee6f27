"""Between sites: a dealer that opens another share is named by all; one that is silent opens it, or is given up."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from support import sites
from support.relay_carriers import PassingCarrier
from support.sites import Sites, one_sum

from protocols.curator import CURATOR_NAME
from protocols.runtime.actor import Actor
from protocols.runtime.channel import Channel
from protocols.runtime.envelope import Envelope
from protocols.runtime.message import Message
from protocols.secure_sum import complaints, dealing
from protocols.secure_sum.parameters import Parameters
from protocols.secure_sum.values import Held
from smc_dp.deploy.frame import Carrier, Frame

SUM = one_sum()
ACCUSED = one_sum(colluders=1)  # with four parties silence is accused


class HeldUp(PassingCarrier):
    """Carrier that keeps P4's shares from P1 until `passes`."""

    def __init__(self, inner: Carrier, passes: Callable[[], bool]) -> None:
        super().__init__(inner)
        self.passes = passes
        self.kept: list[Frame] = []

    def fetch(self, seconds: float) -> list[Frame]:
        frames = super().fetch(seconds)
        self.kept += [x for x in frames if (x.lane, x.sender, x.to) == ("envelope", "P4", "P1")]
        others = [x for x in frames if x not in self.kept]
        if self.passes():
            others, self.kept = [*self.kept, *others], []
        return others


@pytest.fixture
def bad(monkeypatch: pytest.MonkeyPatch) -> list[tuple[bytes, ...]]:
    """P1 deals zeros to P3: the first to deal anything to P3, and known by its seeds."""
    who: list[tuple[bytes, ...]] = []
    given = dealing.shares_for_holder

    def shares_for(of: dealing.Seeds, holder: int) -> Any:
        if holder == 2 and not who:
            who.append(of.b)
        shares = given(of, holder)
        return complaints.wrong_shares(shares) if holder == 2 and of.b in who else shares

    monkeypatch.setattr(dealing, "shares_for_holder", shares_for)
    return who


def test_a_dealer_that_opens_another_share_is_named_by_every_other_site(
    bad: list[tuple[bytes, ...]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    given = complaints.shares_to_disclose

    def disclosed(p: Parameters, every: Sequence[int], dealer: int, dealt: dealing.Seeds) -> tuple[Held, ...]:
        shares = given(p, every, dealer, dealt)
        return tuple(replace(x, b=bytes(32)) for x in shares) if dealt.b in bad else shares

    monkeypatch.setattr(complaints, "shares_to_disclose", disclosed)
    run = Sites(sites.joint(SUM), tmp_path).run()
    assert run.releases() == {}
    why = run.going["charlie"]._site.actor.why
    assert (run.ends["charlie"], why.code) == ("aborted", "shares.disclosed_otherwise")
    assert why.fields["dealer"] == "P1"
    for name in ("P2", "P3"):
        assert (run.facts(name)["end"], run.facts(name)["code"]) == ("ended", "shares.disclosed_otherwise")
        assert run.facts(name)["why"].startswith("P1: ")


@pytest.mark.parametrize("answers", [True, False])
def test_a_dealer_that_sends_one_site_no_share_opens_it_or_is_the_one_who_is_given_up(
    answers: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """P1 sends P3 nothing: P3 waits for one deadline and accuses P1, and Charlie waits for P3 until then."""
    post, kept = Actor.send, {"Shares"} if answers else {"Shares", "Disclosed"}

    def send(self: Actor, to: str, message: Message) -> None:
        if not (self.name == "P1" and to in ("P3", CURATOR_NAME) and type(message).__name__ in kept):
            post(self, to, message)

    monkeypatch.setattr(Actor, "send", send)
    run = Sites(sites.joint(ACCUSED, 4), tmp_path)
    run.run()
    if answers:
        assert set(run.ends.values()) == {"released"}
        assert len(set(run.releases().values())) == 1
    else:
        assert run.releases() == {}
        why = run.going["charlie"]._site.actor.why
        assert (why.code, why.fields["what"], why.fields["absent"]) == ("message.will_not_come", "Disclosed", ["P1"])
        assert all(run.at[name].entries() in ([], ["refunded"]) for name in ("P2", "P3", "P4"))
    assert [mark.sender for _, mark in run.going["P3"]._site.marks] == ["P1"]
    assert not run.going["charlie"]._site.marks if answers else True


def test_a_holder_that_is_back_after_the_deadline_of_its_dealer_accuses_it(tmp_path: Path) -> None:
    """Charlie still waits for the holder. Were the session over for it, it would be the one who is missing."""
    run = Sites(sites.joint(ACCUSED, 4), tmp_path, lambda name, x: HeldUp(x, lambda: False) if name == "P1" else x)
    run.run(until=lambda: run.facts("P1").get("stage") == "setup" and run.clock.now > sites.NOON)
    run.clock.now = sites.NOON + sites.MESSAGES + 1
    run.begin("P1")
    run.run()
    assert set(run.ends.values()) == {"released"}
    assert run.facts("P1")["marks"] == [["P4", "Shares", "setup", 0]]


@pytest.mark.parametrize("stage", ["", "sum0", pytest.param("setup", marks=pytest.mark.slow)])
def test_an_envelope_that_does_not_open_costs_no_site_its_release_or_its_view(
    stage: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It comes in time, after the accusation, or in a sum, and P1's replay goes on without it as its live role did."""
    post, business = Channel._post, sites.AtHand.business

    def broken(self: Channel, blank: Envelope, body: bytes) -> Envelope:
        shares = (self.name, blank.to, blank.kind) == ("P4", "P1", "Shares")
        return post(self, blank, bytes(len(body)) if shares else body)

    def passes() -> bool:
        facts = run.facts("P1")
        return stage in ("", facts.get("stage")) and (stage != "setup" or bool(facts.get("marks")))

    monkeypatch.setattr(Channel, "_post", broken)
    monkeypatch.setattr(sites.AtHand, "business", lambda self: replace(business(self), views=self.folder / "views"))
    options = {"keeps_seed": True}
    run = Sites(
        sites.joint(ACCUSED, 4), tmp_path, lambda name, x: HeldUp(x, passes) if name == "P1" else x, options=options
    )
    run.run()
    assert set(run.ends.values()) == {"released"}
    assert len(set(run.releases().values())) == 1
    assert run.facts("P1")["marks"] == [["P4", "Shares", "setup", 0]]
    assert (run.at["P1"].folder / "views").exists()
    assert [note.sender for note in run.going["P1"]._site.actor.notes] == ["somebody on the way from P4"]
