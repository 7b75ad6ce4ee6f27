"""Recipes work as they are written, and each step that is left out is noticed by the test that it names."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
from layers import faults, files
from support.pages import ROOT, blocks
from support.planted import Planter

PAGES = (".github/CONTRIBUTING.md", "protocols/HOWTO_PROTOCOL.md", "smc_dp/methods/HOWTO_METHOD.md")
STEP = re.compile(
    r"^(?P<number>\d+)\. (?P<words>[^\n]*\n(?: {3,4}\S[^\n]*\n)*)\n"
    r"(?P<indent> {3,4})```(?P<language>\w+)\n(?P<block>.*?)\n(?P=indent)```\n\n"
    r"(?P=indent)Forgotten: `(?P<test>[^`]+)`$",
    re.MULTILINE | re.DOTALL,
)
PLACE = re.compile(r"# (?P<how>new file|at the end|below|instead of)(?:: (?P<anchor>.*))?")


@dataclass(frozen=True)
class Step:
    """One step: the file, where its text goes, the text, and the test that fails without it."""

    number: int
    file: str
    how: str
    anchor: str
    text: str
    forgotten: str

    def do(self, root: Path) -> None:
        """Carry it out under this folder; raises ValueError when the place that it names is not there."""
        path = root / self.file
        if self.how == "new file":
            if path.exists():
                raise ValueError(f"step {self.number}: {self.file} exists")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(self.text, encoding="utf-8")
            return
        lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
        at = len(lines)
        if self.how != "at the end":
            at = next((i for i, line in enumerate(lines, start=1) if self.anchor in line), 0)
            if not at:
                raise ValueError(f"step {self.number}: {self.file} has no line with {self.anchor!r}")
        kept = lines[: at - (self.how == "instead of")]
        path.write_text("".join([*kept, self.text, *lines[at:]]), encoding="utf-8")


def recipes(page: str) -> dict[str, tuple[Step, ...]]:
    """The recipes of a page by their headings; raises ValueError for a numbered step that is not one."""
    sections = re.split(r"^#+ (.+)$", page, flags=re.MULTILINE)[1:]
    named = zip(sections[::2], sections[1::2], strict=True)
    return {name: tuple(_steps(name, text)) for name, text in named if "Forgotten: `" in text}


def _steps(recipe: str, text: str) -> Iterator[Step]:
    found = [match.groupdict() for match in STEP.finditer(text)]
    for number in re.findall(r"^(\d+)\. ", text, flags=re.MULTILINE):
        if number not in {step["number"] for step in found}:
            raise ValueError(f"{recipe}, step {number}: wanted words, a block and the test that notices it")
    for step in found:
        file = re.search(r"`([\w./-]+)`", step["words"])
        first, *lines = [line.removeprefix(step["indent"]) for line in step["block"].split("\n")]
        place = PLACE.fullmatch(first)
        if file is None or place is None:
            raise ValueError(f"{recipe}, step {step['number']}: names no file, or no place in it")
        inside = "\n".join(lines) + "\n"
        yield Step(int(step["number"]), file[1], place["how"], place["anchor"] or "", inside, step["test"])


@contextmanager
def done(planter: Planter, steps: Sequence[Step]) -> Iterator[Path]:
    """A copy of the repository in which these steps have been done."""
    files = {step.file for step in steps}
    with planter.changing(*files):
        for step in steps:
            step.do(planter.root)
        planter.is_changed(*files)
        yield planter.root


def run(root: Path, module: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """`python -m module` in the copy, with nothing of the real tree on the path."""
    variables = {**os.environ, "PYTHONPATH": str(root), "PYTHONDONTWRITEBYTECODE": "1"}
    command = [sys.executable, "-m", module, *arguments]
    return subprocess.run(command, cwd=root, env=variables, capture_output=True, text=True, timeout=600, check=False)


def notices(planter: Planter, *tests: str, **options: object) -> str | None:
    """What pytest says when one of these tests fails or cannot be loaded; None when all pass."""
    code, said = planter.run(*tests, **options)
    return None if code == 0 else said


RECIPES = {name: steps for page in PAGES for name, steps in recipes((ROOT / page).read_text(encoding="utf-8")).items()}
EACH = [pytest.param(name, i, id=f"{name}, without {i + 1}") for name in RECIPES for i in range(len(RECIPES[name]))]


def test_there_are_five_recipes_with_numbered_steps() -> None:
    assert set(RECIPES) == {"Add an attack", "Add an audit check", "Add a protocol", "Add a method", "Add a setting"}
    for steps in RECIPES.values():
        assert [step.number for step in steps] == list(range(1, len(steps) + 1))
        assert len(steps) >= 3


@pytest.mark.parametrize("page", PAGES)
def test_every_block_in_a_step_is_of_a_recipe(page: str) -> None:
    text = (ROOT / page).read_text(encoding="utf-8")
    assert sum(map(len, recipes(text).values())) == sum(block.indented for block in blocks(text)) > 0


@pytest.mark.slow
@pytest.mark.parametrize("name", RECIPES)
def test_the_whole_recipe_passes(name: str, planter: Planter) -> None:
    steps = RECIPES[name]
    with done(planter, steps) as root:
        tests = {step.forgotten for step in steps} | {"tests/test_layers.py"}
        assert notices(planter, *sorted(tests), deselect=["tests/test_layers.py::test_file_keeps_the_rules"]) is None
        written = sorted({step.file for step in steps if step.file.endswith(".py")})
        names = {path: name for name, path in files(root).items()}
        wrong = [faults((root / file).read_text(), names[root / file]) for file in written if root / file in names]
        assert not any(wrong), wrong
        for arguments in (("check", "--no-cache", *written), ("format", "--no-cache", "--check", *written)):
            found = run(root, "ruff", *arguments)
            assert found.returncode == 0, found.stdout


@pytest.mark.slow
@pytest.mark.parametrize(("name", "left_out"), EACH)
def test_a_step_that_is_left_out_is_noticed(name: str, left_out: int, planter: Planter) -> None:
    steps = RECIPES[name]
    with done(planter, [*steps[:left_out], *steps[left_out + 1 :]]):
        assert notices(planter, steps[left_out].forgotten) is not None


# Broken recipes.

GOOD = """
## Recipes

