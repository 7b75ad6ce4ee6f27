from __future__ import annotations

import errno
import gzip
import os
import re
import shutil
import socket
import time
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from urllib.error import URLError
from urllib.request import urlopen

import numpy as np
import pytest
import scipy.sparse
import sklearn.datasets

from smc_dp.data import cache, catalogue, fetch, tabular_datasets
from smc_dp.data.bounds import CategoricalColumn
from smc_dp.data.cache import read_cache, write_cache
from smc_dp.data.dataset import Points, Pool
from smc_dp.data.dataset_info import DATASET_INFO
from smc_dp.data.known_files import SHA256, idx_file, parse_idx
from smc_dp.data.load_pool import DATASET_NAMES, load_pool
from tests.support.refusals import refused

needs_data = pytest.mark.skipif(
    "SMC_DP_DATA" not in os.environ, reason="a9a and the other papers' data: SMC_DP_DATA names no folder of data sets"
)


def folder() -> Path:
    return Path(os.environ["SMC_DP_DATA"])


def test_without_a_folder_only_the_bundled_data_sets_are_there():
    found = {entry.name: entry.state for entry in catalogue.list_datasets(None)}
    assert tuple(sorted(found)) == tuple(sorted(DATASET_NAMES))
    assert {name for name, state in found.items() if state == "bundled"} == {"breast_cancer", "digits"}
    assert set(found.values()) == {"bundled", "absent"}


@pytest.mark.parametrize("name", ["breast_cancer", "digits"])
def test_listed_sizes_of_bundled_data_sets_are_those_of_the_pools(name):
    pool, facts = load_pool(name), DATASET_INFO[name]
    assert (len(pool.train), pool.train.X.shape[1], len(pool.classes)) == (facts.rows, facts.columns, facts.classes)


@pytest.mark.slow
@needs_data
def test_listed_sizes_are_those_of_the_files():
    entries = {entry.name: entry for entry in catalogue.list_datasets(folder())}
    assert {name: entry.state for name, entry in entries.items() if entry.state in ("partial", "absent")} == {
        "covtype": "partial",
        "har": "partial",
        "malicious_url": "absent",
    }
    for name in ("a9a", "covtype", "har"):
        pool, entry = load_pool(name, folder()), entries[name]
        assert (len(pool.train), pool.train.X.shape[1], len(pool.classes)) == (entry.rows, entry.columns, entry.classes)
        assert entry.test_rows == (0 if pool.test is None else len(pool.test))


def test_one_missing_file_makes_a_data_set_absent(tmp_path):
    for file in DATASET_INFO["a9a"].files:
        assert catalogue.dataset_state("a9a", tmp_path) == "absent"
        (tmp_path / file).parent.mkdir(exist_ok=True)
        (tmp_path / file).touch()
    assert catalogue.dataset_state("a9a", tmp_path) == "complete"


def test_missing_and_damaged_files_fail_their_check(tmp_path):
    (tmp_path / "a9a").mkdir()
    (tmp_path / "a9a" / "a9a.gz").write_bytes(b"x")
    checks = {check.file: check.fault for check in catalogue.verify_files(tmp_path)}
    assert checks.keys() == SHA256.keys()
    assert all(checks.values())
    damaged, absent = checks["a9a/a9a.gz"], checks["a9a/a9a.t.gz"]
    assert (damaged.code, damaged.fields["wanted"]) == ("file.not_as_recorded", SHA256["a9a/a9a.gz"])
    assert damaged.fields["got"].startswith("2d711642b7")
    assert (absent.code, absent.place) == ("file.unreadable", "a9a/a9a.t.gz: ")


@needs_data
def test_every_recorded_file_is_verified_and_one_flipped_bit_is_not(tmp_path):
    assert [check for check in catalogue.verify_files(folder()) if check.fault] == []
    name = "bank/bank-full.csv.gz"
    shutil.copytree(folder() / "bank", tmp_path / "bank")
    (tmp_path / name).chmod(0o600)
    content = bytearray((tmp_path / name).read_bytes())
    content[-1] ^= 1
    (tmp_path / name).write_bytes(content)
    (check,) = (check for check in catalogue.verify_files(tmp_path) if check.file == name)
    assert check.fault.code == "file.not_as_recorded"


def assert_same(one: Pool, two: Pool | None) -> None:
    assert two is not None
    for a, b in ((one.train, two.train), (one.test, two.test)):
        assert (a is None) == (b is None)
        if a is not None and b is not None:
            np.testing.assert_array_equal(a.y, b.y)
            assert type(a.X) is type(b.X)
            assert (a.X != b.X).sum() == 0
            assert a.X.dtype == b.X.dtype
    assert (one.public is None) == (two.public is None)
    if one.public is not None:
        np.testing.assert_array_equal(one.public, two.public)
    for field in ("name", "classes", "coordinate", "bias", "holder", "notes"):
        assert getattr(one, field) == getattr(two, field)


