"""Personalised model of one site: its file, which is no release, and what may be said of its privacy.

The file has the release that the model was made from, so that it classifies raw rows without the run folder.
"""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Any, Literal, TypeAlias, get_args

from pydantic import Field

from smc_dp.core import reading
from smc_dp.core.documents import Document, validate_document
from smc_dp.core.errors import InputError, InputFault
from smc_dp.core.kinds import DigestText, FiniteNumber, OneOf
from smc_dp.core.writing import write_new
from smc_dp.data.bounds import Bounds
from smc_dp.methods.model import FourierFeatures, Weights
from smc_dp.methods.personal import PERSONAL_KINDS, PersonalAccuracy
from smc_dp.run.documents import ReleaseFile, StatedWeights, read_weights
from smc_dp.run.release import RELEASE

PersonalFormat: TypeAlias = Literal["smc-dp personal model 1"]
PERSONAL_FORMAT: PersonalFormat
(PERSONAL_FORMAT,) = get_args(PersonalFormat)
PERSONAL_STATEMENTS = ("personal.no_charge", "personal.others_protected", "personal.own_rows")
"""Codes of the sentences on the privacy of a personalised model, which the screen and the file say."""
_MOST_BYTES, _SHOWN = 1 << 28, 16
_Share: TypeAlias = Annotated[FiniteNumber, Field(ge=0, le=1)]


class StatedPersonalAccuracy(Document):
    """Accuracies on so many rows; `kept_out`: whether their owner states that no model was learnt from them.

    `shared`: how many of them stand among the own rows, with the same features.
    """

    rows: Annotated[int, Field(ge=1)]
    alone: _Share
    release: _Share
    personalised: _Share
    kept_out: bool
    shared: Annotated[int, Field(ge=0)] = 0


class PersonalFile(Document):
    """Schema of the file of a personalised model; `rows`: number of own rows that it was learnt from.

    `kind` and `strength`: the chosen model, null for the release itself; `release_sha256`: digest of release.json.
    """

    format: PersonalFormat
    privacy: list[str]
    release_sha256: DigestText
    kind: Annotated[str, OneOf(tuple(dict.fromkeys(kind for kind, _ in PERSONAL_KINDS)))]
    strength: FiniteNumber | None
    rows: Annotated[int, Field(ge=1)]
    accuracy: StatedPersonalAccuracy
    threshold: Annotated[FiniteNumber, Field(gt=0, lt=1)]
    weights: StatedWeights
    release: ReleaseFile


@dataclass(frozen=True)
class PersonalModel:
    """Model of one site for itself, as private as its rows: weights, and which model was chosen how.

    kind, strength: the release (no strength), a model towards it, or of the own rows alone. rows: number of own rows.
    accuracy, kept_out: on rows that were kept out of everything, or by nested cross-validation on the own rows.
    shared: number of rows that were kept out and stand, with the same features, among the own rows.
    threshold: that of the study. release_sha256: digest of `release`, the content of release.json.
    missing_files_text: sentence about files that were missing to verify the release; None without any, and of a file.
    features: those beside the rows that the weights belong to, None where they are of the rows alone.
    """

    weights: Weights
    kind: str
    strength: float | None
    rows: int
    accuracy: PersonalAccuracy
    kept_out: bool
    threshold: float
    release_sha256: str
    release: dict[str, Any]
    bounds: Bounds
    insecure: tuple[str, ...]
    missing_files_text: str | None = None
    features: FourierFeatures | None = None
    shared: int = 0

    @property
    def short_digest(self) -> str:
        """First letters of the digest of the release, for messages."""
        return self.release_sha256[:_SHOWN]

    @property
    def notice(self) -> str:
        """Sentences beside predictions of this model."""
        return str(InputFault("personal.predicts", {"digest": self.short_digest}))

    def as_dict(self) -> dict[str, Any]:
        """Return plain values for JSON, without the weights and the release."""
        return {
            "privacy": privacy_sentences(),
            "release_sha256": self.release_sha256,
            "kind": self.kind,
            "strength": self.strength,
            "rows": self.rows,
            "accuracy": {**asdict(self.accuracy), "kept_out": self.kept_out, "shared": self.shared},
            "threshold": self.threshold,
        }

    def write(self, out: str | os.PathLike[str]) -> None:
        """Write a new file that only its owner may read; raise InputError for one in a run folder, or that exists."""
        path = Path(out)
        for folder in path.resolve().parents:
            if os.path.lexists(folder / RELEASE):
                raise InputError("personal.in_run_folder", out=str(out), folder=str(folder))
        document = {"format": PERSONAL_FORMAT, **self.as_dict(), "weights": self.weights, "release": self.release}
        write_new(path, (json.dumps(document, indent=2, allow_nan=False) + "\n").encode(), f"out: {out}", 0o600)


def privacy_sentences() -> list[str]:
    """Return what is said of the privacy of every personalised model."""
    return [str(InputFault(code)) for code in PERSONAL_STATEMENTS]


def read_personal_model(path: Path) -> PersonalModel:
    """Return the personalised model in a file; raise InputError for anything else."""
    where = f"personalised model {path}"
    found = reading.parse_object(reading.read_file(path, _MOST_BYTES, where=where), where)
    document = validate_document(PersonalFile, found, where)
    try:
        bounds = document.release.bounds
        weights = read_weights(document.weights, bounds, document.release.features)
    except InputError as error:
        raise error.within(where) from None
    stated = document.accuracy.model_dump()
    kept_out, shared = stated.pop("kept_out"), stated.pop("shared")
    return PersonalModel(
        weights, document.kind, document.strength, document.rows, PersonalAccuracy(**stated), kept_out,
        document.threshold, document.release_sha256, found["release"], bounds, tuple(document.release.insecure),
        features=document.release.features, shared=shared,
    )  # fmt: skip
