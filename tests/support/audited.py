"""Runs of a few made-up hospitals at toy keys, written as folders, for tests of audits."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from protocols.arithmetic.rng import Stream
from protocols.crypto.identity import Identity
from smc_dp.aggregation import CURATOR, ProtocolSettings
from smc_dp.audit.run.evidence import Evidence, load
from smc_dp.data.bounds import Bounds, NumericColumn
from smc_dp.data.preprocess import Examples
from smc_dp.data.sources import Case
from smc_dp.methods.pathak2010.curator import RING_BITS, Settings
from smc_dp.run.simulation import simulate_run

KEY_BITS = 512


class Folders(NamedTuple):
    """Where a run and its views lie."""

    run: Path
    views: Path

    def evidence(self, *, views: bool = True) -> Evidence:
        return load(self.run, views=self.views if views else None)


def hospitals(sizes: tuple[int, ...], d: int, seed: int = 0) -> Case:
    """Parties of these sizes with d made-up features in [-1, 1]."""
    rng = np.random.default_rng(seed)
    columns = tuple(NumericColumn(f"x{i}", -1.0, 1.0) for i in range(d))
    parties = {}
    for j, n in enumerate(sizes):
        X = rng.uniform(-1, 1, (n, d)) / np.sqrt(2 * d)
        parties[f"north-{j}"] = Examples(X, np.where(np.arange(n) % 2, 1.0, -1.0))
    return Case(parties, None, Bounds(columns, ("no", "yes"), "outcome", bias=0.0, center=False))


def toy_run(
    folder: Path,
    sizes: tuple[int, ...] = (12, 8, 20),
    d: int = 2,
    *,
    seed: int = 1,
    settings: Settings | None = None,
    identities: dict[str, Identity] | None = None,
    key_bits: int = KEY_BITS,
    **options: Any,
) -> Folders:
    """One run with its views; everything follows from the seeds. `options`: of `ProtocolSettings`."""
    protocol = ProtocolSettings(d, RING_BITS, key_bits, insecure_test_keys=True, **options)
    printed = protocol.as_printed
    settings = settings or Settings(
        Fraction(1), Fraction(1, 10), calibration="paper" if printed else "proven", as_printed=printed
    )
    made = Folders(folder / "run", folder / "views")
    rng = Stream.insecure_from_seed(f"audited {seed}")
    simulate_run(hospitals(sizes, d, seed), settings, protocol, rng, made.run, identities=identities, views=made.views)
    return made


def long_term(names: tuple[str, ...], seed: int = 0) -> dict[str, Identity]:
    """Identities that outlive a run."""
    root = Stream.insecure_from_seed(f"long term {seed}")
    return {name: Identity.generate(root.fork(name)) for name in (*names, CURATOR)}
