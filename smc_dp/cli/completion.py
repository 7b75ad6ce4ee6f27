"""Completion in a shell: its script, for the shell that is named or that the program was started from."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from smc_dp.core.errors import InputError, shown

SHOW, INSTALL = "--show-completion", "--install-completion"
PROGRAM, VARIABLE = "smc-dp", "_SMC_DP_COMPLETE"  # the variable that click reads for a program of this name
SHELLS = ("bash", "zsh", "fish", "powershell", "pwsh")  # those for which typer has a script


def is_request(arguments: Sequence[str]) -> bool:
    """Return whether these arguments ask for completion, with or without the name of a shell."""
    return bool(arguments) and arguments[0].partition("=")[0] in (SHOW, INSTALL)


def print_or_install(arguments: Sequence[str]) -> int:
    """Print the script, or put it where the shell reads it; InputError for a shell that is not known."""
    option, _, joined = arguments[0].partition("=")
    named = [joined, *arguments[1:]] if joined else list(arguments[1:])
    if len(named) > 1:
        raise InputError("options.two_shells", option=option, got=shown(" ".join(named)))
    shell = named[0] if named else _own_shell(option)
    if shell not in SHELLS:
        raise InputError("options.unknown_shell", option=option, shells=SHELLS, got=shown(shell))
    if option == SHOW:
        print(_typers().get_completion_script(prog_name=PROGRAM, complete_var=VARIABLE, shell=shell))
        return 0
    _, path = _typers().install(shell, PROGRAM, VARIABLE)
    print(f"Installed for {shell} in {path}; it takes effect in the next shell.")
    return 0


def register_shells() -> None:
    """Teach typer the shells, where it is a shell that asks what could come next."""
    if VARIABLE in os.environ:
        _typers().completion_init()


def _typers() -> Any:
    """Return typer's module; its own options always want the name of a shell, or never, so they are not used."""
    import typer.completion

    return typer.completion


def _own_shell(option: str) -> str:
    """Return the shell in which the program was started; the user's own where that is unknown."""
    import shellingham

    try:
        return str(shellingham.detect_shell()[0])
    except shellingham.ShellDetectionFailure:
        name = Path(os.environ.get("SHELL", "")).name
        if not name:
            raise InputError("options.no_shell_found", option=option, shells=SHELLS) from None
        return name
