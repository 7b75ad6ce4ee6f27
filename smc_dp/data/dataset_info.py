"""Public facts about each data set: sizes, files, papers that use it, and notes for readers of results."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib.resources import files
from pathlib import Path
from types import MappingProxyType


@dataclass(frozen=True)
class DatasetInfo:
    """Sizes as published or, for an incomplete copy, of the copy; `test_rows` is 0 without a test set.

    `partial`: the files read here are not the whole data set. `digests`: SHA-256 of each file, by its path in the data
    folder, empty where unknown; there are no files for a data set that scikit-learn bundles. `paper`: the paper whose
    experiments use the data set, or empty.
    """

    description: str
    rows: int
    columns: int
    classes: int
    test_rows: int = 0
    paper: str = ""
    partial: bool = False
    notes: tuple[str, ...] = ()
    digests: Mapping[str, str] = field(default_factory=dict)

    @property
    def files(self) -> tuple[str, ...]:
        """Paths in the data folder."""
        return tuple(self.digests)

    def state(self, folder: Path | None) -> str:
        """Return whether the files are at hand, in a word; their content is not looked at."""
        if not self.files:
            return "bundled"
        if folder is None or not all((folder / file).is_file() for file in self.files):
            return "absent"
        return "partial" if self.partial else "complete"


DATASET_INFO = MappingProxyType(
    {
        name: DatasetInfo(**{**facts, "notes": tuple(facts.get("notes", ()))})
        for name, facts in tomllib.loads(
            files("smc_dp.data").joinpath("datasets.toml").read_text(encoding="utf-8")
        ).items()
    }
)
"""Facts by name, in the order in which the data sets are listed."""
