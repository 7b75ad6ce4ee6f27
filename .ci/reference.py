"""Makes the pages of reference that are in no file: the commands, and the codes of faults and findings."""

from __future__ import annotations

import os
import sys
import tomllib
from collections import defaultdict
from collections.abc import Iterator
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path
from typing import Any
from unittest.mock import patch

import typer

from smc_dp.cli.main import app, main

ROOT = Path(__file__).resolve().parents[1]
sys.path.append(str(ROOT))  # behind everything else: `tests` is no package that is installed

from tests.codes import calls_in, literals_in, sources  # noqa: E402

COMMANDS = """\
# Commands

*This page is a reference.* It has the help of every command, as `smc-dp COMMAND --help` prints it.
`smc-dp run --help` has the options that users need, and `smc-dp run --help-all` has all of them.
"""
CODES = """\
# Codes of faults and findings

*This page is a reference.* A refusal, a warning, a finding of an audit and a decision of a report is a code with
fields. Each code stands here with its sentence and the files that give it. The program fills in the fields, in braces.
To find the code of a message, search for its words.
"""


def all_commands(command: Any, *names: str) -> Iterator[tuple[str, ...]]:
    """Yield the names of a command, and of all commands below it."""
    yield names
    for name, below in getattr(command, "commands", {}).items():
        yield from all_commands(below, *names, name)


def help_of(*words: str) -> str:
    """Return what the command line prints for these words, in lines of 80 letters."""
    with patch.dict(os.environ, COLUMNS="80"), redirect_stdout(StringIO()) as printed:
        main(list(words))
    return printed.getvalue().rstrip()


def commands_page() -> str:
    """Return the page of all commands."""
    parts = [COMMANDS]
    for names in all_commands(typer.main.get_command(app)):
        title = " ".join(("smc-dp", *names))
        asked = [(title, "--help"), *([(f"{title} --help-all", "--help-all")] if names == ("run",) else [])]
        parts += [f"## {heading}\n\n```text\n{help_of(*names, option)}\n```\n" for heading, option in asked]
    return "\n".join(parts)


def places_of_codes() -> dict[str, list[str]]:
    """Return the files that give each code: those with a call that makes a fault of it, else those that hold it."""
    made, held = defaultdict(list), defaultdict(list)
    for file, source in sources().items():
        for code in {call.code for call in calls_in(source, file)}:
            made[code].append(file)
        for code in literals_in(source):
            held[code].append(file)
    return {code: made.get(code, files) for code, files in held.items()}


def codes_page() -> str:
    """Return the page of all codes, by the folder of their sentences."""
    parts, places = [CODES], places_of_codes()
    for path in sorted(ROOT.glob("[ps]*/**/faults.toml")):
        parts.append(f"## {path.parent.relative_to(ROOT)}\n")
        for subject, named in tomllib.loads(path.read_text(encoding="utf-8")).items():
            lines = [f"### {subject}\n"]
            for name, sentence in named.items():
                code = f"{subject}.{name}"
                where = ", ".join(f"[{file.partition('/')[2]}]({file})" for file in places[code])
                lines.append(f"* **`{code}`** {as_text(sentence)} *{where}*")
            parts.append("\n".join(lines) + "\n")
    return "\n".join(parts)


def as_text(sentence: str) -> str:
    """Return a sentence as Markdown in which nothing has a meaning, on one line."""
    escaped = "".join(f"\\{letter}" if letter in "\\`*_[]#|" else letter for letter in sentence)
    return " ".join(escaped.replace("&", "&amp;").replace("<", "&lt;").split())


PAGES = {"commands.md": commands_page, "codes.md": codes_page}
"""The pages, by their names in the site."""
