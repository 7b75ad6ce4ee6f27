"""However a session ends at a site, nothing secret of it is left in its files, for whoever has its identity key too."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from support import leftovers, sites
from support.leftovers import Secrets, WatchedStore, found_in, left_at, opened, opened_copies
from support.repetitions import with_slow
from support.sites import LINEAR, MESSAGES, PRR_MEAN, Sites, few_sums, one_sum

from protocols.secure_sum import graph, parameters, steps
from smc_dp.deploy.frame import Frame
from smc_dp.deploy.relay_store import RelayStore
from smc_dp.deploy.store import open_without_key

SUM, CLOSED = few_sums(), few_sums(colluders=1, dropouts=0)
IN_A_CIRCLE = {"sparse_graph": True, "semi_honest": True}
STUDIES: Mapping[str, Mapping[str, Any]] = {
    "sum": SUM,
    "one sum": one_sum(),
    "verifiable": {**SUM, "protocol": {**SUM["protocol"], "verifiable": True}},
    "sum without drop-outs": CLOSED,
    "sum in a circle": SUM,
    "sum without drop-outs, in a circle": {**CLOSED, "protocol": {**CLOSED["protocol"], **IN_A_CIRCLE}},
    "pathak2010": PRR_MEAN,
    "pathak2010, all pairs": {**PRR_MEAN, "protocol": {**PRR_MEAN["protocol"], "comparison": "all-pairs"}},
    "linear": LINEAR,
}
PARTIES = {"sum in a circle": 6}
IN_MEMORY = ("inputs", "randomness", "keys of links")  # of every party in the middle of a session


def released(run: Sites) -> None:
    """Nothing happens."""


def aborted(run: Sites) -> None:
    """Whoever carries the mail brings P1 another frame under a known key; P1's word ends it for others or does not."""
    there = next(p for p in run.stores["P1"].received() if p.lane == "envelope")
    run.begin("P1")
    run.turn("P1")
    run.relay.put(Frame(there.study, there.sender, there.to, "envelope", there.number, b"another"))
    run.run(until=lambda: "P1" in run.ends)
    run.away.clear()


def stopped(run: Sites) -> None:
    """P3 vanishes, without whom nobody goes on."""
    run.away.add("P3")


def timed_out(run: Sites) -> None:
    """Charlie vanishes."""
    run.away.add("charlie")


def back_too_late(run: Sites) -> None:
    """P1's program is killed, and begins anew when nobody waits for it."""
    run.stop("P1")
    run.clock.now += 3 * MESSAGES
    run.begin("P1")


def abandoned(run: Sites) -> None:
    """P1's program is stopped, and its study given up, without its key."""
    run.stop("P1")
    folder = run.at["P1"].folder
    with closing(open_without_key(folder / "state", folder / "counters")) as store:
        store.commit(facts={"end": "abandoned"})
    run.begin("P1")


def refunded(run: Sites) -> None:
    """Charlie gives up the sum, for he can use nobody's input, and has that signed: `unusable`."""


EXITS: Mapping[Callable[[Sites], None], set[str]] = {
    released: {"released"}, aborted: {"aborted"}, stopped: {"ended"}, timed_out: {"deadline"},
    back_too_late: {"deadline"}, refunded: {"aborted", "ended"}, abandoned: {"abandoned"},
}  # fmt: skip
EVERYDAY = [
    ("one sum", released), ("sum", refunded), ("verifiable", back_too_late), ("sum without drop-outs", stopped),
    ("pathak2010", aborted), ("pathak2010", abandoned), ("linear", timed_out),
]  # fmt: skip
SLOW = [
    ("verifiable", timed_out), ("sum in a circle", back_too_late), ("sum without drop-outs, in a circle", stopped),
    ("pathak2010, all pairs", back_too_late), ("linear", released),
]  # fmt: skip
"""Each study, and each exit; where some may vanish nobody is stopped, else nothing is refunded."""


