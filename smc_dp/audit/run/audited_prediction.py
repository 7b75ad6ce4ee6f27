"""Predictions with a release, on request only if an audit of the very same bytes reaches a level of assurance."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from os import PathLike
from pathlib import Path

from smc_dp.audit.run.time_budget import DEFAULT_SECONDS, MORE_TIME
from smc_dp.core.arrays import Array
from smc_dp.core.errors import InputError, shown
from smc_dp.data.file_format import FileFormat
from smc_dp.data.frames import DataFrame
from smc_dp.run.folder import read_run_files
from smc_dp.run.prediction import Predictions, predict_rows
from smc_dp.run.run_files import RunFiles


def predict(
    run_folder: str | PathLike[str],
    rows: str | PathLike[str] | DataFrame | Array,
    id_column: str | None = None,
    *,
    threshold: float | None = None,
    threshold_from: str | PathLike[str] | DataFrame | None = None,
    form: FileFormat | None = None,
    level: int | None = None,
    identities: str | PathLike[str] | None = None,
    views: str | PathLike[str] | None = None,
    seconds: float | None = None,
    progress: Callable[[str], None] | None = None,
) -> Predictions:
    """Add the published shares of a run, where there are any, and classify rows.

    Parameters
    ----------
    run_folder : path
        The folder that a run has written, or the file of a personalised model, which is not verified.
    rows : path, data frame or ndarray of shape (n, d)
        A CSV or Parquet file, a data frame (pandas, polars, Arrow), or rows as
        `smc_dp.data.preprocess.encode_rows` makes them.
    id_column : str, default=None
        The column of the file that says what its rows are called; None numbers them.
    threshold : float in (0, 1), default=None
        The probability above which a row gets the second of two classes; None is that of the study of
        the release, else 1/2.
    threshold_from : path or data frame, default=None
        A file or a data frame of other rows with classes, on which the threshold is chosen: the one with the largest
        sum of sensitivity and specificity. It is as private as these rows.
    form : FileFormat, default=None
        The format of the files, such as that of own.toml (`smc_dp.deploy.site_policy.read_own_format`); None is that of
        FILE.toml beside FILE.
    level : {1, 2, 3}, default=None
        The level of assurance that an audit of the run must reach before anything is predicted; None audits nothing.
        The folder is read once, and audit and prediction work on the same bytes.
    identities : path, default=None
        With `level`: a file of public keys that are known from elsewhere, as `audit_run` takes it.
    views : path, default=None
        With `level`: a folder of what participants did and saw, as `audit_run` takes it.
    seconds : float, default=None
        With `level`: the processor time that the audit may use; None allows 40.
    progress : callable, default=None
        Hears the name of each check of the audit.

    Returns
    -------
    Predictions
        A class, scores and probabilities for each row, and the metrics where rows have classes. A row that does not
        fit the bounds has no class, and a reason.

    Raises
    ------
    InputError
        When the folder holds no release, when one of its files contradicts another (the shares do not add up to the
        weights, they or the published sum were not signed in the transcript; classes, bounds or the privacy statement
        are others), when the audit does not reach the level, when a column is missing, or for a threshold that does not
        fit.

    References
    ----------
    * M. Pathak, S. Rane and B. Raj. Multiparty differential privacy via aggregation of locally trained classifiers.
      NIPS 2010, section 3.3 (the testing phase).

    Examples
    --------
    >>> import tempfile
    >>> from smc_dp import predict, run_protocol
    >>> from smc_dp.data.sources import dataset
    >>> data, run = dataset("breast_cancer"), tempfile.mkdtemp() + "/run"
    >>> report = run_protocol(data.federation, method="newton", bounds=data.bounds, out=run)
    >>> found = predict(run, data.test.X)
    >>> len(found.labels), set(found.labels) <= {"benign", "malignant"}
    (114, True)

    """
    if level is None:
        for name, value in {"identities": identities, "views": views, "seconds": seconds}.items():
            if value is not None:
                raise InputError("level.not_given", name=name)
        return predict_rows(
            Path(run_folder), rows, id_column, threshold=threshold, threshold_from=threshold_from, form=form
        )
    files = read_run_files(Path(run_folder))
    reached = _level(files, level, identities, views, DEFAULT_SECONDS if seconds is None else seconds, progress)
    found = predict_rows(files, rows, id_column, threshold=threshold, threshold_from=threshold_from, form=form)
    return replace(found, level=reached)


def _level(
    files: RunFiles,
    wanted: int,
    identities: str | PathLike[str] | None,
    views: str | PathLike[str] | None,
    seconds: float,
    progress: Callable[[str], None] | None,
) -> int:
    """Return the level that an audit reaches; raise InputError, which says what is missing, below the wanted one."""
    # Without a level nothing is audited, and the checks, which import every protocol's code, are not loaded.
    from smc_dp.audit.run.checks import audit_run
    from smc_dp.audit.run.levels import LEVEL_NUMBERS
    from smc_dp.audit.run.report_blocks import audit_verdict, missing_for_next_level

    if wanted not in LEVEL_NUMBERS:
        raise InputError("level.unknown", known=LEVEL_NUMBERS, got=shown(wanted))
    found = audit_run(files, identities=identities, views=views, seconds=seconds, progress=progress)
    reached = found.assurance.level
    if not found.passed:
        more = f" {MORE_TIME}." if found.unfinished else ""
        raise InputError("level.audit_failed", files=str(files), found=audit_verdict(found).text, more=more)
    if reached is None or reached.number < wanted:
        number = reached.number if reached else 0
        raise InputError(
            "level.not_reached", wanted=wanted, files=str(files), number=number, missing=missing_for_next_level(found)
        )
    return reached.number
