"""Sites that know nothing of each other but their mail send, link by link, what a simulation of them all sends."""

from __future__ import annotations

from pathlib import Path

import pytest
from support import sites
from support.sites import Sites

from protocols.arithmetic.rng import Stream

FLAKY = 3  # one turn of so many begins with the program begun anew


@pytest.mark.parametrize("of", ["curator_run", "sum_run"])
def test_every_link_carries_what_the_simulator_sends(of: str, request: pytest.FixtureRequest) -> None:
    run: Sites = request.getfixturevalue(of)
    links, releases = sites.stage_result(run)
    assert links == sites.simulated(run)
    assert sites.ends(run) == ["released"] * 4
    assert len(releases) == 4
    assert len(set(releases.values())) == 1
    assert [run.at[name].entries() for name in run.study.parties] == [["released"]] * 3


def test_so_it_is_when_a_party_vanishes_in_the_middle(tmp_path: Path) -> None:
    run = Sites(sites.joint(sites.few_sums()), tmp_path)
    run.run(until=lambda: "sum1" in {e.stage for e in sites.sent(run, "P3")})
    run.away.add("P3")
    run.run()
    assert {name: run.ends.get(name) for name in run.study.names} == {
        "P1": "released", "P2": "released", "P3": None, "charlie": "released",
    }  # fmt: skip
    assert sites.by_link(run.frames()) == sites.simulated(run, {"P3": len(sites.sent(run, "P3"))})
    assert len(set(run.releases().values())) == 1


def test_who_begins_anew_again_and_again_sends_the_same(curator_run: Sites, tmp_path: Path) -> None:
    run = Flaky(curator_run.study, tmp_path)
    run.draws = Stream.insecure_from_seed("begun anew")
    run.run()
    assert run.begun > 20
    assert sites.stage_result(run) == sites.stage_result(curator_run)
    assert [run.at[name].entries() for name in run.study.parties] == [["released"]] * 3


class Flaky(Sites):
    """Programs that are stopped between two turns and begun anew, drawn from a public seed."""

    draws: Stream
    begun = 0

    def turn(self, name: str) -> None:
        if self.draws.below(FLAKY) == 0:
            self.begun += 1
            self.begin(name)
        super().turn(name)


def test_the_randomness_of_a_site_is_the_systems_unless_it_is_given(curator_run: Sites, tmp_path: Path) -> None:
    run = Sites(curator_run.study, tmp_path, options={"coins": None}).run()
    first, second = sites.by_link(run.frames()), sites.by_link(curator_run.frames())
    assert first.keys() == second.keys()
    assert all(one != other for link in first for one, other in zip(first[link], second[link], strict=False))
