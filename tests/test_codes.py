"""Codes of faults: stable, one sentence each, all fields given.

The sentences stand in one snapshot file for each room; `pytest tests/test_codes.py --snapshot-update` renews them.
"""

from __future__ import annotations

import pytest
from support.text_file import TextFile
from syrupy.assertion import SnapshotAssertion

from tests.codes import CODE, all_sentences, sentences_in

ALL = all_sentences()


def test_a_code_has_one_sentence():
    by_code: dict[str, set[str]] = {}
    for found in ALL:
        by_code.setdefault(found.code, set()).add(found.template)
    assert {code: texts for code, texts in by_code.items() if len(texts) > 1} == {}


def test_every_field_of_a_sentence_is_given():
    missing = [(s.file, s.line, s.needed - s.given) for s in ALL if s.given is not None and not s.needed <= s.given]
    assert missing == []


@pytest.mark.parametrize("room", sorted({found.room for found in ALL}))
def test_sentences_are_those_of_the_snapshot(room: str, snapshot: SnapshotAssertion):
    lines = sorted({f"{found.code}\n    {found.template}\n" for found in ALL if found.room == room})
    assert "".join(lines) == snapshot(extension_class=TextFile)


def test_what_is_no_coded_sentence_is_not_taken_for_one():
    source = 'E("a.b", "wanted {x}", x=1)\nf("a.b")\nE("A b", "wanted x")\nE("a.b", "a.c")'
    assert [(s.code, s.needed, s.given) for s in sentences_in(source, "protocols/x.py")] == [("a.b", {"x"}, {"x"})]
    assert CODE.fullmatch("columns.empty_cell")
