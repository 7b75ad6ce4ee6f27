"""A forecast is what the run then costs: the counts to the byte, the clock of the links exactly, seconds roughly."""

from __future__ import annotations

from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
import pytest
from support.audited import hospitals
from support.draws import DRAWS, ran

import smc_dp
from protocols.arithmetic.rng import Stream
from protocols.programs import PROTOCOLS
from protocols.runtime.conversation import foresee
from protocols.runtime.network import LINKS, Clock
from smc_dp.errors import InputError
from smc_dp.forecasts import forecast
from smc_dp.forecasts.asked import Asked, called
from smc_dp.forecasts.clock import course, queued
from smc_dp.forecasts.forecast import of_session
from smc_dp.forecasts.letters import LetterPrices
from smc_dp.forecasts.operations import OPERATIONS
from smc_dp.forecasts.prices import Prices, needed
from smc_dp.run.protocol import run_protocol

FREE = Prices(dict.fromkeys(OPERATIONS, 0.0), LetterPrices(*[0.0] * 9))
RUNS: dict[str, dict[str, Any]] = {
    "prr_mean": {"key_bits": 512, "insecure_test_keys": True},
    "linear": {"method": "prr_mean", "protocol": "linear", "link": "wan"},
    "wsum": {"method": "wsum", "dropouts": 1, "colluders": 0, "link": "lan"},
    "newton": {"method": "newton", "verifiable": True},
}


@pytest.mark.parametrize("name", RUNS)
def test_a_forecast_is_what_the_run_costs(name: str, tmp_path: Path) -> None:
    data = hospitals((30, 20, 25, 40), 2)
    options = RUNS[name]
    report = run_protocol(data.federation, bounds=data.bounds, out=str(tmp_path / "run"), **options)
    assert report.cost is not None
    found = forecast(data.federation.names, data.federation.dimension, seconds=False, **options)
    assert found.protocol == report.agreement.protocol
    counts = {s.stage: (s.messages, s.bytes, s.rounds) for s in report.cost.by_stage if s.messages}
    assert {s.stage: (s.messages, s.bytes, s.rounds) for s in found.by_stage} == counts
    assert (found.messages, found.bytes, found.rounds) == (report.cost.messages, report.cost.bytes, report.cost.rounds)
    assert sum(role.bytes for role in found.by_role) == report.cost.bytes
    other = forecast(4, data.federation.dimension, seconds=False, holder="x", **options)
    assert other.bytes != found.bytes  # names are sent with every letter


def test_the_protocol_is_the_one_that_a_run_would_take() -> None:
    def taken(parties: int, **options: Any) -> str:
        return forecast(parties, 31, seconds=False, **options).protocol

    assert [taken(K) for K in (2, 19, 20, 1000)] == ["pathak2010", "pathak2010", "linear", "linear"]
    assert taken(20, comparison="tournament") == "pathak2010"
    assert taken(20, protocol="pathak2010") == taken(20, method="prr_mean", protocol="pathak2010") == "pathak2010"
    assert taken(5, classes=3) == taken(5, method="wsum") == taken(5, protocol="secure_sum") == "secure_sum"


def test_the_package_offers_it() -> None:
    found = smc_dp.forecast(20, 31, seconds=False)
    assert found.seconds is None
    assert [role.seconds for role in found.by_role] == [None] * 3
    assert [role.participants for role in found.by_role] == [1, 19, 1]


# The clock: what the links cost, when nothing else costs anything.


