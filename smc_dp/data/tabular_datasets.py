"""Data sets of the papers, and the two that scikit-learn bundles: tables with their public bounds.

Only `breast_cancer` and `digits` come with scikit-learn. The others are read from a folder in which each data set has
its own folder (`a9a/a9a.gz`, `bank/bank-full.csv.gz`, ...); a file must have the SHA-256 recorded in `known_files`.
"""

from __future__ import annotations

import gzip
import io
import math
from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import distribution
from importlib.resources import files
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from smc_dp.core.errors import InputError, shown
from smc_dp.data.bounds import Bounds, CategoricalColumn, NumericColumn, parse_bounds
from smc_dp.data.known_files import read_known_file
from smc_dp.data.table import Cells, DictionaryColumn, Table
from smc_dp.data.table_reader import parse_csv

_A9A_FEATURES = 123  # to be said explicitly: feature 123 never occurs in the test set
_A9A_ONES = 14  # the most ones in a row, by the way the set was encoded: public
_MNIST_CLIP = 10.0  # strokes cover about a tenth of the 784 pixels: norms of about 9, public knowledge
_DIGITS_CLIP = 5.0  # strokes cover about a quarter of the 64 pixels: norms of about 4, public knowledge
_ACTIVITIES = ("WALKING", "WALKING_UPSTAIRS", "WALKING_DOWNSTAIRS", "SITTING", "STANDING", "LAYING")  # 1, 2, ...


@dataclass(frozen=True, eq=False)
class TabularDataset:
    """Table, its bounds, its own test table if any, and the name for a party that holds a part of it.

    `ordered_by`: the column by which its parties differ, where nobody says who has which rows; None deals at random.
    """

    train: Table
    test: Table | None
    bounds: Bounds
    holder: str = "party"
    ordered_by: str | None = None


def load_tabular(name: str, folder: Path | None = None) -> TabularDataset:
    """Load the data set of that name, from `folder` unless it is bundled.

    Raises InputError when the name is unknown, or a file is missing or changed.
    """
    if name not in _LOADERS:
        raise InputError("dataset.unknown", names=TABULAR_NAMES, got=shown(name))
    return _LOADERS[name](folder)


def breast_cancer(folder: Path | None = None) -> TabularDataset:
    """Load Breast Cancer Wisconsin (Diagnostic) from scikit-learn: 569 rows, 30 numbers."""
    bounds, rows = bundled_bounds("breast_cancer"), np.loadtxt(_bundled("breast_cancer.csv"), delimiter=",", skiprows=1)
    cells: dict[str, Cells] = {column.name: rows[:, i] for i, column in enumerate(bounds.columns)}
    cells["diagnosis"] = [bounds.classes[int(code)] for code in rows[:, -1]]
    return TabularDataset(Table("breast_cancer", cells, range(1, len(rows) + 1)), None, bounds, "hospital", "mean area")


def a9a(folder: Path | None) -> TabularDataset:
    """Load Adult as 123 binary features (LIBSVM's a9a, a9a.t), rows over sqrt(14), no bias: as in the paper."""
    columns = tuple(NumericColumn(f"x{i}", 0.0, 1.0) for i in range(1, _A9A_FEATURES + 1))
    clip = math.sqrt(_A9A_ONES)
    bounds = Bounds(columns, classes=("-1", "+1"), label="income", clip=clip, bias=0.0, center=False)
    return TabularDataset(_libsvm(folder, "a9a/a9a.gz", bounds), _libsvm(folder, "a9a/a9a.t.gz", bounds), bounds)


def bank(folder: Path | None) -> TabularDataset:
    """Load Bank Marketing: 45,211 rows, 16 columns."""
    name = "bank/bank-full.csv.gz"
    table = parse_csv(gzip.decompress(read_known_file(folder, name)), f"data file {name}", delimiter=";")
    return TabularDataset(table, None, bundled_bounds("bank"))


def credit_default(folder: Path | None) -> TabularDataset:
    """Load Default of Credit Card Clients: 30,000 rows, 23 columns."""
    name = "credit_default/default_of_credit_card_clients.csv.gz"
    table = parse_csv(gzip.decompress(read_known_file(folder, name)), f"data file {name}")
    return TabularDataset(table, None, bundled_bounds("credit_default"))


