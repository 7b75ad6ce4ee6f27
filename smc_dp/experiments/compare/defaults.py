"""Defaults of comparisons: the partition of each data set as in the paper that uses it, and the entries of a plan."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from types import MappingProxyType
from typing import Any

from smc_dp.core.errors import Fault, InputError, InputFault
from smc_dp.data.partition import Partition, parse_split
from smc_dp.experiments.compare.plan import GridEntry, OptionValue
from smc_dp.methods.method import Trust, default_secure_noise, noise_names
from smc_dp.methods.registry import find_method
from smc_dp.methods.sums.simulated_sum import has_secure_sum
from smc_dp.methods.sums.threat_model import ThreatModel
from smc_dp.privacy.target import Calibration, NoiseName

_THREE = Partition(parties=3, split="50,37.5,12.5")  # of the 80 % that are not tested on: 40, 30 and 10 % of all

DEFAULT_PARTITIONS = MappingProxyType(
    {
        "a9a": Partition(parties=5),
        "har": Partition(parties=1000, per_party=6, auxiliary=1352, components=50),
        "kdd99": Partition(parties=20_000, per_party=22, auxiliary=43_000),
        "mnist37": Partition(parties=10, per_party=788, labelled=788, components=50, held_out=Fraction(30)),
        "covtype": Partition(parties=10, per_party=545, labelled=545, held_out=Fraction(30)),
        "bank": _THREE,
        "credit_default": _THREE,
        "breast_cancer": Partition(parties=5, auxiliary=100, labelled=50),
        "digits": Partition(parties=100, per_party=10, auxiliary=400),
        "malicious_url": Partition(parties=20_000, per_party=9, auxiliary=16_000, components=50),
    }
)
"""Partition of each data set as in the paper that uses it; no paper uses breast_cancer and digits."""


def default_partition(dataset: str, split: str | None = None, parties: int | None = None, **others: Any) -> Partition:
    """Return the default partition with changes; 0 `auxiliary` or `labelled` rows are no public rows.

    A split says how many parties there are, and that all rows are dealt.
    """
    default = DEFAULT_PARTITIONS.get(dataset, Partition())
    changes = {name: value for name, value in others.items() if value is not None}
    changes |= {name: None for name in ("auxiliary", "labelled") if changes.get(name) == 0}
    if split is not None:
        shares = len(parse_split(split))
        if parties not in (None, shares):
            raise InputError("split.wrong_number", wanted=parties, got=shares)
        return replace(default, **{"per_party": None, **changes, "split": split, "parties": shares})
    if parties is not None:
        changes |= {"parties": parties, "split": None}
    return replace(default, **changes)


def make_entries(
    methods: Sequence[str],
    calibrations: Sequence[Calibration],
    epsilons: tuple[Fraction | None, ...],
    *,
    noise: NoiseName | None,
    delta: Fraction,
    draws: int,
    lam: float | None = None,
    trusts: Sequence[Trust] = (),
    threat_model: ThreatModel | None = None,
) -> tuple[list[GridEntry], list[Fault]]:
    """Return an entry for each method, calibration and trust it has, and a fault for each that is skipped.

    `noise` None: each method's own. Methods without calibrations are baselines without noise, which run once for each
    data repeat. No `trusts` are both, where a method has both and `threat_model` says whom a secure sum tolerates.
    """
    found, skipped = list[GridEntry](), list[Fault]()
    for name in methods:
        method: Any = find_method(name)
        options: tuple[tuple[str, OptionValue], ...] = ()
        if lam is not None and "lam" in method.__dataclass_fields__:
            options = (("lam", lam),)
        elif lam is not None:
            skipped.append(InputFault("comparison.lambda_ignored", {"method": name}))
        if not method.calibrations:
            found.append(GridEntry(name, name, None, (None,), options=options))
        for calibration in calibrations if method.calibrations else ():
            for trust in trusts or _trusts(method, calibration, threat_model):
                why = _missing(method, calibration, trust, noise, threat_model)
                if why is not None:
                    by = f", trust {trust}" if trust == "secure" else ""
                    skipped.append(why.within(f"{name} is skipped for calibration {calibration}{by}"))
                    continue
                noise_name = noise or (
                    default_secure_noise(method) if trust == "secure" else noise_names(method, calibration)[0]
                )
                entry = GridEntry(name, name, calibration, epsilons, noise_name, delta, options, draws, trust=trust)
                if threat_model is not None and trust == "secure":
                    entry = entry.in_secure_sum(threat_model)
                found.append(entry)
    return found, skipped


def _trusts(method: Any, calibration: Calibration, threat_model: ThreatModel | None) -> tuple[Trust, ...]:
    """Return the kinds of trust that the method has."""
    secure = threat_model is not None and calibration == "proven" and has_secure_sum(method)
    return ("aggregator", "secure") if secure else ("aggregator",)


def _missing(
    method: Any, calibration: Calibration, trust: Trust, noise: NoiseName | None, threat_model: ThreatModel | None
) -> Fault | None:
    """Return why there is no such release; None if there is."""
    if trust == "secure" and not has_secure_sum(method):
        return InputFault("comparison.no_secure_sum")
    if calibration not in method.calibrations or (trust == "secure" and calibration != "proven"):
        had = "proven" if trust == "secure" else " and ".join(method.calibrations)
        return InputFault("comparison.other_calibration", {"known": had})
    known = method.secure_noises if trust == "secure" else noise_names(method, calibration)
    if noise not in (None, *known):
        its = "its noise" if calibration == "proven" else "the noise of the paper"
        return InputFault("comparison.other_noise", {"its": its, "known": " or ".join(known)})
    if trust == "secure" and threat_model is not None:
        try:
            threat_model.check()
        except InputError as error:
            return error.fault
    return None
