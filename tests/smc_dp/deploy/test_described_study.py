"""Sites of a study that describes rows all release the same description, and compare no classifier with it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from support import sites
from support.sites import Sites

from smc_dp.audit.run.checks import audit_run
from smc_dp.data.federation import Rows
from smc_dp.run.verify_release import verify_release

ROWS = 12


def numbers(name: str) -> Rows:
    """Rows of two numbers in [-1, 1], as bounds that shorten nothing encode them, and two classes."""
    rng = np.random.default_rng(sum(name.encode()))
    return Rows(rng.uniform(-1, 1, size=(ROWS, 2)) / 1.42, np.array([0, 1] * (ROWS // 2), dtype=np.int64))


def test_all_sites_have_the_same_description(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sites, "rows", numbers)
    stated = {
        **sites.one_sum(),
        "method": {"name": "describe"},
        "target": {"epsilon": "1", "delta": "1/100000", "noise": "ddg", "calibration": "proven"},
        "bounds": {**sites.BOUNDS, "rows": {"clip": 1.42, "bias": 0.0, "center": True}},
    }
    run = Sites(sites.joint(stated), tmp_path).run()
    assert {run.ends[name] for name in run.study.names} == {"released"}
    found = [verify_release(run.at[name].release.parent).release.description for name in run.study.names]
    assert found[0] is not None
    assert (found[0].rows, found[0].parties) == (3 * ROWS, 3)
    assert all(one == found[0] for one in found)
    assert audit_run(run.at["P1"].release.parent).passed