def covtype(folder: Path | None) -> TabularDataset:
    """Load Covertype 1 (spruce/fir) against 2 (lodgepole pine): 8,566 of a random 10,000 rows, 54 columns."""
    name, bounds = "covtype/covtype_random10k.csv.gz", bundled_bounds("covtype")
    header, newline, rows = gzip.decompress(read_known_file(folder, name)).partition(b"\n")
    # The file's own header lacks one column and has a stray one; its columns are in the published order.
    header = ",".join(field_names(bounds)).encode()
    return covertype_1_or_2(parse_csv(header + newline + rows, f"data file {name}"))


def covertype_1_or_2(table: Table) -> TabularDataset:
    """Return the rows of classes 1 and 2 of a table with Covertype's published columns."""
    bounds = bundled_bounds("covtype")
    kept = np.flatnonzero(np.isin(table.texts("Cover_Type"), bounds.classes))
    return TabularDataset(table.take(kept, table.source), None, bounds)


def kdd99(folder: Path | None) -> TabularDataset:
    """Load KDD Cup 99, normal against attack: 494,021 rows (the 10 % file), 311,029 test rows, 41 columns."""
    bounds = bundled_bounds("kdd99")
    train, test = (
        _connections(folder, f"kdd99/{name}", bounds) for name in ("kddcup.data_10_percent.gz", "corrected.gz")
    )
    return TabularDataset(train, test, bounds)


def mnist37(folder: Path | None, part: Literal["train", "t10k"] = "train") -> TabularDataset:
    """Load MNIST, digit 3 against 7: 12,396 of the 60,000 training images, 784 pixels in [0, 255].

    The part "t10k" holds 2,038 of the 10,000 other images.
    """
    images, digits = f"mnist/{part}-images-idx3-ubyte.gz", f"mnist/{part}-labels-idx1-ubyte.gz"
    pixels = idx_items(gzip.decompress(read_known_file(folder, images)), 28, 28)
    values = idx_items(gzip.decompress(read_known_file(folder, digits)))
    return three_or_seven(pixels, values, f"data file {images}")


def idx_items(content: bytes, *shape: int) -> NDArray[np.uint8]:
    """Return the items of this shape in an idx file of bytes; its header has the length of each axis."""
    return np.frombuffer(content, np.uint8, offset=4 * (len(shape) + 2)).reshape(-1, *shape)


def three_or_seven(pixels: NDArray[np.uint8], values: NDArray[np.uint8], source: str) -> TabularDataset:
    """Return the 3s and 7s among these images; pixels: (n, 28, 28), values: (n,) the digits."""
    kept = np.flatnonzero((values == 3) | (values == 7))
    by_pixel = np.ascontiguousarray(pixels[kept].reshape(len(kept), -1).T, dtype=np.float64)
    columns = tuple(NumericColumn(f"pixel{i}", 0.0, 255.0) for i in range(1, len(by_pixel) + 1))
    bounds = Bounds(columns, classes=("3", "7"), label="digit", clip=_MNIST_CLIP, center=False)
    cells: dict[str, Cells] = {column.name: by_pixel[i] for i, column in enumerate(columns)}
    cells["digit"] = values[kept].tolist()
    return TabularDataset(Table(source, cells, (kept + 1).tolist()), None, bounds)


def har(folder: Path | None) -> TabularDataset:
    """Load UCI HAR, six activities: 7,352 and 2,947 windows in the official split by subject, 265 columns in [-1, 1].

    Rows are clipped at the square root of 265, which no row exceeds.
    """
    name = "har/har_timedomain265.npz"
    with np.load(io.BytesIO(read_known_file(folder, name)), allow_pickle=False) as arrays:
        columns = tuple(NumericColumn(str(field), -1.0, 1.0) for field in arrays["feature_names"])
        bounds = Bounds(columns, _ACTIVITIES, "activity", clip=math.sqrt(len(columns)), bias=0.0, center=False)
        train, test = (
            _windows(arrays[f"X_{part}"], arrays[f"y_{part}"], bounds, f"data file {name}, {part}")
            for part in ("train", "test")
        )
    return TabularDataset(train, test, bounds)