@pytest.fixture
def _frozen(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody's computing counts, so that a run takes the time of its links alone."""
    monkeypatch.setattr(Clock, "_lap", lambda clock: None)


@pytest.mark.usefixtures("_frozen")
@pytest.mark.parametrize("name", sorted(PROTOCOLS))
def test_the_links_take_what_they_take_in_a_simulation(name: str) -> None:
    for number, link in enumerate(("wan", "lan", "none")):
        p = DRAWS[name](Stream.insecure_from_seed(f"clock {number}"))
        done = ran(name, p, "clock", link=link)
        found = foresee(PROTOCOLS[name].program, p, done.conversation, LINKS[link].overhead)
        wall = max(done.run.clock.now.values())
        told = course(found, Asked(PROTOCOLS[name], p), LINKS[link], FREE)
        assert told.wall == pytest.approx(wall, abs=1e-6)  # letters of two kinds may alternate: a packet's difference


def test_a_queue_is_what_it_is_one_after_the_other() -> None:
    rng = np.random.default_rng(1)
    for _ in range(20):
        start, ready, busy = rng.uniform(), rng.uniform(0, 5, 7), rng.uniform(0, 1, 7)
        at, wanted = start, []
        for when, seconds in zip(ready, busy, strict=True):
            at = max(at, when) + seconds
            wanted.append(at)
        assert queued(start, ready, busy) == pytest.approx(wanted)


def test_every_operation_has_a_price_and_none_is_idle() -> None:
    declared: set[str] = set()
    for name, draw in DRAWS.items():
        protocol: Any = PROTOCOLS[name]
        for number in range(8):
            p = draw(Stream.insecure_from_seed(f"operations {number}"))
            declared |= set(needed(foresee(protocol.program, p, protocol.conversation(p))))
    assert declared == set(OPERATIONS)


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ({"parties": 1}, "parties: wanted a whole number from 2 on, got 1"),
        ({"parties": 10_001}, "parties: wanted 2 to 10000, got 10001"),
        ({"dimension": 0}, "dimension: wanted a whole number from 1 on, got 0"),
        ({"dimension": 10**6}, "dimension: wanted at most 100000, got 1000000"),
        ({"link": "dsl"}, "link: wanted one of none, lan, wan, got 'dsl'"),
        ({"protocol": "comparison"}, "protocol: wanted one of pathak2010, .*, got 'comparison'"),
        ({"protocol": "linear", "key_bits": 3072}, "key_bits: does not go with protocol linear"),
        ({"protocol": "pathak2010", "key_bits": 1024}, "key_bits: wanted at least 2048"),
        ({"protocol": "pathak2010", "rounds": 2}, "rounds: pathak2010 has one sum, wanted none"),
        ({"method": "newton", "rounds": 2}, "rounds: goes with `protocol` secure_sum"),
        ({"method": "wsum", "protocol": "linear"}, "protocol: wanted one of secure_sum, got 'linear'"),
        ({"method": "soft_ss"}, "method: the sums of soft_ss are as long as its public rows"),
        ({"method": "gd"}, "method: the ring of gd follows from the number of rows"),
        ({"protocol": "secure_sum", "dropouts": 5}, "dropouts: wanted 0 to 1 of 5 parties"),
    ],
)
def test_what_no_run_could_be_is_refused(options: dict[str, Any], why: str) -> None:
    with pytest.raises(InputError, match=why):
        forecast(**{"parties": 5, "dimension": 31, "seconds": False, **options})


@pytest.mark.slow
@pytest.mark.parametrize("name", ["linear", "secure_sum", "pathak2010"])
def test_seconds_are_near_those_of_a_run(name: str) -> None:
    """Wanted is a fifth, of the median of several; what is asked for here says that nothing is forgotten."""
    protocol: Any = PROTOCOLS[name]
    own = {
        "linear": {},
        "secure_sum": {"colluders": 1, "dropouts": 0, "sums": _one_sum()},
        "pathak2010": {"key_bits": 2048},
    }
    sized = {} if name == "secure_sum" else {"dimension": 100}
    p = protocol.program.parameters(parties=called(10 if name == "pathak2010" else 60), **own[name], **sized)
    ratios = []
    for number in range(3):
        found = of_session(Asked(protocol, p))
        done = ran(name, p, f"seconds {number}")
        spent = sum(s for stage, by in done.run.clock.seconds.items() if stage != "keys" for s in by.values())
        keys = sum(sum(s.seconds.values()) for s in found.by_stage if s.stage == "keys")
        told = sum((role.seconds or 0.0) * role.participants for role in found.by_role) - keys
        ratios.append(told / spent)
    assert 2 / 3 < median(ratios) < 3 / 2, ratios


def _one_sum() -> Any:
    from protocols.secure_sum.parameters import Block

    return ((Block(100, "none"),),)
