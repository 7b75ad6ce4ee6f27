"""Facts for a data-protection assessment: none without a run that it depends on, none held by a check that lets go."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
from support import forgeries as f
from support.audited import charged_run, hospitals, long_term, sum_agreement
from support.audits import OF_THE_RUN
from support.deployed import deployed
from support.shown import ShownPage

from protocols.curator import CURATOR_NAME
from protocols.programs import PROTOCOLS
from smc_dp import audit_run, run_protocol
from smc_dp.audit.run import assessment, checks
from smc_dp.audit.run.assessment import FACT_RULES, FactRule
from smc_dp.audit.run.check import Check
from smc_dp.audit.run.evidence import load_evidence
from smc_dp.audit.run.report import AuditReport
from smc_dp.audit.run.report_blocks import audit_page
from smc_dp.data.bounds import Bounds
from smc_dp.data.columns import CategoricalColumn, NumericColumn
from smc_dp.data.federation import Federation, Rows
from smc_dp.data.sources import PreparedData
from smc_dp.methods.gradients.newton import Newton
from smc_dp.pages.html import html
from smc_dp.privacy.statement import PrivacyStatement
from smc_dp.privacy.target import Target
from smc_dp.run.auxiliary import AuxiliaryRows
from smc_dp.run.release import AUXILIARY, RELEASE, STUDY

DATA = hospitals((12, 8, 20), 2)
FIVE = hospitals((12, 8, 20, 10, 14), 3)


@dataclass(frozen=True)
class Audited:
    """A run folder with what its auditor is given."""

    run: Path
    identities: Path | None = None
    views: Path | None = None

    ledgers: Path | None = None

    def report(self, of: Sequence[Check] = OF_THE_RUN) -> AuditReport:
        """Audit the run by these checks; those of the code have tests of their own."""
        with patch.object(checks, "CHECKS", tuple(of)):
            return audit_run(self.run, identities=self.identities, views=self.views, ledgers=self.ledgers)


def _simulated(data: PreparedData = DATA, method: Any = "newton", **options: Any) -> Callable[[Path], Audited]:
    def make(folder: Path) -> Audited:
        run_protocol(data.federation, bounds=data.bounds, method=method, out=folder / "run", **options)
        return Audited(folder / "run")

    return make


def _known(folder: Path) -> Audited:
    """By identities that the auditor knows, with everybody's views, and ledgers."""
    folder.mkdir()
    made = charged_run(folder)
    return Audited(made.run, folder / "identities.json", made.views, folder / "ledgers")


def _by_sites(folder: Path) -> Audited:
    agreed = sum_agreement(DATA, Newton(), Target(Fraction(1), noise="ddg"), seeded=False)
    return Audited(deployed(DATA, agreed).write(folder, views=False).run)


def _on_public_rows(folder: Path) -> Audited:
    rng = np.random.default_rng(1)
    parties = tuple(Rows(X, (X[:, 0] > 0).astype(np.int64)) for X in rng.uniform(-0.7, 0.7, (4, 12, 2)))
    data = Federation(parties, 2, rng.uniform(-0.7, 0.7, (30, 2)))
    run_protocol(data, method="soft_ss", target=30.0, out=folder / "run")
    return Audited(folder / "run")


def _three_classes() -> PreparedData:
    rng = np.random.default_rng(2)
    parties = {name: Rows(rng.uniform(-0.5, 0.5, (15, 3)), np.arange(15) % 3) for name in ("a", "b")}
    columns = (NumericColumn("age", 0.0, 1.0, "leave out"), CategoricalColumn("sex", ("f", "m")))
    bounds = Bounds(columns, ("low", "mid", "high"), "level", bias=0.0, center=False)
    return PreparedData(Federation(tuple(parties.values()), 3, names=tuple(parties)), None, bounds)


def _with_a_constant() -> PreparedData:
    """For a method that learns a bias."""
    return replace(DATA, bounds=replace(DATA.bounds, columns=DATA.bounds.columns[:1], bias=0.5))


TEST_KEYS = {"key_bits": 256, "insecure_test_keys": True}
HONEST: Mapping[str, Callable[[Path], Audited]] = {
    "newton": _simulated(),
    "more parties and columns": _simulated(FIVE, target=2.0, most_rows=1000, colluders=2),
    "somebody vanishes": _simulated(FIVE, dropouts=1, colluders=0, drop_out={"north-1": 12}),
    "somebody vanishes before": _simulated(FIVE, dropouts=1, colluders=0, drop_out={"north-1": 1}),
    "three classes": _simulated(_three_classes(), Newton("addremove")),
    "rows known": _simulated(method="gd"),
    "from a seed": _simulated(insecure_seed=1),
    "by sites": _by_sites,
    "known": _known,
    "sizes released": _simulated(method="wsum", sizes="released"),
    "by shares": _simulated(method="wsum_ar", output="shares"),
    "of a party": _simulated(method="avg_clip"),
    "noise of its own": _simulated(_with_a_constant(), "ofpa"),
    "public rows": _on_public_rows,
    "the paper's mean": _simulated(method="prr_mean", **TEST_KEYS),
    "as the paper prints the noise": _simulated(method="prr_mean", target=Target(1, "paper"), protocol="linear"),
    "linear": _simulated(method="prr_mean", protocol="linear"),
}


