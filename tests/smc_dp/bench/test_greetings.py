"""The star of the benchmark really opens its links, and says so when a byte is wrong."""

from __future__ import annotations

from dataclasses import replace

import pytest
from support.star import star

from smc_dp.bench import greetings
from smc_dp.bench.words import notes


def test_everybody_hears_the_curator() -> None:
    made = star(5)
    run = made.simulate()
    assert {run.results[name] for name in made.session.parties} == {10}
    assert greetings.greeting_seconds(5) > 0


def test_a_wrong_byte_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    async def deaf(me: object, p: object) -> int:
        await greetings._party(me, p)  # type: ignore[arg-type]
        return 0

    roles = dict(greetings.STAR.roles)
    changed = {kind: deaf if kind.name == "party" else role for kind, role in roles.items()}
    monkeypatch.setattr(greetings, "STAR", replace(greetings.STAR, roles=changed))
    with pytest.raises(RuntimeError, match="another byte"):
        greetings.greeting_seconds(3)


def test_the_benchmark_prints_it() -> None:
    from smc_dp.bench.protocol import Bench

    measured = Bench(2, 1, 2048, {"stage1": 2.0}, {"stage1": 1.0}, 0.1, None)
    assert any("1,000 parties" in line and "0.97 s" in line for line in notes(measured, 0.97, None))
