"""Personalisation: a release and the own rows of one site become a model of this site for itself.

Nothing leaves the site and no noise is drawn, so no budget is charged.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import replace
from os import PathLike
from pathlib import Path
from types import MappingProxyType

import numpy as np

from smc_dp.core import reading
from smc_dp.core.errors import InputError, shown
from smc_dp.data.bounds import Bounds
from smc_dp.data.federation import Rows
from smc_dp.data.file_format import FileFormat
from smc_dp.data.frames import DataFrame, read_file_or_frame
from smc_dp.data.preprocess import encode_labelled_rows
from smc_dp.data.table import Table
from smc_dp.methods.model import LinearModel
from smc_dp.methods.personal import compare_by_folds, compare_on, fit_length, fit_personal, in_features
from smc_dp.pages.blocks import Bullets, PageBlock, PageTable, Prose, coded_prose
from smc_dp.run.folder import read_content, read_run_files
from smc_dp.run.metrics import has_probabilities
from smc_dp.run.personal_model import PersonalModel, privacy_sentences
from smc_dp.run.release import RELEASE
from smc_dp.run.shared_rows import are_all_shared, count_shared
from smc_dp.run.threshold import stated_threshold
from smc_dp.run.verify_release import verify_release

_CHOSEN: Mapping[str, str] = MappingProxyType(
    {
        "release": "personal.chosen_release",
        "towards the release": "personal.chosen_towards",
        "own rows alone": "personal.chosen_alone",
    }
)
"""Kind of a model -> the code of the sentence that says it."""


def personalise(
    run_folder: str | PathLike[str],
    rows: str | PathLike[str] | DataFrame,
    *,
    test: str | PathLike[str] | DataFrame | None = None,
    form: FileFormat | None = None,
) -> PersonalModel:
    """Verify the release of a run, and learn a model of the own rows and the release, which is as private as the rows.

    Parameters
    ----------
    run_folder : path
        The folder that a run has written.
    rows : path or data frame
        The own rows with their classes: a CSV or Parquet file, or a data frame (pandas, polars, Arrow).
    test : path or data frame, default=None
        Own rows with classes that took no part in the release; the accuracies are of these. None measures by
        nested cross-validation on `rows`, which is optimistic if these took part in the release.
    form : FileFormat, default=None
        The format of the files; None is that of FILE.toml beside FILE.

    Returns
    -------
    PersonalModel
        The model. `write` makes a file of it that only its owner may read, and that `predict` reads.

    Raises
    ------
    InputError
        When the release is none of a classifier or contradicts the files beside it, when rows do not fit its bounds,
        when there are too few, and when `test` has the rows that are learnt from.

    References
    ----------
    * `smc_dp.methods.personal` states what is minimised, and how the model is chosen.

    Examples
    --------
    >>> import tempfile
    >>> import pandas as pd
    >>> from smc_dp import personalise, predict, run_protocol
    >>> from smc_dp.data.sources import dataset
    >>> data, run = dataset("breast_cancer"), tempfile.mkdtemp() + "/run"
    >>> report = run_protocol(data.federation, method="newton", bounds=data.bounds, out=run)
    >>> own = pd.DataFrame(dict(data.tables["hospital-1"].columns))
    >>> model = personalise(run, own)
    >>> model.rows, model.kept_out
    (91, False)
    >>> model.write(run + ".model")
    >>> len(predict(run + ".model", own).labels)
    91

    """
    files = read_run_files(Path(run_folder))
    verified = verify_release(files)
    release = verified.release
    if release.bounds.outcome is not None:
        raise InputError("personal.of_number", label=shown(release.bounds.label))
    table = _read(rows, form)
    features = release.agreement.features
    own, held_out, shared = _encoded(table, release.bounds), None, 0
    if test is not None:
        tested = _read(test, form)
        held_out = _encoded(tested, replace(release.bounds, weights=None))
        shared = count_shared(held_out.X, own.X)
        if are_all_shared(held_out.X, shared, tested, table):
            raise InputError("personal.same_rows", file=tested.source)
        held_out = in_features(held_out, features, tested.form.most_cells)
    own = in_features(own, features, table.form.most_cells)
    W = LinearModel.from_weights(release.weights)
    start = W if has_probabilities(release.agreement.spec) else fit_length(own, W)
    fit = fit_personal(own, start)
    accuracy = compare_by_folds(own, start) if held_out is None else compare_on(fit, start, held_out)
    content = read_content(files, RELEASE)
    return PersonalModel(
        weights=fit.model.weights,
        kind=fit.kind,
        strength=None if np.isinf(fit.strength) else fit.strength,
        rows=len(own),
        accuracy=accuracy,
        kept_out=held_out is not None,
        threshold=stated_threshold(files).probability,
        release_sha256=hashlib.sha256(content).hexdigest(),
        release=reading.parse_object(content, RELEASE),
        bounds=release.bounds,
        insecure=release.insecure,
        missing_files_text=verified.missing_files_text,
        features=features,
        shared=shared,
    )


def personal_blocks(found: PersonalModel) -> Iterator[PageBlock]:
    """Yield what was chosen, how accurate it is, and what may be done with it, for the owner's screen."""
    strength, code = found.strength or 0.0, _CHOSEN[found.kind]
    yield coded_prose(code, rows=found.rows, strength=strength, digest=found.short_digest)
    compared = found.accuracy
    figures = (
        ("own rows alone", compared.alone),
        ("release", compared.release),
        ("personalised", compared.personalised),
    )
    caption = (
        f"Accuracy on {compared.rows:,} rows (two standard errors: {compared.margin:.3f}), for this site alone to know"
    )
    yield PageTable(caption, ("model", "accuracy"), tuple((name, f"{x:.3f}") for name, x in figures), numbers=(1,))
    yield coded_prose("personal.kept_out" if found.kept_out else "personal.optimistic")
    if found.shared:
        yield coded_prose("personal.shared_rows", count=found.shared, rows=compared.rows)
    yield Prose("Privacy of this model:")
    yield Bullets(tuple(privacy_sentences()))


def _read(rows: str | PathLike[str] | DataFrame, form: FileFormat | None) -> Table:
    if isinstance(rows, str | PathLike):
        return read_file_or_frame(Path(rows), f"data file {rows}", form)
    return read_file_or_frame(rows, "rows")


def _encoded(table: Table, bounds: Bounds) -> Rows:
    return encode_labelled_rows(table, bounds, str(bounds.label), released=True)
