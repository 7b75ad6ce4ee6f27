from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from smc_dp.data import catalogue
from smc_dp.data.dataset_info import DATASET_INFO
from smc_dp.data.known_files import SHA256
from smc_dp.data.load_pool import DATASET_NAMES, load_pool

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
