"""Sentences of reports stand in one snapshot file a subject; `pytest --snapshot-update` renews them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest
from support.audited import agreement, hospitals
from support.compared import study_and_grid
from support.text_file import TextFile, as_text
from syrupy.assertion import SnapshotAssertion

from protocols.arithmetic.rng import Stream
from smc_dp import attacks
from smc_dp.attacks import report_blocks as of_attacks
from smc_dp.attacks.attack import LEAST_TRIALS
from smc_dp.attacks.report import AttackReport
from smc_dp.audit.epsilon import report as of_epsilon
from smc_dp.audit.epsilon.audit import Audited, EpsilonFinding
from smc_dp.audit.epsilon.power import MeasuredPower, Power, Twin
from smc_dp.data import report as of_data
from smc_dp.data.catalogue import DatasetCheck
from smc_dp.experiments.compare import report as of_grids
from smc_dp.methods.expected_accuracy import Band, Outlook
from smc_dp.pages.blocks import PageBlock
from smc_dp.privacy.statement import PrivacyStatement
from smc_dp.run import report_blocks as of_runs
from smc_dp.run.local_evaluation import OwnComparison
from smc_dp.run.report import Comparison


def epsilon() -> Iterator[PageBlock]:
    claim = PrivacyStatement("pure", 1.0, 0.0, "record", "replace", "anyone", ())
    found = EpsilonFinding("clopper-pearson", "epsilon", 0.7, 1.0, 2000, (615, 233))
    for bound in (0.7, 1.5):
        audited = Audited("laplace, d = 1", "two numbers", claim, 0.01, (replace(found, bound=bound),))
        power = Power(10, 10, 2000, 0.99)
        yield from of_epsilon.blocks([MeasuredPower(audited, {"clopper-pearson": power}, power)], 0.99, "A scope.")
        yield from of_epsilon.twin_blocks([Twin("half the noise", audited, power)], 0.99)
    yield of_epsilon.verdict(replace(audited, claim=replace(claim, kind="none", epsilon=None)))


def run() -> Iterator[PageBlock]:
    good = Comparison(0.9, {"north": 0.95, "south": 0.85}, 0.96, 0.6, 300, 0.1, 0.95)
    for planned in (0.1, 0.01):
        yield from of_runs.compared(good, Outlook(10.0, Band(0.0, planned)))
    yield from of_runs.compared(replace(good, smallest=None))
    yield from of_runs.compared(None)
    yield from of_runs.on_own_rows(OwnComparison(10_000, 0.5, 0.9, Outlook(9.0, Band(0.0, 0.1))))


def attacked() -> Iterator[PageBlock]:
    rng = Stream.insecure_from_seed("texts")
    attack = attacks.find("vote-flip")
    measured = tuple(attacks.measure(attack.name, v.name, LEAST_TRIALS, rng) for v in attack.variants)
    report = AttackReport(attack, measured, None)
    yield from of_attacks.blocks([report])
    yield from of_attacks.verdicts([replace(report, measured=tuple(replace(m, successes=1) for m in measured))])
    yield of_attacks.listed([attack])


def compared() -> Iterator[PageBlock]:
    study, grid = study_and_grid()
    yield from of_grids.page(study, grid, (), 1.0).notices
    yield from (replace(section, details=False) for section in of_grids.sections(study, grid))


def data() -> Iterator[PageBlock]:
    yield of_data.checked(DatasetCheck("a9a/a9a.gz", True, "as recorded"))
    yield of_data.checked(DatasetCheck("a9a/a9a.gz", False, "wanted SHA-256 1, got 2"))
    yield from of_data.columns(agreement(hospitals((12, 8), 2)).bounds)


SUBJECTS = {
    "attack": attacked,
    "comparison": compared,
    "data": data,
    "epsilon": epsilon,
    "run": run,
}


@pytest.mark.parametrize("subject", SUBJECTS)
def test_sentences_are_those_of_the_snapshot(subject: str, snapshot: SnapshotAssertion) -> None:
    assert as_text(*SUBJECTS[subject]()) == snapshot(extension_class=TextFile)