Forger = Callable[[Audited, Path], Audited]
CHECKS = {check.name: check for check in checks.CHECKS}
URGENT = ("Insecure", "No guarantee", "Audit did not pass")


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, Audited]:
    folder = tmp_path_factory.mktemp("facts")
    return {name: make(folder / name.replace(" ", "-")) for name, make in HONEST.items()}


@pytest.fixture(scope="module")
def reports(runs: Mapping[str, Audited]) -> Mapping[str, AuditReport]:
    return {name: run.report() for name, run in runs.items()}


# Forged runs: in each, a fact is another one.


def stated(*path: Any, to: Any) -> Forger:
    """Another value in release.json."""

    def change(document: Any) -> None:
        for key in path[:-1]:
            document = document[key]
        document[path[-1]] = to

    return lambda run, folder: replace(run, run=f.edited(run.run, folder / "run", RELEASE, change))


def recorded(*changes: f.Change) -> Forger:
    return lambda run, folder: replace(run, run=f.forge(run.run, folder / "run", *changes))


def beside(name: str, change: Callable[[bytes], bytes]) -> Forger:
    """Another file beside the release, whose digest the release states."""

    def forger(run: Audited, folder: Path) -> Audited:
        shutil.copytree(run.run, folder / "run")
        path, release = folder / "run" / name, folder / "run" / RELEASE
        before = path.read_bytes()
        path.write_bytes(change(before))
        digests = [hashlib.sha256(content).hexdigest() for content in (before, path.read_bytes())]
        release.write_text(release.read_text().replace(*digests))
        return replace(run, run=folder / "run")

    return forger


def renamed(run: Audited, folder: Path) -> Audited:
    """Another name of a column, wherever the release has it."""
    return beside(RELEASE, lambda content: content.replace(b'"x0"', b'"age"'))(run, folder)


def fewer_rows(content: bytes) -> bytes:
    return AuxiliaryRows(AuxiliaryRows.read(content, AUXILIARY).X[:-1]).content


def other_title(content: bytes) -> bytes:
    return json.dumps({**json.loads(content), "title": "Another study"}).encode()


def strangers(run: Audited, folder: Path) -> Audited:
    names = tuple(f"north-{i}" for i in range(3))
    folder.mkdir(exist_ok=True)
    keys = {name: identity.public.hex() for name, identity in long_term(names, seed=1).items()}
    (folder / "keys.json").write_text(json.dumps(keys))
    return replace(run, identities=folder / "keys.json")


def other_views(run: Audited, folder: Path) -> Audited:
    evidence = load_evidence(run.run, views=run.views)
    (folder / "views").mkdir(parents=True)
    for n, view in enumerate(evidence.views.values()):
        lied = replace(view, seed=bytes(32)) if n == 0 else view
        (folder / "views" / f"{n}.view").write_bytes(lied.dumps(evidence.session))
    return replace(run, views=folder / "views")


PRINTED = PROTOCOLS["pathak2010-as-printed-insecure"].program
PARAMETER: Mapping[str, tuple[str, str, Any]] = {  # topic -> kind of run, parameter of the release, its forged value
    "Participants": ("newton", "parties", ["north-2", "north-1", "north-0"]),
    "Numbers of rows": ("newton", "most_rows", 100),
    "Computation": ("newton", "method", "gd"),
    "Dropped out before": ("somebody vanishes before", "left_out", ["west"]),
    "Not claimed by the protocol": ("the paper's mean", "protocol", "linear"),
    "Noise": ("newton", "calibration", "paper"),
    "Collusion and drop-outs": ("newton", "colluders", 0),
}
STATEMENT: Mapping[str, tuple[str, str, Any]] = {  # the same of the statement of privacy
    "Guarantee": ("newton", "epsilon", 0.5),
    "Unit": ("newton", "adjacency", "addremove"),
    "Against whom": ("newton", "adversary", "everybody"),
    "Not covered": ("newton", "caveats", []),
    "Rests on": ("newton", "caveats", []),
    "Cost in privacy": ("newton", "delta", 1e-9),
}
PURE = PrivacyStatement("pure", 1.0, 0.0, "record", "replace", "everybody", ()).as_dict()
MUTANTS: Mapping[str, tuple[str, Forger]] = {
    **{topic: (kind, stated("parameters", name, to=to)) for topic, (kind, name, to) in PARAMETER.items()},
    **{topic: (kind, stated("privacy", name, to=to)) for topic, (kind, name, to) in STATEMENT.items()},
    "Insecure": ("from a seed", stated("insecure", to=[])),
    "No guarantee": ("from a seed", stated("privacy", to=PURE)),
    "Kind of run": ("by sites", recorded(f.with_head(approvals={}))),
    "Study": ("by sites", beside(STUDY, other_title)),
    "Where rows stay": ("the paper's mean", recorded(f.with_head(protocol=PRINTED.name, version=PRINTED.version))),
    "Records": ("newton", renamed),
    "Rows left out": ("three classes", stated("missing", to={})),
    "Public rows": ("public rows", beside(AUXILIARY, fewer_rows)),
    "Released": ("newton", stated("weights", to=[0.25, 0.5])),
    "Sent": ("newton", recorded(lambda record: f.resize(record.place("Masked"), 8)(record))),
    "Drop-outs": ("newton", recorded(f.miss(CURATOR_NAME, "north-1", "Masked", "sum 1"))),
    "Identities": ("known", strangers),
    "Views": ("known", other_views),
}
OF_THE_AUDITOR = {"Audit did not pass", "Budget before and after", "Assurance"}
"""Topics that no check holds: what the audit itself came to, and ledgers."""


