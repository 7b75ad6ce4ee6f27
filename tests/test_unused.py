"""Nothing in either package is unused: vulture finds no name but those in `vulture_names.py`, and these exist."""

from __future__ import annotations

import re
from pathlib import Path

from vulture import Vulture

ROOT = Path(__file__).parents[1]
NAMES = ROOT / "tests" / "vulture_names.py"
PACKAGES = (ROOT / "smc_dp", ROOT / "protocols")
MUTANT = "def _planted(x: int) -> int:\n    return x\n"


def unused(*paths: Path) -> set[str]:
    """Return the names in these files and folders that nothing in them uses."""
    found = Vulture()
    found.scavenge(list(map(str, paths)))
    return {str(item.name) for item in found.get_unused_code()}


def kept() -> set[str]:
    """Return the names that stay although nothing uses them."""
    lines = (line.partition("#")[0].strip() for line in NAMES.read_text(encoding="utf-8").splitlines())
    return {line for line in lines if re.fullmatch(r"\w+", line)}


def test_nothing_is_unused_and_every_name_that_stays_is_found() -> None:
    found = unused(*PACKAGES)
    assert (found - kept(), kept() - found) == (set(), set())


def test_a_planted_function_that_nothing_uses_is_caught(tmp_path: Path) -> None:
    (tmp_path / "planted.py").write_text(MUTANT)
    (tmp_path / "user.py").write_text("from planted import other\n\nother()\n")
    assert unused(NAMES, tmp_path) == {"_planted"}
    (tmp_path / "planted.py").write_text(MUTANT.replace("_planted", "other"))
    assert unused(NAMES, tmp_path) == set()
