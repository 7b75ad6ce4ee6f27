"""Catalogue of the data sets: names, sizes, presence and integrity of their files."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeAlias

from smc_dp.core import reading
from smc_dp.core.errors import Fault, InputError, InputFault
from smc_dp.data.dataset_info import DATASET_INFO
from smc_dp.data.known_files import SHA256

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
