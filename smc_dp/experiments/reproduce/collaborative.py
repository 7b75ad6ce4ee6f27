"""OFPA and OFAA, collaborative logistic regression of three parties, section 4: Figures 2 to 5."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from fractions import Fraction

from smc_dp.data.partition import Partition
from smc_dp.experiments.compare.plan import DIGEST_DELTA, GridEntry, GridPlan, GridSetting, OptionValue
from smc_dp.experiments.compare.study import MeasureName, Panel, PaperClaim, Point, Study
from smc_dp.privacy.target import Calibration, NoiseName

_EPSILONS = tuple(Fraction(e, 10) for e in (1, 2, 4, 8, 16, 32))
_REQUESTED = [float(e) for e in _EPSILONS]
_FIXED = Fraction(8, 10)
_REPEATS = 10
_BANK, _CREDIT = "Bank Marketing", "Credit default"
_NAMES = {_BANK: "bank", _CREDIT: "credit_default"}
_FEATURES = {_BANK: (4, 8, 12, 16), _CREDIT: (7, 11, 15, 19, 23)}
_RATES = tuple(Fraction(r, 10) for r in (2, 4, 6, 8, 10))
_KINDS = {"paper": "printed", "proven": "proven"}
_BASELINE = "LR_NoPrivacy"
_REGULARISER = (("lam", 1e-4),)
_EPOCHS = (("reading", "truncated"),)


def collaborative_figure2() -> Study:
    """Error against epsilon."""
    names, settings = tuple(_NAMES), tuple(_setting(data, data) for data in _NAMES)
    claims = (
        PaperClaim(
            "“the performance of OFPA is slightly better than OFAA” (section 4.1)",
            "error",
            tuple((_at(n, "ofpa", e), _at(n, "ofaa", e)) for n in names for e in _REQUESTED),
        ),
        PaperClaim(
            "“Both OFPA and OFAA produce less misclassifications with increasing ε” (section 4.1; ε = 3.2 against 0.1)",
            "error",
            tuple((_at(n, m, _REQUESTED[-1]), _at(n, m, _REQUESTED[0])) for n in names for m in ("ofpa", "ofaa")),
        ),
        _close(
            "“both of them are robust against the varied ε and close to regular logistic regression” (section 4.1; "
            "read as: within 0.02)",
            names,
            _REQUESTED,
        ),
    )
    title = "Figure 2: error against the privacy budget"
    panels = (*_each(names, "error"), *_each(names, "auc"))  # which separates what the error hardly does
    return _study("collaborative-fig2", title, settings, _EPSILONS, panels, claims)


def collaborative_figure3() -> Study:
    """Error against the part of the rows that is used."""
    by_data = {d: tuple(_setting(d, f"{d}, {float(r):.0%}", sample=r) for r in _RATES) for d in _NAMES}
    rates = tuple(float(r) for r in _RATES)
    panels = tuple(panel for d, found in by_data.items() for panel in _over(d, found, "sampling rate", rates))
    full = tuple(found[-1].name for found in by_data.values())
    claims = (
        PaperClaim(
            "“the performance of OFPA and OFAA improves rapidly with the increase of dataset cardinality” (section "
            "4.2; all rows against 20 %)",
            "error",
            _ends(by_data),
        ),
        _close(
            "“comparable with LR_NoPrivacy when we use the full dataset” (section 4.2; read as: within 0.02)",
            full,
            [float(_FIXED)],
        ),
    )
    title = "Figure 3: error against the number of rows"
    return _study("collaborative-fig3", title, _all(by_data), (_FIXED,), panels, claims)


def collaborative_figure4() -> Study:
    """Error against the number of columns."""
    by_data = {d: tuple(_setting(d, f"{d}, d = {k}", features=k) for k in ks) for d, ks in _FEATURES.items()}
    panels = tuple(panel for d, found in by_data.items() for panel in _over(d, found, "columns", _FEATURES[d]))
    claims = (
        PaperClaim(
            "“the accuracy of our proposed approaches improves with the increasing of dataset dimensionality” (section "
            "4.3; all columns against the fewest)",
            "error",
            _ends(by_data),
        ),
    )
    title = "Figure 4: error against the number of columns"
    return _study("collaborative-fig4", title, _all(by_data), (_FIXED,), panels, claims)


def collaborative_figure5() -> Study:
    """Seconds against epsilon."""
    names, settings = tuple(_NAMES), tuple(_setting(data, data) for data in _NAMES)
    claims = (
        PaperClaim(
            "“time cost of training LR_NoPrivacy is less than that of OFPA and OFAA” (section 4.4)",
            "seconds",
            tuple((_baseline(n), _at(n, m, e)) for n in names for m in ("ofpa", "ofaa") for e in _REQUESTED),
        ),
        PaperClaim(
            "“the training of logistic model using OFAA is slower than that of OFPA” (section 4.4)",
            "seconds",
            tuple((_at(n, "ofpa", e), _at(n, "ofaa", e)) for n in names for e in _REQUESTED),
        ),
    )
    title = "Figure 5: training time against the privacy budget"
    return _study("collaborative-fig5", title, settings, _EPSILONS, _each(names, "seconds"), claims)


def _study(
    name: str,
    figure: str,
    settings: tuple[GridSetting, ...],
    epsilons: tuple[Fraction, ...],
    panels: tuple[Panel, ...],
    claims: tuple[PaperClaim, ...],
) -> Study:
    def private(
        label: str, method: str, calibration: Calibration, options: tuple[tuple[str, OptionValue], ...] = ()
    ) -> GridEntry:
        noise: NoiseName = "laplace" if calibration == "paper" else "knorm"
        return GridEntry(label, method, calibration, epsilons, noise, delta=DIGEST_DELTA, options=options)

    entries = (
        GridEntry(_BASELINE, "batch", None, (None,), delta=DIGEST_DELTA, options=(("lam", 1e-6),)),
        *(private(m, m, "paper") for m in ("ofpa", "ofaa")),
        private("ofpa", "ofpa", "proven", _REGULARISER),
        private("ofaa", "ofaa", "proven"),
        *(private(f"{m}, 40 epochs", m, "paper", _EPOCHS) for m in ("ofpa", "ofaa")),
    )
    return Study(
        name,
        f"Collaborative logistic regression, {figure}",
        "Three parties with 40, 30 and 10 % of the rows; 20 % are tested on. OFPA perturbs the objective, OFAA the "
        "coefficients of its Taylor polynomial; LR_NoPrivacy is logistic regression on all rows in one place.",
        GridPlan(settings, entries, _REPEATS),
        panels,
        (),
        claims,
    )


def _setting(data: str, name: str, sample: Fraction = Fraction(1), features: int | None = None) -> GridSetting:
    deal = Partition(parties=3, split="50,37.5,12.5", sample=sample, features=features)
    return GridSetting(name, _NAMES[data], deal, ordinal=True)


def _each(names: tuple[str, ...], measure: MeasureName) -> tuple[Panel, ...]:
    return tuple(
        Panel(f"{name}: noise as {words}", (name,), measure=measure, calibrations=(kind,))
        for name in names
        for kind, words in _KINDS.items()
    )


def _over(data: str, settings: Sequence[GridSetting], axis: str, places: tuple[float, ...]) -> tuple[Panel, ...]:
    names = tuple(s.name for s in settings)
    return tuple(
        Panel(f"{data}: ε = 0.8 asked, noise as {words}", names, "setting", "error", (), (kind,), (), axis, places)
        for kind, words in _KINDS.items()
    )


def _all(by_data: Mapping[str, tuple[GridSetting, ...]]) -> tuple[GridSetting, ...]:
    return tuple(s for found in by_data.values() for s in found)


def _ends(by_data: Mapping[str, tuple[GridSetting, ...]]) -> tuple[tuple[Point, Point], ...]:
    """Return the points of the last setting of each data set against its first."""
    ends = [(found[-1].name, found[0].name) for found in by_data.values()]
    return tuple((_at(last, m), _at(first, m)) for last, first in ends for m in ("ofpa", "ofaa"))


def _close(quotation: str, names: tuple[str, ...], epsilons: list[float]) -> PaperClaim:
    pairs = tuple((_at(n, m, e), _baseline(n)) for n in names for m in ("ofpa", "ofaa") for e in epsilons)
    return PaperClaim(quotation, "error", pairs, as_well=0.02)


def _at(name: str, method: str, epsilon: float = float(_FIXED)) -> Point:
    return Point(name, method, "paper", epsilon)


def _baseline(name: str) -> Point:
    return Point(name, _BASELINE, "none", math.inf)
