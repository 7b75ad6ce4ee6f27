"""Every sentence of a dossier depends on the run: another honest run says it otherwise; all of its ties are real."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path

import pytest
from support.dossiers import honest

from smc_dp.dossier.dossier import Dossier
from smc_dp.dossier.facts import RunFacts, kinds
from smc_dp.dossier.sentences import Sentence, Words, part, said, ties

Runs = Mapping[str, RunFacts]


@pytest.fixture(scope="module")
def two(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Dossier]:
    return honest(tmp_path_factory.mktemp("two"), ("newton", "sizes released"))


def texts(words: Words, facts: RunFacts) -> tuple[str, ...]:
    return tuple(sentence.text for sentence in said(facts, words))


def without_a_mutant(runs: Runs, words: Iterable[Words]) -> list[str]:
    """Sentences that stand in the dossier of every honest run, whatever the run was."""
    found = []
    for each in words:
        made = {name: texts(each, facts) for name, facts in runs.items()}
        every = {text for some in made.values() for text in some}
        found += [f"{each.__name__}: {text}" for text in every if all(text in some for some in made.values())]
    return found


def idle_ties(runs: Runs, words: Iterable[Words]) -> list[str]:
    """Facts that words are given, and that change nothing of what they say when they are those of another run."""
    return [f"{each.__name__}: {name}" for each in words for name in ties(each) if not _moves(runs, each, name)]


def _moves(runs: Runs, words: Words, name: str) -> bool:
    others = {repr(getattr(facts, name)): getattr(facts, name) for facts in runs.values()}
    return any(
        texts(words, facts) != texts(words, replace(facts, **{name: other}))
        for facts in runs.values()
        for other in others.values()
    )


def used(dossiers: Iterable[Dossier]) -> dict[Words, list[Sentence]]:
    """All words that made a sentence of some dossier, with their sentences."""
    found: dict[Words, list[Sentence]] = {}
    for dossier in dossiers:
        for _, sentence in dossier.sentences:
            found.setdefault(sentence.made_by, []).append(sentence)
    return found


def test_every_sentence_has_a_mutant_and_every_tie_is_real(tmp_path: Path) -> None:
    dossiers = honest(tmp_path)
    runs, words = {name: dossier.facts for name, dossier in dossiers.items()}, used(dossiers.values())
    assert len(words) > 30
    assert without_a_mutant(runs, words) == []
    assert idle_ties(runs, words) == []
    assert set(kinds()) == {name for each in words for name in ties(each)}  # no fact that nobody says
    assert {text for made in words.values() for text in made if not text.tied_to} == set()


def always(method: str) -> str:
    return "Your data are safe."


def pretends(parties: tuple[str, ...], method: str) -> str:
    return f"Method {method} protects everybody."


def test_a_constant_sentence_and_an_idle_tie_are_caught(two: dict[str, Dossier]) -> None:
    runs = {name: dossier.facts for name, dossier in two.items()}
    assert without_a_mutant(runs, [always, pretends]) == ["always: Your data are safe."]
    assert idle_ties(runs, [always, pretends]) == ["always: method", "pretends: parties"]


def no_fact() -> str:
    return "This is a sentence."


def unknown_fact(accuracy: float) -> str:
    return f"{accuracy}"


def mistyped(parties: str) -> str:
    return parties


@pytest.mark.parametrize("words", [no_fact, unknown_fact, mistyped])
def test_words_take_facts_and_nothing_else(two: dict[str, Dossier], words: Words) -> None:
    with pytest.raises(TypeError, match="wanted facts as parameters"):
        part(two["newton"].facts, "heading", words)
    with pytest.raises(TypeError, match="tied to a fact"):
        Sentence("text", words, ())
