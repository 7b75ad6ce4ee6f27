"""One whole run in one process: every party trains, the protocol runs, the release is written and compared.

Real parties would each do their own part. Here one process holds everybody's rows, which is what makes the
comparisons at the end possible.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any, TypeAlias

from protocols.arithmetic.rng import Stream
from protocols.crypto.identity import Identity
from smc_dp import aggregation
from smc_dp.aggregation import AS_PRINTED, SEEDED, TEST_KEYS, Cost, ProtocolSettings
from smc_dp.data.sources import Case
from smc_dp.ledger.history import Standing
from smc_dp.methods import baselines
from smc_dp.methods.pathak2010.curator import Settings, accuracy, check_fit, classify, local
from smc_dp.privacy.statement import PrivacyStatement
from smc_dp.run import folder as run_folder
from smc_dp.run.ledgers import ABORTS, Ledgers, accounted, price

HearProgress: TypeAlias = Callable[[str, int, int], None]
"""Called with the name of a stage, how much of it is done, and of how much."""

METHOD = "pathak2010"
REASONS = MappingProxyType(
    {
        SEEDED: "the run was made from a seed: whoever knows the seed knows every secret",
        TEST_KEYS: "the keys are test keys, too short to protect anything",
        AS_PRINTED: "the steps were run exactly as printed in the paper, leaks included",
    }
)
ONLY_THE_RELEASE = "whoever sees the published shares and the release, and nothing that was sent to make them"
RESIDUES = "The published integers equal the sum of all models modulo the number of parties, without any noise."


@dataclass(frozen=True)
class Comparison:
    """Test accuracies of a simulation: the release, each party alone, all rows pooled, the majority class."""

    accuracy: float
    individual: dict[str, float]
    pooled: float
    majority: float


@dataclass(frozen=True)
class Report:
    """What a run tells the person who started it; `comparison` is None without rows to test on.

    `standings`: how each party's budget stands now, empty without ledgers.
    """

    parties: int
    dimension: int
    settings: Settings
    protocol: ProtocolSettings
    privacy: PrivacyStatement
    comparison: Comparison | None
    cost: Cost | None
    run_dir: Path
    insecure: tuple[str, ...]
    standings: Mapping[str, Standing] = field(default_factory=dict)

    def as_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        compared = self.comparison
        budgets = {name: standing.as_dict() for name, standing in self.standings.items()}
        return {
            "method": METHOD,
            "parties": self.parties,
            "dimension": self.dimension,
            "calibration": self.settings.calibration,
            "accuracy": compared.accuracy if compared else None,
            "baselines": {
                "individual": compared.individual if compared else None,
                "pooled": compared.pooled if compared else None,
            },
            "privacy": self.privacy.as_dict(),
            "cost": self.cost.as_dict() if self.cost else None,
            "run_dir": str(self.run_dir),
            **({"budgets": budgets} if budgets else {}),
        }


def simulate_run(
    case: Case,
    settings: Settings,
    protocol: ProtocolSettings,
    rng: Stream,
    folder: Path,
    progress: HearProgress | None = None,
    *,
    identities: Mapping[str, Identity] | None = None,
    views: Path | None = None,
    ledgers: Ledgers | None = None,
) -> Report:
    """Run everything and write the run folder, and the secret views into the folder `views` if one is named.

    `identities`: the participants' long-term identities, else new ones are made. `ledgers`: looked at before anybody
    trains, and charged before the first message. Raises InputError before any message when the inputs do not fit, a
    folder exists, or a party's budget would be passed; errors of the protocol pass through, and then nothing has been
    written but void entries in ledgers. With `ledgers`, an error has a note of what it cost.
    """
    run_folder.refuse_existing(folder)
    if views is not None:
        run_folder.refuse_existing(views)
    for name, data in case.parties.items():
        check_fit(name, data, len(case.parties), settings)
    marks = aggregation.marks(protocol, rng)
    privacy = statement(settings.guarantee(len(case.parties), protocol.dimension), marks)
    charge = None
    if ledgers:
        charge = price(privacy, settings.epsilon if settings.calibration == "proven" else None)
        ledgers.check(case.parties, charge)
    contributions = []
    for j, (name, data) in enumerate(case.parties.items()):
        if progress:
            progress("local training", j, len(case.parties))
        contributions.append(local(name, data, len(case.parties), settings, rng.fork(f"party {name}")))
    if progress:
        progress("local training", len(case.parties), len(case.parties))
    parameters = _parameters(case, settings, protocol)
    protocol = replace(protocol, agreed=run_folder.agreed(parameters, case.bounds, settings.grid.fraction_bits, marks))
    insecure = tuple(REASONS[mark] for mark in marks)
    reserved = ledgers.reserve(case.parties, METHOD, charge, protocol.agreed) if ledgers and charge else None
    with accounted(reserved, harmless=ABORTS):
        outcome = aggregation.secure(
            contributions,
            protocol,
            rng=rng.fork("protocol"),
            progress=progress,
            identities=identities,
            views=views is not None,
        )
    parameters["agreed"] = protocol.agreed
    with accounted(reserved):
        published = run_folder.make(outcome, settings.grid, case.bounds, privacy, parameters, insecure)
        run_folder.write(folder, published, outcome, settings.grid.fraction_bits)
        if views is not None:
            run_folder.write_views(views, outcome)
        standings = reserved.released(folder / run_folder.RELEASE) if reserved else {}
    return Report(
        parties=len(case.parties),
        dimension=protocol.dimension,
        settings=settings,
        protocol=protocol,
        privacy=privacy,
        comparison=_comparison(case, settings, published.weights),
        cost=outcome.cost,
        run_dir=folder,
        insecure=insecure,
        standings=standings,
    )


def statement(privacy: PrivacyStatement, marks: tuple[str, ...]) -> PrivacyStatement:
    """The statement with the reasons why it does not hold as it stands; a seed or the printed steps leave nothing.

    `marks`: of the wire record, in the words of `aggregation.marks`.
    """
    reasons = tuple(f"INSECURE: {REASONS[mark]}." for mark in marks)
    if AS_PRINTED in marks:
        return replace(privacy, kind="none", epsilon=None, adversary="nobody", caveats=(*reasons, RESIDUES))
    if SEEDED in marks:
        return replace(privacy, kind="none", epsilon=None, adversary="nobody", caveats=reasons)
    if TEST_KEYS in marks:
        return replace(privacy, adversary=ONLY_THE_RELEASE, caveats=(*privacy.caveats, *reasons))
    return privacy


def _parameters(case: Case, settings: Settings, protocol: ProtocolSettings) -> dict[str, Any]:
    return {
        "method": METHOD,
        "parties": list(case.parties),
        "dimension": protocol.dimension,
        "epsilon": str(settings.epsilon),
        "lambda": str(settings.lam),
        "calibration": settings.calibration,
        "noise": settings.noise,
        "comparison": protocol.comparison,
        "key_bits": protocol.key_bits,
        "ring_bits": protocol.ring_bits,
        "topology": protocol.topology,
        "link": protocol.link,
        "as_printed": protocol.as_printed,
    }


def _comparison(case: Case, settings: Settings, weights: tuple[float, ...]) -> Comparison | None:
    if case.test is None:
        return None
    return Comparison(
        accuracy=accuracy(classify(weights, case.test.X), case.test.y),
        individual=baselines.individual(case.parties, case.test, settings.objective),
        pooled=baselines.pooled(case.parties, case.test, settings.objective),
        majority=baselines.majority(case.parties, case.test),
    )
