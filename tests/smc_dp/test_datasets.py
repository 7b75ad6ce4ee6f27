from __future__ import annotations

import gzip
import os
import shutil
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer

from smc_dp.data import datasets, sources
from smc_dp.data.bounds import NumericColumn
from smc_dp.errors import InputError

needs_data = pytest.mark.skipif(
    "SMC_DP_DATA" not in os.environ, reason="a9a, bank, credit: SMC_DP_DATA names no folder of data sets"
)


def folder() -> Path:
    return Path(os.environ["SMC_DP_DATA"])


def test_the_bundled_bounds_are_one_digit_roundings_of_the_published_summary():
    bunch = load_breast_cancer()
    mean, sd = bunch.data.mean(axis=0), bunch.data.std(axis=0)
    columns = datasets.load("breast_cancer").bounds.columns
    assert [column.name for column in columns] == bunch.feature_names.tolist()
    for column, low, high in zip(columns, mean - 2.5 * sd, mean + 2.5 * sd, strict=True):
        assert isinstance(column, NumericColumn)
        assert (column.low, column.high) == (float(f"{low:.0e}"), float(f"{high:.0e}"))


def test_five_hospitals_and_held_out_rows_that_nobody_trains_on():
    case = sources.dataset("breast_cancer")
    assert list(case.parties) == [f"hospital-{j}" for j in range(1, 6)]
    assert [len(data) for data in case.parties.values()] == [91] * 5
    assert case.test is not None
    assert len(case.test) == 114
    seen = np.concatenate([data.X for data in case.parties.values()] + [case.test.X])
    assert seen.shape == (569, 31)
    assert len(np.unique(seen, axis=0)) == len(np.unique(load_breast_cancer().data, axis=0)) == 569


def test_an_unknown_name_lists_those_that_exist():
    with pytest.raises(InputError, match="wanted one of breast_cancer, a9a, bank, credit_default, got 'adult'"):
        datasets.load("adult")


def test_missing_and_corrupt_files_are_named(tmp_path):
    with pytest.raises(InputError, match=r"a9a/a9a\.gz: wanted --data-dir or SMC_DP_DATA"):
        datasets.load("a9a", None)
    with pytest.raises(InputError, match=r"a9a\.gz: cannot be read: No such file"):
        datasets.load("a9a", tmp_path)
    (tmp_path / "a9a").mkdir()
    (tmp_path / "a9a" / "a9a.gz").write_bytes(gzip.compress(b"+1 1:1\n"))
    with pytest.raises(InputError, match=r"a9a\.gz: wanted SHA-256 82d347"):
        datasets.load("a9a", tmp_path)


@needs_data
def test_one_flipped_byte_is_noticed(tmp_path):
    shutil.copytree(folder() / "a9a", tmp_path / "a9a")
    path = tmp_path / "a9a" / "a9a.t.gz"
    path.chmod(0o600)
    content = bytearray(path.read_bytes())
    content[1000] ^= 1
    path.write_bytes(content)
    with pytest.raises(InputError, match=r"a9a\.t\.gz: wanted SHA-256"):
        datasets.load("a9a", tmp_path)


@needs_data
def test_a9a_has_the_published_counts_and_the_rows_of_the_paper():
    case = sources.dataset("a9a", folder(), split="15,20,20,20,25")
    assert case.test is not None
    assert [len(data) for data in case.parties.values()] == [4884, 6512, 6512, 6512, 8141]
    y = np.concatenate([data.y for data in case.parties.values()])
    assert (int((y > 0).sum()), int((y < 0).sum())) == (7841, 24720)
    assert (int((case.test.y > 0).sum()), int((case.test.y < 0).sum())) == (3846, 12435)
    assert case.test.X.shape == (16281, 123)
    assert not case.test.X[:, 122].any()  # feature 123 never occurs there
    ones = np.rint(case.test.X * np.sqrt(14))
    assert set(np.unique(ones)) == {0.0, 1.0}
    np.testing.assert_allclose(case.test.X, ones / np.sqrt(14), rtol=1e-11)
    assert int(ones.sum(axis=1).max()) == 14


@needs_data
@pytest.mark.parametrize(
    ("name", "rows", "positive", "dimension"),
    [("bank", 45211, 5289, 52), ("credit_default", 30000, 6636, 34)],
)
def test_tables_of_the_papers_fit_their_public_bounds(name, rows, positive, dimension):
    case = sources.dataset(name, folder(), parties=3)
    assert case.test is not None
    y = np.concatenate([data.y for data in case.parties.values()] + [case.test.y])
    assert (len(y), int((y > 0).sum())) == (rows, positive)
    assert case.test.X.shape[1] == dimension
