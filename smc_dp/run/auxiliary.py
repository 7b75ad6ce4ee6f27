"""Public rows without labels that all parties have: a file of a run folder, and a part of what is agreed on.

How far a party can move a sum of votes on them, and so the noise, and the weights that follow from a sum, depend on
every digit of them. So they stand in the folder as they are, and the agreement has the digest of that file.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated

import numpy as np
from pydantic import Field

from smc_dp.core import reading
from smc_dp.core.arrays import Array
from smc_dp.core.documents import Document, validate_document
from smc_dp.core.errors import InputError
from smc_dp.core.kinds import FiniteNumbers
from smc_dp.data.federation import check_features

_MOST_NUMBERS = 1 << 20
"""In all rows: what an audit reads of any file, with room to spare."""
_MOST_FEATURES, _MOST_WEIGHTS = 1 << 10, 1 << 12
"""Of a model trained on them, which takes whoever checks it the square of that in memory."""


class AuxiliaryFile(Document):
    """All of auxiliary.json."""

    rows: Annotated[list[FiniteNumbers], Field(fail_fast=True)]


@dataclass(frozen=True, eq=False, repr=False)
class AuxiliaryRows:
    """X: (N, d), encoded with the public bounds, in the unit ball, as `whose` calls them in errors.

    Raises InputError for rows outside the ball, and for more than everybody can be asked to read.
    """

    X: Array
    whose: str = "the auxiliary rows"

    def __post_init__(self) -> None:
        check_features(self.X, None, self.whose)
        if self.X.size > _MOST_NUMBERS:
            N, d = self.X.shape
            raise InputError("auxiliary.too_large", whose=self.whose, most=_MOST_NUMBERS // d, d=d, got=N)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, AuxiliaryRows) and self.digest == other.digest

    def __hash__(self) -> int:
        return hash(self.digest)

    @classmethod
    def read(cls, content: bytes, name: str) -> AuxiliaryRows:
        """The rows that `content` wrote; InputError, which names the file, for anything else."""
        rows = validate_document(AuxiliaryFile, reading.parse_object(content, name), name).rows
        widths = {len(row) for row in rows}
        if len(widths) != 1:
            raise InputError("auxiliary.uneven", name=name, got=len(widths))
        found = cls(np.array(rows, dtype=np.float64).reshape(len(rows), -1), name)
        if found.content != content:
            raise InputError("auxiliary.not_canonical", name=name)
        return found

    @cached_property
    def content(self) -> bytes:
        """The file of them: one row a line, each number as the shortest decimal that is no other float."""
        rows = ",\n".join(json.dumps(row, allow_nan=False) for row in self.X.tolist())
        return f'{{"rows": [\n{rows}\n]}}\n'.encode()

    @cached_property
    def digest(self) -> str:
        """SHA-256 of that file, as hexadecimals."""
        return hashlib.sha256(self.content).hexdigest()

    def check(self, dimension: int, classes: int) -> None:
        """Raises InputError unless a model of this shape can be trained on them."""
        if self.X.shape[1] != dimension:
            raise InputError("auxiliary.other_width", whose=self.whose, dimension=dimension, got=self.X.shape[1])
        most = min(_MOST_FEATURES, _MOST_WEIGHTS // max(1, classes - 1))
        if dimension > most:
            raise InputError("auxiliary.too_wide", whose=self.whose, most=most, classes=classes, got=dimension)
