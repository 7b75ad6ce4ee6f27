"""A study of coefficients with intervals at separate sites: the same release at all, also after a drop-out."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from support import sites
from support.sites import Sites, newton

from smc_dp import audit_run


@pytest.mark.slow
@pytest.mark.parametrize(
    ("method", "label"), [("logistic", {"classes": ["0", "1"]}), ("linear", {"range": [0, 1]})], ids=str
)
def test_all_sites_have_the_same_figures_after_a_drop_out(
    fast_path: Path, method: str, label: dict[str, list[Any]]
) -> None:
    said = newton(colluders=0, dropouts=1)
    bounds = {**sites.BOUNDS, "label": {"column": "y", **label}}
    study = sites.joint({**said, "method": {"name": method, "adjacency": "replace"}, "bounds": bounds})
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
    assert audit_run(run.at["P1"].folder / "run").passed
    run.close()
