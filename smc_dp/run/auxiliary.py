"""Public rows without labels that all parties have: a file of the run folder, and a part of the agreement.

The sensitivity of a sum of votes, and so the noise, and the weights that follow from a sum depend on every digit of
these rows. So they stand in the folder as they are, and the agreement has the digest of that file.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated

import numpy as np
from pydantic import Field
from typing_extensions import override

from smc_dp.core import reading
from smc_dp.core.arrays import Array
from smc_dp.core.documents import Document, validate_document
from smc_dp.core.errors import InputError
from smc_dp.core.kinds import FiniteNumbers
from smc_dp.data.federation import check_features

_MOST_NUMBERS = 1 << 20  # in all rows; an audit reads more of any file
_MOST_FEATURES, _MOST_WEIGHTS = 1 << 10, 1 << 12  # of a model trained on them; checks need the square in memory


class AuxiliaryFile(Document):
    """Schema of auxiliary.json."""

    rows: Annotated[list[FiniteNumbers], Field(fail_fast=True)]


@dataclass(frozen=True, eq=False, repr=False)
class AuxiliaryRows:
    """Public rows X: (N, d), encoded with the public bounds, in the unit ball; `whose` names them in errors.

    Raises InputError for rows outside the ball, and for too many of them.
    """

    X: Array
    whose: str = "the auxiliary rows"

    def __post_init__(self) -> None:
        check_features(self.X, None, self.whose)
        if self.X.size > _MOST_NUMBERS:
            N, d = self.X.shape
            raise InputError("auxiliary.too_large", whose=self.whose, most=_MOST_NUMBERS // d, d=d, got=N)

    @override
    def __eq__(self, other: object) -> bool:
        return isinstance(other, AuxiliaryRows) and self.digest == other.digest

    @override
    def __hash__(self) -> int:
        return hash(self.digest)

    @classmethod
    def read(cls, content: bytes, name: str) -> AuxiliaryRows:
        """Return the rows that `content` wrote; raise an InputError, which names the file, for anything else."""
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
        """Bytes of the file: one row a line, each number as the shortest decimal that is no other float."""
        rows = ",\n".join(json.dumps(row, allow_nan=False) for row in self.X.tolist())
        return f'{{"rows": [\n{rows}\n]}}\n'.encode()

    @cached_property
    def digest(self) -> str:
        """SHA-256 of the file in hexadecimal."""
        return hashlib.sha256(self.content).hexdigest()

    def check(self, dimension: int, classes: int) -> None:
        """Raise an InputError unless a model of this shape can be trained on the rows."""
        if self.X.shape[1] != dimension:
            raise InputError("auxiliary.other_width", whose=self.whose, dimension=dimension, got=self.X.shape[1])
        most = min(_MOST_FEATURES, _MOST_WEIGHTS // max(1, classes - 1))
        if dimension > most:
            raise InputError("auxiliary.too_wide", whose=self.whose, most=most, classes=classes, got=dimension)
