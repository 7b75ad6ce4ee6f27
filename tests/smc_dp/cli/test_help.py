"""Help is quick: no `--help` loads what computes, and what it says of the heavy part of the program is true."""

from __future__ import annotations

import ast
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest
import typer

import smc_dp
from smc_dp.audit.epsilon.mutants import MUTANT_FAULTS
from smc_dp.cli.main import GROUPS, app, main
from smc_dp.data import tabular_datasets
from smc_dp.leakage.matrix import MOST_MATRIX_PARTIES

ROOT = Path(smc_dp.__file__).parents[1]
HEAVY = {
    *("numpy", "scipy", "sklearn", "matplotlib", "pyarrow", "joblib", "dp_accounting", "jinja2", "threadpoolctl"),
    *("cryptography", "phe", "flint", "gmpy2", "cbor2", "tomlkit"),
    *("smc_dp.run.settings", "smc_dp.core.documents"),
}


def commands(group: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """The words of every command and group of the program."""
    yield path
    for name, command in getattr(group, "commands", {}).items():
        yield from commands(command, (*path, name))


def loaded_by(root: Path, *asked: tuple[str, ...]) -> dict[str, set[str]]:
    """The heavy packages that each of these commands is the first to load, all in one process that has none of them.

    The tree of commands is made once, for the first.
    """
    code = (
        "import functools, json, sys\n"
        "import typer.main\n"
        "from smc_dp.cli.main import main\n"
        "typer.main.get_command = functools.cache(typer.main.get_command)\n"
        "before = set()\n"
        "for argv in json.loads(sys.argv[1]):\n"
        "    code, now = main(argv), {*sys.modules}\n"
        "    print(json.dumps([argv, code, sorted(now - before)]), file=sys.stderr)\n"
        "    before = now\n"
    )
    command = [sys.executable, "-c", code, json.dumps(asked)]
    environment = {**os.environ, "PYTHONPATH": str(root)}
    done = subprocess.run(command, cwd=root, env=environment, capture_output=True, text=True, check=True)
    found = [json.loads(line) for line in done.stderr.splitlines()]
    assert [(tuple(argv), code) for argv, code, _ in found] == [(argv, 0) for argv in asked]
    assert len(re.findall("^Usage: smc-dp", done.stdout, re.MULTILINE)) == len(asked)
    return {" ".join(argv): set(names) & HEAVY for argv, _, names in found}


def test_help_loads_nothing_that_computes() -> None:
    asked = [(*path, "--help") for path in commands(typer.main.get_command(app))]
    assert {("run", "--help"), ("lab", "epsilon", "--help"), ("lab", "data", "verify", "--help")} <= {*asked}
    assert loaded_by(ROOT, *asked) == {" ".join(argv): set() for argv in asked}


def test_every_command_stands_in_one_group_of_the_help(capsys: pytest.CaptureFixture[str]) -> None:
    assert sorted(name for names in GROUPS.values() for name in names) == sorted(typer.main.get_command(app).commands)  # type: ignore[attr-defined]
    assert main(["--help"]) == 0
    shown = re.findall(r"^(\w[\w ]+):$|^  (\w+)  ", capsys.readouterr().out, re.MULTILINE)
    listed = [heading or name for heading, name in shown if heading != "Options"]
    assert listed == [word for heading, names in GROUPS.items() for word in (heading, *names)]
    assert len(listed) - len(GROUPS) <= 16


NOT_FOR_ALL = {
    *("matplotlib", "pandas", "pyarrow", "rich", "sklearn", "statsmodels"),
    *("scipy.linalg", "scipy.optimize", "scipy.sparse", "scipy.special", "scipy.stats"),
}


def first_imports(command: str) -> str:
    """The imports at the top of the functions of this command, which it makes whatever its options are."""
    tree = ast.parse((ROOT / "smc_dp" / "cli" / f"{command}.py").read_text())
    functions = [node for node in tree.body if isinstance(node, ast.FunctionDef)]
    return "\n".join(ast.unparse(node) for f in functions for node in f.body if isinstance(node, ast.ImportFrom))


def loaded_by_imports(statements: str) -> set[str]:
    """The heavy libraries that these statements load, in a process of its own."""
    code = f"import sys\n{statements}\nprint(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    return NOT_FOR_ALL & set(done.stdout.split())


def test_a_command_starts_without_what_it_may_not_need() -> None:
    each = [first_imports(command) for command in ("plan", "predict", "run")]
    assert all("smc_dp." in statements for statements in each)
    assert loaded_by_imports("\n".join(each)) == set()


@pytest.mark.parametrize(
    ("command", "words"),
    [
        ("run", "|".join(tabular_datasets.TABULAR_NAMES)),
        ("lab epsilon", "|".join(MUTANT_FAULTS)),
        ("lab matrix", f"2 to {MOST_MATRIX_PARTIES} parties, 3 by default"),
    ],
)
def test_what_help_says_without_looking_is_true(
    command: str, words: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    assert main([*command.split(), "--help"]) == 0
    assert words in " ".join(capsys.readouterr().out.split())


def test_the_version_is_that_of_the_package(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--version"]) == 0
    assert capsys.readouterr().out == f"smc-dp {version('smc-dp')}\n"


def test_a_shell_that_asks_is_answered() -> None:
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "COMP_WORDS": "smc-dp aud", "COMP_CWORD": "1"}
    environment["_SMC_DP_COMPLETE"] = "complete_bash"
    done = subprocess.run(
        [sys.executable, "-m", "smc_dp.cli"], cwd=ROOT, env=environment, capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == ["audit"]


@pytest.mark.parametrize("started", ["smc_dp.cli.start", "smc_dp.cli"])
def test_ctrl_c_while_the_command_line_loads_is_one_line(started: str, tmp_path: Path) -> None:
    """As if the signal came while typer was being imported; the twin begins at what imports it."""
    (tmp_path / "typer.py").write_text("raise KeyboardInterrupt\n")
    environment = {**os.environ, "PYTHONPATH": f"{tmp_path}{os.pathsep}{ROOT}"}
    code = "import sys; from smc_dp.cli.start import main; sys.exit(main())"
    twin = "import sys; from smc_dp.cli.main import main; sys.exit(main())"
    begun = [sys.executable, "-m", started] if started == "smc_dp.cli" else [sys.executable, "-c", code]
    ended, traced = (
        subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
        for command in (begun, [sys.executable, "-c", twin])
    )
    assert (ended.returncode, ended.stderr) == (130, "interrupted\n")
    assert "Traceback" in traced.stderr
