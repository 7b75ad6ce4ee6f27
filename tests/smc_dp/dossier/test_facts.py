"""Every fact is held by the checks that it names: each alone refuses the dossier of a run in which it is another."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
from support import forgeries as f
from support.dossiers import HONEST, Audited

from protocols.arithmetic.rng import Stream
from protocols.curator import CURATOR_NAME
from protocols.programs import PROTOCOLS
from protocols.runtime.view import RecordedView
from smc_dp.audit.run import checks
from smc_dp.audit.run.check import Check
from smc_dp.audit.run.evidence import load
from smc_dp.dossier.facts import sources
from smc_dp.dossier.reading import read_facts
from smc_dp.errors import InputError
from smc_dp.run.auxiliary import AuxiliaryRows
from smc_dp.run.identities import PUBLIC_FILE, create
from smc_dp.run.release import AUXILIARY, RELEASE, STUDY

Forger = Callable[[Audited, Path], Audited]


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, Audited]:
    folder = tmp_path_factory.mktemp("facts")
    names = (
        "newton",
        "from a seed",
        "by sites",
        "known",
        "public rows",
        "the paper's mean",
        "three classes",
        "sizes released",
        "rows known",
    )
    return {name: HONEST[name](folder / name.replace(" ", "-")) for name in names}


def stated(*path: Any, to: Any) -> Forger:
    """Another value in release.json."""

    def change(document: Any) -> None:
        for key in path[:-1]:
            document = document[key]
        document[path[-1]] = to

    return lambda run, folder: replace(run, run=f.edited(run.run, folder / "run", RELEASE, change))


def recorded(*changes: f.Change) -> Forger:
    return lambda run, folder: replace(run, run=f.forge(run.run, folder / "run", *changes))


def renamed(run: Audited, folder: Path) -> Audited:
    """Another name of a column, wherever the release has it."""
    shutil.copytree(run.run, folder / "run")
    path = folder / "run" / RELEASE
    path.write_text(path.read_text().replace('"x0"', '"age"'))
    return replace(run, run=folder / "run")


def other_study(run: Audited, folder: Path) -> Audited:
    shutil.copytree(run.run, folder / "run")
    study, release = folder / "run" / STUDY, folder / "run" / RELEASE
    study.write_text(study.read_text().replace('"purpose":"tests"', '"purpose":"marketing"'))
    document = json.loads(release.read_text())
    document["digests"][STUDY] = hashlib.sha256(study.read_bytes()).hexdigest()
    release.write_text(json.dumps(document))
    return replace(run, run=folder / "run")


def fewer_public_rows(run: Audited, folder: Path) -> Audited:
    shutil.copytree(run.run, folder / "run")
    path = folder / "run" / AUXILIARY
    path.write_bytes(AuxiliaryRows(AuxiliaryRows.read(path.read_bytes(), AUXILIARY).X[:-1]).content)
    return replace(run, run=folder / "run")


def strangers(run: Audited, folder: Path) -> Audited:
    create(folder / "keys", ("north-0", "north-1", "north-2"), Stream.insecure_from_seed("strangers"))
    return replace(run, identities=folder / "keys" / PUBLIC_FILE)


def other_views(run: Audited, folder: Path) -> Audited:
    evidence = run.views and load(run.run, views=run.views)
    (folder / "views").mkdir(parents=True)
    for n, view in enumerate(evidence.views.values() if evidence else ()):
        lied: RecordedView = replace(view, seed=bytes(32)) if n == 0 else view
        (folder / "views" / f"{n}.view").write_bytes(lied.dumps(evidence.session))
    return replace(run, views=folder / "views")


def another_protocol(run: Audited, folder: Path) -> Audited:
    program = PROTOCOLS["pathak2010-as-printed-insecure"].program
    return recorded(f.with_head(protocol=program.name, version=program.version))(run, folder)


def a_letter_missed(run: Audited, folder: Path) -> Audited:
    return recorded(f.miss("charlie", "north-1", "Masked", "sum 1"))(run, folder)


def without_charlie(record: f.Record) -> f.Record:
    """Line 0 of a session that has no Charlie."""
    identities = {name: key for name, key in record.head["identities"].items() if name != CURATOR_NAME}
    return f.with_head(identities=identities)(f.with_parameters(output="shares")(record))


NEWTON = "newton"
MUTANTS: Mapping[str, tuple[str, Forger]] = {
    "parties": (NEWTON, stated("parameters", "parties", to=["north-2", "north-1", "north-0"])),
    "columns": (NEWTON, renamed),
    "label": (NEWTON, stated("parameters", "label", to="death")),
    "classes": (NEWTON, stated("classes", to=["yes", "no"])),
    "left_out_for": ("three classes", stated("missing", to={})),
    "method": (NEWTON, stated("parameters", "method", to="gd")),
    "protocol": ("the paper's mean", another_protocol),
    "weights": (NEWTON, stated("weights", to=[0.25, 0.5])),
    "sums": (NEWTON, stated("parameters", "method", to="gd")),
    "shares_published": (NEWTON, stated("parameters", "output", to="shares")),
    "public_rows": ("public rows", fewer_public_rows),
    "guarantee": (NEWTON, stated("privacy", "epsilon", to=0.5)),
    "charged": (NEWTON, stated("privacy", "delta", to=1e-9)),
    "marks": ("from a seed", stated("insecure", to=[])),
    "noise": (NEWTON, stated("parameters", "noise", to="vg")),
    "noise_by": (NEWTON, stated("parameters", "method", to="ofpa")),
    "calibration": (NEWTON, stated("parameters", "calibration", to="paper")),
    "colluders": (NEWTON, stated("parameters", "colluders", to=0)),
    "dropouts": (NEWTON, stated("parameters", "dropouts", to=1)),
    "most_rows": (NEWTON, stated("parameters", "most_rows", to=100)),
    "rows_known": ("rows known", stated("parameters", "rows", to="41")),
    "rows_released": (NEWTON, stated("parameters", "sizes", to="released")),
    "gone_before": (NEWTON, stated("parameters", "left_out", to=["west"])),
    "key_bits": ("the paper's mean", stated("parameters", "key_bits", to=512)),
    "curator": ("sizes released", recorded(without_charlie)),
    "unclaimed": ("the paper's mean", another_protocol),
    "letters": (NEWTON, recorded(lambda record: f.resize(record.place("Masked"), 8)(record))),
    "vanished": (NEWTON, a_letter_missed),
    "study": ("by sites", other_study),
    "pinned": ("known", strangers),
    "views": ("known", other_views),
    "session": (NEWTON, recorded(f.with_head(session="00" * 32))),
}
OF_THE_AUDITOR = {"checks_passed", "checks_open", "assurance", "release_digest"}
"""What the audit itself says, and the digest of the very bytes that were read."""


def only(name: str) -> Check:
    return next(check for check in checks.CHECKS if check.name == name)


def refusal(run: Audited, check: str) -> str:
    """Why there is no dossier, where this check alone is made; "" where there is one."""
    with patch.object(checks, "CHECKS", (only(check),)):
        try:
            read_facts(run.run, run.identities, run.views, None, 40.0)
        except InputError as error:
            return str(error)
    return ""


@pytest.mark.parametrize("fact", MUTANTS)
def test_a_fact_is_held_by_each_check_that_it_names(runs: Mapping[str, Audited], fact: str, tmp_path: Path) -> None:
    kind, forger = MUTANTS[fact]
    forged = forger(runs[kind], tmp_path)
    assert sources()[fact].held_by
    for check in sources()[fact].held_by:
        assert refusal(runs[kind], check) == ""
        assert f"the audit failed, there is no dossier: {check}: " in refusal(forged, check)


def test_every_fact_has_a_mutant_or_is_the_auditors_own() -> None:
    assert set(MUTANTS) | OF_THE_AUDITOR == set(sources())
    assert {name for name, source in sources().items() if not source.held_by} == OF_THE_AUDITOR


def test_a_check_that_holds_nothing_is_caught(runs: Mapping[str, Audited], tmp_path: Path) -> None:
    """The broken twin: epsilon held by the length of letters."""
    forged = stated("privacy", "caveats", to=[])(runs[NEWTON], tmp_path)
    assert refusal(forged, "sizes") == ""
