"""Progress through the protocol counts participants, each once."""

from __future__ import annotations

from protocols.arithmetic.rng import Stream
from smc_dp.aggregation import Contribution, ProtocolSettings, secure


def test_no_stage_has_more_than_all_participants() -> None:
    """Whoever makes keys leaves the set-up for it and comes back, and is still one participant."""
    heard: dict[str, list[tuple[int, int]]] = {}
    parties = [Contribution(name, size, (1,), (2,)) for name, size in (("north", 5), ("south", 6))]
    settings = ProtocolSettings(1, 64, key_bits=512, insecure_test_keys=True)
    secure(
        parties,
        settings,
        rng=Stream.insecure_from_seed(1),
        progress=lambda stage, done, total: heard.setdefault(stage, []).append((done, total)),
    )
    assert {stage: calls[-1] for stage, calls in heard.items()} == {
        **{stage: (3, 3) for stage in ("setup", "stage1", "stage2", "stage3")},
        "keys": (2, 3),
    }
    assert all(1 <= done <= total == 3 for calls in heard.values() for done, total in calls)
