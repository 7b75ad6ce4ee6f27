"""Copies of the repository, in which faults are planted: the stored mutants of `tests/mutants`.

A mutant is a text that stands once in a file, and what stands there instead. It is killed when its killer fails in a
copy of the repository with the fault planted. A killer that cannot be loaded, or finds no test, kills nothing.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from layers import files, import_graph

from support.pages import ROOT

COPIED = (".github", "demos", "protocols", "smc_dp", "tests", "README.md", "CHANGELOG.md", "pyproject.toml")
TABLES = ROOT / "tests" / "mutants"
FAILED = 1  # pytest's exit code for tests that ran and failed
# Each line that comes in has modules of the repository, options and tests of pytest, which run in a fork; the exit code
# goes out. The fork begins where pytest would collect: plugins, `conftest.py` and the session are made once. It has
# loaded no other module of the repository. None of these imports a file in which a fault is planted, so each test sees
# the fault that is planted then. A run without end is killed. Left out is what costs more than most tests: hypothesis
# looks for constants of the repository, a traceback is written down, and folders of other sessions are deleted.
_SERVER = """
import contextlib, gc, importlib, json, os, signal, sys
import cbor2, cryptography.hazmat.primitives.ciphers.aead, dp_accounting.pld.privacy_loss_distribution, flint, gmpy2
import hypothesis, jinja2, nacl.bindings, numpy, phe
import pyarrow.parquet, pydantic.main, pytest, rich.console, scipy.optimize, scipy.special, scipy.stats
import sklearn.linear_model, sqlite3, statsmodels.discrete.discrete_model, syrupy, typer, unittest.mock, xdist.plugin
gc.set_threshold(50_000, 10, 10)
seconds, log_file, folder = int(sys.argv[1]), sys.argv[2], sys.argv[3]
lines, answers, parent = os.fdopen(os.dup(0)), os.fdopen(os.dup(1), "w"), os.getpid()
log = os.open(log_file, os.O_WRONLY | os.O_CREAT | os.O_APPEND)  # pytest returns to it after each test
os.dup2(log, 1), os.dup2(log, 2)
def forget(name):
    module, (folder, _, last) = sys.modules.pop(name), name.rpartition(".")
    if folder in sys.modules and vars(sys.modules[folder]).get(last) is module:
        delattr(sys.modules[folder], last)
class Forks:
    @pytest.hookimpl(tryfirst=True)
    def pytest_collection(self, session):
        phases = set(hypothesis.Phase) - {hypothesis.Phase.shrink, hypothesis.Phase.explain}  # any failure tells enough
        hypothesis.settings.register_profile("any failure", hypothesis.settings(), phases=phases, database=None)
        hypothesis.settings.load_profile("any failure")
        for line in lines:
            kept, options, tests = json.loads(line)
            for name in kept:
                with contextlib.suppress(ImportError):  # what needs an extra that is not installed
                    importlib.import_module(name)
            with contextlib.suppress(ImportError):  # hypothesis has had constants since 6.131
                from hypothesis.internal.conjecture.providers import _get_local_constants
                _get_local_constants()
            if admission := sys.modules.get("protocols.crypto.admission"):  # a product of primes, made once a process
                admission.modular.small_factors(1, admission.SMALL_FACTOR_BOUND)
            gc.freeze()  # so that forks neither look through what is loaded for garbage nor copy it
            if (child := os.fork()) == 0:
                for name in [name for name in sys.modules if name.partition(".")[0] in ("protocols", "smc_dp")]:
                    name in kept or forget(name)
                os.setpgid(0, 0)
                os.ftruncate(log, 0)
                vars(session.config.option).update(options)
                session.config.args = tests
                return None
            signal.signal(signal.SIGALRM, lambda *_: os.killpg(child, signal.SIGKILL))
            signal.alarm(seconds)
            print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), file=answers, flush=True)
        return True
