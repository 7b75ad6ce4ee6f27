"""Catalogue of the data sets: names, sizes, presence and integrity of their files, and preparation for use."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeAlias

from smc_dp.core import reading
from smc_dp.core.errors import Fault, InputError, InputFault, shown
from smc_dp.data.cache import write_cache
from smc_dp.data.dataset import Pool
from smc_dp.data.dataset_info import DATASET_INFO
from smc_dp.data.fetch import FETCHABLE, fetch
from smc_dp.data.known_files import SHA256
from smc_dp.data.load_pool import DATASET_NAMES, load_pool

DatasetState: TypeAlias = Literal["bundled", "complete", "partial", "absent"]


@dataclass(frozen=True)
class CatalogueEntry:
    """Sizes and state of a data set; "partial" means that the files at hand are not all of it."""

    name: str
    rows: int
    test_rows: int
    columns: int
    classes: int
    state: DatasetState
    description: str
    paper: str


@dataclass(frozen=True)
class DatasetCheck:
    """Result of checking a known file; `fault` is None for a file that is present and unchanged."""

    file: str
    fault: Fault | None = None


def list_datasets(folder: Path | None) -> list[CatalogueEntry]:
    """Return an entry for each data set; files are looked up, their content is not checked (see `verify_files`)."""
    return [
        CatalogueEntry(
            name, f.rows, f.test_rows, f.columns, f.classes, dataset_state(name, folder), f.description, f.paper
        )
        for name, f in DATASET_INFO.items()
    ]


def dataset_state(name: str, folder: Path | None) -> DatasetState:
    """Return whether the files of a known data set are at hand."""
    facts = DATASET_INFO[name]
    if not facts.files:
        return "bundled"
    if folder is None or not all((folder / file).is_file() for file in facts.files):
        return "absent"
    return "partial" if facts.partial else "complete"


def verify_files(folder: Path) -> Iterator[DatasetCheck]:
    """Yield a check for each file with a recorded SHA-256, by name."""
    for name, wanted in SHA256.items():
        try:
            with reading.open_plain_file(folder / name, name) as file:
                digest = hashlib.file_digest(file, "sha256").hexdigest()
        except InputError as error:
            yield DatasetCheck(name, error.fault)
            continue
        other = InputFault("file.not_as_recorded", {"wanted": wanted, "got": digest}).within(name)
        yield DatasetCheck(name, None if digest == wanted else other)


def prepare_dataset(
    name: str, folder: Path | None, cache: Path | None = None, *, ordinal: bool = False, network: bool = False
) -> tuple[Pool, Path | None]:
    """Read and check a data set; keep it in the cache folder, if one is given, and return its path there.

    With `network`, scikit-learn fetches what `folder` lacks or has only in part, which needs a cache folder. Raises
    InputError when the data set cannot be had.
    """
    if name not in DATASET_NAMES:
        raise InputError("dataset.unknown", names=DATASET_NAMES, got=shown(name))
    now = dataset_state(name, folder)
    if network and (now == "absent" or (now == "partial" and name in FETCHABLE)):
        if cache is None:
            raise InputError("dataset.no_cache").within(f"data set {name}")
        pool = fetch(name)
    elif now == "absent":
        raise _absence(name, folder)
    else:
        pool = load_pool(name, folder, ordinal=ordinal)
    return pool, None if cache is None else write_cache(pool, cache, ordinal=ordinal)


def _absence(name: str, folder: Path | None) -> InputError:
    help_ = "can be fetched where there is a network" if name in FETCHABLE else "cannot be fetched"
    if folder is None:
        return InputError("dataset.needs_folder", help=help_).within(f"data set {name}")
    missing = next(file for file in DATASET_INFO[name].files if not (folder / file).is_file())
    fault = InputError("dataset.file_missing", file=str(folder / missing), help=help_)
    return fault.within(f"data set {name}")
