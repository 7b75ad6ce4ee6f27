"""Rows for trials of the band: of data sets at hand and of synthetic ones, in as many columns as are wanted."""

from __future__ import annotations

import gzip
import importlib
import math
import os
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from types import MappingProxyType

import numpy as np

from smc_dp.core.arrays import Array, IntArray, into_ball
from smc_dp.data import tabular_datasets
from smc_dp.data.bounds import Bounds, CategoricalColumn, NumericColumn
from smc_dp.data.dataset import Points, Pool
from smc_dp.data.federation import Rows
from smc_dp.data.known_files import read_known_file
from smc_dp.data.load_pool import load_pool
from smc_dp.data.preprocess import encode_classes, encode_rows
from smc_dp.data.projection import fit_projection
from smc_dp.data.table import Table
from smc_dp.data.table_reader import parse_csv

PIXELS = ("mnist37", "mnist10", "digits", "har")
"""Data sets whose columns say little alone: fewer of them are principal components of public rows."""
MOST_COLUMNS, MOST_TESTED, PUBLIC = 130, 10_000, 500
Generator = np.random.Generator


@dataclass(frozen=True, eq=False, repr=False)
class SomeRows:
    """Rows of the unit ball to train and to test on, without a bias."""

    train: Rows
    test: Rows
    classes: int


