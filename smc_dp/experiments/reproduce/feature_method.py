"""The feature method for combining locally trained classifiers, section 4: Figures 1, 2 and 3."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from smc_dp.data.partition import Partition
from smc_dp.experiments.compare.plan import DIGEST_DELTA, GridEntry, GridPlan, GridSetting
from smc_dp.experiments.compare.study import Panel, PaperClaim, Point, Study

_EPSILONS = tuple(Fraction(e, 1000) for e in (25, 50, 75, 100, 150, 200, 250))
_FIXED = Fraction(1, 10)  # where m or N vary
_REPEATS = 10
_MNIST, _COVERTYPE = "MNIST 3/7", "Covertype 1/2"
_NAMES = {_MNIST: "mnist37", _COVERTYPE: "covtype"}
_LAMBDA = {_MNIST: 1e-2, _COVERTYPE: 1e-7}
_ROWS = {_MNIST: 8677, _COVERTYPE: 5996}  # 70 % of the rows at hand, shared by N sites and the aggregator
# Ten sites and the aggregator have m rows each: the largest m takes nearly all rows, as 11 x 788 of 8,677.
_SIZES = {_MNIST: (39, 100, 200, 400, 600, 788), _COVERTYPE: (55, 110, 220, 330, 440, 545)}
_SITES = (2, 5, 10, 15, 20, 30)
_METHODS = {"F": "feat_agg", "A": "avg_agg"}  # the paper's curves: FL and AL with noise at the sites, FN and AN without


def feature_figure1() -> Study:
    """Without noise on MNIST, against the rows of a site."""
    equal = PaperClaim(
        "“the algorithms are nearly equivalent on MNIST” (section 4; read as: FN is as good as AN, to 0.01)",
        "error",
        _against_size(_MNIST, "N"),
        as_well=0.01,
    )
    return _without_noise("feature-fig1", "Figure 1", _MNIST, equal)


def feature_figure2() -> Study:
    """Without noise on Covertype, against the rows of a site."""
    better = PaperClaim(
        "“the feature method outperforms the average method on Covertype” (section 4)",
        "error",
        _against_size(_COVERTYPE, "N"),
    )
    return _without_noise("feature-fig2", "Figure 2", _COVERTYPE, better)


def feature_figure3() -> Study:
    """With noise on both, against epsilon, the rows of a site, and the number of sites."""
    both = (_MNIST, _COVERTYPE)
    settings = {s.name: s for data in both for s in (*_by_size(data), *_by_sites(data))}
    return Study(
        "feature-fig3",
        "The feature method, Figure 3: private sites, public aggregator",
        "Sites publish classifiers trained with objective perturbation. FL combines them on the aggregator's labelled "
        "rows (the feature method), AL averages them; FN and AN are the same without noise. Test error against ε, the "
        "rows of a site, and the number of sites.",
        GridPlan(tuple(settings.values()), tuple(e for data in both for e in _private(data)), _REPEATS),
        tuple(panel for data in both for panel in _panels(data)),
        (),
        tuple(claim for data in both for claim in _claims(data)),
    )


def _without_noise(name: str, figure: str, data: str, claim: PaperClaim) -> Study:
    settings = _by_size(data)
    entries = tuple(_entry(data, f"{letter}N", settings) for letter in _METHODS)
    panel = _over_size(data, f"{data}: N = 10, no noise", ())
    return Study(
        name,
        f"The feature method, {figure}: {data} without privacy",
        "Ten sites train on m rows each, without noise. FN combines their classifiers on the aggregator's labelled "
        "rows (the feature method), AN averages them.",
        GridPlan(settings, entries, _REPEATS),
        (panel,),
        (),
        (claim,),
    )


def _private(data: str) -> tuple[GridEntry, ...]:
    """FL and AL under both calibrations: at every epsilon where N = 10 and m is largest, else at one."""
    largest = _setting(data, 10, _SIZES[data][-1])
    others = {s.name: s for s in (*_by_size(data), *_by_sites(data)) if s.name != largest.name}
    found = [_entry(data, f"{letter}N", (largest, *others.values())) for letter in _METHODS]
    for letter in _METHODS:
        for calibration in ("paper", "proven"):
            found += [
                _entry(data, f"{letter}L", (largest,), calibration, _EPSILONS),
                _entry(data, f"{letter}L", tuple(others.values()), calibration, (_FIXED,)),
            ]
    return tuple(found)


def _entry(
    data: str,
    label: str,
    settings: Sequence[GridSetting],
    calibration: str = "none",
    epsilons: tuple[Fraction | None, ...] = (None,),
) -> GridEntry:
    return GridEntry(
        label,
        _METHODS[label[0]],
        "paper" if calibration == "paper" else "proven" if calibration == "proven" else None,
        epsilons,
        delta=DIGEST_DELTA,
        options=(("lam", _LAMBDA[data]), ("h", 0.5)),
        settings=tuple(s.name for s in settings),
    )


def _panels(data: str) -> tuple[Panel, ...]:
    largest = _setting(data, 10, _SIZES[data][-1])
    return (
        Panel(f"{data}: N = 10, m = {_SIZES[data][-1]}", (largest.name,), measure="error"),
        _over_size(data, f"{data}: N = 10, ε = 0.1 asked", (float(_FIXED),)),
        Panel(
            f"{data}: ε = 0.1 asked, all rows shared",
            tuple(s.name for s in _by_sites(data)),
            "setting",
            "error",
            epsilons=(float(_FIXED),),
            axis_title="number of sites, N",
            places=_SITES,
        ),
    )


def _over_size(data: str, title: str, epsilons: tuple[float, ...]) -> Panel:
    names = tuple(s.name for s in _by_size(data))
    return Panel(
        title, names, "setting", "error", epsilons=epsilons, axis_title="rows of a site, m", places=_SIZES[data]
    )


def _claims(data: str) -> tuple[PaperClaim, ...]:
    sizes = [_setting(data, 10, m).name for m in _SIZES[data]]

    def at(name: str, label: str, epsilon: Fraction) -> Point:
        return Point(name, label, "paper", float(epsilon))

    return (
        PaperClaim(
            f"{data}: “the feature method performs much better than average method” (section 4, over ε)",
            "error",
            tuple((at(sizes[-1], "FL", e), at(sizes[-1], "AL", e)) for e in _EPSILONS),
        ),
        PaperClaim(
            f"{data}: “increasing ε makes the final performance better” (section 4; ε = 0.25 against 0.025)",
            "error",
            tuple((at(sizes[-1], label, _EPSILONS[-1]), at(sizes[-1], label, _EPSILONS[0])) for label in ("FL", "AL")),
        ),
        PaperClaim(
            f"{data}: “increasing m improves both methods” (section 4; largest against smallest m)",
            "error",
            tuple((at(sizes[-1], label, _FIXED), at(sizes[0], label, _FIXED)) for label in ("FL", "AL")),
        ),
        PaperClaim(
            f"{data}: “the feature method works better than the average method” (section 4, over N)",
            "error",
            tuple((at(s.name, "FL", _FIXED), at(s.name, "AL", _FIXED)) for s in _by_sites(data)),
        ),
    )


def _against_size(data: str, ending: str) -> tuple[tuple[Point, Point], ...]:
    names = [_setting(data, 10, m).name for m in _SIZES[data]]
    return tuple((Point(name, f"F{ending}", "none"), Point(name, f"A{ending}", "none")) for name in names)


def _setting(data: str, N: int, m: int) -> GridSetting:
    components = 50 if data == _MNIST else None
    deal = Partition(parties=N, per_party=m, labelled=m, components=components, held_out=Fraction(30))
    return GridSetting(f"{data}, N = {N}, m = {m}", _NAMES[data], deal)


def _by_size(data: str) -> tuple[GridSetting, ...]:
    return tuple(_setting(data, 10, m) for m in _SIZES[data])


def _by_sites(data: str) -> tuple[GridSetting, ...]:
    return tuple(_setting(data, N, _ROWS[data] // (N + 1)) for N in _SITES)