@pytest.fixture(autouse=True)
def small_circles(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """More than four parties, of whom some may vanish, stand in a circle, however often it falls apart."""
    monkeypatch.setattr(parameters, "MOST_COMPLETE", 4)
    monkeypatch.setattr(graph, "MOST_FAILURE", 1)
    graph.least_neighbourhood.cache_clear()
    yield
    graph.least_neighbourhood.cache_clear()


@pytest.fixture
def secrets(monkeypatch: pytest.MonkeyPatch) -> Secrets:
    found = Secrets()
    leftovers.plant(monkeypatch)
    found.watch(monkeypatch)
    return found


class HeardRelay(RelayStore):
    """Has somebody look at a site whenever it says how the session ended there."""

    look: Callable[[str], None]

    def put(self, frame: Frame) -> None:
        if frame.lane == "notice":
            self.look(frame.sender)
        super().put(frame)


def under_way(study: str, folder: Path, secrets: Secrets) -> Sites:
    """A session of which P1's input is in its state."""
    joint = sites.joint(STUDIES[study], PARTIES.get(study, 3))
    run = Sites(joint, folder / "run", kind=partial(WatchedStore, secrets), relay=HeardRelay())
    run.relay.look = lambda name: None  # type: ignore[attr-defined]
    run.run(until=lambda: _in_the_middle(run) and "inputs" in left_at(run, "P1", secrets))
    return run


def _in_the_middle(run: Sites) -> bool:
    return run.facts("P1").get("stage") not in (None, "", "approvals", "setup")


@pytest.mark.parametrize(
    ("study", "exit"),
    [*EVERYDAY, *(pytest.param(*case, marks=pytest.mark.slow) for case in SLOW)],
)
def test_no_secret_outlives_its_session(
    study: str, exit: Callable[[Sites], None], tmp_path: Path, secrets: Secrets, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = under_way(study, tmp_path, secrets)
    assert set(IN_MEMORY) <= set(left_at(run, "P1", secrets))  # what is looked for can be found
    assert opened_copies(run, "P1", secrets, tmp_path / "newest") == [len(secrets.copies["P1"]) - 1]
    if exit is refunded:
        monkeypatch.setattr(steps, "admit_inputs", lambda *said: {})
    told: dict[str, dict[str, int]] = {}
    run.relay.look = lambda name: told.__setitem__(name, left_at(run, name, secrets))  # type: ignore[attr-defined]
    exit(run)
    run.run()
    assert run.ends["P1"] in EXITS[exit]
    assert {name: left_at(run, name, secrets) for name in run.ends} == {name: {} for name in run.ends}
    assert told
    assert not any(told.values()), "who tells others has erased before"
    for name in run.ends:
        assert len(secrets.copies[name]) > 5
        assert not opened_copies(run, name, secrets, tmp_path / name)


@pytest.mark.parametrize("study", with_slow(["linear", "pathak2010", "sum"], "linear", "sum"))
def test_every_kind_of_secret_is_found_while_a_session_goes_on(study: str, tmp_path: Path, secrets: Secrets) -> None:
    """At each participant: a search that could find nothing would prove nothing."""
    found, looks = defaultdict[str, set[str]](set), [0]
    run = under_way(study, tmp_path, secrets)

    def look() -> bool:
        looks[0] += 1
        for name in run.stores if looks[0] % 6 == 0 else ():
            found[name] |= {*left_at(run, name, secrets)}
        return False

    for name in run.stores:
        found[name] |= {*left_at(run, name, secrets)}
    run.run(until=look)
    had = {name: {kind for kind, values in kinds.items() if values} for name, kinds in secrets.by_name.items()}
    assert found == had
    assert set(had) == set(run.study.names)


def test_what_was_added_to_sums_that_are_over_is_gone(tmp_path: Path, secrets: Secrets) -> None:
    """Numbers and noise, and what the noise was drawn with; those of the sum that is open are there."""
    run = under_way("sum", tmp_path, secrets)
    run.run(until=lambda: run.facts("P1")["stage"] == "sum2")
    before = {kind: set(values) for kind, values in secrets.by_name["P1"].items() if kind == "inputs"}
    noise = {"noise": {sites.coins("P1").home.fork(f"sum {r}").key for r in (0, 1, 2)}}
    run.run(until=lambda: run.facts("P1")["stage"] == "sum3")
    here = run.at["P1"]
    contents = [*opened(here, here.folder / "state", sites.identity("P1"))]
    assert contents
    assert found_in(contents, {**before, **noise}) == {}
    assert "inputs" in found_in(contents, secrets.by_name["P1"])


def test_of_the_mean_a_party_keeps_what_later_stages_use(tmp_path: Path, secrets: Secrets) -> None:
    """In the last stage its size and its noise are gone, from memory too, and its weights are there."""
    run = under_way("pathak2010", tmp_path, secrets)
    site = run.going["P2"]._site
    assert site
    mine = site.actor.inputs[1]
    assert own_numbers(run, "P2", mine) == {"n": 1, "w": 3, "eta": 3}
    run.run(until=lambda: run.facts("P2")["stage"] == "stage3")
    assert own_numbers(run, "P2", mine) == {"w": 3}
    assert site.actor.inputs[1] == replace(mine, n=0, eta=())


def own_numbers(run: Sites, name: str, mine: Any) -> Mapping[str, int]:
    here = run.at[name]
    contents = opened(here, here.folder / "state", sites.identity(name))
    return found_in(contents, {"n": {mine.n}, "w": set(mine.w), "eta": set(mine.eta)})


@pytest.mark.parametrize("study", with_slow(["linear", "one sum"], "one sum"))
def test_whoever_waits_for_the_record_keeps_nothing_secret(study: str, tmp_path: Path, secrets: Secrets) -> None:
    run = under_way(study, tmp_path, secrets)
    run.run(until=lambda: bool(run.facts("P1").get("done")))
    assert run.facts("P1")["end"] is None
    assert left_at(run, "P1", secrets) == {}
    run.begin("P1")  # and goes on from what it keeps
    run.run()
    assert sites.ends(run) == ["released"] * 4


def test_what_a_view_takes_is_kept_until_the_end_and_no_longer(tmp_path: Path, secrets: Secrets) -> None:
    run = Sites(
        sites.joint(STUDIES["pathak2010"]), tmp_path, kind=partial(WatchedStore, secrets), options={"keeps_seed": True}
    )
    run.run(until=lambda: bool(run.facts("P1").get("done")))
    assert set(IN_MEMORY) <= set(left_at(run, "P1", secrets))
    run.run()
    assert run.ends["P1"] == "released"
    assert left_at(run, "P1", secrets) == {}
