"""Makes the pages of reference that are in no file: the commands, and the codes of faults and findings."""

from __future__ import annotations

import sys
import tomllib
from collections import defaultdict
from collections.abc import Iterable, Iterator
from inspect import cleandoc
from pathlib import Path
from typing import Any

import typer

from smc_dp.cli.main import app

ROOT = Path(__file__).resolve().parents[1]
sys.path.append(str(ROOT))  # behind everything else: `tests` is no package that is installed

from tests.codes import calls_in, literals_in, sources  # noqa: E402

COMMANDS = """\
# Commands

*This page is a reference.* It has what `--help` prints of every command. Run folders and what is in them are
[described apart](smc_dp/README.md#run).
"""
CODES = """\
# Codes of faults and findings

*This page is a reference.* A refusal, a warning, a finding of an audit and a decision of a report is a code with
fields. Each code stands here with its sentence and the files that give it. The program fills in the fields, in braces.
To find the code of a message, search for its words.
"""


def all_commands(command: Any, *names: str) -> Iterator[tuple[Any, tuple[str, ...]]]:
    """Yield a command with its names, and all commands below it."""
    yield command, names
    for name, below in getattr(command, "commands", {}).items():
        yield from all_commands(below, *names, name)


def commands_page() -> str:
    """Return the page of all commands."""
    found = all_commands(typer.main.get_command(app), "smc-dp")
    return "\n".join([COMMANDS, *(part for command, names in found for part in parts_of_command(command, names))])


def parts_of_command(command: Any, names: tuple[str, ...]) -> Iterator[str]:
    """Yield heading, usage, help, arguments and options of a command, and the names of the commands below it."""
    title = " ".join(names)
    context = command.context_class(command, info_name=title)
    yield f"## {title}\n\n`{command.get_usage(context).removeprefix('Usage: ')}`\n"
    for paragraph in cleandoc(command.help).split("\n\n"):
        first, _, rest = paragraph.partition("\n")
        yield f"```text\n{rest}\n```\n" if first == "\b" else f"{as_text(paragraph)}\n"
    below = [f"[{name}](#{'-'.join((*names, name))})" for name in getattr(command, "commands", {})]
    yield f"Commands: {', '.join(below)}.\n" if below else ""
    parameters = command.get_params(context)
    hidden = [parameter for parameter in parameters if getattr(parameter, "hidden", False)]
    yield lines_of_parameters([parameter for parameter in parameters if parameter not in hidden], context)
    if hidden:
        yield f"More options, which `{title} --help-all` shows:\n"
        for parameter in hidden:
            parameter.hidden = False
        yield lines_of_parameters(hidden, context)
        for parameter in hidden:
            parameter.hidden = True


def lines_of_parameters(parameters: Iterable[Any], context: Any) -> str:
    """Return a list of arguments and options, each with what it does."""
    records = filter(None, (parameter.get_help_record(context) for parameter in parameters))
    return "".join(f"* **`{names}`** {as_text(text)}\n" for names, text in records)


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
    for path in sorted(ROOT.glob("[ps]*/**/faults.toml"), key=lambda found: found.parent):
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
    """Return a sentence as Markdown on one line, in which nothing has a meaning but code in backticks."""
    parts = " ".join(sentence.split()).split("`")
    code = len(parts) % 2  # of pairs of backticks only
    return ("`" if code else "\\`").join(part if code and k % 2 else escaped(part) for k, part in enumerate(parts))


def escaped(text: str) -> str:
    """Return a text as Markdown in which nothing has a meaning."""
    said = "".join(f"\\{letter}" if letter in "\\*_[]#|" else letter for letter in text)
    return said.replace("&", "&amp;").replace("<", "&lt;")


PAGES = {"commands.md": commands_page, "codes.md": codes_page}
"""The pages, by their names in the site."""