def a_pool() -> Pool:
    rng = np.random.default_rng(0)
    rows = Points(rng.random((5, 3)) / 2, np.array([0, 1, 1, 0, 2]))
    thin = Points(scipy.sparse.csr_array(np.eye(4, 7)), np.array([0, 1, 0, 1]))
    return Pool("har", rows, thin, ("é", "b", "c"), rng.random((2, 3)), 0.1, 0.2, "site", ("a note",))


def test_what_is_kept_comes_back(tmp_path):
    pool = a_pool()
    path = write_cache(pool, tmp_path / "new")
    assert re.fullmatch(r"har\.[0-9a-f]{64}\.npz", path.name)
    assert_same(pool, read_cache("har", tmp_path / "new"))
    assert read_cache("har", tmp_path / "new", ordinal=True) is None
    assert read_cache("a9a", tmp_path / "new") is None
    assert write_cache(pool, tmp_path / "new") == path  # the same bytes again
    other = replace(pool, bias=0.3)
    write_cache(other, tmp_path / "new")
    assert_same(other, read_cache("har", tmp_path / "new"))
    assert len(list((tmp_path / "new").iterdir())) == 1
    with pytest.raises(AssertionError):  # the comparison notices one changed number
        assert_same(pool, read_cache("har", tmp_path / "new"))


def test_load_pool_reads_the_cache_first(tmp_path):
    kept = replace(load_pool("digits"), bias=0.5)
    write_cache(kept, tmp_path)
    assert_same(kept, load_pool("digits", cache=tmp_path))
    assert load_pool("digits", cache=tmp_path / "empty").bias == 0.1


@pytest.mark.parametrize("place", [0, 300, -1])
def test_a_corrupt_cache_file_is_noticed(tmp_path, place):
    path = write_cache(a_pool(), tmp_path)
    content = bytearray(path.read_bytes())
    content[place] ^= 1
    path.write_bytes(content)
    with refused("cache.changed"):
        read_cache("har", tmp_path)


def test_a_cache_of_other_files_or_of_another_version_is_refused(tmp_path, monkeypatch):
    write_cache(a_pool(), tmp_path)
    monkeypatch.setattr(cache, "SHA256", {"har/har_timedomain265.npz": "0" * 64})
    with refused("cache.outdated"):
        read_cache("har", tmp_path)


def test_a_cache_that_cannot_be_written_leaves_nothing_behind(tmp_path, monkeypatch):
    before = write_cache(a_pool(), tmp_path)

    def full(file, **arrays):
        file.write(b"half")
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(cache.np, "savez", full)
    with refused("cache.not_written"):
        write_cache(replace(a_pool(), bias=0.9), tmp_path)
    assert list(tmp_path.iterdir()) == [before]
    (tmp_path / "file").touch()
    with refused("cache.not_written"):
        write_cache(a_pool(), tmp_path / "file")


def test_preparing_reads_checks_and_keeps(tmp_path):
    pool, path = catalogue.prepare_dataset("digits", None)
    assert path is None
    again, path = catalogue.prepare_dataset("digits", None, tmp_path)
    assert path is not None
    assert_same(pool, again)
    assert_same(pool, load_pool("digits", cache=tmp_path))


@pytest.mark.parametrize(
    ("name", "options", "code"),
    [
        ("adult", {}, "dataset.unknown"),
        ("a9a", {}, "dataset.needs_folder"),
        ("covtype", {}, "dataset.needs_folder"),
        ("covtype", {"network": True}, "dataset.no_cache"),
    ],
)
def test_what_cannot_be_prepared_is_said_in_one_line(name, options, code):
    with refused(code):
        catalogue.prepare_dataset(name, None, **options)


def test_a_missing_file_is_named(tmp_path):
    with refused("dataset.file_missing"):
        catalogue.prepare_dataset("har", tmp_path)
    with refused("dataset.not_fetchable"):
        catalogue.prepare_dataset("a9a", tmp_path, tmp_path / "cache", network=True)
    assert not (tmp_path / "cache").exists()


FETCHERS = {"covtype": "fetch_covtype", "kdd99": "fetch_kddcup99", "mnist37": "fetch_openml"}


def faked(monkeypatch, name, result):
    """scikit-learn's fetcher of this data set, with another result, or an error, after looking at its options."""

    def fetcher(*_, data_home, n_retries, delay, **__):
        assert Path(data_home).is_dir()
        assert n_retries * delay <= 2
        assert socket.getdefaulttimeout() is not None
        if isinstance(result, BaseException):
            raise result
        return result() if callable(result) else result

    monkeypatch.setattr(sklearn.datasets, FETCHERS[name], fetcher)