loaded = ["-W", "ignore::pytest.PytestAssertRewriteWarning"]  # plugins are, and constants were looked for
loaded += ["-W", "ignore::hypothesis.errors.HypothesisSideeffectWarning"]
how = ["-q", "-x", "-n0", "--tb=line", f"--basetemp={folder}", "-p", "no:cacheprovider", *loaded]
how += ["-p", "xdist.plugin", "-p", "syrupy", "-p", "_hypothesis_pytestplugin", "tests"]
code = pytest.main(how, plugins=[Forks()])
os._exit(code if os.getpid() != parent else 0)
"""


def copied(folder: Path) -> Path:
    """Return a copy of the repository.

    What was compiled is copied too, and used where a file has the time and the size that it had.
    """
    root = folder / "copy"
    shutil.rmtree(root, ignore_errors=True)
    root.mkdir(parents=True)
    for name in COPIED:
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, root / name, ignore=shutil.ignore_patterns(".hypothesis"))
        else:
            shutil.copy(ROOT / name, root / name)
    return root


@dataclass(frozen=True)
class Mutant:
    """One planted fault: `text` stands exactly once in `file`, `killer` is the test that fails with `replacement`."""

    name: str
    file: str
    text: str
    replacement: str
    killer: str
    survives: str = ""  # why no everyday test of its room notices it, where that is so

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


def reached(root: Path) -> dict[str, set[str]]:
    """Return, for each module of the repository, itself and every module that importing it can load.

    The face of the package imports nothing before it is asked.
    """
    sources = {module: path.read_text(encoding="utf-8") for module, path in files(root).items()}
    graph = {**import_graph(sources), "smc_dp": set()}
    found: dict[str, set[str]] = {}
    for module in graph:
        found[module], left = {module}, [module]
        while left:
            name = left.pop()
            folders = {name[: dot.start()] for dot in re.finditer(r"\.", name)} & graph.keys()  # some are no packages
            left += (more := (graph[name] | folders) - found[module])
            found[module] |= more
    return found


class Planter:
    """A copy of the repository, and a process that runs tests in it: what they import is loaded once, where it may be.

    What may be loaded for a planted fault are the modules that do not import its file.
    """

    def __init__(self, folder: Path, seconds: int = 600) -> None:
        self.root = copied(folder)
        variables = {**os.environ, "PYTHONPATH": str(self.root)}
        variables.pop("PYTHONDONTWRITEBYTECODE", None)
        variables["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
        variables["HYPOTHESIS_STORAGE_DIRECTORY"] = str(ROOT / ".hypothesis")  # a second for its table of characters
        self._log, self._planted = folder / "log", 0
        memory = os.environ.get("PYTEST_DEBUG_TEMPROOT")  # where there is room for it; sockets need short paths
        self._temporary = tempfile.TemporaryDirectory(prefix="planted-", dir=memory)
        self._kept: list[str] = []
        self._process = subprocess.Popen(
            [sys.executable, "-c", _SERVER, str(seconds), str(self._log), f"{self._temporary.name}/tests"],
            cwd=self.root, env=variables, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        )  # fmt: skip

    @cached_property
    def _reached(self) -> dict[str, set[str]]:
        return reached(self.root)

    def run(self, *tests: str, **options: object) -> tuple[int, str]:
        """Return the exit code of pytest with these tests, negative if it was killed, and what it prints."""
        assert self._process.stdin
        assert self._process.stdout
        print(json.dumps([self._kept, options, tests]), file=self._process.stdin, flush=True)
        code = int(self._process.stdout.readline())
        return code, self._log.read_text(encoding="utf-8", errors="replace")

    @contextmanager
    def changing(self, *files: str) -> Iterator[None]:
        """Put these files, and their folders, back at the end as they are now; those that are not there may be made."""
        paths = [self.root / file for file in files]
        before = {path: (path.read_bytes(), path.stat()) for path in paths if path.exists()}
        folders = {folder for path in paths for folder in path.parents if not folder.exists()}
        try:
            yield
        finally:
            for path in paths:
                if path in before:
                    content, times = before[path]
                    path.write_bytes(content)
                    os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))
                else:
                    path.unlink(missing_ok=True)
            for folder in folders:
                shutil.rmtree(folder, ignore_errors=True)

    def is_changed(self, *files: str) -> None:
        """Give changed files a time of their own: compiled files are found by the time and the size of the source."""
        self._planted += 1
        for path in (self.root / file for file in files):
            times = path.stat()
            os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns + self._planted * 10**9))

    @contextmanager
    def loaded_without(self, *files_: str) -> Iterator[None]:
        """Have loaded once, meanwhile, what imports none of these files."""
        paths = {self.root / file for file in files_}
        names = {name for name, path in files(self.root).items() if path in paths}
        self._kept = [name for name, others in self._reached.items() if not names & others]
        try:
            yield
        finally:
            self._kept = []

    @contextmanager
    def planted(self, mutant: Mutant) -> Iterator[None]:
        """Plant the fault of this mutant, and take it out at the end."""
        with self.changing(mutant.file), self.loaded_without(mutant.file):
            mutant.plant(self.root)
            self.is_changed(mutant.file)
            yield

    def kills(self, mutant: Mutant) -> bool:
        """Return whether the killer of this mutant fails with the fault planted."""
        with self.planted(mutant):
            code, log = self.run(mutant.killer, markexpr="")
        return code == FAILED and " failed" in log

    def close(self) -> None:
        """End the process."""
        self._process.communicate()
        self._temporary.cleanup()
