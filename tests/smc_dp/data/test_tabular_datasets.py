from __future__ import annotations

import gzip

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_digits

from smc_dp.core.arrays import with_bias
from smc_dp.data import sources, tabular_datasets
from smc_dp.data.bounds import NumericColumn
from smc_dp.data.load_pool import load_pool
from tests.support.data_folder import DATA, needs_data
from tests.support.refusals import refused


def test_the_bundled_bounds_are_one_digit_roundings_of_the_published_summary():
    bunch = load_breast_cancer()
    mean, sd = bunch.data.mean(axis=0), bunch.data.std(axis=0)
    columns = tabular_datasets.load_tabular("breast_cancer").bounds.columns
    assert [column.name for column in columns] == bunch.feature_names.tolist()
    for column, low, high in zip(columns, mean - 2.5 * sd, mean + 2.5 * sd, strict=True):
        assert isinstance(column, NumericColumn)
        assert (column.low, column.high) == (float(f"{low:.0e}"), float(f"{high:.0e}"))


@pytest.mark.parametrize("load", [load_breast_cancer, load_digits])
def test_bundled_rows_are_those_that_scikit_learn_loads(load):
    bunch, source = load(), tabular_datasets.load_tabular(load.__name__.removeprefix("load_"))
    *features, label = source.train.columns.values()
    np.testing.assert_array_equal(np.transpose(features), bunch.data)
    assert list(map(str, label)) == [str(bunch.target_names[target]) for target in bunch.target]


def test_an_unknown_name_lists_those_that_exist():
    with refused("dataset.unknown", got="'adult'"):
        tabular_datasets.load_tabular("adult")


def test_digits_are_dealt_like_the_others_by_bounds_that_are_no_measurements():
    bounds = tabular_datasets.load_tabular("digits").bounds
    assert {(column.low, column.high) for column in bounds.columns} == {(0.0, 16.0)}
    data = sources.dataset("digits", split="20,30,50")
    assert data.bounds.classes == tuple("0123456789")
    assert (data.federation.classes, data.federation.dimension) == (10, 65)
    assert [len(rows) for rows in data.federation.parties] == [288, 431, 719]
    assert len(data.test) == 359
    pooled = data.federation.pooled()
    # What a simulation deals is encoded by the same bounds, but for the bias, which is appended later.
    pool = load_pool("digits").train
    X, y = with_bias(pool.X, 0.1), pool.y
    together = np.concatenate([np.c_[pooled.X, pooled.y], np.c_[data.test.X, data.test.y]])
    wanted = np.c_[X, y]
    np.testing.assert_array_equal(together[np.lexsort(together.T)], wanted[np.lexsort(wanted.T)])


def test_missing_and_corrupt_files_are_named(tmp_path):
    with refused("dataset.no_folder"):
        tabular_datasets.load_tabular("a9a", None)
    with refused("file.unreadable"):
        tabular_datasets.load_tabular("a9a", tmp_path)
    (tmp_path / "a9a").mkdir()
    (tmp_path / "a9a" / "a9a.gz").write_bytes(gzip.compress(b"+1 1:1\n"))
    with refused("dataset.wrong_digest"):
        tabular_datasets.load_tabular("a9a", tmp_path)


IDX = bytes.fromhex("00000803 00000002 00000001 00000003") + bytes(range(6))


def test_an_idx_file_is_read_in_the_order_of_its_axes():
    assert tabular_datasets.idx_items(IDX, 1, 3).tolist() == [[[0, 1, 2]], [[3, 4, 5]]]


@pytest.mark.slow
@needs_data
def test_a9a_has_the_published_counts_and_the_rows_of_the_paper():
    data = sources.dataset("a9a", DATA, split="15,20,20,20,25")
    assert data.federation.sizes.tolist() == [4884, 6512, 6512, 6512, 8141]
    y = data.federation.pooled().y
    assert np.bincount(y).tolist() == [24720, 7841]
    assert np.bincount(data.test.y).tolist() == [12435, 3846]
    assert data.test.X.shape == (16281, 123)
    assert not data.test.X[:, 122].any()  # feature 123 never occurs there
    ones = np.rint(data.test.X * np.sqrt(14))
    assert set(np.unique(ones)) == {0.0, 1.0}
    np.testing.assert_allclose(data.test.X, ones / np.sqrt(14), rtol=1e-11)
    assert int(ones.sum(axis=1).max()) == 14
