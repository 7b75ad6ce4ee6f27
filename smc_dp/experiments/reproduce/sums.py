"""Learning by secure sums, on one page: what trusting nobody costs, beside what the papers print and what others offer.

No paper's figure. What is expected is ours and says so; whether it came out is computed, as for a paper's claim.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from types import MappingProxyType
from typing import Any

from smc_dp.data.partition import Partition
from smc_dp.experiments.compare import peers
from smc_dp.experiments.compare.plan import GridEntry, GridPlan, GridSetting
from smc_dp.experiments.compare.study import MeasureName, Panel, PaperClaim, PaperFigure, Point, Study
from smc_dp.privacy.target import NoiseName

_EPSILONS = (Fraction(1, 10), Fraction(1, 2), Fraction(1), Fraction(2))
_BY_PARTY = (Fraction(1), Fraction(10))
_DELTA = Fraction(1, 10**5)
_REPEATS, _FEWER_REPEATS = 5, 2  # the latter for other numbers and kinds of sites
_DRAWS = MappingProxyType({"breast_cancer": 4, "digits": 2})  # of the noise for each deal, where rows are few; else 1
_MOST_DRAWS = 6  # of two curves that come close to each other
_TEN = Partition(parties=10)
_TWO = {
    "a9a": GridSetting("a9a", "a9a", _TEN),
    "Bank": GridSetting("Bank", "bank", _TEN),
    "Credit": GridSetting("Credit", "credit_default", _TEN),
    "breast cancer": GridSetting("breast cancer", "breast_cancer", _TEN),
    "KDD-99": GridSetting("KDD-99", "kdd99", replace(_TEN, sample=Fraction(1, 12))),
}
_MORE = {"digits": GridSetting("digits", "digits", _TEN), "HAR": GridSetting("HAR", "har", _TEN)}
_UNEVEN = GridSetting("a9a, 10 %", "a9a", Partition(parties=5, split="10,20,20,20,30"))
_MANY_PARTIES = GridSetting(
    "HAR, 200 parties", "har", Partition(parties=200, per_party=30, auxiliary=1352, components=50)
)
_PARTIES, _SITES = (3, 10, 50), ("equal", "very unequal", "by class")


def _sites(base: GridSetting, parties: int, kind: str) -> GridSetting:
    """Return this data set among so many sites: equal, all but one with 1 % of the rows, or in the order of classes."""
    if (parties, kind) == (base.deal.parties, "equal"):
        return base
    split = ",".join([str(101 - parties), *["1"] * (parties - 1)]) if kind == "very unequal" else None
    deal = replace(base.deal, parties=parties, split=split, by_class=kind == "by class")
    return GridSetting(f"{base.name}, {parties} sites, {kind}", base.dataset, deal, repeats=_FEWER_REPEATS)


_GRID = {
    (name, parties, kind): _sites(base, parties, kind)
    for name, base in (_TWO | _MORE).items()
    for parties in _PARTIES
    for kind in _SITES
}
_SETTINGS = {s.name: s for s in (*_GRID.values(), _UNEVEN, _MANY_PARTIES)}
_BY_AUC = ("Bank", "KDD-99")
"""Where to answer the same always is right so often that accuracies hardly differ."""

_MEAN_AS_PUBLISHED = MappingProxyType({10: Fraction("21.56"), 5: Fraction("10.8")})
"""Factor to request of the published noise of the mean at lambda = 1e-3 for a guarantee of 1, by number of parties."""
_OFAA_AS_PUBLISHED = MappingProxyType(
    {"a9a": "39.94", "Bank": "23.11", "Credit": "17.3", "breast cancer": "16.21", "KDD-99": "40.14"}
)
"""The same of OFAA as published, which depends on the number of columns: never less, and at most 1 % more."""

_ALMOST_NO_LAMBDA = (("lam", 1e-4),)
_DIFFPRIVLIB = MappingProxyType({"diffprivlib": 1.0, "diffprivlib, C = 0.02": 0.02})
_SECURE = ("newton", "gd")
_AVERAGES = ("wsum", "prr_mean", "local")
_ONE_PLACE = ("central", "central_obj", "central_obj, pure", *_DIFFPRIVLIB, "DP-SGD")

_EXPECTED: Mapping[str, tuple[MeasureName, float, tuple[float, ...]]] = MappingProxyType(
    {
        "a9a": ("accuracy", 0.005, (0.835, 0.847, 0.85, 0.85)),
        "Bank": ("auc", 0.005, (0.854, 0.902, 0.908, 0.91)),
        "Credit": ("accuracy", 0.005, (0.785, 0.8, 0.804, 0.808)),
        "breast cancer": ("accuracy", 0.02, (0.745, 0.922, 0.947, 0.959)),
        "digits": ("accuracy", 0.01, (0.16, 0.58, 0.78, 0.86)),
        "HAR": ("accuracy", 0.01, (0.58, 0.81, 0.85, 0.86)),
    }
)
_EARLIER = "Ours, not a paper's: newton by a secure sum, as in earlier trials of the same noise"
_NOBODY = "newton, t = 0"


def secure_sums() -> Study:
    """Compare published, proven and secure methods at equal guaranteed epsilon, and peers where they are installed."""
    left_out = peers.missing_peers()
    entries = tuple(e for e in _entries() if not (left_out and e.method == peers.Diffprivlib.name))
    has = frozenset(e.label for e in entries)
    return Study(
        "sums",
        "Learning by secure sums, beside printed noise, averages, and all rows in one place",
        "Ten parties learn one model, and trust nobody. Quality on test rows against the guaranteed epsilon, means "
        f"over {_REPEATS} partitions of the rows, each with new noise. For newton and a party alone there are 3 and 50 "
        f"parties as well, and sites that differ, over {_FEWER_REPEATS} partitions.",
        GridPlan((*_SETTINGS.values(),), entries, _REPEATS),
        tuple(_panels(has)),
        tuple(_expected()),
        tuple(_claims(has)),
        tuple(f"Left out: {why}." for why in left_out),
        ours=True,
    )


def _entries() -> Iterator[GridEntry]:
    two, every = (*_TWO,), (*_TWO, *_MORE)
    uneven, many = (_UNEVEN.name,), (_MANY_PARTIES.name,)
    grid = tuple(s.name for s in _GRID.values())
    yield GridEntry("batch", "batch", None, (None,), options=_ALMOST_NO_LAMBDA, settings=(*every, *uneven, *many))
    yield GridEntry("alone", "indiv", None, (None,), options=_ALMOST_NO_LAMBDA, settings=grid)
    yield from _shared("newton", (*grid, *uneven))
    yield from _curve(_NOBODY, "ddg", grid, "newton", trust="secure", colluders=0)
    yield from _shared("gd", (*every, *uneven))
    yield from _shared("wsum", two)
    yield from _shared("wsum", uneven, draws=_MOST_DRAWS)
    yield from _shared("ofaa", two)
    yield from _shared("ofpa", two, noise="knorm", options=_ALMOST_NO_LAMBDA)
    for name in ("wsum", "local"):
        yield from _curve(name, "gauss", (*two, *uneven))
    yield from _curve("prr_mean", "gauss", two)
    yield from _curve("prr_mean", "gauss", uneven, draws=_MOST_DRAWS)
    yield from _as_published()
    yield from _curve("central", "gauss", two)
    yield from _curve("central_obj", "gauss", two)
    yield from _curve("central_obj, pure", "knorm", two, "central_obj")
    for label, C in _DIFFPRIVLIB.items():
        yield from _curve(label, "knorm", every, "diffprivlib", options=(("C", C),))
    yield from _curve("DP-SGD", "gauss", every, "dp_sgd")
    for name in ("soft_ss", "avg_clip"):
        yield from _curve(name, "gauss", many, epsilons=_BY_PARTY)
        yield from _shared(name, many, epsilons=_BY_PARTY)


def _curve(
    label: str, noise: NoiseName, settings: Sequence[str], method: str = "", **others: Any
) -> Iterator[GridEntry]:
    """Yield an entry for each number of draws that these settings have."""
    entry = GridEntry(label, method or label, "proven", _EPSILONS, noise, _DELTA)
    by_draws: dict[int, tuple[str, ...]] = {}
    for name in settings:
        draws = _DRAWS.get(_SETTINGS[name].dataset, 1)
        by_draws[draws] = (*by_draws.get(draws, ()), name)
    for draws, names in by_draws.items():
        yield replace(entry, **{"settings": names, "draws": draws, **others})


def _shared(name: str, settings: Sequence[str], noise: NoiseName = "ddg", **others: Any) -> Iterator[GridEntry]:
    """Yield entries of a secure sum in which a quarter of the parties, rounded up, may collude."""
    by_parties: dict[int, tuple[str, ...]] = {}
    for setting in settings:
        parties = _SETTINGS[setting].deal.parties
        by_parties[parties] = (*by_parties.get(parties, ()), setting)
    for parties, names in by_parties.items():
        yield from _curve(name, noise, names, trust="secure", colluders=-(-parties // 4), **others)


def _as_published() -> Iterator[GridEntry]:
    """Yield entries with as much published noise as guarantees no less than the noise of all others."""
    for parties, names in ((10, (*_TWO,)), (5, (_UNEVEN.name,))):
        requested = tuple(_MEAN_AS_PUBLISHED[parties] * epsilon for epsilon in _EPSILONS)
        yield from _curve("prr_mean", "knorm", names, calibration="paper", epsilons=requested)
    for name, times in _OFAA_AS_PUBLISHED.items():
        requested = tuple(Fraction(times) * epsilon for epsilon in _EPSILONS)
        yield from _curve("ofaa", "laplace", (name,), calibration="paper", epsilons=requested)


def _panels(has: frozenset[str]) -> Iterator[Panel]:
    def shown(*labels: str) -> tuple[str, ...]:
        return tuple(label for label in labels if label in has)

    for name in (*_TWO, *_MORE):
        measure: MeasureName = "auc" if name in _BY_AUC else "accuracy"
        if name in _TWO:
            parties = shown("batch", *_SECURE, *_AVERAGES)
            yield Panel(f"{name}: among ten parties", (name,), measure=measure, methods=parties)
        rest = shown("batch", *_SECURE, *_ONE_PLACE)
        yield Panel(f"{name}: beside all rows in one place", (name,), measure=measure, methods=rest)
        for kind in _SITES:
            sites = tuple(_GRID[name, parties, kind].name for parties in _PARTIES)
            title, own = f"{name}: by the number of sites, {kind}, epsilon 1", ("newton", _NOBODY, "alone")
            places = tuple(map(float, _PARTIES))
            yield Panel(title, sites, "setting", measure, own, (), (1.0,), "number of sites", places)
    uneven = f"{_UNEVEN.name}: five parties, the smallest with a tenth of the rows, lambda 1e-3"
    yield Panel(uneven, (_UNEVEN.name,))
    yield Panel(f"{_MANY_PARTIES.name} with 30 rows each: all records of a party protected", (_MANY_PARTIES.name,))


def _at(setting: str, method: str, epsilon: Fraction, trust: str = "aggregator") -> Point:
    return Point(setting, method, "proven", float(epsilon), trust)


def _expected() -> Iterator[PaperFigure]:
    for name, (measure, within, values) in _EXPECTED.items():
        for epsilon, value in zip(_EPSILONS, values, strict=True):
            at = _at(name, "newton", epsilon, "secure")
            yield PaperFigure(at, value, measure, _EARLIER, within, in_paper=False, at_least=True)


def _claims(has: frozenset[str]) -> Iterator[PaperClaim]:
    def against(other: str, trust: str, settings: Sequence[str]) -> tuple[tuple[Point, Point], ...]:
        return tuple((_at(s, "newton", e, "secure"), _at(s, other, e, trust)) for s in settings for e in _EPSILONS)

    every = (*_TWO, *_MORE)
    yield PaperClaim(
        "Ours: newton is better than the weighted sum of models under the same secure sum, by the area under the curve",
        "auc",
        against("wsum", "secure", (*_TWO,)),
    )
    for label in (label for label in _DIFFPRIVLIB if label in has):
        quotation = f"Ours: newton, which trusts nobody, is better than {label} with all rows in one place"
        yield PaperClaim(quotation, "accuracy", against(label, "aggregator", every))
    yield PaperClaim(
        "Ours: newton, which trusts nobody, is as good as DP-SGD with all rows in one place (read as: within 0.02)",
        "accuracy",
        against("DP-SGD", "aggregator", every),
        as_well=0.02,
    )
    differing = tuple((n, p, kind) for n, p, kind in _GRID if kind != "equal")
    yield PaperClaim(
        "Ours: newton is as good with very unequal sites, and with sites by class, as with equal ones (within 0.02)",
        "accuracy",
        tuple(
            (_at(_GRID[n, p, kind].name, "newton", e, "secure"), _at(_GRID[n, p, "equal"].name, "newton", e, "secure"))
            for n, p, kind in differing
            for e in _EPSILONS[1:]
        ),
        as_well=0.02,
    )
    for parties in _PARTIES:
        places = [_GRID[name, parties, "equal"].name for name in every]
        yield PaperClaim(
            f"Ours: newton at epsilon 1 is as good as one of {parties} equal sites alone without privacy (within 0.01)",
            "accuracy",
            tuple((_at(s, "newton", Fraction(1), "secure"), Point(s, "alone", "none")) for s in places),
            as_well=0.01,
        )
    yield PaperClaim(
        "Ours: on the 10 % split the weighted sum with shared noise is better than the mean",
        "accuracy",
        tuple((_at(_UNEVEN.name, "wsum", e, "secure"), _at(_UNEVEN.name, "prr_mean", e)) for e in _EPSILONS),
    )
    for name in ("soft_ss", "avg_clip"):
        either = [(_at(_MANY_PARTIES.name, name, e, "secure"), _at(_MANY_PARTIES.name, name, e)) for e in _BY_PARTY]
        yield PaperClaim(
            f"Ours: {name} by a secure sum is as good as where somebody is trusted, and no better (within 0.02)",
            "accuracy",
            (*either, *((second, first) for first, second in either)),
            as_well=0.02,
        )
