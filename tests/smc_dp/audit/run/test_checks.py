"""Every group of the report is one module of its name, which holds all of the group's checks; and rooms that are not so
are noticed.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

from smc_dp.audit.run import checks


def test_names_of_checks_are_unique() -> None:
    names = [check.name for check in checks.CHECKS]
    assert len(set(names)) == len(names)


def unnamed(names: Iterable[str], tests: Iterable[str]) -> set[str]:
    """The checks whose name stands in none of these texts, in quotes or as a keyword."""
    said = {name for text in tests for pair in re.findall(r'"([\w-]+)"|\b(\w+)=(?:"|None)', text) for name in pair}
    return set(names) - said


def test_every_check_has_a_test_that_names_it() -> None:
    folder = Path(__file__).parent
    others = [path for path in folder.rglob("test_*.py") if path != Path(__file__)]
    tests = [path.read_text(encoding="utf-8") for path in (*others, *(folder.parents[2] / "support").glob("*.py"))]
    assert unnamed((check.name for check in checks.CHECKS), tests) == set()
    assert unnamed(["sizes", "whatever"], tests) == {"whatever"}
