"""Plan of a grid: every method of a list, on every setting of a list, several times.

A plan is public and plain data: the same plan, written as JSON, has the same digest, by which a folder of results
knows its plan.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal, TypeAlias

from smc_dp.core.errors import InputError, shown
from smc_dp.data.partition import Partition
from smc_dp.experiments.compare.peers import PEERS, Entrant
from smc_dp.methods.method import Trust
from smc_dp.methods.registry import find_method
from smc_dp.methods.sums.simulated_sum import require_secure_sum
from smc_dp.methods.sums.threat_model import ThreatModel
from smc_dp.privacy.target import DEFAULT_DELTA, Calibration, NoiseName, Target

OptionValue: TypeAlias = str | int | float | bool
"""Value of an option of a method."""
_MOST_TRIALS = 10_000_000


@dataclass(frozen=True)
class GridSetting:
    """Rows and how they are dealt. `name` stands in the column `dataset` of the results.

    `ordinal` loads categories as whole numbers. `repeats`: deals of the rows, where they are fewer than the plan's.
    """

    name: str
    dataset: str
    deal: Partition
    ordinal: bool = False
    repeats: int | None = None

    @property
    def source(self) -> tuple[str, bool]:
        """Name of the data set and `ordinal`: settings that are equal in both share the loaded data."""
        return self.dataset, self.ordinal


@dataclass(frozen=True)
class GridEntry:
    """One method with its options, one calibration, and the epsilons it runs at; epsilon None is no noise.

    `label` stands in the column `method` of the results. `calibration` is None for a baseline without noise. `draws`:
    releases for each data repeat and finite epsilon; without noise there is one. `settings`: the only settings that
    the entry runs on; empty: all. `trust`: an aggregator who is trusted with the contributions, or a secure sum, with
    noise in shares, of which t = `colluders` may collude with the curator and D = `dropouts` may drop out.
    """

    label: str
    method: str
    calibration: Calibration | None
    epsilons: tuple[Fraction | None, ...]
    noise: NoiseName = "knorm"
    delta: Fraction = DEFAULT_DELTA
    options: tuple[tuple[str, OptionValue], ...] = ()
    draws: int = 1
    settings: tuple[str, ...] = ()
    trust: Trust = "aggregator"
    colluders: int = 1
    dropouts: int = 0

    def in_secure_sum(self, threat_model: ThreatModel) -> GridEntry:
        """Return the entry in a secure sum with the colluders and drop-outs of this threat model."""
        return dataclasses.replace(
            self, trust="secure", colluders=threat_model.colluders, dropouts=threat_model.dropouts
        )

    def threat_model(self, parties: int) -> ThreatModel:
        """Return the limits of collusion and drop-outs among so many parties of a secure sum."""
        return ThreatModel(parties, self.colluders, self.dropouts)

    @property
    def training(self) -> object:
        """Key of a training, which entries with the same key share."""
        tolerated = (self.colluders, self.dropouts) if self.trust == "secure" else ()
        return self.method, self.options, self.trust, *tolerated

    def make(self) -> Entrant:
        """Return the method or peer; InputError for an option that it does not have or refuses."""
        kind: Any = PEERS.get(self.method) or find_method(self.method)
        known = {field.name for field in dataclasses.fields(kind)}
        for name, _ in self.options:
            if name not in known:
                raise InputError("comparison.unknown_option", method=self.method, option=shown(name))
        made: Entrant = kind(**dict(self.options))
        return made

    def runs_on(self, setting: GridSetting) -> bool:
        """Return whether the entry is for this setting."""
        return not self.settings or setting.name in self.settings

    def target(self, epsilon: Fraction | None) -> Target:
        """Return the target of a release at this epsilon."""
        return Target(epsilon, self.calibration or "proven", self.noise, self.delta)

    @property
    def shown_calibration(self) -> str:
        """Value of the column `calibration`."""
        return self.calibration or "none"

    @property
    def shown_trust(self) -> Literal["aggregator", "secure", "none"]:
        """Value of the column `trust`."""
        return "none" if self.calibration is None else self.trust

    def check(self, setting: GridSetting) -> None:
        """Raise InputError for a secure sum that these parties cannot compute, or that computes no such release."""
        if self.trust == "aggregator":
            return
        if self.calibration is None:
            raise InputError("comparison.secure_without_noise", entry=self.label)
        require_secure_sum(self.make(), self.target(None))
        self.threat_model(setting.deal.parties).check()


@dataclass(frozen=True)
class GridCell:
    """Unit of work that is written when done: one setting, one entry, one deal of the rows, all epsilons."""

    setting: GridSetting
    entry: GridEntry
    repeat: int

    @property
    def key(self) -> str:
        """File name, different for every cell of a plan."""
        entry = self.entry
        parts = (self.setting.name, entry.label, entry.shown_trust, entry.shown_calibration, f"r{self.repeat:03d}")
        readable = ".".join(re.sub(r"[^A-Za-z0-9_]+", "-", part) for part in parts)[:100]
        return f"{readable}.{hashlib.sha256(repr(parts).encode()).hexdigest()[:8]}"

    def trials(self) -> Iterator[tuple[Fraction | None, int]]:
        """Yield each trial of the cell: its epsilon, and its number, unique over the repeats and draws of the entry."""
        for epsilon in self.entry.epsilons:
            for draw in range(1 if epsilon is None else self.entry.draws):
                yield epsilon, self.repeat * self.entry.draws + draw

    def describe(self) -> dict[str, Any]:
        """Return the cell's parameters, for a message or a file."""
        return {"setting": plain_data(self.setting), "entry": plain_data(self.entry), "repeat": self.repeat}


