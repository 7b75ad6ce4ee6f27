"""Code of a step and the notes on it, read from the files that run: neither is copied here."""

from __future__ import annotations

import inspect
import re
import sys
import textwrap
from collections.abc import Iterator
from importlib import resources

from protocols.runtime.citations import NOTES, strip_markup
from smc_dp.attacks.attack import MeasuredAttack, StepCode, Variant

_MARK = re.compile(r"\[N\d+\]")
_NOTE = re.compile(r"\*\*(\[N\d+\]) ")


def function_place(function: StepCode) -> str:
    """Return the file and the name of a function."""
    return f"{function.__module__.replace('.', '/')}.py, {function.__qualname__}"


def function_source(function: StepCode) -> str:
    """Return the source of a function, moved to the margin."""
    return textwrap.dedent(inspect.getsource(function)).rstrip()


def step_notes(attack: MeasuredAttack) -> tuple[str, ...]:
    """Return the paragraphs written about the broken step.

    These are the first ones of the notes that the attack names; where it names none, the docstring of the module with
    the step.
    """
    found = tuple(paragraph for variant in attack.attacked[:1] for paragraph in _of_notes(attack, variant))
    if found or not attack.attacked:
        return found
    step = attack.attacked[0].code[-1]
    return _paragraphs(inspect.getdoc(sys.modules[step.__module__]) or "")


def _of_notes(attack: MeasuredAttack, variant: Variant) -> Iterator[str]:
    room = variant.code[0].__module__.rpartition(".")[0]
    file = resources.files(room) / NOTES
    wanted = {*_MARK.findall(attack.flaw), *([attack.noted] if attack.noted else [])}
    if not wanted or not file.is_file():
        return
    under = ""
    for paragraph in _paragraphs(file.read_text(encoding="utf-8")):
        note = _NOTE.match(paragraph)
        if paragraph.startswith("#"):
            under = paragraph.lstrip("# ")
        elif note:
            under = note[1]
        if under in wanted and not paragraph.startswith("#"):
            yield strip_markup(paragraph)
            under = ""


def _paragraphs(text: str) -> tuple[str, ...]:
    """Return the paragraphs of a text, each on one line; lists and tables are none."""
    return tuple(" ".join(part.split()) for part in text.strip().split("\n\n"))
