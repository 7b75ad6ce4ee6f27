from __future__ import annotations

import pytest

from smc_dp.data.dataset_info import DATASET_INFO
from smc_dp.data.known_files import SHA256, verify_files
from smc_dp.data.load_pool import DATASET_NAMES, load_pool
from tests.support.data_folder import DATA, needs_data


def test_without_a_folder_only_the_bundled_data_sets_are_there():
    found = {name: info.state(None) for name, info in DATASET_INFO.items()}
    assert tuple(sorted(found)) == tuple(sorted(DATASET_NAMES))
    assert {name for name, state in found.items() if state == "bundled"} == {"breast_cancer", "digits"}
    assert set(found.values()) == {"bundled", "absent"}


@pytest.mark.parametrize("name", ["breast_cancer", "digits"])
def test_listed_sizes_of_bundled_data_sets_are_those_of_the_pools(name):
    pool, facts = load_pool(name), DATASET_INFO[name]
    assert (len(pool.train), pool.train.X.shape[1], len(pool.classes)) == (facts.rows, facts.columns, facts.classes)


def test_one_missing_file_makes_a_data_set_absent(tmp_path):
    for file in DATASET_INFO["a9a"].files:
        assert DATASET_INFO["a9a"].state(tmp_path) == "absent"
        (tmp_path / file).parent.mkdir(exist_ok=True)
        (tmp_path / file).touch()
    assert DATASET_INFO["a9a"].state(tmp_path) == "complete"


@needs_data
def test_every_recorded_file_is_as_recorded():
    assert verify_files(DATA) == dict.fromkeys(SHA256)
