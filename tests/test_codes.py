"""Codes of faults: each has one sentence, all fields of the sentence are given, and no sentence is left over."""

from __future__ import annotations

import tomllib
from functools import cache
from pathlib import Path

import pytest

from protocols.errors import Fault, load_sentences
from tests.codes import CODE, ROOT, calls_in, catalogues, literals_in, needed, sources, uncoded_in

FILES = sorted(path.relative_to(ROOT) for path in ROOT.glob("[ps]*/**/faults.toml"))


@cache
def literals() -> dict[str, set[str]]:
    """Return all literals of each file that could be codes."""
    return {file: literals_in(source) for file, source in sources().items()}


def test_every_code_in_the_source_has_a_sentence_with_the_fields_that_are_given():
    calls = [call for file, source in sources().items() for call in calls_in(source, file)]
    assert len(calls) > 1000
    known = catalogues()
    assert [call for call in calls if not any(call.code in one for one in known)] == []
    given = [(call, one[call.code]) for call in calls if call.given is not None for one in known if call.code in one]
    assert [(call, needed(said)) for call, said in given if not needed(said) <= call.given] == []


def test_no_error_has_a_sentence_in_place_of_its_code():
    assert [found for file, source in sources().items() for found in uncoded_in(source, file)] == []
    planted = 'raise InputError(f"wanted {x}")\nraise PeerError(name, "is wrong here")\nraise InputError("a.b", x=1)'
    assert [line for _, line, _ in uncoded_in(planted, "x.py")] == [1, 2]


def test_every_sentence_belongs_to_a_code_in_the_source():
    used = set().union(*literals().values())
    assert [sorted(set(one) - used) for one in catalogues()] == [[], []]


def test_a_code_that_stands_in_both_catalogues_has_one_sentence():
    protocols, ours = catalogues()
    assert [code for code in set(protocols) & set(ours) if protocols[code] != ours[code]] == []


def makers(code: str) -> set[Path]:
    """Return the folders, rooms or protocols, in which this code stands."""
    files = [Path(file) for file, found in literals().items() if code in found]
    return {Path(*file.parts[:2]) if len(file.parts) > 2 else file.parent for file in files}


@pytest.mark.parametrize("path", FILES, ids=str)
def test_a_sentence_stands_where_its_fault_is_made(path: Path):
    found = tomllib.loads((ROOT / path).read_text(encoding="utf-8"))
    assert list(found) == sorted(found)
    common = (Path("protocols"), Path("smc_dp/core"))
    for code in (f"{subject}.{name}" for subject, named in found.items() for name in named):
        assert CODE.fullmatch(code)
        assert makers(code) == {path.parent} or path.parent in common, code


def test_a_planted_fault_is_found(tmp_path: Path):
    source = 'raise InputError("a.b", x=1)\nfailed("a.c", **rest)\nprint("a.d")\nFault("a.e", {"y": 1})'
    calls = [(call.code, call.given) for call in calls_in(source, "x.py")]
    assert calls == [("a.b", {"x"}), ("a.c", None), ("a.e", {"y"})]
    assert literals_in(source) == {"a.b", "a.c", "a.d", "a.e"}
    assert needed("{x:g} of {y}, {{z}}") == {"x", "y"}
    (tmp_path / "faults.toml").write_text('[a]\nb = "wanted {x}"\n')
    assert load_sentences(tmp_path) == {"a.b": "wanted {x}"}


def test_a_sentence_has_its_place_its_lists_and_its_fields():
    found = Fault("session.example", {"names": ["a", "b"]}).within("file f").within("party p")
    assert found.place == "party p: file f: "
