"""The notebook runs cell by cell in a process of its own and ends well; it holds no outputs and nothing but Python.

Jupyter itself would be some forty packages for one document: its cells are plain Python, and Python runs them.
"""

from __future__ import annotations

import ast
import json
import os
import subprocess
import sys
from collections.abc import Callable
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parent.parent
NOTEBOOKS = sorted((ROOT / "demos").glob("*.ipynb"))
# As Jupyter runs them: one after the other, in one namespace; who reads an error sees the cell.
RUN = """
import json, sys
from pathlib import Path
names = {"__name__": "__main__"}
for n, cell in enumerate(json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))["cells"]):
    if cell["cell_type"] == "code":
        exec(compile("".join(cell["source"]), f"cell {n}", "exec"), names)
"""


def read(path: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return found


def run(notebook: dict[str, Any], folder: Path) -> subprocess.CompletedProcess[str]:
    """The notebook from an empty folder."""
    given, place = folder / "notebook.json", folder / "empty"
    place.mkdir()
    given.write_text(json.dumps(notebook))
    path = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
    variables = os.environ | {"PYTHONPATH": path, "PYTHONUTF8": "1", "TMPDIR": str(place)}
    command = [sys.executable, "-c", RUN, str(given)]
    return subprocess.run(command, cwd=place, env=variables, capture_output=True, text=True, timeout=600, check=False)


def wrong(notebook: dict[str, Any]) -> list[str]:
    """What a document in version 4.5 of the format, without outputs, has not."""
    if (notebook["nbformat"], notebook["nbformat_minor"]) != (4, 5):
        return ["another format"]
    found = [] if "ou will see" in "".join(notebook["cells"][0]["source"]) else ["it does not say what one will see"]
    ids = [cell["id"] for cell in notebook["cells"]]
    if len(set(ids)) < len(ids):
        found.append("an id twice")
    for cell in notebook["cells"]:
        kind, text = cell["cell_type"], "".join(cell["source"])
        keys = {"cell_type", "id", "metadata", "source", *(("outputs", "execution_count") if kind == "code" else ())}
        if set(cell) != keys or kind not in ("code", "markdown"):
            found.append(f"{cell['id']}: keys")
        if cell.get("outputs") or cell.get("execution_count") is not None:
            found.append(f"{cell['id']}: an output that depends on noise")
        if kind == "code":
            try:
                ast.parse(text)
            except SyntaxError:  # such as %time, which only Jupyter knows
                found.append(f"{cell['id']}: no Python")
    if "raise SystemExit(" not in "".join(notebook["cells"][-1]["source"]):
        found.append("it does not check its own answer")
    return found


def test_there_is_one_and_the_page_of_demos_names_it() -> None:
    page = (ROOT / "demos" / "README.md").read_text(encoding="utf-8")
    assert [path.name for path in NOTEBOOKS if f"]({path.name})" in page] == ["learn_together.ipynb"]
    assert len(NOTEBOOKS) == 1


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.name)
def test_the_document_is_whole_and_holds_no_outputs(path: Path) -> None:
    assert wrong(read(path)) == []


BROKEN: dict[str, tuple[Callable[[list[dict[str, Any]]], object], str]] = {
    "an output": (lambda c: c[1].update(outputs=[{"output_type": "stream"}]), "cell-1: an output that depends"),
    "a count": (lambda c: c[1].update(execution_count=3), "cell-1: an output that depends"),
    "a magic": (lambda c: c[1].update(source=["%time 1"]), "cell-1: no Python"),
    "no check": (lambda c: c.pop(), "it does not check its own answer"),
    "an id": (lambda c: c[1].update(id="cell-0"), "an id twice"),
    "a key": (lambda c: c[1].pop("metadata"), "cell-1: keys"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_document_is_told(name: str) -> None:
    broken = deepcopy(read(NOTEBOOKS[0]))
    change, fault = BROKEN[name]
    change(broken["cells"])
    assert any(found.startswith(fault) for found in wrong(broken))


@pytest.mark.slow
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.name)
def test_the_notebook_runs_and_agrees_with_itself(path: Path, tmp_path: Path) -> None:
    done = run(read(path), tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert "The audit passed." in done.stdout


@pytest.mark.slow
def test_a_notebook_that_shows_something_else_ends_with_an_error(tmp_path: Path) -> None:
    broken = read(NOTEBOOKS[0])
    broken["cells"] = [cell for cell in broken["cells"] if "audited = audit_run" not in "".join(cell["source"])]
    broken["cells"][-1]["source"].insert(0, "import types\naudited = types.SimpleNamespace(passed=False)\n")
    done = run(broken, tmp_path)
    assert (done.returncode, done.stderr.splitlines()[-1]) == (1, "an honest run does not pass its audit")