def lets_go(rule: FactRule, honest: Audited, forged: Audited) -> bool:
    """Return whether no check of the rule, which all hold of the honest run, fails of the forged one."""
    of = [CHECKS[name] for name in rule.checks]
    assert {finding.outcome.status for finding in honest.report(of).findings} <= {"passed", "not possible"}
    return all(finding.outcome.status != "failed" for finding in forged.report(of).findings)


def rule_of(topic: str) -> FactRule:
    return next(rule for rule in FACT_RULES if rule.topic == topic)


@pytest.mark.parametrize("topic", MUTANTS)
def test_a_fact_is_held_by_its_checks(runs: Mapping[str, Audited], topic: str, tmp_path: Path) -> None:
    kind, forger = MUTANTS[topic]
    assert not lets_go(rule_of(topic), runs[kind], forger(runs[kind], tmp_path))


def test_every_rule_names_checks_that_exist_and_has_a_mutant() -> None:
    assert [name for rule in FACT_RULES for name in rule.checks if name not in CHECKS] == []
    assert {rule.topic for rule in FACT_RULES if not rule.checks} == OF_THE_AUDITOR
    assert {rule.topic for rule in FACT_RULES} == set(MUTANTS) | OF_THE_AUDITOR
    assert len({rule.topic for rule in FACT_RULES}) == len(FACT_RULES)


def constant(reports: Iterable[AuditReport]) -> list[str]:
    """Return what is said of every run, whatever it was."""
    every = [{fact.fact for fact in report.assessment} for report in reports]
    return sorted(set.intersection(*every))


def test_no_fact_is_the_same_for_every_run(reports: Mapping[str, AuditReport], monkeypatch: pytest.MonkeyPatch) -> None:
    assert constant(reports.values()) == []
    said = {fact.topic for report in reports.values() for fact in report.assessment}
    assert said == {rule.topic for rule in FACT_RULES} - {"Audit did not pass"}
    safe = FactRule("Safety", RELEASE, (), lambda known: "Your data are safe.")
    monkeypatch.setattr(assessment, "FACT_RULES", (*FACT_RULES, safe))
    assert constant(reports.values()) == ["Your data are safe."]


def test_an_insecure_run_a_void_guarantee_and_a_failed_audit_stand_first(
    runs: Mapping[str, Audited], reports: Mapping[str, AuditReport], tmp_path: Path
) -> None:
    seeded = f.altered_weight(runs["from a seed"].run, tmp_path / "run")
    first = [(fact.topic, fact.status) for fact in replace(runs["from a seed"], run=seeded).report().assessment]
    statuses = ("checked", "checked", "not checked")
    assert first[: len(URGENT)] == list(zip(URGENT, statuses, strict=True))
    assert ("Released", "failed") in first
    assert not {fact.topic for fact in reports["newton"].assessment} & set(URGENT)


def test_participants_are_those_set_up_and_drop_outs_are_named(reports: Mapping[str, AuditReport]) -> None:
    said = {fact.topic: fact for fact in reports["somebody vanishes"].assessment}
    assert said["Participants"].fact.startswith("5 parties were set up: north-0, north-1, ")
    assert said["Drop-outs"].fact.startswith("north-1 dropped out during the session: ")
    assert {said[topic].status for topic in ("Participants", "Drop-outs")} == {"checked"}
    assert "Drop-outs" not in {fact.topic for fact in reports["newton"].assessment}


def test_page_and_json_have_all_facts_with_source_and_check(reports: Mapping[str, AuditReport]) -> None:
    report = reports["known"]
    shown = ShownPage(html(audit_page(report))).text
    heading = shown.index("Facts for a data-protection assessment")
    for fact in report.assessment:
        assert shown.index(f"{fact.topic} {fact.fact} {fact.source} {fact.status}", heading) > heading
    printed = report.as_dict()["assessment"]
    assert [each["topic"] for each in printed] == [fact.topic for fact in report.assessment]
    assert {each["status"] for each in printed if each["topic"] == "Views"} == {"checked"}


def test_what_is_no_release_has_one_fact(runs: Mapping[str, Audited], tmp_path: Path) -> None:
    broken = stated("weights", to="none")(runs["newton"], tmp_path)
    (fact,) = broken.report().assessment
    assert (fact.topic, fact.status) == ("No release", "failed")
