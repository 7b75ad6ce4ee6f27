"""The planned cost is that of the run: messages, bytes and rounds exactly, processor time within a factor of four."""

from __future__ import annotations

import json
import re
import time
from pathlib import Path
from typing import Any

import pytest
from support.audited import hospitals
from support.draws import DRAWS
from support.sessions import start

import smc_dp
from protocols.arithmetic.rng import Stream
from protocols.programs import PROTOCOLS
from protocols.runtime.conversation import predict_traffic
from protocols.secure_sum.parameters import Block
from smc_dp.cli.main import main
from smc_dp.planning import report
from smc_dp.planning.cost import SessionCost, SessionSpec, party_names, session_cost
from smc_dp.planning.operation_costs import ENVELOPE, PRIMITIVES, SENT_BYTE, estimated_seconds
from smc_dp.run.run_protocol import run_protocol
from tests.support.refusals import refused

FACTOR = 4
RUNS: dict[str, dict[str, Any]] = {
    "prr_mean": {"key_bits": 512, "insecure_test_keys": True},
    "linear": {"method": "prr_mean", "protocol": "linear"},
    "wsum": {"method": "wsum", "dropouts": 1, "colluders": 0},
    "newton": {"method": "newton", "verifiable": True},
}
PLANNED = ("linear", "wsum")  # of these runs, those with settings that a plan has too


@pytest.mark.parametrize("name", RUNS)
def test_the_cost_is_that_of_the_run(name: str, tmp_path: Path) -> None:
    data = hospitals((30, 20, 25, 40), 2)
    report = run_protocol(data.federation, bounds=data.bounds, out=str(tmp_path / "run"), **RUNS[name])
    agreed = report.agreement
    p = agreed.terms.program_parameters(agreed.protocol, agreed.spec, agreed.parties, "")
    found = [session_cost(SessionSpec(PROTOCOLS[agreed.protocol], p))]
    if name in PLANNED:
        columns = data.federation.dimension - 1
        found.append(smc_dp.plan(dict.fromkeys(data.federation.names, 30), columns, **RUNS[name]).cost)
    counts = {s.stage: (s.messages, s.bytes, s.rounds) for s in report.cost.by_stage if s.messages}
    for cost in found:
        assert cost.protocol == agreed.protocol
        assert {s.stage: (s.messages, s.bytes, s.rounds) for s in cost.by_stage} == counts
        whole = report.cost.messages, report.cost.bytes, report.cost.rounds
        assert (cost.messages, cost.bytes, cost.rounds) == whole
        assert sum(role.bytes for role in cost.by_role) == report.cost.bytes
    renamed = (
        smc_dp.plan([30] * 4, 2, method="wsum").cost,
        smc_dp.plan(dict.fromkeys("abcd", 30), 2, method="wsum").cost,
    )
    assert renamed[0].bytes > renamed[1].bytes  # names are sent with every message


def test_the_protocol_is_the_one_that_a_run_would_take() -> None:
    taken = [smc_dp.plan([30] * K, 30, method="prr_mean").cost.protocol for K in (2, 19, 20, 1000)]
    assert taken == ["pathak2010", "pathak2010", "linear", "linear"]
    assert smc_dp.plan([30] * 20, 30, method="prr_mean", protocol="pathak2010").cost.protocol == "pathak2010"


def test_what_is_beyond_a_protocol_is_refused() -> None:
    with refused("plan.too_many_parties", protocol="linear", most=10000, got=10001):
        smc_dp.plan([5] * 10_001, 3, method="prr_mean")
    with refused("plan.too_many_columns", protocol="linear", most=99999, got=100000):
        smc_dp.plan([5] * 30, 100_000, method="prr_mean")


# The estimate of processor time.


def test_every_kind_of_operation_is_measured_and_none_is_idle() -> None:
    declared: set[str] = set()
    for name, draw in DRAWS.items():
        protocol: Any = PROTOCOLS[name]
        for number in range(8):
            p = draw(Stream.insecure_from_seed(f"operations {number}"))
            declared |= set(protocol.conversation(p).operations)
    assert declared == set(PRIMITIVES) - {ENVELOPE, SENT_BYTE}
    assert len(PRIMITIVES) <= 8


def test_nothing_is_measured_unless_it_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("smc_dp.planning.operation_costs.PRIMITIVES", {})
    assert smc_dp.plan([50, 60], 2).cost.cpu_seconds is None
    with pytest.raises(KeyError):
        smc_dp.plan([50, 60], 2, cost=True)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["linear", "secure_sum", "pathak2010"])
def test_the_estimate_is_near_the_time_of_a_run(name: str) -> None:
    protocol: Any = PROTOCOLS[name]
    own: dict[str, dict[str, Any]] = {
        "linear": {"dimension": 100},
        "secure_sum": {"colluders": 1, "dropouts": 0, "sums": ((Block(100, "none"),),) * 3},
        "pathak2010": {"dimension": 100, "key_bits": 2048},
    }
    p = protocol.program.parameters(parties=party_names(10 if name == "pathak2010" else 60), **own[name])
    cost, spent = session_cost(SessionSpec(protocol, p), measure=True), seconds_of_a_run(name, p)
    assert 1 / FACTOR < cost.cpu_seconds / spent < FACTOR
    if name != "linear":  # where envelopes are most of it
        forgetful = estimated_seconds(p, {}, predict_traffic(protocol.program, p, protocol.conversation(p)))
        assert forgetful < cost.cpu_seconds / 2, "the mutant: an estimate without the operations that are declared"


def seconds_of_a_run(name: str, p: Any) -> float:
    """Return processor seconds of a session under these parameters."""
    protocol, rng = PROTOCOLS[name], Stream.insecure_from_seed(name)
    session = start(protocol.program, p, protocol.model.inputs(p, lambda _, bits: rng.bits(bits)), name)
    begun = time.process_time()
    session.simulate()
    return time.process_time() - begun


# What a person reads.


def test_the_command_shows_the_cost_by_stage_and_by_role(capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["plan", "--sizes", "50,60,70", "--columns", "2", "--method", "wsum"]
    found = smc_dp.plan([50, 60, 70], 2, method="wsum").cost
    assert main(arguments) == 0
    short = capsys.readouterr().out
    assert short.rstrip().endswith(f"{found.messages} messages, {found.bytes:,} bytes, {found.rounds} rounds.")
    assert main([*arguments, "--cost"]) == 0
    shown = capsys.readouterr().out
    assert shown.startswith(short)
    assert re.search(rf"\nall +{found.messages:,} +{found.bytes:,} +{found.rounds}\n", shown)
    assert re.search(r"\ncharlie +1 ", shown)
    assert re.search(r"about [\d.]+ s on this machine", shown)
    assert main([*arguments, "--cost", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)["cost"]
    assert told.pop("cpu_seconds") > 0
    assert told == {name: value for name, value in json.loads(json.dumps(found.as_dict())).items() if name in told}


@pytest.mark.parametrize(("seconds", "said"), [(0.0312, "0.031"), (9.64, "9.6"), (123.4, "123"), (12345.6, "12,346")])
def test_long_times_have_no_exponent(seconds: float, said: str) -> None:
    cost = SessionCost("linear", {}, 1, 1, 1, (), (), seconds)
    assert f"about {said} s" in list(report.cost_blocks(cost))[-1].text
