"""Codes of faults: each has one sentence, all fields of the sentence are given, and no sentence is left over."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from protocols.errors import Fault, sentences
from smc_dp.core.errors import InputFault
from tests.codes import CODE, calls_in, catalogues, literals_in, needed, sources

FOLDERS = (Fault.SENTENCES, InputFault.SENTENCES)
SOURCES = [found for package in ("protocols", "smc_dp") for found in sources(package)]
CALLS = [call for file, source in SOURCES for call in calls_in(source, file)]


def test_every_code_in_the_source_has_a_sentence_with_the_fields_that_are_given():
    assert len(CALLS) > 1000
    known = catalogues()
    assert [call for call in CALLS if not any(call.code in one for one in known)] == []
    given = [(call, one[call.code]) for call in CALLS if call.given is not None for one in known if call.code in one]
    assert [(call, needed(said)) for call, said in given if not needed(said) <= call.given] == []


def test_every_sentence_belongs_to_a_code_in_the_source():
    used = set().union(*(literals_in(source) for _, source in SOURCES))
    assert [sorted(set(one) - used) for one in catalogues()] == [[], []]


def test_a_code_that_stands_in_both_catalogues_has_one_sentence():
    protocols, ours = catalogues()
    assert [code for code in set(protocols) & set(ours) if protocols[code] != ours[code]] == []


@pytest.mark.parametrize("folder", FOLDERS, ids=("protocols", "smc_dp"))
def test_a_code_stands_in_one_file_and_a_file_is_sorted(folder: Path):
    seen: dict[str, Path] = {}
    for path in sorted(folder.glob("*.toml")):
        subjects = [line for line in path.read_text(encoding="utf-8").splitlines() if line.startswith("[")]
        assert subjects == sorted(subjects), path
        for code in sentences_of(path):
            assert CODE.fullmatch(code)
            assert seen.setdefault(code, path) == path


def sentences_of(path: Path) -> list[str]:
    """Return the codes in one file of sentences."""
    found = tomllib.loads(path.read_text(encoding="utf-8"))
    return [f"{subject}.{name}" for subject, named in found.items() for name in named]


def test_a_planted_fault_is_found(tmp_path: Path):
    source = 'raise InputError("a.b", x=1)\nfailed("a.c", **rest)\nprint("a.d")\nFault("a.e", {"y": 1})'
    calls = [(call.code, call.given) for call in calls_in(source, "x.py")]
    assert calls == [("a.b", {"x"}), ("a.c", None), ("a.e", {"y"})]
    assert literals_in(source) == {"a.b", "a.c", "a.d", "a.e"}
    assert needed("{x:g} of {y}, {{z}}") == {"x", "y"}
    (tmp_path / "a.toml").write_text('[a]\nb = "wanted {x}"\n')
    assert sentences(tmp_path) == {"a.b": "wanted {x}"}


def test_a_sentence_has_its_place_its_lists_and_its_fields():
    found = Fault("session.example", {"names": ["a", "b"]}).within("file f").within("party p")
    assert found.place == "party p: file f: "
