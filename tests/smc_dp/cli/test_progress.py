"""Progress through the protocol counts participants, each once."""

from __future__ import annotations

from protocols import pathak2010
from protocols.arithmetic.rng import Stream
from protocols.pathak2010.parameters import Parameters
from smc_dp.methods.functionality import Contribution, SumWithSmallestNoise
from smc_dp.run.protocols.execution import open_session, run_session


def test_no_stage_has_more_than_all_participants() -> None:
    """Whoever makes keys leaves the set-up for it and comes back, and is still one participant."""
    heard: dict[str, list[tuple[int, int]]] = {}
    parts, rng = [Contribution(size, (1,), (2,)) for size in (5, 6)], Stream.insecure_from_seed(1)
    session = open_session(pathak2010.PROGRAM, Parameters(("north", "south"), 1, 512), rng)
    run_session(
        SumWithSmallestNoise(),
        parts,
        session,
        rng=rng,
        progress=lambda stage, done, total: heard.setdefault(stage, []).append((done, total)),
    )
    assert {stage: calls[-1] for stage, calls in heard.items()} == {
        **{stage: (3, 3) for stage in ("setup", "stage1", "stage2", "stage3")},
        "keys": (2, 3),
    }
    assert all(1 <= done <= total == 3 for calls in heard.values() for done, total in calls)
