"""The data sets of the papers, and the one that scikit-learn carries: tables with their public bounds.

Only `breast_cancer` comes with the package. The others are read from a folder in which each data set has
its own folder (`a9a/a9a.gz`, `bank/bank-full.csv.gz`, ...); a file must have the SHA-256 recorded here.
"""

from __future__ import annotations

import gzip
import hashlib
import io
import math
from collections.abc import Callable
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from types import MappingProxyType

import numpy as np

from smc_dp.data.bounds import Bounds, NumericColumn, parse_bounds
from smc_dp.data.tables import Table, parse_csv
from smc_dp.errors import InputError, shown

_A9A_FEATURES = 123  # to be said explicitly: feature 123 never occurs in the test set
_A9A_ONES = 14  # the most ones in a row, by the way the set was encoded: public

_FILES = MappingProxyType(
    {
        "a9a/a9a.gz": "82d347cf414924a79e7972829fdeb99ff23346742c49a3bc76b89ff8736a485e",
        "a9a/a9a.t.gz": "d52d0c91c3f108f1bf34e4af73003a01ce19c3fcf099f319f084ebb349b8d16c",
        "bank/bank-full.csv.gz": "2cf6b847bc108d650d72750b04817c3a1cba305ebde1fe8f5174d8ac0bdc0d23",
        "credit_default/default_of_credit_card_clients.csv.gz": (
            "aaca3239d55524e99bc3a76aeeebf55b0b93a94f4a888d67d72ba8cfc92986f4"
        ),
    }
)


@dataclass(frozen=True, eq=False)
class Dataset:
    """A table, its bounds, its own test table if any, and what to call a party that holds a part of it."""

    train: Table
    test: Table | None
    bounds: Bounds
    holder: str = "party"


def load(name: str, folder: Path | None = None) -> Dataset:
    """The data set of that name, from `folder` unless it is bundled.

    Raises InputError when the name is unknown or a file is missing or not the recorded one.
    """
    if name not in _LOADERS:
        raise InputError(f"--dataset: wanted one of {', '.join(NAMES)}, got {shown(name)}")
    return _LOADERS[name](folder)


def breast_cancer(folder: Path | None = None) -> Dataset:
    """Breast Cancer Wisconsin (Diagnostic), 569 rows, 30 numbers, as bundled with scikit-learn."""
    from sklearn.datasets import load_breast_cancer  # a second that the other data sets need not wait

    bunch = load_breast_cancer()
    columns = {str(name): bunch.data[:, i] for i, name in enumerate(bunch.feature_names)}
    diagnosis = [str(bunch.target_names[target]) for target in bunch.target]
    table = Table("breast_cancer", columns | {"diagnosis": diagnosis}, range(1, len(diagnosis) + 1))
    return Dataset(table, None, _bundled_bounds("breast_cancer"), holder="hospital")


def a9a(folder: Path | None) -> Dataset:
    """Adult as 123 binary features (LIBSVM's a9a, a9a.t), rows over sqrt(14), no bias: as in the paper."""
    columns = tuple(NumericColumn(f"x{i}", 0.0, 1.0) for i in range(1, _A9A_FEATURES + 1))
    clip = math.sqrt(_A9A_ONES)
    bounds = Bounds(columns, classes=("-1", "+1"), label="income", clip=clip, bias=0.0, center=False)
    return Dataset(_libsvm(folder, "a9a/a9a.gz", bounds), _libsvm(folder, "a9a/a9a.t.gz", bounds), bounds)


def bank(folder: Path | None) -> Dataset:
    """Bank Marketing, 45,211 rows, 16 columns."""
    name = "bank/bank-full.csv.gz"
    table = parse_csv(gzip.decompress(_content(folder, name)), f"data file {name}", delimiter=";")
    return Dataset(table, None, _bundled_bounds("bank"))


def credit_default(folder: Path | None) -> Dataset:
    """Default of Credit Card Clients, 30,000 rows, 23 columns."""
    name = "credit_default/default_of_credit_card_clients.csv.gz"
    table = parse_csv(gzip.decompress(_content(folder, name)), f"data file {name}")
    return Dataset(table, None, _bundled_bounds("credit_default"))


_LOADERS: MappingProxyType[str, Callable[[Path | None], Dataset]] = MappingProxyType(
    {"breast_cancer": breast_cancer, "a9a": a9a, "bank": bank, "credit_default": credit_default}
)
NAMES = tuple(_LOADERS)


def _bundled_bounds(name: str) -> Bounds:
    return parse_bounds(files("smc_dp.data").joinpath(f"{name}.toml").read_text(encoding="utf-8"))


def _libsvm(folder: Path | None, name: str, bounds: Bounds) -> Table:
    from sklearn.datasets import load_svmlight_file

    rows, labels = load_svmlight_file(
        io.BytesIO(gzip.decompress(_content(folder, name))), n_features=_A9A_FEATURES, zero_based=False
    )
    dense = np.asarray(rows.toarray(), dtype=np.float64)
    columns = {column.name: dense[:, i] for i, column in enumerate(bounds.columns)}
    return Table(f"data file {name}", columns | {"income": labels.tolist()}, range(1, len(labels) + 1))


def _content(folder: Path | None, name: str) -> bytes:
    if folder is None:
        raise InputError(f"data file {name}: wanted --data-dir or SMC_DP_DATA, the folder with the papers' data")
    try:
        content = (folder / name).read_bytes()
    except OSError as error:
        raise InputError(f"data file {folder / name}: cannot be read: {error.strerror}") from error
    digest = hashlib.sha256(content).hexdigest()
    if digest != _FILES[name]:
        raise InputError(f"data file {folder / name}: wanted SHA-256 {_FILES[name]}, got {digest}")
    return content