def real(source: str, rng: Generator, most: int, columns: int | None) -> SomeRows:
    """At most so many rows of a data set, in its own columns, or in so many if those are fewer.

    A fifth of a set that has no test rows of its own is tested on, at most `MOST_TESTED`.
    """
    pool = read_pool(source)
    order, width = rng.permutation(len(pool.train)), pool.train.X.shape[1]
    tested = pool.test
    if tested is None:
        held_out = min(len(order) // 5, MOST_TESTED)
        tested, order = _taken(pool.train, order[:held_out]), order[held_out:]
    public, order = order[:PUBLIC], order[PUBLIC:] if _projected(source, width) else order
    chart = _chart(pool, source, rng, pool.train.X[public], min(columns or width, width))
    train = _taken(pool.train, order[:most])
    test = _taken(tested, rng.permutation(len(tested))[:MOST_TESTED])
    return SomeRows(Rows(chart(train.X), train.y), Rows(chart(test.X), test.y), len(pool.classes))


def _projected(source: str, width: int) -> bool:
    return source in PIXELS or width > MOST_COLUMNS


def _chart(pool: Pool, source: str, rng: Generator, public: Array, columns: int) -> Callable[[Array], Array]:
    if _projected(source, pool.train.X.shape[1]):
        projection, radius = fit_projection(public, min(columns, MOST_COLUMNS), "median")
        return lambda X: into_ball(projection.of(X), radius)
    chosen = np.sort(rng.permutation(pool.train.X.shape[1])[:columns])
    radius = min(1.0, pool.coordinate * math.sqrt(columns))
    return lambda X: into_ball(X[:, chosen], radius)


def _taken(points: Points, numbers: IntArray) -> Points:
    return Points(points.X[numbers], points.y[numbers])


@cache
def read_pool(source: str) -> Pool:
    """A data set by its name here, read once."""
    folder = Path(os.environ.get("SMC_DP_DATA", "."))
    return _OTHERS[source](folder) if source in _OTHERS else load_pool(source, folder)


def forget_pools() -> None:
    """Free the data sets that were read."""
    read_pool.cache_clear()


def _ten_digits(folder: Path) -> Pool:
    """MNIST with all its digits: 31,000 of its training images."""
    found = []
    for part, taken in (("train", 31_000), ("t10k", 10_000)):
        images, digits = f"mnist/{part}-images-idx3-ubyte.gz", f"mnist/{part}-labels-idx1-ubyte.gz"
        pixels = tabular_datasets.idx_items(gzip.decompress(read_known_file(folder, images)), 28, 28)[:taken]
        values = tabular_datasets.idx_items(gzip.decompress(read_known_file(folder, digits)))[:taken]
        found.append(Points(into_ball(pixels.reshape(taken, -1) / 255.0, 10.0), values.astype(np.int64)))
    return Pool("mnist10", found[0], found[1], tuple("0123456789"))


def _seven_covers(folder: Path) -> Pool:
    """Covertype with all its seven classes: a random 10,000 rows."""
    name = "covtype/covtype_random10k.csv.gz"
    bounds = replace(tabular_datasets.bundled_bounds("covtype"), classes=tuple("1234567"))
    rows = gzip.decompress(read_known_file(folder, name)).partition(b"\n")[2]
    table = parse_csv(",".join(tabular_datasets.field_names(bounds)).encode() + b"\n" + rows, f"data file {name}")
    y = encode_classes(table, bounds, bounds.label or "")
    points = Points(encode_rows(table, replace(bounds, bias=0.0)), y)
    return Pool("covtype7", points, None, bounds.classes, coordinate=1 / bounds.clip)


def _marriages(folder: Path) -> Pool:
    """How 6,366 women rate their marriage, of five levels: the survey `fair`, which statsmodels ships.

    Ranges and levels are those of its description, but for the last, of which the description states none.
    """
    survey = importlib.import_module("statsmodels.datasets").fair.load_pandas().data
    ranges = {"age": (17.5, 42), "yrs_married": (0.5, 23), "children": (0, 5.5), "religious": (1, 4), "educ": (9, 20)}
    jobs, levels = ("occupation", "occupation_husb"), tuple("123456")
    columns = (
        *(NumericColumn(name, *ends) for name, ends in ranges.items()),
        *(CategoricalColumn(name, levels) for name in jobs),
        NumericColumn("affairs", 0, 60),
    )
    bounds = Bounds(columns, tuple("12345"), "rate_marriage")
    cells = {
        name: [str(int(cell)) for cell in survey[name]] if name in (*jobs, bounds.label) else survey[name].to_numpy()
        for name in survey
    }
    table = Table("fair", cells, range(1, len(survey) + 1))
    points = Points(encode_rows(table, replace(bounds, bias=0.0)), encode_classes(table, bounds, bounds.label or ""))
    return Pool("fair", points, None, bounds.classes, coordinate=1 / bounds.clip)


_DOS = "back land neptune pod smurf teardrop apache2 mailbomb processtable udpstorm"
_PROBES = "ipsweep nmap portsweep satan mscan saint"
_ROOT = "buffer_overflow loadmodule perl rootkit ps sqlattack xterm"


def _five_kinds(folder: Path) -> Pool:
    """KDD 99 with five classes: normal, denial of service, probes, taking over as root, and access from elsewhere."""
    source, rng = tabular_datasets.load_tabular("kdd99", folder), np.random.default_rng(5)
    numbers = {"normal": 0} | {kind: c for c, kinds in enumerate((_DOS, _PROBES, _ROOT), 1) for kind in kinds.split()}
    bounds, found = replace(source.bounds, bias=0.0), []
    for name, table, count in (
        ("kddcup.data_10_percent.gz", source.train, 20_000),
        ("corrected.gz", source.test, 10_000),
    ):
        lines = gzip.decompress(read_known_file(folder, f"kdd99/{name}")).decode().split()
        chosen = np.sort(rng.permutation(len(lines))[:count])
        y = [numbers.get(lines[i].rpartition(",")[2].rstrip("."), 4) for i in chosen.tolist()]
        found.append(Points(encode_rows(table.take(chosen, name), bounds), np.array(y)))
    return Pool("kdd5", found[0], found[1], ("normal", "dos", "probe", "u2r", "r2l"), coordinate=1 / bounds.clip)


_OTHERS: MappingProxyType[str, Callable[[Path], Pool]] = MappingProxyType(
    {"mnist10": _ten_digits, "covtype7": _seven_covers, "fair": _marriages, "kdd5": _five_kinds}
)


def synthetic(source: str, rng: Generator, most: int, columns: int, classes: int) -> SomeRows:
    """So many rows to train on, and 5,000 to test on."""
    X, y = SYNTHETIC[source](rng, most + 5_000, columns, classes)
    X, y = into_ball(X, 1.0), y.astype(np.int64)
    return SomeRows(Rows(X[:most], y[:most]), Rows(X[most:], y[most:]), classes)


def _clouds(rng: Generator, n: int, d: int, k: int, each: int = 1) -> tuple[Array, IntArray]:
    """A Gaussian cloud a class, or several, of classes of unequal size; how far apart is drawn."""
    centres = rng.normal(size=(k * each, d))
    centres /= np.linalg.norm(centres, axis=1, keepdims=True)
    apart = math.exp(rng.uniform(math.log(1.5), math.log(8)))
    y = rng.choice(k, size=n, p=rng.dirichlet(np.full(k, 5.0)))
    widths = rng.lognormal(0, 0.6, size=d)
    noise = rng.normal(size=(n, d)) * widths / math.sqrt(float((widths**2).mean()))
    return (centres[y * each + rng.integers(each, size=n)] * apart + noise) / (math.sqrt(d) + apart), y


def _nested(rng: Generator, n: int, d: int, k: int) -> tuple[Array, IntArray]:
    return _clouds(rng, n, d, k, each=3)


def _by_scores(rng: Generator, base: Array, k: int, used: float) -> tuple[Array, IntArray]:
    """Classes drawn by a softmax of linear scores of which a part of the columns is used."""
    n, d = base.shape
    X = base / np.quantile(np.linalg.norm(base, axis=1), 0.95)
    scores = X @ (rng.normal(size=(d, k)) * (rng.random((d, 1)) < used))
    spread = math.exp(rng.uniform(math.log(0.5), math.log(6))) / (float(scores.std()) + 1e-9)
    scores = (scores - scores.mean(axis=0)) * spread + 0.7 * rng.normal(size=k)
    return X, (scores + rng.gumbel(size=(n, k))).argmax(axis=1)


def _logit(rng: Generator, n: int, d: int, k: int) -> tuple[Array, IntArray]:
    return _by_scores(rng, rng.normal(size=(n, d)), k, 1.0)


def _sparse(rng: Generator, n: int, d: int, k: int) -> tuple[Array, IntArray]:
    return _by_scores(rng, (rng.random((n, d)) < rng.uniform(0.05, 0.5, size=d)).astype(np.float64), k, 0.3)


def _heavy(rng: Generator, n: int, d: int, k: int) -> tuple[Array, IntArray]:
    return _by_scores(rng, rng.standard_t(3, size=(n, d)), k, 0.6)


SYNTHETIC: MappingProxyType[str, Callable[[Generator, int, int, int], tuple[Array, IntArray]]] = MappingProxyType(
    {"clouds": _clouds, "logit": _logit, "sparse": _sparse, "nested": _nested, "heavy": _heavy}
)
