"""Data sets from the network by scikit-learn's fetchers, checked against published counts or digests.

Nothing is kept on disk here and no file is read back: a fetcher's own cache lives in a folder that is deleted at once.
"""

from __future__ import annotations

import hashlib
import socket
import tempfile
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from http.client import HTTPException
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from smc_dp.core.errors import InputError
from smc_dp.data import tabular_datasets as tabular
from smc_dp.data.bounds import CategoricalColumn
from smc_dp.data.dataset import Pool
from smc_dp.data.known_files import idx_file
from smc_dp.data.load_pool import encode_dataset
from smc_dp.data.preprocess import encode_rows
from smc_dp.data.table import Cells, DictionaryColumn, Table

_TIMEOUT = 20.0  # seconds without an answer
_COUNTED = "Fetched by scikit-learn: published counts were checked, no checksum of the rows is known."
_MNIST_SHA256 = MappingProxyType(
    {
        "train images": "ba891046e6505d7aadcbbe25680a0738ad16aec93bde7f9b65e87a2fc25776db",
        "train digits": "65a50cbbf4e906d70832878ad85ccda5333a97f0f4c3dd2ef09a8a9eef7101c5",
        "test images": "0fa7898d509279e482958e8ce81c8e77db3f2f8254e26661ceb7762c4d494ce7",
        "test digits": "ff7bcfd416de33731a308c3f266cc351222c34898ecbeaf847f06e48f7ec33f2",
    }
)
"""Digests of the idx files, not compressed."""


def fetch(name: str) -> Pool:
    """Fetch the data set of that name; raise InputError when that fails or the rows are not the published ones.

    Waits at most about a minute for a server that does not answer.
    """
    if name not in _FETCHERS:
        raise InputError("dataset.not_fetchable", fetchers=FETCHABLE).within(f"data set {name}")
    try:
        with tempfile.TemporaryDirectory(prefix="smc-dp-") as folder, _impatient():
            return _FETCHERS[name](folder)
    except InputError:
        raise
    except (OSError, EOFError, ValueError, HTTPException) as error:
        reason = (str(error).splitlines() or [type(error).__name__])[0]
        raise InputError("dataset.not_fetched", reason=reason).within(f"data set {name}") from error


def _covtype(folder: str) -> Pool:
    """Fetch Covertype 1 against 2, all 495,141 rows."""
    from sklearn.datasets import fetch_covtype

    bunch = fetch_covtype(data_home=folder, n_retries=1, delay=1.0)
    counts = np.bincount(bunch.target.astype(np.int64), minlength=8)[1:3].tolist()
    _expect("covtype", (bunch.data.shape, counts), ((581_012, 54), [211_840, 283_301]))
    kinds = DictionaryColumn(bunch.target.astype(np.int64) - 1, tuple("1234567"))
    names = tabular.field_names(tabular.bundled_bounds("covtype"))
    columns: dict[str, Cells] = {field: bunch.data[:, i] for i, field in enumerate(names[:-1])}
    table = Table("fetched data set covtype", columns | {names[-1]: kinds}, range(1, len(kinds) + 1))
    return replace(encode_dataset("covtype", tabular.covertype_1_or_2(table)), notes=(_COUNTED,))


def _kdd99(folder: str) -> Pool:
    """Fetch the 10 % file of KDD Cup 99; its corrected test file cannot be fetched."""
    from sklearn.datasets import fetch_kddcup99

    bunch = fetch_kddcup99(percent10=True, shuffle=False, data_home=folder, n_retries=1, delay=1.0)
    kinds = _coded(bunch.target)
    normal = int((tabular.normal_or_attack(kinds).codes == 0).sum())
    _expect("kdd99", (bunch.data.shape, normal), ((494_021, 41), 97_278))
    bounds = tabular.bundled_bounds("kdd99")
    columns: dict[str, Cells] = {}
    for i, column in enumerate(bounds.columns):
        cells = bunch.data[:, i]
        columns[column.name] = _coded(cells) if isinstance(column, CategoricalColumn) else cells.astype(np.float64)
    columns[bounds.label or ""] = tabular.normal_or_attack(kinds)
    table = Table("fetched data set kdd99", columns, range(1, len(kinds) + 1))
    found = encode_dataset("kdd99", tabular.TabularDataset(table, None, bounds))
    return replace(found, notes=(_COUNTED, "Without the corrected test file: a part of the 10 % file is held out."))


def _mnist37(folder: str) -> Pool:
    """Fetch MNIST 3 against 7, byte for byte the original images."""
    from sklearn.datasets import fetch_openml

    bunch = fetch_openml(
        "mnist_784", version=1, as_frame=False, parser="liac-arff", data_home=folder, n_retries=1, delay=1.0
    )
    _expect("mnist37", bunch.data.shape, (70_000, 784))
    images, digits = bunch.data.astype(np.uint8).reshape(-1, 28, 28), bunch.target.astype(np.uint8)
    parts = {"train": slice(60_000), "test": slice(60_000, None)}
    for part, rows in parts.items():
        for kind, array in (("images", images[rows]), ("digits", digits[rows])):
            digest = hashlib.sha256(idx_file(array)).hexdigest()
            _expect("mnist37", (f"{part} {kind}", digest), (f"{part} {kind}", _MNIST_SHA256[f"{part} {kind}"]))
    train, test = (
        tabular.three_or_seven(images[rows], digits[rows], f"fetched {part} images") for part, rows in parts.items()
    )
    return replace(encode_dataset("mnist37", train), public=encode_rows(test.train, replace(test.bounds, bias=0.0)))


_FETCHERS: MappingProxyType[str, Callable[[str], Pool]] = MappingProxyType(
    {"covtype": _covtype, "kdd99": _kdd99, "mnist37": _mnist37}
)
FETCHABLE = tuple(_FETCHERS)


def _coded(cells: NDArray[Any]) -> DictionaryColumn:
    """Return an array of byte strings as dictionary-encoded texts."""
    places: dict[bytes, int] = {}
    codes = [places.setdefault(cell, len(places)) for cell in cells]
    return DictionaryColumn(np.array(codes, dtype=np.int64), tuple(text.decode("ascii") for text in places))


def _expect(name: str, got: object, wanted: object) -> None:
    if got != wanted:
        raise InputError("dataset.wrong_content", wanted=str(wanted), got=str(got)).within(f"fetched data set {name}")


@contextmanager
def _impatient() -> Iterator[None]:
    """Set a timeout for connections, and silence a fetcher's warnings about its retries."""
    before = socket.getdefaulttimeout()
    socket.setdefaulttimeout(_TIMEOUT)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        socket.setdefaulttimeout(before)
