"""Code of a step and the notes on it, read from the files that run: neither is copied here."""

from __future__ import annotations

import inspect
import re
import textwrap

from protocols.runtime.citations import read_note
from smc_dp.attacks.attack import MeasuredAttack, StepCode

_MARK = re.compile(r"\[(N\d+)\]")


def function_place(function: StepCode) -> str:
    """Return the file and the name of a function."""
    return f"{function.__module__.replace('.', '/')}.py, {function.__qualname__}"


def function_source(function: StepCode) -> str:
    """Return the source of a function, moved to the margin."""
    return textwrap.dedent(inspect.getsource(function)).rstrip()


def step_notes(attack: MeasuredAttack) -> tuple[str, ...]:
    """Return the first paragraph of each note that the attack names."""
    if not attack.attacked:
        return ()
    package = attack.attacked[0].code[0].__module__.rpartition(".")[0]
    return tuple(read_note(package, label) for label in _MARK.findall(attack.flaw))
