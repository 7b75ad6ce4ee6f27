"""A study of coefficients with intervals at separate sites: the same release at all, also after a drop-out."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from support import sites
from support.sites import Sites, newton

from smc_dp import audit_run


@pytest.mark.slow
def test_all_sites_have_the_same_figures_after_a_drop_out(fast_path: Path) -> None:
    said = newton(colluders=0, dropouts=1)
    study = sites.joint({**said, "method": {"name": "logistic", "adjacency": "replace"}})
    run = Sites(study, fast_path)
    run.run(until=lambda: run.facts("P1").get("stage") == "sum2")
    run.away.add("P3")
    run.run()
    assert {name: end for name, end in run.ends.items() if name != "P3"} == dict.fromkeys(
        ("P1", "P2", "charlie"), "released"
    )
    assert sites.by_link(run.frames()) == sites.simulated(run, {"P3": len(sites.sent(run, "P3"))})
    (released,) = set(run.releases().values())
    found = json.loads(released)["inference"]
    assert [(term["column"], term["kind"]) for term in found["terms"]] == [
        ("", "intercept"),
        ("a", "slope"),
        ("b", "slope"),
    ]
    assert found["obstacles"]  # thirty-six rows are too few
    assert audit_run(run.at["P1"].folder / "run").passed
    run.close()
