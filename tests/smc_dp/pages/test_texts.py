"""Sentences of reports stand in one snapshot file a subject; `pytest --snapshot-update` renews them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest
from support import studies
from support.audited import agreement, charged_run, hospitals, sum_agreement
from support.audits import OF_THE_RUN
from support.compared import study_and_grid
from support.text_file import TextFile, as_text
from syrupy.assertion import SnapshotAssertion

from protocols.arithmetic.rng import Stream
from smc_dp import attacks
from smc_dp.attacks import report_blocks as of_attacks
from smc_dp.attacks.attack import LEAST_TRIALS
from smc_dp.attacks.report import AttackReport
from smc_dp.audit.epsilon import report as of_epsilon
from smc_dp.audit.epsilon.audit import CaseAudit, EpsilonFinding
from smc_dp.audit.epsilon.power import MeasuredPower, MutantPower, Power
from smc_dp.audit.run import report_blocks as of_audits
from smc_dp.audit.run.check import failed
from smc_dp.audit.run.evidence import load_evidence
from smc_dp.audit.run.report import audit_evidence
from smc_dp.data import report as of_data
from smc_dp.deploy import report as of_studies
from smc_dp.experiments.compare import report as of_grids
from smc_dp.methods.expected_accuracy import AccuracyInterval, ExpectedAccuracy
from smc_dp.pages.blocks import PageBlock
from smc_dp.privacy.ledger import report as of_ledgers
from smc_dp.privacy.ledger.guarantee import Guarantee
from smc_dp.privacy.ledger.history import History, Limit
from smc_dp.privacy.statement import PrivacyStatement
from smc_dp.run import release_report as of_releases
from smc_dp.run import report_blocks as of_runs
from smc_dp.run.local_evaluation import LocalComparison
from smc_dp.run.release import PublishedRelease
from smc_dp.run.release_report import TrafficTotals
from smc_dp.run.report import Comparison

DATE = "2026-01-31T12:00:00Z"


def epsilon() -> Iterator[PageBlock]:
    claim = PrivacyStatement("pure", 1.0, 0.0, "record", "replace", "anyone", ())
    found = EpsilonFinding("clopper-pearson", "epsilon", 0.7, 1.0, 2000, (615, 233))
    for bound in (0.7, 1.5):
        audited = CaseAudit("laplace, d = 1", "two numbers", claim, 0.01, (replace(found, bound=bound),))
        power = Power(10, 10, 2000, 0.99)
        yield from of_epsilon.blocks([MeasuredPower(audited, {"clopper-pearson": power}, power)], 0.99, "A scope.")
        yield from of_epsilon.mutant_blocks([MutantPower("half the noise", audited, power)], 0.99)
    yield of_epsilon.verdict_banner(replace(audited, claim=replace(claim, kind="none", epsilon=None)))


def run() -> Iterator[PageBlock]:
    good = Comparison(0.9, {"north": 0.95, "south": 0.85}, 0.96, 0.6, 300, 0.1, 0.95)
    for planned in (0.1, 0.01):
        yield from of_runs.accuracy_blocks(good, ExpectedAccuracy(10.0, AccuracyInterval(0.0, planned)))
    yield from of_runs.accuracy_blocks(replace(good, smallest_rows=None))
    yield from of_runs.accuracy_blocks(None)
    yield from LocalComparison(10_000, 0.5, 0.9, ExpectedAccuracy(9.0, AccuracyInterval(0.0, 0.1))).blocks()


def attacked() -> Iterator[PageBlock]:
    rng = Stream.insecure_from_seed("texts")
    attack = attacks.find_attack("vote-flip")
    measured = tuple(attacks.measure(attack.name, v.name, LEAST_TRIALS, rng) for v in attack.variants)
    report = AttackReport(attack, measured, None)
    yield from of_attacks.blocks([report])
    yield from of_attacks.attack_verdicts([replace(report, measured=tuple(replace(m, successes=1) for m in measured))])
    yield of_attacks.attack_table([attack])


def compared() -> Iterator[PageBlock]:
    study, grid = study_and_grid("wsum", (0.5, 1.0))
    yield from of_grids.grid_page(study, grid, (), 1.0).notices
    yield from (replace(section, details=False) for section in of_grids.report_sections(study, grid))


def data() -> Iterator[PageBlock]:
    yield from of_data.column_table(agreement(hospitals((12, 8), 2)).bounds)


def deploy() -> Iterator[PageBlock]:
    before = list[PageBlock]()
    for said in (studies.text(), studies.by_curator(), studies.weighted()):
        study = studies.study(said)
        others = [section for section in of_studies.blocks(study, study.agreement(None)) if section not in before]
        before += others
        yield from others


def ledger() -> Iterator[PageBlock]:
    history = History.begin("0" * 64, Limit(Fraction(1), Fraction(0)), DATE)
    yield from of_ledgers.blocks(history)
    spent = Guarantee("pure", Fraction(1, 4), Fraction(0), "record", "replace")
    for number in (2, 4):
        charged = history.reserved("a" * 64, "pathak2010", spent, f"{number:064x}", DATE)
        history = replace(history, entries=(*history.entries, charged))
        ended = history.settled(
            number, "released" if number == 2 else "refunded", "b" * 64 if number == 2 else None, DATE
        )
        history = replace(history, entries=(*history.entries, ended))
    history = replace(history, entries=(*history.entries, history.reserved("c" * 64, "m", spent, "d" * 64, DATE)))
    yield from of_ledgers.blocks(history)
    yield from of_ledgers.check_blocks(history)
    account = next(iter(history.charged))
    yield from of_ledgers.budget_blocks({"north": history.standing(account)}, account)


def audit(folder: Path) -> Iterator[PageBlock]:
    report = audit_evidence(load_evidence(charged_run(folder).run, folder / "identities.json"), OF_THE_RUN)
    yield from of_audits.blocks(report)
    first = replace(report.findings[0], outcome=failed("share.direction", where=" of north", line=3))
    yield of_audits.audit_verdict(replace(report, findings=(first, *report.findings[1:])))


def release() -> Iterator[PageBlock]:
    agreed = sum_agreement(hospitals((12, 8), 2), seeded=False)
    stated = PublishedRelease((0.0,), agreed, {}, {**agreed.parameters, "link": "none"}, ("it was made of a seed",))
    shown = of_releases.release_page(
        stated, {"release.json": "e" * 64}, TrafficTotals(26, 6_926), ("transcript.jsonl",)
    )
    yield from (*shown.notices, *shown.sections)


SUBJECTS: dict[str, Callable[[], Iterator[PageBlock]]] = {
    "attack": attacked,
    "comparison": compared,
    "data": data,
    "deploy": deploy,
    "epsilon": epsilon,
    "ledger": ledger,
    "release": release,
    "run": run,
}


@pytest.mark.parametrize("subject", SUBJECTS)
def test_sentences_are_those_of_the_snapshot(subject: str, snapshot: SnapshotAssertion) -> None:
    assert as_text(*SUBJECTS[subject]()) == snapshot(extension_class=TextFile)


def test_sentences_of_an_audit_are_those_of_the_snapshot(tmp_path: Path, snapshot: SnapshotAssertion) -> None:
    found = re.sub("[0-9a-f]{64}", "e" * 64, as_text(*audit(tmp_path)))  # the session is another each time
    assert found == snapshot(extension_class=TextFile)
