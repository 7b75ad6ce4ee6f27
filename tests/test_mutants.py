"""Faults that somebody could put in, each with the test that has to notice it: the stored mutants of `tests/mutants`.

A mutant is a text that stands once in a file, and what stands there instead. It is killed when its killer fails in a
copy of the repository with the fault planted. A killer that cannot be loaded, or finds no test, kills nothing.
"""

from __future__ import annotations

import re
import shutil
import tomllib
from dataclasses import dataclass
from pathlib import Path

import pytest
from test_recipes import ROOT, copied, run

TABLES = ROOT / "tests" / "mutants"
_FAILED = 1  # pytest's exit code for tests that ran and failed


@dataclass(frozen=True)
class Mutant:
    """One planted fault: `text` stands exactly once in `file`, `killer` is the test that fails with `replacement`."""

    name: str
    file: str
    text: str
    replacement: str
    killer: str

    def plant(self, root: Path) -> None:
        """Put the fault into this copy; raises ValueError where the text does not stand exactly once."""
        path = root / self.file
        content = path.read_text(encoding="utf-8")
        if content.count(self.text) != 1 or self.text == self.replacement:
            raise ValueError(f"{self.name}: the text must stand once in {self.file}, and be replaced")
        path.write_text(content.replace(self.text, self.replacement), encoding="utf-8")


def stored(folder: Path = TABLES) -> list[Mutant]:
    """Return all mutants of the tables in this folder."""
    tables = (tomllib.loads(path.read_text(encoding="utf-8")) for path in sorted(folder.glob("*.toml")))
    return [Mutant(**entry) for table in tables for entry in table["mutant"]]


MUTANTS = stored()


def killed(mutant: Mutant, folder: Path) -> bool:
    """Return whether the killer of this mutant fails in a copy of the repository with the fault planted."""
    root = copied(folder, [])
    mutant.plant(root)
    done = run(root, "pytest", "-q", "-x", "-n0", "-p", "no:cacheprovider", "-m", "", mutant.killer)
    shutil.rmtree(root)
    return done.returncode == _FAILED and " failed" in done.stdout


def test_every_mutant_can_be_planted_and_names_a_test() -> None:
    assert len({mutant.name for mutant in MUTANTS}) == len(MUTANTS) > 0
    for mutant in MUTANTS:
        content = (ROOT / mutant.file).read_text(encoding="utf-8")
        assert content.count(mutant.text) == 1, mutant.name
        assert mutant.text != mutant.replacement, mutant.name
        file, _, test = mutant.killer.partition("::")
        function = re.escape(test.partition("[")[0].rpartition("::")[2])
        assert re.search(rf"^\s*def {function}\(", (ROOT / file).read_text(encoding="utf-8"), re.MULTILINE), mutant.name


@pytest.mark.slow
@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: f"{Path(mutant.file).stem}: {mutant.name}")
def test_a_mutant_is_killed(mutant: Mutant, tmp_path: Path) -> None:
    assert killed(mutant, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("replacement", "killer"),
    [
        ('__version__ = "0.2.0"  # the same\n', "tests/test_package.py"),
        ('__version__ = "0.2.0"  # no test\n', "tests/test_package.py::test_that_is_not_there"),
    ],
)
def test_a_mutant_that_changes_nothing_or_has_no_killer_survives(replacement: str, killer: str, tmp_path: Path) -> None:
    assert not killed(
        Mutant("harmless", "smc_dp/core/version.py", '__version__ = "0.2.0"\n', replacement, killer), tmp_path
    )