@dataclass(frozen=True)
class GridPlan:
    """Every entry on its settings, each for `repeats` deals of the rows by public seeds.

    `insecure_seed`: number from which all noise comes, so that a run can be repeated; None: the system's generator.
    Raises InputError for an empty plan, two curves of one name, an unknown method or option, or parties who cannot add
    up by a secure sum.
    """

    settings: tuple[GridSetting, ...]
    entries: tuple[GridEntry, ...]
    repeats: int
    insecure_seed: int | None = None

    def __post_init__(self) -> None:
        if not self.settings or not self.entries:
            raise InputError("comparison.empty")
        if self.repeats < 1 or any(entry.draws < 1 for entry in self.entries):
            raise InputError("comparison.no_repeats")
        runs = [(s, e) for s in self.settings for e in self.entries if e.runs_on(s)]
        curves = [(s.name, e.label, e.calibration, e.trust) for s, e in runs]
        if len(set(curves)) < len(curves):
            twice = next(curve for curve in curves if curves.count(curve) > 1)
            raise InputError("comparison.repeated_entry", entry=twice[1], dataset=twice[0])
        for entry in self.entries:
            entry.make()
            if len(set(entry.epsilons)) < len(entry.epsilons):
                raise InputError("comparison.repeated_epsilon", entry=entry.label)
            for epsilon in entry.epsilons:
                entry.target(epsilon)
        for setting, entry in runs:
            entry.check(setting)
        if sum(len(list(entry.epsilons)) * entry.draws for entry in self.entries) * self.repeats > _MOST_TRIALS:
            raise InputError("comparison.too_many_trials", most=_MOST_TRIALS)

    def cells(self) -> list[GridCell]:
        """Return the cells in the order of work: data set by data set, and a deal's cells together."""
        by_source = sorted({s.source for s in self.settings}, key=[s.source for s in self.settings].index)
        return [
            GridCell(setting, entry, repeat)
            for source in by_source
            for setting in self.settings
            if setting.source == source
            for repeat in range(min(self.repeats, setting.repeats or self.repeats))
            for entry in self.entries
            if entry.runs_on(setting)
        ]

    @property
    def digest(self) -> str:
        """SHA-256 of the plan as canonical JSON, in hex."""
        text = json.dumps(plain_data(self), sort_keys=True, separators=(",", ":"), allow_nan=False)
        return hashlib.sha256(text.encode()).hexdigest()


def plain_data(value: object) -> Any:
    """Return plain data for JSON: exact fractions as text, `inf` for no noise."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        found = {field.name: plain_data(getattr(value, field.name)) for field in dataclasses.fields(value)}
        return found | {k: ["inf" if e is None else e for e in v] for k, v in found.items() if k == "epsilons"}
    if isinstance(value, Mapping):
        return {str(name): plain_data(v) for name, v in value.items()}
    if isinstance(value, tuple | list):
        return [plain_data(v) for v in value]
    return str(value) if isinstance(value, Fraction) else value


def epsilon_text(epsilon: Fraction | None) -> str:
    """Return epsilon as it stands in the results: a decimal number, or `inf`."""
    return "inf" if epsilon is None else f"{float(epsilon):.12g}"


DIGEST_DELTA = Fraction(1, 10**6)
"""Delta that entries for a paper carry for the digest of their plans alone: no noise of a paper has a delta."""
