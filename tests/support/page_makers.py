"""Every kind of page that people get, each made by the code that makes it for them: a new kind is one entry here."""

from __future__ import annotations

import resource
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from unittest.mock import patch

import numpy as np
import pytest

from protocols.programs import PROTOCOLS
from smc_dp import audit_run, run_protocol
from smc_dp.audit.run import checks
from smc_dp.audit.run.report_blocks import audit_page
from smc_dp.cli.main import main
from smc_dp.methods.model import probabilities
from smc_dp.pages.blocks import Page
from smc_dp.pages.html import html
from smc_dp.run.metrics import measure_release
from smc_dp.run.metrics_report import metrics_page
from smc_dp.run.release_report import NO_PROOF
from smc_dp.walkthrough import build
from support.all_blocks import every_block
from support.audited import Folders, charged_run, toy_run
from support.audits import OF_THE_RUN
from support.compared import compared
from tests.smc_dp.run.test_description import SIZES, write_files

MOST_SECONDS = 60  # of processor time, for a page
FIRST_SHEET = (  # of a report: what everybody reads
    *("What was released", "What it guarantees, and against whom", "Three levels of assurance"),
    *(
        "Budget before and after",
        "Signature",
        "Function",
        NO_PROOF,
    ),
)


@dataclass(frozen=True)
class Kind:
    """A kind of page: how one is made in an empty folder; whether it has a walk; what must stand on its first sheet and
    what on every sheet. `quick`: part of the everyday suite.
    """

    make: Callable[[Path], Path]
    walk: bool = False
    first_sheet: tuple[str, ...] = ()
    every_sheet: str = ""
    quick: bool = False


def timed(make: Callable[[], Path]) -> tuple[Path, float]:
    """The file, and the processor time of this process and of those that it waited for."""
    before = _used()
    return make(), _used() - before


def _used() -> float:
    each = map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(one.ru_utime + one.ru_stime for one in each)


def written(folder: Path, page: Page) -> Path:
    """The page as a file in that folder."""
    file = folder / "page.html"
    file.write_text(html(page), encoding="utf-8")
    return file


# Of a run: what an officer files and anybody may read.


def run_page(run: Folders, folder: Path) -> Path:
    """Return the page that `show` writes of a run."""
    file = folder / "page.html"
    if main(["show", str(run.run), "--html", str(file)]) != 0:
        raise ValueError(f"no page of {run.run}")
    return file


def report(run: Folders, folder: Path, *, views: bool = True) -> Path:
    """Of an audit by all checks of the run; those of the code have tests of their own."""
    beside = run.run.parent
    given = {name: beside / place for name, place in GIVEN.items() if (beside / place).exists()}
    with patch.object(checks, "CHECKS", OF_THE_RUN):
        return written(folder, audit_page(audit_run(run.run, views=run.views if views else None, **given)))


GIVEN = {"identities": "identities.json", "ledgers": "ledgers"}
OF_A_RUN: Mapping[str, Callable[[Folders, Path], Path]] = {
    "report": report,
    "page of a run": run_page,
}


def of_charged(make: Callable[[Folders, Path], Path], folder: Path) -> Path:
    """The page of a run with identities, views and ledgers."""
    return make(charged_run(folder), folder)


def whole_report(folder: Path) -> Path:
    """By every check, of a run with marks, whose page has most to say."""
    made = toy_run(folder, key_bits=256)
    return written(folder, audit_page(audit_run(made.run, views=made.views)))


def highest_report(folder: Path) -> Path:
    """Of a run whose page says most where all is well: every level with its words, and the budgets of five parties."""
    made = charged_run(folder, (12, 8, 20, 9, 11), 30)
    known = {"identities": folder / "identities.json", "views": made.views, "ledgers": folder / "ledgers"}
    return written(folder, audit_page(audit_run(made.run, **known)))


# To watch.


def lecture(name: str, parties: int, folder: Path) -> Path:
    """Of a protocol, with no attack measured."""
    return written(folder, build.walkthrough_of_protocol(PROTOCOLS[name], parties, attacks=0))


def heaviest(folder: Path) -> Path:
    """What takes longest of all that people get without asking for more: the one lecture here with attacks, made by
    command, so that nothing is there before.
    """
    file = folder / "lecture.html"
    command = [sys.executable, "-m", "smc_dp.cli", "lab", "walkthrough", "--protocol", "pathak2010", "--out", str(file)]
    subprocess.run(command, check=True, capture_output=True)
    return file


def statistics(method: str, folder: Path) -> Path:
    """The page of a run of three hospitals: a table, and odds ratios with a forest plot of columns of every kind."""
    write_files(folder)
    tables = {name: folder / f"{name}.csv" for name in SIZES}
    run_protocol(tables, method=method, epsilon=20, bounds=folder / "bounds.toml", out=folder / "run")
    if main(["show", str(folder / "run"), "--html", str(folder / "page.html")]) != 0:
        raise ValueError(f"no page of {method}")
    return folder / "page.html"


def measured(classes: int, folder: Path) -> Path:
    """How well a model of so many classes classifies rows that are drawn."""
    rng = np.random.default_rng(classes)
    y = rng.integers(0, classes, 500)
    found = rng.normal(size=(500, classes)) + np.eye(classes)[y]
    of_rows = found if classes > 2 else found[:, 1] - found[:, 0]
    names = tuple(f"class number {c} of all" for c in range(classes))
    return written(folder, metrics_page({"": measure_release(y, of_rows, probabilities(of_rows), names)}, "test.csv"))


KINDS: Mapping[str, Kind] = {
    "every block": Kind(every_block, True, ("FAILED", "What was released"), "SECRET", quick=True),
    "comparison": Kind(compared, first_sheet=("Claims, and what came out",)),
    **{name: Kind(partial(of_charged, make)) for name, make in OF_A_RUN.items() if make is not report},
    "highest report": Kind(highest_report, first_sheet=("Every message was replayed: reached", *FIRST_SHEET)),
    "whole report": Kind(whole_report, first_sheet=("INSECURE", *FIRST_SHEET)),
    "description": Kind(partial(statistics, "describe")),
    "coefficients": Kind(partial(statistics, "logistic")),
    "metrics": Kind(partial(measured, 2), every_sheet="private"),
    "metrics of 10 classes": Kind(partial(measured, 10), every_sheet="private"),
    "lecture of pathak2010": Kind(heaviest, True),
    "lecture of the linear path": Kind(partial(lecture, "linear", 2), True),
    "lecture of a secure sum": Kind(partial(lecture, "secure_sum", 3), True),
}


def kinds() -> list[object]:
    """The kinds as parameters of a test: all but a quick one are slow."""
    return [pytest.param(kind, id=name, marks=() if kind.quick else pytest.mark.slow) for name, kind in KINDS.items()]
