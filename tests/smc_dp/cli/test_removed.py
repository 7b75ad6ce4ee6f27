"""Removed commands and options: each is refused in one line that names a command that exists."""

from __future__ import annotations

from pathlib import Path

import pytest
import typer.main

from smc_dp.cli import removed
from smc_dp.cli.main import app, main

REMOVED = {
    **{(name,): use for name, use in removed.REMOVED_COMMANDS.items()},
    **removed.REMOVED_OPTIONS,
    **removed.REMOVED_VALUES,
}
INSTEAD = set(REMOVED.values())
ROOT = Path(__file__).parents[3]


def refused(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    """Return the one line on standard error of a call that is refused."""
    assert main(arguments) == 2
    out, err = capsys.readouterr()
    assert (out, err.count("\n")) == ("", 1)
    return err


@pytest.mark.parametrize("words", REMOVED, ids=" ".join)
def test_what_was_removed_is_refused_with_what_to_use(
    words: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    line = refused(capsys, *" ".join(words).split(), "--json")
    assert line.startswith(f"error: {words[-1]}: ")
    assert line.endswith(f"use {REMOVED[words]}\n")


@pytest.mark.parametrize("instead", sorted(one for one in INSTEAD if one.endswith(" in a checkout")))
def test_what_to_run_in_a_checkout_exists(instead: str) -> None:
    program, option, path, *_ = instead.split()
    assert (program, option) == ("pytest", "-n0")
    assert (ROOT / path).exists()


@pytest.mark.parametrize("instead", sorted(one for one in INSTEAD if not one.endswith(" in a checkout")))
def test_what_to_use_exists(instead: str) -> None:
    """The words after `smc-dp` lead to a command or group of today, its options are among those of that command, and
    a page that is named exists.
    """
    group: object = typer.main.get_command(app)
    call, _, page = instead.partition(", see ")
    program, *words = call.partition(" and ")[0].split()
    assert (ROOT / page).exists()
    assert program == "smc-dp"
    while words and words[0] in getattr(group, "commands", {}):
        group = group.commands[words.pop(0)]  # type: ignore[attr-defined]
    known = {option for parameter in getattr(group, "params", ()) for option in parameter.opts}
    assert not (words and hasattr(group, "commands"))
    assert {word for word in words if word.startswith("-")} <= known


def test_no_command_of_today_is_refused() -> None:
    commands = typer.main.get_command(app).commands  # type: ignore[attr-defined]
    inside = {f"{group} {name}" for group, found in commands.items() for name in getattr(found, "commands", ())}
    assert not {*commands, *inside} & set(removed.REMOVED_COMMANDS)


def test_an_option_or_a_value_joined_to_it_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert "lab matrix" in refused(capsys, "audit", "--matrix=linear")
    assert "--protocol linear" in refused(capsys, "lab", "walkthrough", "--protocol=pathak2010-garbled")
