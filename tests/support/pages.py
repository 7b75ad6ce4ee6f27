"""The Markdown pages of the repository, and their fenced blocks."""

from __future__ import annotations

import io
import os
import re
import shlex
import subprocess
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path

import pytest

from smc_dp.cli.main import main

ROOT = Path(__file__).resolve().parents[2]
FOLDERS = (".github", "demos", "protocols", "smc_dp", "tests")
PAGES = [*sorted(ROOT.glob("*.md")), *(page for name in FOLDERS for page in sorted((ROOT / name).rglob("*.md")))]


@dataclass(frozen=True)
class Block:
    """A fenced block: the words after the fence, the text, the number of its first line.

    One that is `indented` belongs to a step of a recipe, and `test_recipes.py` carries it out.
    """

    words: tuple[str, ...]
    text: str
    line: int
    indented: bool

    @property
    def language(self) -> str:
        """First word after the fence."""
        return self.words[0] if self.words else ""

    @property
    def file(self) -> str:
        """Name of the file that the block is, empty if it is none."""
        return self.words[1] if len(self.words) > 1 and "." in self.words[1] else ""

    def of(self, language: str) -> bool:
        """Tell whether the block is of this language and belongs to no recipe."""
        return self.language == language and not self.indented


def blocks(page: str) -> Iterator[Block]:
    """Yield the fenced blocks of a page, in order."""
    words: tuple[str, ...] = ()
    held: list[str] = []
    fence, indented, start = "", False, 0
    for number, line in enumerate(page.splitlines(), start=1):
        opening = re.match(r" *(`{3,})(.*)", line)
        if opening and not fence:
            fence, words, held, start = opening[1], tuple(opening[2].split()), [], number + 1
            indented = line.startswith(" ")
        elif fence and line.strip() == fence:
            yield Block(words, "\n".join(held) + "\n", start, indented)
            fence = ""
        elif fence:
            held.append(line)


def name_of(page: Path) -> str:
    """Return the path of a page in the repository."""
    return page.relative_to(ROOT).as_posix()


# A folder in which pages are carried out.

_PROGRAM = f"""\
#!{sys.executable} -P
import sys
sys.path.insert(0, {str(ROOT)!r})
from smc_dp.cli.start import main
sys.exit(main())
"""
_DATA = os.environ.get("SMC_DP_DATA", "/nowhere")
HAS_DATA = (Path(_DATA) / "a9a" / "a9a.gz").is_file()
NEEDS_DATA = re.compile(r"needs-data|--data-dir")
"""A Python block with this word, and a command with this option, need data sets that are not in the package."""
INSTALLATION = re.compile(r"(python3 -m venv \.venv && )?\.venv/bin/pip install --quiet [^&]+( && |$)")
"""What `.ci/run` carries out, on a clean checkout."""


def write_program(path: Path, text: str = _PROGRAM) -> None:
    """Write `smc-dp`, which needs no variable of the environment to find this tree, or another program."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)


def prepare_folder(folder: Path) -> None:
    """Put the program into a folder, where a shell finds it."""
    write_program(folder / ".venv" / "bin" / "smc-dp")
    (folder / "DIR").symlink_to(_DATA)


def run_shell(text: str, folder: Path) -> str:
    """Run lines for the shell in a folder, all of which have to end well; return what they printed."""
    path = f"{folder / '.venv' / 'bin'}:/usr/sbin:/usr/bin:/bin"
    done = subprocess.run(
        ["/bin/bash", "-euo", "pipefail", "-c", text], cwd=folder, stdin=subprocess.DEVNULL, capture_output=True,
        env={**os.environ, "HOME": str(folder), "PATH": path, "OMP_NUM_THREADS": "1"}, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, f"$ {text}\n{done.stdout}{done.stderr}"
    return done.stdout


PLAIN = re.compile(r"smc-dp [^|&;<>$*?`()#~\\]+")
"""The program and nothing that only a shell does."""


def run_line(line: str, folder: Path) -> str:
    """Run a line for the shell as `run_shell` does, but the program by itself in this process, which has loaded it."""
    return run_here(line, folder) if PLAIN.fullmatch(line) else run_shell(line, folder)


def run_here(line: str, folder: Path) -> str:
    """Run the program with the options of this line, which has to end well; return what it printed."""
    said, told = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True) for _ in range(2))
    with pytest.MonkeyPatch.context() as patch, warnings.catch_warnings(), redirect_stdout(said), redirect_stderr(told):
        warnings.simplefilter("ignore")  # they are no errors outside of a test
        patch.chdir(folder)
        patch.setenv("HOME", str(folder))
        code = main(shlex.split(line)[1:])
    printed, errors = (stream.buffer.getvalue().decode() for stream in (said, told))  # type: ignore[attr-defined]
    assert code == 0, f"$ {line}\n{printed}{errors}"
    return str(printed)


def lines_of(text: str) -> list[str]:
    """Return the lines of a block for the shell, without the installation."""
    found = (INSTALLATION.sub("", line) for line in text.replace("\\\n", " ").splitlines())
    return [line for line in found if line.strip()]


def carry_out(page: str, folder: Path, left_out: re.Pattern[str], run: Callable[[str, Path], str] = run_line) -> None:
    """Carry out the blocks of a page in a folder, in their order, but for the lines for the shell that are left out.

    A Python block knows the names of those before it. Text with the name of a file is written into that file; other
    text after commands is what they print, but for the numbers.
    """
    names: dict[str, object] = {"__name__": "page"}
    printed = ""
    for block in blocks(page):
        if not HAS_DATA and NEEDS_DATA.search(" ".join(block.words)):
            continue
        if block.of("python"):
            exec(compile("\n" * (block.line - 1) + block.text, "page", "exec"), names)
        elif block.file:
            (folder / block.file).write_text(block.text, encoding="utf-8")
        elif block.of("sh"):
            lines = [line for line in lines_of(block.text) if not left_out.match(line)]
            said = [run(line, folder) for line in lines if HAS_DATA or not NEEDS_DATA.search(line)]
            printed = "".join(said) or printed
        elif block.of("text") and not left_out.match(block.text):
            assert differing(block.text, printed) == []


def differing(said: str, printed: str) -> list[str]:
    """Return the parts of a text, with `...` between them, that do not follow each other in what was printed."""
    rest, wrong = _shape(printed), []
    for part in re.split(r"^\.\.\.\n", said, flags=re.MULTILINE):
        before, found, after = rest.partition(_shape(part))
        if not found:
            wrong.append(part)
        rest = after if found else before
    return wrong


def _shape(text: str) -> str:
    """Return a text without the values of its numbers, names of run folders, and how it is spaced and folded."""
    return re.sub(r"\s+", " ", re.sub(r"\d[\d.]*(e[-+]?\d+)?", "0", re.sub(r"runs/[\w-]+", "runs/0", text)))
