"""How each data set is dealt unless somebody says otherwise: as in the paper that uses it, where it is that large."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from types import MappingProxyType
from typing import Any

from smc_dp.compare.plan import GridEntry, Option
from smc_dp.data.deal import Deal
from smc_dp.data.partition import parse_split
from smc_dp.errors import InputError
from smc_dp.methods.method import laws
from smc_dp.methods.registry import find
from smc_dp.privacy.target import Calibration, NoiseName

_THREE = Deal(parties=3, split="50,37.5,12.5")  # of the 80 % that are not tested on: 40, 30 and 10 % of all

USUAL = MappingProxyType(
    {
        "a9a": Deal(parties=5),
        "har": Deal(parties=1000, per_party=6, auxiliary=1352, components=50),
        "kdd99": Deal(parties=20_000, per_party=22, auxiliary=43_000),
        "mnist37": Deal(parties=10, per_party=788, labelled=788, components=50, held_out=Fraction(30)),
        "covtype": Deal(parties=10, per_party=545, labelled=545, held_out=Fraction(30)),
        "bank": _THREE,
        "credit_default": _THREE,
        "breast_cancer": Deal(parties=5, auxiliary=100, labelled=50),
        "digits": Deal(parties=100, per_party=10, auxiliary=400),
        "malicious_url": Deal(parties=20_000, per_party=9, auxiliary=16_000, components=50),
    }
)
"""By the name of the data set; no paper deals breast_cancer and digits."""


def dealt(dataset: str, split: str | None = None, parties: int | None = None, **others: Any) -> Deal:
    """The usual deal with changes; a split says how many parties there are, and that all rows are dealt.

    `auxiliary` and `labelled` of 0 are no public rows.
    """
    usual = USUAL.get(dataset, Deal())
    changes = {name: value for name, value in others.items() if value is not None}
    changes |= {name: None for name in ("auxiliary", "labelled") if changes.get(name) == 0}
    if split is not None:
        shares = len(parse_split(split))
        if parties not in (None, shares):
            raise InputError(f"split: wanted {parties} percentages, one for each party, got {shares}")
        return replace(usual, **{"per_party": None, **changes, "split": split, "parties": shares})
    if parties is not None:
        changes |= {"parties": parties, "split": None}
    return replace(usual, **changes)


def entries(
    methods: Sequence[str],
    calibrations: Sequence[Calibration],
    epsilons: tuple[Fraction | None, ...],
    *,
    noise: NoiseName | None,
    delta: Fraction,
    draws: int,
    lam: float | None = None,
) -> tuple[list[GridEntry], list[str]]:
    """An entry for each method and calibration it has, and a sentence for each that is skipped.

    noise None: each method's own. Methods without calibrations are baselines without noise: they run once for each
    data repeat.
    """
    found, skipped = list[GridEntry](), list[str]()
    for name in methods:
        method: Any = find(name)
        options: tuple[tuple[str, Option], ...] = ()
        if lam is not None and "lam" in method.__dataclass_fields__:
            options = (("lam", lam),)
        if not method.calibrations:
            found.append(GridEntry(name, name, None, (None,), options=options))
        for calibration in calibrations if method.calibrations else ():
            known = laws(method, calibration)
            if not known or noise not in (None, *known):
                skipped.append(f"{name} is skipped for calibration {calibration}: {_missing(method, calibration)}")
                continue
            found.append(GridEntry(name, name, calibration, epsilons, noise or known[0], delta, options, draws))
    return found, skipped


def _missing(method: Any, calibration: Calibration) -> str:
    known = laws(method, calibration)
    if not known:
        return f"it has {' and '.join(method.calibrations)}"
    return f"{'its noise' if calibration == 'proven' else 'the noise of the paper'} is {' or '.join(known)}"
