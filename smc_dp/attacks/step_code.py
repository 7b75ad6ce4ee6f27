"""The code of a step and what is noted of it, read from the files that run: nothing of either is copied here."""

from __future__ import annotations

import inspect
import re
import sys
import textwrap
from collections.abc import Iterator
from importlib import resources

from protocols.runtime.citations import NOTES, plain
from smc_dp.attacks.attack import MeasuredAttack, StepCode, Variant

_MARK = re.compile(r"\[N\d+\]")
_NOTE = re.compile(r"\*\*(\[N\d+\]) ")


def place(function: StepCode) -> str:
    """The file and the name of a function."""
    return f"{function.__module__.replace('.', '/')}.py, {function.__qualname__}"


def source(function: StepCode) -> str:
    """Its source as it stands, moved to the margin."""
    return textwrap.dedent(inspect.getsource(function)).rstrip()


def noted(attack: MeasuredAttack) -> tuple[str, ...]:
    """What is written of the broken step where it stands, a paragraph each: the notes that the attack names; where it
    names none, what the file of the step says first.
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
            yield plain(paragraph)


def _paragraphs(text: str) -> tuple[str, ...]:
    """The paragraphs of a text, each in one line; lists and tables are none."""
    return tuple(" ".join(part.split()) for part in text.strip().split("\n\n"))
