"""Help is quick: no `--help` loads what computes, and what it says of the heavy part of the program is true."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer

import smc_dp
from smc_dp.audit.code.matrix import MOST_PARTIES
from smc_dp.audit.epsilon.twins import ABOUT
from smc_dp.bench.start import start_seconds
from smc_dp.cli.main import app, main
from smc_dp.data import datasets

ROOT = Path(smc_dp.__file__).parents[1]
HEAVY = {
    *("numpy", "scipy", "sklearn", "matplotlib", "pyarrow", "joblib", "dp_accounting", "jinja2", "threadpoolctl"),
    *("cryptography", "phe", "flint", "gmpy2", "cbor2"),
}


def commands(group: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """The words of every command and group of the program."""
    yield path
    for name, command in getattr(group, "commands", {}).items():
        yield from commands(command, (*path, name))


def loaded_by(root: Path, *argv: str) -> set[str]:
    """The heavy packages that this command loads, in a process of its own."""
    code = (
        "import sys\n"
        "from smc_dp.cli.main import main\n"
        "code = main(sys.argv[1:])\n"
        "print(*{name.split('.')[0] for name in sys.modules}, file=sys.stderr)\n"
        "sys.exit(code)"
    )
    command, environment = [sys.executable, "-c", code, *argv], {**os.environ, "PYTHONPATH": str(root)}
    done = subprocess.run(command, cwd=root, env=environment, capture_output=True, text=True, check=True)
    assert done.stdout.startswith("Usage: smc-dp")
    return set(done.stderr.split()) & HEAVY


@pytest.mark.parametrize("path", list(commands(typer.main.get_command(app))), ids=" ".join)
def test_help_loads_nothing_that_computes(path: tuple[str, ...]) -> None:
    assert loaded_by(ROOT, *path, "--help") == set()


def test_all_commands_were_asked() -> None:
    found = {" ".join(path) for path in commands(typer.main.get_command(app))}
    assert {"", "run", "predict", "audit-epsilon", "bench-training", "ledger check", "data prepare"} <= found


@pytest.mark.parametrize("statement", ["import scipy", "from smc_dp.data import catalogue"])
def test_a_command_that_imports_at_the_top_is_caught(statement: str, tmp_path: Path) -> None:
    for package in ("smc_dp", "protocols"):
        shutil.copytree(ROOT / package, tmp_path / package, ignore=shutil.ignore_patterns("__pycache__"))
    file = tmp_path / "smc_dp" / "cli" / "predict.py"
    first = "from __future__ import annotations\n"
    file.write_text(file.read_text().replace(first, f"{first}\n{statement}\n"))
    assert "numpy" in loaded_by(tmp_path, "--help")


@pytest.mark.slow
def test_help_costs_little() -> None:
    seconds = start_seconds(("-m", "smc_dp.cli", "--help"))
    assert seconds is not None
    assert seconds <= 0.3


@pytest.mark.parametrize(
    ("command", "words"),
    [
        ("run", "|".join(datasets.NAMES)),
        ("audit-epsilon", "|".join(ABOUT)),
        ("audit", f"2 to {MOST_PARTIES} parties, 3 by default"),
    ],
)
def test_what_help_says_without_looking_is_true(
    command: str, words: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    assert main([command, "--help"]) == 0
    assert words in " ".join(capsys.readouterr().out.split())