def _windows(X: NDArray[np.float32], y: NDArray[np.uint8], bounds: Bounds, source: str) -> Table:
    """Return the windows of one part, X: (n, d), with the names of their activities, y: (n,) from 1 on."""
    by_column = np.ascontiguousarray(X.T, dtype=np.float64)
    cells: dict[str, Cells] = {column.name: by_column[i] for i, column in enumerate(bounds.columns)}
    cells["activity"] = DictionaryColumn(y.astype(np.int64) - 1, bounds.classes)
    return Table(source, cells, range(1, len(y) + 1))


def digits(folder: Path | None = None) -> TabularDataset:
    """Load optical digits from scikit-learn: 1,797 rows, 64 pixels from 0 to 16, ten classes."""
    rows = np.loadtxt(_bundled("digits.csv.gz"), delimiter=",")
    columns = tuple(NumericColumn(f"pixel{i}", 0.0, 16.0) for i in range(1, rows.shape[1]))
    bounds = Bounds(columns, tuple("0123456789"), "digit", clip=_DIGITS_CLIP, center=False)
    cells: dict[str, Cells] = {column.name: rows[:, i] for i, column in enumerate(columns)}
    cells["digit"] = rows[:, -1].astype(np.int64).tolist()
    return TabularDataset(Table("digits", cells, range(1, len(rows) + 1)), None, bounds)


def _bundled(name: str) -> Path:
    """Return the path of a file of scikit-learn, which need not be loaded for it: that takes more than a second."""
    return Path(str(distribution("scikit-learn").locate_file(f"sklearn/datasets/data/{name}")))


_LOADERS: MappingProxyType[str, Callable[[Path | None], TabularDataset]] = MappingProxyType(
    {of.__name__: of for of in (breast_cancer, a9a, bank, credit_default, covtype, kdd99, mnist37, har, digits)}
)
TABULAR_NAMES = tuple(_LOADERS)


def bundled_bounds(name: str) -> Bounds:
    """Return the public bounds that the package ships for this data set."""
    return parse_bounds(files("smc_dp.data").joinpath(f"{name}.toml").read_text(encoding="utf-8"))


def field_names(bounds: Bounds) -> list[str]:
    """Return the fields of a file that lists its features in the order of the bounds, then the class."""
    return [column.name for column in bounds.columns] + ([bounds.label] if bounds.label else [])


def _connections(folder: Path | None, name: str, bounds: Bounds) -> Table:
    import pyarrow as pa
    from pyarrow import csv

    names = field_names(bounds)
    texts = {column.name for column in bounds.columns if isinstance(column, CategoricalColumn)} | {bounds.label}
    kinds = {field: pa.dictionary(pa.int32(), pa.string()) if field in texts else pa.float64() for field in names}
    rows = csv.read_csv(
        pa.BufferReader(gzip.decompress(read_known_file(folder, name))),
        read_options=csv.ReadOptions(column_names=names),
        convert_options=csv.ConvertOptions(column_types=kinds, null_values=[]),
    ).combine_chunks()
    columns: dict[str, Cells] = {
        field: _coded(rows[field]) if field in texts else rows[field].to_numpy() for field in names
    }
    columns[names[-1]] = normal_or_attack(_coded(rows[names[-1]]))
    return Table(f"data file {name}", columns, range(1, rows.num_rows + 1))


def _coded(column: Any) -> DictionaryColumn:
    """Return an Arrow column of dictionary type as dictionary-encoded cells."""
    cells = column.unify_dictionaries().combine_chunks()
    return DictionaryColumn(cells.indices.to_numpy().astype(np.int64), tuple(cells.dictionary.to_pylist()))


def normal_or_attack(kinds: DictionaryColumn) -> DictionaryColumn:
    """Return KDD Cup 99's kinds of connection as two classes: `normal.`, and an attack for any other."""
    attack = np.array([kind != "normal." for kind in kinds.values], dtype=np.int64)
    return DictionaryColumn(attack[kinds.codes], ("normal", "attack"))


def _libsvm(folder: Path | None, name: str, bounds: Bounds) -> Table:
    from sklearn.datasets import load_svmlight_file

    rows, labels = load_svmlight_file(
        io.BytesIO(gzip.decompress(read_known_file(folder, name))), n_features=_A9A_FEATURES, zero_based=False
    )
    dense = np.asarray(rows.toarray(), dtype=np.float64)
    columns = {column.name: dense[:, i] for i, column in enumerate(bounds.columns)}
    return Table(f"data file {name}", columns | {"income": labels.tolist()}, range(1, len(labels) + 1))
