"""By what rule settings are drawn for the band of `smc_dp.methods.expected_accuracy`: public, from a seed.

Number i of a kind is drawn by SHA-256 of both, so that nobody chooses. Settings of the kind `DESIGN`, of which the
constants of the band are made, have rows of `SEEN` sources alone. Of the kind `TRIAL`, which was looked at after the
constants had been written down, the even ones have rows of `SEEN` sources, and the odd ones of `UNSEEN` sources, which
no design setting has. `wsum_ar` is in no design setting either. Five kinds were tried before:
`smc_dp/planning/README.md` says what came out, and what was changed. In settings of the kind `ALONE`, which are like
those of `TRIAL` otherwise, everybody else may collude, so that one party's noise is counted, of as many as there are.

2 to 50 parties, log-uniform, of 30 to 20,000 rows each, in half of the settings with sizes up to a hundredfold apart;
epsilon .1 to 10, log-uniform; delta 10^-5 or 10^-6; 1 or 2 colluders, 0 or 1 dropouts, lambda .001, .01 or .1; 5 to 130
columns before the bias; 2 to 10 classes. Where a source has fewer rows than are wanted, or a trial no time for them,
all sizes shrink alike, and where they become too small there are fewer parties.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from itertools import pairwise
from types import MappingProxyType

import numpy as np

from smc_dp.core.arrays import IntArray, with_bias
from smc_dp.core.errors import InputError
from smc_dp.data.federation import Federation, Rows
from smc_dp.methods.sums.threat_model import ThreatModel
from support.noise_trials import TrialSetting
from support.row_sources import SYNTHETIC, SomeRows, real, synthetic

SEEN = ("breast_cancer", "a9a", "bank", "mnist37", "har", "mnist10", "clouds", "logit", "sparse")
UNSEEN = ("credit_default", "covtype", "kdd99", "digits", "covtype7", "nested", "heavy")
SEVERAL_CLASSES = ("har", "mnist10", "digits", "covtype7")
BINARY = ("wsum", "wsum_ar", "prr_mean", "ofaa", "ofpa")
OF_PARTIES = ("avg_clip", "soft_ss")
SHARES: Mapping[str, float] = MappingProxyType(
    {
        **{"newton": 0.40, "gd": 0.16, "wsum": 0.12, "prr_mean": 0.12, "wsum_ar": 0.04},
        **{"ofaa": 0.04, "ofpa": 0.04, "avg_clip": 0.04, "soft_ss": 0.04},
    }
)
TRIALS = 200
DESIGN, TRIAL, ALONE = "design", "sixth trial", "alone"
MOST_ROWS, MOST_ROWS_OF_DESCENT, MOST_ROWS_OF_PARTIES = 20_000, 8_000, 3_000
FEWEST_ROWS, LARGEST_PARTY = 30, 20_000
AUXILIARY = 300
"""Public rows of `soft_ss`."""
BIAS = 0.1
OtherSetting = tuple[str, Federation, Rows, float, ThreatModel]


def drawn(kind: str, number: int) -> tuple[TrialSetting, Federation, Rows]:
    """The setting of this number, its rows dealt to the parties, and the rows to test on."""
    rng = np.random.default_rng(list(hashlib.sha256(f"{kind} {number}".encode()).digest()))
    methods = [name for name in SHARES if kind != DESIGN or name != "wsum_ar"]
    shares = np.array([SHARES[name] for name in methods])
    method = str(rng.choice(methods, p=shares / shares.sum()))
    sources = UNSEEN if kind != DESIGN and number % 2 else SEEN
    if method in BINARY:
        sources = tuple(name for name in sources if name not in SEVERAL_CLASSES)
    source = str(rng.choice(sources))
    parties, colluders, dropouts = _crowd(rng)
    if kind == ALONE:
        colluders, dropouts = parties - 1, 0
    wanted = _sizes(rng, parties)
    found = _rows(rng, source, method, min(int(wanted.sum()), _most(method)))
    sizes = _shrunk(wanted, len(found.train), colluders + dropouts + 1)
    setting = TrialSetting(
        method, source, sizes, epsilon=_log_uniform(rng, 0.1, 10), delta=float(rng.choice([1e-5, 1e-6])),
        colluders=colluders, dropouts=dropouts, lam=float(rng.choice([1e-3, 1e-2, 1e-1])), seed=number,
    )  # fmt: skip
    return setting, *_dealt(method, found, sizes)


def drawn_of(seed: str, sources: Sequence[str], rows: int, method: str) -> OtherSetting:
    """A setting of these sources with at most so many rows: source, rows dealt, those to test on, epsilon, crowd."""
    rng = np.random.default_rng(list(hashlib.sha256(seed.encode()).digest()))
    source, (parties, colluders, dropouts) = str(rng.choice(sources)), _crowd(rng)
    wanted = _sizes(rng, parties)
    found = _rows(rng, source, method, min(int(wanted.sum()), rows))
    sizes = _shrunk(wanted, len(found.train), colluders + dropouts + 1)
    federation, test = _dealt(method, found, sizes)
    return source, federation, test, _log_uniform(rng, 0.05, 8), ThreatModel(len(sizes), colluders, dropouts)


def _most(method: str) -> int:
    """Rows that a trial has time for: `gd` takes up to a hundred sums, and parties train models of all classes."""
    return MOST_ROWS_OF_PARTIES if method in OF_PARTIES else MOST_ROWS_OF_DESCENT if method == "gd" else MOST_ROWS


def _log_uniform(rng: np.random.Generator, least: float, most: float) -> float:
    return float(np.exp(rng.uniform(np.log(least), np.log(most))))


def _crowd(rng: np.random.Generator) -> tuple[int, int, int]:
    """Parties, colluders and dropouts that a secure sum allows."""
    while True:
        crowd = round(_log_uniform(rng, 2, 50)), int(rng.integers(1, 3)), int(rng.integers(0, 2))
        try:
            ThreatModel(*crowd).check()
        except InputError:
            continue
        if sum(crowd[1:]) < crowd[0]:
            return crowd


def _sizes(rng: np.random.Generator, parties: int) -> IntArray:
    mean, skewed = _log_uniform(rng, FEWEST_ROWS, LARGEST_PARTY), rng.random() < 0.5
    shares = np.array([_log_uniform(rng, 0.1, 10) if skewed else 1.0 for _ in range(parties)])
    sizes: IntArray = np.clip(np.rint(shares / shares.mean() * mean), FEWEST_ROWS, LARGEST_PARTY).astype(np.int64)
    return sizes


def _shrunk(wanted: IntArray, rows: int, fewest: int) -> tuple[int, ...]:
    """So many parties as can have enough rows each, at least `fewest`, whose rows are no more than there are."""
    sizes = wanted[: max(fewest, rows // FEWEST_ROWS)]
    while sizes.sum() > rows:
        sizes = np.maximum(min(FEWEST_ROWS, rows // len(sizes)), (sizes * (rows / sizes.sum())).astype(np.int64))
        sizes[sizes.argmax()] -= max(0, min(sizes.sum() - rows, sizes.max() - FEWEST_ROWS))
    return tuple(sizes.tolist())


def _rows(rng: np.random.Generator, source: str, method: str, most: int) -> SomeRows:
    columns, narrow = round(_log_uniform(rng, 5, 130)), rng.random() < 0.5
    classes = 2 if method in BINARY else int(rng.choice([2, 2, 2, 3, 4, 6, 8, 10]))
    if source in SYNTHETIC:
        return synthetic(source, rng, most, columns, classes)
    return real(source, rng, most, columns if narrow else None)


def _dealt(method: str, found: SomeRows, sizes: tuple[int, ...]) -> tuple[Federation, Rows]:
    """Rows with the bias; `soft_ss` gets test rows without labels as public ones, on which nothing is tested."""
    train, test = (Rows(with_bias(rows.X, BIAS), rows.y) for rows in (found.train, found.test))
    ends = np.cumsum([0, *sizes]).tolist()
    parties = tuple(Rows(train.X[low:high], train.y[low:high]) for low, high in pairwise(ends))
    if method != "soft_ss":
        return Federation(parties, found.classes), test
    aside = min(AUXILIARY, len(test) // 2)
    tested = Rows(test.X[aside:], test.y[aside:])
    return Federation(parties, found.classes, unlabelled=test.X[:aside]), tested