@pytest.mark.parametrize("name", FETCHERS)
@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (URLError("Name or service not known"), "Name or service not known"),
        (TimeoutError("timed out"), "timed out"),
        (EOFError(), "EOFError"),
        (ValueError("not found on OpenML\nmore"), "not found on OpenML"),
    ],
)
def test_no_network_is_one_clear_line_and_nothing_is_kept(monkeypatch, tmp_path, name, error, reason):
    faked(monkeypatch, name, error)
    with refused("dataset.not_fetched", at=f"data set {name}") as caught:
        catalogue.prepare_dataset(name, None, tmp_path / "cache", network=True)
    assert reason in str(caught.value)
    assert "\n" not in str(caught.value)
    assert not (tmp_path / "cache").exists()
    assert socket.getdefaulttimeout() is None


def test_a_server_that_never_answers_is_given_up(monkeypatch):
    with socket.create_server(("127.0.0.1", 0)) as server:
        address = f"http://127.0.0.1:{server.getsockname()[1]}/"
        monkeypatch.setattr(fetch, "_TIMEOUT", 0.2)
        faked(monkeypatch, "covtype", lambda: urlopen(address).read())
        start = time.monotonic()
        with refused("dataset.not_fetched", reason="timed out"):
            fetch.fetch("covtype")
        assert time.monotonic() - start < 5


@pytest.mark.parametrize("name", FETCHERS)
def test_fetched_rows_of_another_number_are_refused(monkeypatch, name):
    empty = SimpleNamespace(data=np.zeros((9, 54), dtype=object), target=np.array([b"1."] * 9))
    if name != "kdd99":
        empty = SimpleNamespace(data=np.zeros((9, 54)), target=np.arange(9) % 7 + 1)
    faked(monkeypatch, name, empty)
    with refused("dataset.wrong_content"):
        fetch.fetch(name)


@pytest.mark.slow
def test_the_whole_covertype_is_fetched_where_there_is_a_network(monkeypatch, tmp_path):
    target = np.repeat(np.arange(1, 8), [211_840, 283_301, 35_754, 2_747, 9_493, 17_367, 20_510]).astype(np.int32)
    data = np.broadcast_to(np.arange(54.0) * 10, (581_012, 54))
    faked(monkeypatch, "covtype", SimpleNamespace(data=data, target=target))
    pool, path = catalogue.prepare_dataset("covtype", None, tmp_path, network=True)
    assert pool.train.X.shape == (495_141, 54)
    assert np.bincount(pool.train.y).tolist() == [211_840, 283_301]
    assert "Fetched by scikit-learn" in pool.notes[0]
    assert path is not None
    assert_same(pool, load_pool("covtype", cache=tmp_path))
    target[0] = 2  # twin: one label of another class
    with refused("dataset.wrong_content", at="fetched data set covtype"):
        fetch.fetch("covtype")


@pytest.mark.slow
def test_kdd_cup_is_fetched_without_its_test_file(monkeypatch):
    columns = tabular_datasets.bundled_bounds("kdd99").columns
    row = [c.categories[-1].encode() if isinstance(c, CategoricalColumn) else 1 for c in columns]
    data = np.broadcast_to(np.array(row, dtype=object), (494_021, 41))
    target = np.array([b"normal."] * 97_278 + [b"smurf."] * 396_743, dtype=object)
    faked(monkeypatch, "kdd99", SimpleNamespace(data=data, target=target))
    pool = fetch.fetch("kdd99")
    assert pool.train.X.shape == (494_021, 123)
    assert pool.test is None
    assert np.bincount(pool.train.y).tolist() == [97_278, 396_743]


def openml_mnist():
    """What OpenML's MNIST is: 70,000 rows, the training images first."""

    def read(part, kind, shape):
        name = f"mnist/{part}-{kind}-ubyte.gz"
        return parse_idx(gzip.decompress((folder() / name).read_bytes()), shape, name)

    sizes = {"train": 60_000, "t10k": 10_000}
    images = [read(part, "images-idx3", (n, 28, 28)).reshape(n, 784) for part, n in sizes.items()]
    digits = [read(part, "labels-idx1", (n,)) for part, n in sizes.items()]
    return SimpleNamespace(data=np.concatenate(images), target=np.concatenate(digits).astype(str).astype(object))


@needs_data
@pytest.mark.slow
def test_fetched_mnist_is_checked_byte_for_byte(monkeypatch):
    bunch = openml_mnist()
    faked(monkeypatch, "mnist37", bunch)
    assert_same(load_pool("mnist37", folder()), replace(fetch.fetch("mnist37"), notes=DATASET_INFO["mnist37"].notes))
    bunch.data[59_999, 300] ^= 1  # twin: one bit of one pixel
    with refused("dataset.wrong_content", at="fetched data set mnist37"):
        fetch.fetch("mnist37")


def test_an_idx_file_is_written_as_it_is_read():
    array = np.arange(24, dtype=np.uint8).reshape(2, 3, 4)
    np.testing.assert_array_equal(parse_idx(idx_file(array), (2, 3, 4), "made"), array)
