"""What papers and notes say of each step stands beside it, word for word."""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from protocols import pathak2010
from protocols.programs import PROTOCOLS, Protocol
from protocols.runtime.citations import NOTES, Citation, read_note, read_notes, strip_markup
from protocols.runtime.message import PARTY, Message, message

PAPERS = Path(os.environ.get("SMC_DP_PAPERS", "/nowhere"))
PAPER = PAPERS / "pathak2010.md"
# Of all sentences of the paper, on the day on which they were last compared with it.
COMPARED = "2cd97f99"


def without_sentence(protocol: Protocol) -> list[str]:
    """The kinds of messages, greetings among them, for whose step nobody says anything."""
    program = protocol.program
    kinds = (*program.kinds, *([program.greeting.kind] if program.greeting else []))
    return [
        kind.__name__ for kind in kinds if not protocol.sentences.get(kind.step, Citation(" ", "", "")).text.strip()
    ]


@message("9.9", PARTY >> PARTY)
class Whim(Message):
    """A message of a step that no paper has."""


def test_every_step_of_every_message_has_its_sentence() -> None:
    assert not any(map(without_sentence, PROTOCOLS.values()))


def test_a_step_without_a_sentence_is_noticed() -> None:
    protocol = PROTOCOLS["pathak2010"]
    more = replace(protocol, program=replace(pathak2010.PROGRAM, kinds=(*pathak2010.PROGRAM.kinds, Whim)))
    assert without_sentence(more) == ["Whim"]
    assert without_sentence(replace(protocol, sentences={**protocol.sentences, "2.1": Citation(" ", "", "")})) == [
        "Indicator"
    ]


def misquoted(sentences: Mapping[str, Citation]) -> list[str]:
    """The steps whose pieces are not in the notes that they are said to be from, or that cite a note that is not."""
    wrong = []
    for step, quoted in sentences.items():
        notes = strip_markup(read_notes(quoted.package))
        missing = [label for label in quoted.notes if f"[{label}]" not in notes or not read_note(quoted.package, label)]
        if missing or (quoted.source.startswith(NOTES) and any(piece not in notes for piece in quoted.pieces)):
            wrong.append(step)
    return wrong


def test_what_is_from_the_notes_stands_there() -> None:
    assert not any(misquoted(protocol.sentences) for protocol in PROTOCOLS.values())


def test_a_changed_word_and_a_note_that_is_not_there_are_noticed() -> None:
    said = PROTOCOLS["linear"].sentences
    changed = {**said, "3": replace(said["3"], text=said["3"].text.replace("Nobody decodes", "Somebody decodes"))}
    assert misquoted(changed) == ["3"]
    assert misquoted({**said, "4": replace(said["4"], notes=("L77",))}) == ["4"]
    with pytest.raises(LookupError, match=r"protocols\.linear has no note \[L77\]"):
        read_note("protocols.linear", "L77")


def letters(text: str) -> str:
    """A text of the paper, or of its quotation, as nothing but its letters and signs."""
    text = re.sub(r"\\tilde\{(\w)\}", r"\1~", text)
    text = re.sub(r"\\(mathbf|boldsymbol|hat|text|left|right)\b", "", text)
    text = text.replace(r"\cdot", ".").replace(r"\dots", "...")
    return re.sub(r"[\s${}\\]", "", text)


def printed() -> dict[str, Citation]:
    sentences = PROTOCOLS["pathak2010"].sentences
    return {step: quoted for step, quoted in sentences.items() if not quoted.source.startswith(NOTES)}


def not_in_the_paper(sentences: Mapping[str, Citation], paper: str) -> list[str]:
    """The steps of which a piece does not stand in the paper."""
    whole = letters(paper)
    return [step for step, quoted in sentences.items() if not all(letters(piece) in whole for piece in quoted.pieces)]


@pytest.mark.skipif(not PAPER.is_file(), reason="SMC_DP_PAPERS names no folder with pathak2010.md")
def test_the_paper_s_sentences_stand_in_the_paper() -> None:
    paper = PAPER.read_text(encoding="utf-8")
    assert not_in_the_paper(printed(), paper) == []
    assert not_in_the_paper(printed(), paper.replace("honest but curious", "honest")) == ["3.3"]


def test_the_paper_s_sentences_are_those_that_were_compared_with_it() -> None:
    texts = {step: quoted.text for step, quoted in printed().items()}
    assert hashlib.sha256(json.dumps(texts, sort_keys=True).encode()).hexdigest()[:8] == COMPARED
    assert "a~_j~ + b~_j~ = min_j n_j" in texts["1.6"]


def test_slanted_words_of_notes_lose_their_stars_and_powers_keep_them() -> None:
    assert strip_markup("*Sum*: a *slanted word*, 2**64 and x * y * z") == "Sum: a slanted word, 2**64 and x * y * z"


def whole_steps(sentences: Mapping[str, Citation], where: str, first: str, last: str) -> bool:
    """Whether what is quoted from these steps of the paper goes from one sentence to the other, in every place."""
    texts = [quoted.text for quoted in sentences.values() if quoted.source.endswith(where)]
    return bool(texts) and all(text.startswith(first) and last in text for text in texts)


def test_the_letter_of_stage_2_has_all_its_steps_wherever_it_is_sent() -> None:
    about = ("stage 2, steps 2 to 4", "The parties mutually obtain", "All parties P_j now compute")
    assert whole_steps(printed(), *about)
    assert {"2.3", "2.4"} <= {step for step, quoted in printed().items() if quoted.source.endswith(about[0])}
    cut = replace(printed()["2.3"], text=printed()["2.3"].pieces[0])
    assert not whole_steps({**printed(), "2.3": cut}, *about)
