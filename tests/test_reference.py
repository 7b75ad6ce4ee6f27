"""Pages that the documentation makes have every command, and every code with its sentence and its files."""

from __future__ import annotations

import importlib.util
import re
from functools import cache
from typing import Any

import typer

from smc_dp.cli.main import app
from tests.codes import ROOT, calls_in, catalogues, sources


@cache
def reference() -> Any:
    """Return the module of the documentation, which lies in no package."""
    spec = importlib.util.spec_from_file_location("reference", ROOT / ".ci" / "reference.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def missing_codes(page: str) -> set[str]:
    """Return the codes that the page has not, or without their sentence or a file that makes a fault of them."""
    lines = dict(re.findall(r"^\* \*\*`([\w.]+)`\*\* (.+ \*\[.+)$", page, flags=re.MULTILINE))
    wanted = {code: [reference().as_text(text)] for one in catalogues() for code, text in one.items()}
    for file, source in sources().items():
        for call in calls_in(source, file):
            wanted[call.code].append(f"]({file})")
    return {code for code, parts in wanted.items() if not all(part in lines.get(code, "") for part in parts)}


def test_the_page_of_codes_has_every_code_with_its_sentence_and_its_files() -> None:
    page = reference().codes_page()
    assert missing_codes(page) == set()
    line = next(line for line in page.splitlines() if "**`columns.no_order`**" in line)
    assert missing_codes(page.replace(line, "")) == {"columns.no_order"}
    assert missing_codes(page.replace(line, line.partition(" *[")[0])) == {"columns.no_order"}
    assert missing_codes(page.replace(line, line.replace("{low}", "low"))) == {"columns.no_order"}


def missing_commands(page: str) -> set[str]:
    """Return the commands and options that the page has not, or without what they do."""
    found: set[str] = set()
    for command, names in reference().all_commands(typer.main.get_command(app), "smc-dp"):
        part = page.partition(f"\n## {' '.join(names)}\n")[2].partition("\n## ")[0]
        wanted = [name for parameter in command.params for name in parameter.opts[:1] if name.startswith("--")]
        found |= {
            " ".join((*names, name)) for name in wanted if not re.search(rf"^\* .*{name}\b.*`\*\* \w", part, re.M)
        }
        found |= set() if reference().as_text(command.help.split("\n\n")[0]) in part else {" ".join(names)}
    return found


def test_the_page_of_commands_has_every_command_and_option() -> None:
    page = reference().commands_page()
    assert missing_commands(page) == set()
    assert missing_commands(page.replace("## smc-dp study open\n", "\n")) >= {"smc-dp study open"}
    assert missing_commands(page.replace("`--strict-bounds`", "``")) == {"smc-dp run --strict-bounds"}
    assert page == reference().commands_page()  # what is hidden on the screen is hidden again
