"""Loading of a whole data set as encoded rows and class numbers, from which a simulation deals.

`load_pool` reads, checks and encodes by public bounds. A projection to fewer columns depends on rows, so it is fitted
later, on public rows alone (`smc_dp.data.partition`).
"""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

from smc_dp.core.errors import InputError, shown
from smc_dp.data import tabular_datasets
from smc_dp.data.dataset import Points, Pool
from smc_dp.data.malicious_url import DAYS, read_days
from smc_dp.data.preprocess import encode_classes, encode_rows, number_categories
from smc_dp.data.table import Table

__all__ = ["DATASET_NAMES", "ORDINAL_NAMES", "Points", "Pool", "load_pool"]


def load_pool(name: str, folder: Path | None = None, *, ordinal: bool = False) -> Pool:
    """Return the data set of that name, from `folder` unless bundled.

    With `ordinal` each category is its number in the alphabet, one column (Bank Marketing and Credit Default in the
    experiments with OFPA and OFAA), and no row is clipped. Raises InputError when the name is unknown, a file is
    missing or changed, or there are no categories to number.
    """
    if name not in DATASET_NAMES:
        raise InputError("dataset.unknown", names=DATASET_NAMES, got=shown(name))
    if ordinal and name not in ORDINAL_NAMES:
        raise InputError("dataset.not_ordinal", sets=" and ".join(ORDINAL_NAMES)).within(f"data set {name}")
    if name == "malicious_url":
        return _malicious_url(folder)
    found = _encode_dataset(name, tabular_datasets.load_tabular(name, folder), ordinal=ordinal)
    if name != "mnist37":
        return found
    unseen = tabular_datasets.mnist37(folder, part="t10k")  # its labels are not used
    return replace(found, public=encode_rows(unseen.train, replace(unseen.bounds, bias=0.0)))


def _encode_dataset(name: str, source: tabular_datasets.TabularDataset, *, ordinal: bool = False) -> Pool:
    """Return the pool of a data set that is given as tables with public bounds."""

    def points(table: Table) -> Points:
        y = encode_classes(table, source.bounds, source.bounds.label or "")
        table, bounds = number_categories(table, source.bounds) if ordinal else (table, source.bounds)
        return Points(encode_rows(table, replace(bounds, clip=clip, bias=0.0)), y)

    # Categories spread over [-1, 1] would put every row outside the usual radius: then the radius holds all rows.
    clip = math.sqrt(len(source.bounds.columns)) if ordinal else source.bounds.clip
    return Pool(
        name,
        points(source.train),
        None if source.test is None else points(source.test),
        source.bounds.classes,
        coordinate=1 / clip,
        bias=source.bounds.bias,
        holder=source.holder,
    )


def _malicious_url(folder: Path | None) -> Pool:
    """Load Malicious URLs (Ma et al. 2009), sparse: days 0 to 9 to train on, days 10 to 19 to test on."""
    train, test = (Points(*read_days(folder, days)) for days in (DAYS[:10], DAYS[10:]))
    return Pool("malicious_url", train, test, ("benign", "malicious"))


DATASET_NAMES = (*tabular_datasets.TABULAR_NAMES, "malicious_url")
ORDINAL_NAMES = ("bank", "credit_default")
