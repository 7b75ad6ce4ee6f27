"""The curator protocol by stage, and the linear path, against a straightforward port of the paper's steps on phe."""

from __future__ import annotations

import pytest
from benchmarks.conftest import Compare
from benchmarks.port import run_port

from protocols import linear, pathak2010
from protocols.arithmetic.permutation import Permutation
from protocols.arithmetic.rng import Stream
from protocols.linear.parameters import Parameters as LinearParameters
from protocols.pathak2010.parameters import Parameters
from protocols.runtime.session import Program
from smc_dp.methods.functionality import Contribution, SumWithSmallestNoise
from smc_dp.run.protocols.cost import Outcome
from smc_dp.run.protocols.execution import open_session, run_session

K, DIMENSION, KEY_BITS = 5, 124, 3072
WANTED = SumWithSmallestNoise()


def test_the_protocols_against_the_port(compare: Compare) -> None:
    rng = Stream.from_system()
    given = contributions(rng)
    p = Parameters(tuple(f"P{j}" for j in range(K)), DIMENSION, KEY_BITS)
    theirs, total = run_port(given, p, rng)
    assert total == p.weights.vector(WANTED.compute(given, rng))
    ours = by_stage(outcome(pathak2010.PROGRAM, p, given, rng), total, p)
    keys = ours.pop("keys")
    for stage, seconds in theirs.items():
        compare(f"curator protocol, {stage}, K = {K}, d = {DIMENSION}, {KEY_BITS} bits", ours[stage], seconds)
    whole = sum(theirs.values())
    compare(f"curator protocol, all stages but keys ({keys:.2f} s)", sum(ours.values()), whole, 7)
    q = LinearParameters(p.parties, DIMENSION)
    found = by_stage(outcome(linear.PROGRAM, q, given, rng), total, q)
    compare("linear path, all stages", sum(found.values()), whole, 50)


def contributions(rng: Stream) -> list[Contribution]:
    """Return made-up contributions, no two of equally many rows; anybody may be the smallest."""
    return [
        Contribution(
            1000 + j,
            tuple(rng.bits(42) for _ in range(DIMENSION)),
            tuple(rng.bits(44) - (1 << 43) for _ in range(DIMENSION)),
        )
        for j in Permutation.random(K, rng).images
    ]


def outcome(program: Program, p: Parameters | LinearParameters, given: list[Contribution], rng: Stream) -> Outcome:
    return run_session(WANTED, given, open_session(program, p, rng), rng=rng)


def by_stage(found: Outcome, total: tuple[int, ...], p: Parameters | LinearParameters) -> dict[str, float]:
    """Return processor seconds of all roles by stage; the released sum has to be the port's."""
    assert p.weights.vector(found.value) == total
    if found.execution is None or found.execution.cost is None:
        pytest.fail("the protocol did not report its cost")
    return {stage.stage: sum(stage.seconds.values()) for stage in found.execution.cost.by_stage}
