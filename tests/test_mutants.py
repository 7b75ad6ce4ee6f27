"""Faults that somebody could put in, each with the test that has to notice it: the stored mutants of `tests/mutants`.

A mutant is a text that stands once in a file, and what stands there instead. It is killed when its killer fails in a
copy of the repository with the fault planted. A killer that cannot be loaded, or finds no test, kills nothing.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from test_recipes import ROOT, copied

TABLES = ROOT / "tests" / "mutants"
_FAILED = 1  # pytest's exit code for tests that ran and failed
# Each line that comes in names a test; it runs in a fork, whose exit code goes out. Nothing of the repository is loaded
# before the fork, so that each test sees the fault that is planted then.
_SERVER = """
import os, sys
import cryptography.hazmat.primitives.ciphers.aead, flint, gmpy2, jinja2, numpy, phe, pyarrow.parquet, pydantic
import rich.console, scipy.optimize, scipy.special, scipy.stats, sklearn.linear_model, typer
for killer in sys.stdin:
    if (child := os.fork()) == 0:
        log = os.open(sys.argv[1], os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        os.dup2(log, 1), os.dup2(log, 2)
        import pytest
        os._exit(pytest.main(["-q", "-x", "-n0", "-p", "no:cacheprovider", "-m", "", killer.strip()]))
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
"""


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


class Planter:
    """A copy of the repository, and a process that runs tests in it: what tests import of others is loaded once."""

    def __init__(self, folder: Path) -> None:
        self.root = copied(folder, [])
        variables = {**os.environ, "PYTHONPATH": str(self.root)}
        variables.pop("PYTHONDONTWRITEBYTECODE", None)
        self._log, self._planted = folder / "log", 0
        self._process = subprocess.Popen(
            [sys.executable, "-c", _SERVER, str(self._log)], cwd=self.root, env=variables,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        )  # fmt: skip

    def kills(self, mutant: Mutant) -> bool:
        """Return whether the killer of this mutant fails with the fault planted."""
        path = self.root / mutant.file
        content, times = path.read_text(encoding="utf-8"), path.stat()
        mutant.plant(self.root)
        self._planted += 1  # a time of its own: compiled files are found by the time and the size of the source
        os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns + self._planted * 10**9))
        try:
            assert self._process.stdin
            assert self._process.stdout
            print(mutant.killer, file=self._process.stdin, flush=True)
            code = int(self._process.stdout.readline())
        finally:
            path.write_text(content, encoding="utf-8")
            os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))
        return code == _FAILED and " failed" in self._log.read_text(encoding="utf-8")

    def close(self) -> None:
        """End the process."""
        self._process.communicate()


@pytest.fixture(scope="module")
def planter(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Planter]:
    made = Planter(tmp_path_factory.mktemp("planted"))
    yield made
    made.close()


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
def test_a_mutant_is_killed(mutant: Mutant, planter: Planter) -> None:
    assert planter.kills(mutant)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("replacement", "killer"),
    [
        ('__version__ = "0.2.0"  # the same\n', "tests/test_package.py"),
        ('__version__ = "0.2.0"  # no test\n', "tests/test_package.py::test_that_is_not_there"),
    ],
)
def test_a_mutant_that_changes_nothing_or_has_no_killer_survives(
    replacement: str, killer: str, planter: Planter
) -> None:
    harmless = Mutant("harmless", "smc_dp/core/version.py", '__version__ = "0.2.0"\n', replacement, killer)
    assert not planter.kills(harmless)