### Add a line

1. A line, `a.txt`, and
   more words.

   ```text
   # below: one
     two
   ```

   Forgotten: `test_a.py`

2. The end, `a.txt`.

   ```text
   # at the end
   four
   ```

   Forgotten: `test_a.py::test_end`

## Other
"""


def test_a_recipe_is_read_and_done(tmp_path: Path) -> None:
    (steps,) = recipes(GOOD).values()
    (tmp_path / "a.txt").write_text("one\nthree\n")
    for step in steps:
        step.do(tmp_path)
    assert (tmp_path / "a.txt").read_text() == "one\n  two\nthree\nfour\n"
    assert [step.forgotten for step in steps] == ["test_a.py", "test_a.py::test_end"]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("   Forgotten: `test_a.py`\n", ""),
        ("   ```text\n   # below: one\n     two\n   ```\n", ""),
        ("# below: one", "# somewhere"),
        ("The end, `a.txt`.", "The end."),
    ],
)
def test_a_step_that_lacks_something_is_refused(old: str, new: str) -> None:
    with pytest.raises(ValueError, match="Add a line, step"):
        recipes(GOOD.replace(old, new))


def test_a_place_that_is_not_there_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("three\n")
    with pytest.raises(ValueError, match=r"step 1: a\.txt has no line with 'one'"):
        recipes(GOOD)["Add a line"][0].do(tmp_path)


@pytest.mark.slow
def test_whether_a_test_notices_is_what_pytest_says(planter: Planter) -> None:
    with planter.changing("tests/test_a.py"):
        text = "def test_good():\n    pass\n\n\ndef test_bad():\n    raise ValueError\n"
        (planter.root / "tests" / "test_a.py").write_text(text)
        assert notices(planter, "tests/test_a.py::test_good") is None
        assert "ValueError" in str(notices(planter, "tests/test_a.py::test_bad"))
        assert notices(planter, "tests/test_a.py::test_good", "tests/test_drop_out.py") is not None
    assert notices(planter, "tests/test_a.py::test_good") is not None
