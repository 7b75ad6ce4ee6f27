"""Letters of the secure sum: the table of the proofs' README is that of Coq, the program and NOTES."""

from __future__ import annotations

import inspect
import re
from functools import cache
from importlib import import_module
from pathlib import Path

import pytest

ROOM = Path(__file__).resolve().parents[3] / "protocols" / "secure_sum"
PROOFS = ROOM / "proofs"
# Not of a scope (%R), a type ('C), a view of a library (=P), or a name that is qualified.
LETTER = re.compile(r"(?:(?<![\w'.%:=])|(?<='I_))([A-Za-z])(?!\w)")
ROW = re.compile(
    r'^\| ([A-Za-z](?:, [A-Za-z])*) \| ([^|]+) \| ([^|]*)(?:\| ([^|]*)\| (?:"([^"|]+)")? ?)?\|$', re.MULTILINE
)


@cache
def rows() -> list[tuple[str, str, str, str, str]]:
    """Return each letter of the table: what it is, its Coq file, its name in the program, and the words of NOTES."""
    page = (PROOFS / "README.md").read_text(encoding="utf-8").partition("## Letters")[2].partition("\n## ")[0]
    return [
        (letter, what, coq.strip(" `"), program.strip(" `"), notes)
        for letters, what, coq, program, notes in ROW.findall(page)
        for letter in letters.split(", ")
    ]


def letters_of(file: Path) -> set[str]:
    """Return the letters that stand for something in a Coq file, with or without primes."""
    return set(LETTER.findall(re.sub(r"\(\*.*?\*\)", "", file.read_text(encoding="utf-8"), flags=re.DOTALL)))


def test_each_letter_has_one_meaning() -> None:
    letters = [letter for letter, *_ in rows()]
    assert sorted(set(letters)) == sorted(letters)
    assert len(letters) > 30


def test_coq_has_the_letters_of_the_table_and_no_other() -> None:
    found = {file.name: letters_of(file) for file in PROOFS.glob("*.v")}
    named = {letter: file for letter, _, file, *_ in rows() if file}
    assert set().union(*found.values()) == set(named)
    assert {letter: file for letter, file in named.items() if letter not in found[file]} == {}


@pytest.mark.parametrize("name", sorted({program for *_, program, _ in rows() if program}))
def test_the_program_has_the_name(name: str) -> None:
    """A class's field or property, or a function's variable."""
    module, *owners, last = name.split(".")
    owner = import_module(f"protocols.secure_sum.{module}")
    for step in owners:
        owner = getattr(owner, step)
    if inspect.isfunction(owner):
        assert last in owner.__code__.co_varnames
    else:
        assert last in owner.__dataclass_fields__ or isinstance(vars(owner).get(last), property)


def test_notes_introduce_the_letter() -> None:
    text = re.sub(r"\s*\n>?\s*", " ", (ROOM / "NOTES.md").read_text(encoding="utf-8"))
    quoted = [(letter, notes) for letter, *_, notes in rows() if notes]
    assert [notes for _, notes in quoted if notes not in text] == []
    assert [letter for letter, notes in quoted if not re.search(rf"(?<![A-Za-z]){letter}(?![A-Za-z])", notes)] == []
