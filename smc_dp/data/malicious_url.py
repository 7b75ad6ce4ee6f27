"""Malicious URL data (Ma, Saul, Savage and Voelker 2009) as published: one svmlight file for each day.

The archive url_svmlight.tar.gz unpacks to `url_svmlight/Day0.svm` to `Day120.svm`, 3,231,961 sparse columns, labels +1
(malicious) and -1. It is expected, unpacked, in the folder `malicious_url`. Only days 0 to 19 are used (Hamm, Cao and
Belkin 2016).
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt
import scipy

from smc_dp.core.errors import InputError
from smc_dp.data.dataset_info import DATASET_INFO
from smc_dp.data.known_files import data_path

DAYS = DATASET_INFO["malicious_url"].files
_ROWS = 20_000  # of each of these days, as published
_COLUMNS = DATASET_INFO["malicious_url"].columns


def read_days(folder: Path | None, days: Sequence[str]) -> tuple[scipy.sparse.csr_array, npt.NDArray[np.int64]]:
    """Read the rows X: (n, 3231961) and classes y: (n,), 1 for malicious; raise InputError naming the file."""
    read = [_read(data_path(folder, day)) for day in days]
    X = scipy.sparse.csr_array(scipy.sparse.vstack([rows for rows, _ in read], format="csr"))
    return X, np.concatenate([classes for _, classes in read])


def _read(path: Path) -> tuple[scipy.sparse.csr_matrix, npt.NDArray[np.int64]]:
    from sklearn.datasets import load_svmlight_file  # a second that the other data sets need not wait

    try:
        rows, labels = load_svmlight_file(str(path), n_features=_COLUMNS, zero_based=False)
    except OSError as error:
        raise InputError("malicious_url.unreadable", why=error.strerror).within(f"data file {path}") from error
    except ValueError as error:
        raise InputError("malicious_url.not_svmlight", columns=_COLUMNS, why=str(error)).within(
            f"data file {path}"
        ) from error
    if len(labels) != _ROWS:
        raise InputError("malicious_url.wrong_rows", wanted=_ROWS, got=len(labels)).within(f"data file {path}")
    if not (np.abs(labels) == 1).all() or not np.isfinite(rows.data).all():
        raise InputError("malicious_url.wrong_values").within(f"data file {path}")
    return rows, (labels > 0).astype(np.int64)
