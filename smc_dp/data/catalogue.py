"""Catalogue of the data sets: names, sizes and presence of their files."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeAlias

from smc_dp.data.dataset_info import DATASET_INFO

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


def list_datasets(folder: Path | None) -> list[CatalogueEntry]:
    """Return an entry for each data set; files are looked up, and their content is not checked."""
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
