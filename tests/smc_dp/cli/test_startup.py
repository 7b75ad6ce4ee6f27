"""What a command loads before it does something: no library that only a part of its work needs."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[3]
HEAVY = {
    *("matplotlib", "pandas", "pyarrow", "rich", "sklearn", "statsmodels"),
    *("scipy.linalg", "scipy.optimize", "scipy.sparse", "scipy.special", "scipy.stats"),
}


def first_imports(command: str) -> str:
    """The imports at the top of the functions of this command, which it makes whatever its options are."""
    tree = ast.parse((ROOT / "smc_dp" / "cli" / f"{command}.py").read_text())
    functions = [node for node in tree.body if isinstance(node, ast.FunctionDef)]
    return "\n".join(ast.unparse(node) for f in functions for node in f.body if isinstance(node, ast.ImportFrom))


def loaded_by(statements: str) -> set[str]:
    """The heavy libraries that these statements load, in a process of its own."""
    code = f"import sys\n{statements}\nprint(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    return HEAVY & set(done.stdout.split())


def test_a_command_starts_without_what_it_may_not_need() -> None:
    each = [first_imports(command) for command in ("plan", "predict", "run")]
    assert all("smc_dp." in statements for statements in each)
    assert loaded_by("\n".join(each)) == set()
