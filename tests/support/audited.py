"""Runs of a few made-up hospitals at toy keys, written as folders, for tests of audits."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from protocols.arithmetic.rng import Stream
from protocols.crypto.identity import Identity
from protocols.curator import CURATOR_NAME
from smc_dp.audit.run.evidence import Evidence, load_evidence
from smc_dp.data.bounds import Bounds, NumericColumn
from smc_dp.data.federation import Federation, Rows
from smc_dp.data.sources import PreparedData
from smc_dp.methods.pathak2010.mean import PathakMean
from smc_dp.methods.sums.weighted_sum import WeightedSum
from smc_dp.privacy.ledger.history import Limit
from smc_dp.privacy.target import Target
from smc_dp.run.agreement import PROTOCOLS_BY_METHOD, Agreement, SettledRun, insecure_markers
from smc_dp.run.ledgers import Ledgers
from smc_dp.run.protocols.registry import CuratorTerms, find_terms, settle_protocol
from smc_dp.run.simulation import simulate_run

KEY_BITS = 512


class Folders(NamedTuple):
    """Where a run and its views lie."""

    run: Path
    views: Path

    def evidence(self, *, views: bool = True) -> Evidence:
        return load_evidence(self.run, views=self.views if views else None)


def hospitals(sizes: tuple[int, ...], d: int, seed: int = 0) -> PreparedData:
    """Parties of these sizes with d made-up features in [-1, 1]."""
    rng = np.random.default_rng(seed)
    columns = tuple(NumericColumn(f"x{i}", -1.0, 1.0) for i in range(d))
    parties = {}
    for j, n in enumerate(sizes):
        X = rng.uniform(-1, 1, (n, d)) / np.sqrt(2 * d)
        parties[f"north-{j}"] = Rows(X, np.arange(n) % 2)
    bounds = Bounds(columns, ("no", "yes"), "outcome", clip=2.0, bias=0.0, center=False)
    return PreparedData(Federation(tuple(parties.values()), 2, names=tuple(parties)), None, bounds)


def agreement(
    data: PreparedData,
    target: Target | None = None,
    lam: float = 0.1,
    *,
    as_printed: bool = False,
    key_bits: int = KEY_BITS,
    seeded: bool = True,
    protocol: str | None = None,
    **options: Any,
) -> Agreement:
    """What the parties agree on, epsilon = 1 unless said otherwise. `options`: of `CuratorTerms`; the linear path has
    its own settings.
    """
    protocol = protocol or PROTOCOLS_BY_METHOD["prr_mean"][as_printed]
    wanted = target or Target(Fraction(1), "paper" if as_printed else "proven")
    terms = CuratorTerms(key_bits, **options) if find_terms(protocol) is CuratorTerms else find_terms(protocol)()
    found = insecure_markers(protocol, terms, seeded=seeded)
    method = PathakMean(lam, as_printed)
    return SettledRun(method, wanted, protocol, terms, found).with_parties(data.federation.names, data.bounds)


def sum_agreement(
    data: PreparedData, method: Any = None, target: Target | None = None, *, seeded: bool = True, **options: Any
) -> Agreement:
    """What the parties of a secure sum agree on, a weighted sum unless said otherwise. `options`: of `SumTerms`."""
    made = method or WeightedSum(0.1)
    wanted = target or Target(Fraction(1), noise="ddg")
    terms = settle_protocol("secure_sum", made, options)
    found = insecure_markers("secure_sum", terms, seeded=seeded)
    return SettledRun(made, wanted, "secure_sum", terms, found).with_parties(data.federation.names, data.bounds)


def toy_run(
    folder: Path,
    sizes: tuple[int, ...] = (12, 8, 20),
    d: int = 2,
    *,
    seed: int = 1,
    identities: dict[str, Identity] | None = None,
    link: str = "none",
    topology: str = "mesh",
    **options: Any,
) -> Folders:
    """One run with its views; everything follows from the seeds. `options`: of `agreement`."""
    data, made = hospitals(sizes, d, seed), Folders(folder / "run", folder / "views")
    rng = Stream.insecure_from_seed(f"audited {seed}")
    agreed = agreement(data, **options)
    simulate_run(data, agreed, rng, made.run, link=link, topology=topology, identities=identities, views=made.views)
    return made


def long_term(names: tuple[str, ...], seed: int = 0) -> dict[str, Identity]:
    """Identities that outlive a run."""
    root = Stream.insecure_from_seed(f"long term {seed}")
    return {name: Identity.generate(root.fork(name)) for name in (*names, CURATOR_NAME)}


def charged_run(folder: Path, sizes: tuple[int, ...] = (12, 8, 20), d: int = 2) -> Folders:
    """A secure sum with views, known identities in `identities.json` and a ledger for each party in `ledgers`; every
    ledger has a release before it, and one after it.
    """
    data, made = hospitals(sizes, d), Folders(folder / "run", folder / "views")
    ledgers, known = (
        Ledgers(folder / "ledgers", Limit(Fraction(6), Fraction(1, 10**4))),
        long_term(data.federation.names),
    )
    pinned = {name: identity.public.hex() for name, identity in known.items()}
    (folder / "identities.json").write_text(json.dumps(pinned))
    agreed = sum_agreement(data, seeded=False)
    for run, views in ((folder / "before", None), (made.run, made.views), (folder / "after", None)):
        simulate_run(data, agreed, Stream.from_system(), run, identities=known, views=views, ledgers=ledgers)
    return made
