"""One whole run in one process: every party does its part, the protocol runs, the release is written and compared.

Real parties would each do their own part. Here one process holds everybody's rows, which is what makes the
comparisons at the end possible.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import permutations
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from protocols.arithmetic.rng import Stream
from protocols.crypto.identity import Identity
from protocols.runtime.simulate import Setting
from smc_dp import aggregation
from smc_dp.data.federation import Federation, Rows, check_rows
from smc_dp.data.sources import Prepared
from smc_dp.errors import InputError
from smc_dp.files.writing import open_scratch, refuse_existing
from smc_dp.ledger.spending import run_key
from smc_dp.methods.model import classify
from smc_dp.methods.nonprivate import alone, majority
from smc_dp.run import folder as run_folder
from smc_dp.run import party
from smc_dp.run.agreement import SEEDED, Agreement
from smc_dp.run.ledgers import ABORTS, Ledgers, accounted, price
from smc_dp.run.report import Comparison, Report

RELEASED = "release"
"""The label under which a run is charged: all that its protocol reveals is one release."""
HearProgress: TypeAlias = Callable[[str, int, int], None]
"""Called with the name of a stage, how much of it is done, and of how much."""


def simulate_run(
    data: Prepared,
    agreement: Agreement,
    rng: Stream,
    folder: Path,
    progress: HearProgress | None = None,
    *,
    link: str = "none",
    topology: str = "mesh",
    identities: Mapping[str, Identity] | None = None,
    views: Path | None = None,
    ledgers: Ledgers | None = None,
) -> Report:
    """Run everything and write the run folder, and the secret views into the folder `views` if one is named.

    `identities`: the participants' long-term identities, else new ones are made. `ledgers`: looked at before anybody
    trains, and charged before the first message, under a key of this session. Raises InputError before any message when
    the inputs do not fit, a folder exists, or a party's budget would be passed; errors of the protocol pass through,
    and then nothing has been written but in ledgers. With `ledgers`, an error has a note of what it cost, and whom.
    """
    wanted = [folder] if views is None else [folder, views]
    for new in wanted:
        refuse_existing(new)
    _check(data, agreement, rng, wanted)
    simulated = {"topology": topology, "link": link}
    run_folder.check_readable(agreement, simulated)
    parties = data.federation.by_name
    for name, rows in parties.items():
        party.check(name, rows, agreement)
    charge = None
    if ledgers:
        target = agreement.target
        charge = price(agreement.statement, target.epsilon if target.calibration == "proven" else None)
        ledgers.check(data.as_read, charge)
    parts = _parts(parties, agreement, rng, progress)
    own = rng.fork("protocol")
    taking_part = agreement.session(own, identities, simulated)
    with open_scratch(folder) as record:
        reserved = None
        if ledgers and charge:
            run = run_key(taking_part.session.id, RELEASED)
            reserved = ledgers.reserve(data.as_read, agreement.protocol, charge, run)
        setting = Setting(
            topology,
            link,
            marks=agreement.marks,
            views=views is not None,
            record=record,
            released=reserved.leaving if reserved else None,
        )
        with accounted(reserved, harmless=ABORTS):
            outcome = aggregation.secure(
                agreement.functionality, parts, taking_part, rng=own, setting=setting, progress=progress
            )
        with accounted(reserved):
            published = run_folder.make(outcome, agreement, simulated)
            if outcome.execution is None:
                raise RuntimeError("the protocol left nothing to publish")
            run_folder.write(folder, published, outcome.execution)
            if views is not None:
                run_folder.write_views(views, outcome.execution)
            standings = reserved.released(folder / run_folder.RELEASE) if reserved else {}
    compared = _comparison(data.federation, data.test, agreement.method, published.weights)
    remarks = reserved.remarks if reserved else ()
    return Report(agreement, simulated, compared, outcome.execution.cost, folder, standings, remarks)


def _check(data: Prepared, agreement: Agreement, rng: Stream, folders: list[Path]) -> None:
    """Raises InputError unless it is this data that was agreed on, with these coins, for folders that lie apart."""
    federation = data.federation
    if federation.names != agreement.parties or data.bounds != agreement.bounds or federation.classes != 2:
        raise InputError("agreement: wanted one about the parties, classes and bounds of these rows, got another")
    if federation.dimension != agreement.bounds.dimension:
        wanted = agreement.bounds.dimension
        raise InputError(f"rows: wanted those of {wanted} features, got {federation.dimension}")
    if data.test is not None:
        check_rows(data.test, federation.classes, (federation.dimension,), "the rows to test on")
    if rng.insecure != (SEEDED in agreement.marks):
        came = "a seed" if rng.insecure else "the system"
        raise InputError(
            f"insecure: wanted the mark {SEEDED!r} exactly where coins come from a seed, they are of {came}"
        )
    places = [folder.resolve() for folder in folders]
    for one, other in permutations(places, 2):
        if one == other or other in one.parents:
            raise InputError(f"folder {one}: wanted one that lies apart from {other}: views are secret")


def _parts(parties: Mapping[str, Rows], agreement: Agreement, rng: Stream, progress: HearProgress | None) -> list[Any]:
    parts = []
    hear = progress or (lambda stage, done, total: None)
    for j, (name, rows) in enumerate(parties.items()):
        hear("local training", j, len(parties))
        parts.append(party.part(name, rows, agreement, rng.fork(f"party {name}")))
    hear("local training", len(parties), len(parties))
    return parts


def _comparison(
    federation: Federation, test: Rows | None, method: Any, weights: tuple[float, ...]
) -> Comparison | None:
    if test is None:
        return None
    return Comparison(
        accuracy=float(np.mean(classify(weights, test.X) == test.y)),
        individual={name: alone(rows, method.lam, test) for name, rows in federation.by_name.items()},
        pooled=alone(federation.pooled(), method.lam, test),
        majority=majority(federation, test),
        smallest=min(len(rows) for rows in federation.parties),
    )
