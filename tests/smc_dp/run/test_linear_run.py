"""The linear path from the command line to the release: when a run takes it, and that it gives the same release."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from support.audited import agreement, hospitals
from support.audits import OF_THE_RUN

from smc_dp import run_protocol
from smc_dp.audit.run import report as reports
from smc_dp.audit.run.evidence import load_evidence
from smc_dp.privacy import pathak2010 as guarantees
from smc_dp.privacy.ledger.history import Limit
from smc_dp.run.agreement import default_protocol
from smc_dp.run.ledgers import Ledgers
from tests.smc_dp.run.test_run_protocol import FEDERATION

LINEAR: dict[str, Any] = {"insecure_seed": 7, "protocol": "linear"}


def test_it_gives_the_release_of_the_curator_protocol_bit_for_bit(tmp_path: Path) -> None:
    """From one seed the parties train and draw the same; and the second party, the smallest, sets the noise in both."""
    both = [
        run_protocol(FEDERATION, out=tmp_path / name, insecure_seed=7, protocol=name, **more)
        for name, more in (("linear", {}), ("pathak2010", {"key_bits": 256, "insecure_test_keys": True}))
    ]
    ours, theirs = (json.loads((report.run_dir / "release.json").read_text())["weights"] for report in both)
    assert ours == theirs
    other = run_protocol(FEDERATION, out=tmp_path / "other", insecure_seed=8, protocol="linear")
    assert json.loads((other.run_dir / "release.json").read_text())["weights"] != ours  # twin: other noise


def test_its_run_is_audited_and_charged(tmp_path: Path) -> None:
    books = Ledgers(tmp_path / "ledgers", Limit(Fraction(2), Fraction(0)))
    made: dict[str, Any] = {"out": tmp_path / "run", "views": tmp_path / "views", "ledgers": books}
    report = run_protocol(FEDERATION, protocol="linear", **made)
    assert [standing.left for standing in report.standings.values()] == [1, 1, 1]
    found = reports.audit_evidence(load_evidence(tmp_path / "run", views=tmp_path / "views"), OF_THE_RUN)
    assert found.passed
    done = {finding.check.name for finding in found.findings if finding.outcome.status == "passed"}
    assert {"openings", "result", "messages-recomputed", "cost", "noise"} <= done


@pytest.mark.parametrize(
    ("parties", "named", "protocol"),
    [
        (2, (), "pathak2010"),
        (19, (), "pathak2010"),
        (20, (), "linear"),
        (1000, (), "linear"),
        (1000, ("key_bits",), "pathak2010"),
        (20, ("comparison",), "pathak2010"),
        (3, ("ring_degree",), "linear"),
        (20, ("colluders",), "linear"),
    ],
)
def test_from_twenty_parties_on_a_run_takes_it(parties: int, named: tuple[str, ...], protocol: str) -> None:
    assert default_protocol("prr_mean", parties, named) == protocol
    assert default_protocol("newton", parties, named) == "secure_sum"
    assert default_protocol("vote", parties, named) == ""


def test_its_statement_names_its_own_limits() -> None:
    data = hospitals((12, 8, 20), 2)
    ours, theirs = (agreement(data, protocol=name, seeded=False).statement for name in ("linear", "pathak2010"))
    assert (ours.kind, ours.epsilon, ours.unit, ours.adjacency) == (theirs.kind, theirs.epsilon, "record", "replace")
    assert "does not contain both Charlie and the first party" in ours.adversary
    assert "share one decryption key" in " ".join(theirs.caveats)
    assert "share one decryption key" not in " ".join(ours.caveats)
    assert "selects none" in theirs.caveats[0]
    assert "selects none" not in " ".join(ours.caveats)
    assert "chooses whose noise it is" in " ".join(ours.caveats)
    assert guarantees.by_linear_path(theirs).adversary == ours.adversary
