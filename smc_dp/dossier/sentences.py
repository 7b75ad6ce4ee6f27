"""A sentence that says nothing but what a function makes of facts, so that it cannot stand there whatever the run was.

The parameters of such a function are facts, by their names: it is given these and nothing else. What a run cannot know
is no sentence, but a `Blank` that a person fills in.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import TypeAlias, get_type_hints

from smc_dp.dossier.facts import RunFacts, kinds
from smc_dp.errors import one_line

Words: TypeAlias = Callable[..., str | tuple[str, ...] | None]
"""Makes a sentence of the facts that its parameters name, or several, or none where it does not apply."""


@dataclass(frozen=True)
class Sentence:
    """A sentence, the function that made it, and the facts that this was given. TypeError without any."""

    text: str
    made_by: Words
    tied_to: tuple[str, ...]

    def __post_init__(self) -> None:
        if not self.tied_to:
            raise TypeError(f"{self.made_by.__name__}: a sentence is tied to a fact of the run, got none")


@dataclass(frozen=True)
class Blank:
    """What a person fills in, because no run can know it. `asks` names it."""

    asks: str


@dataclass(frozen=True)
class Unless:
    """The sentences of some words where they apply; where they do not, what a person fills in."""

    words: Words
    blank: Blank


Wanted: TypeAlias = Words | Blank | Unless
Item: TypeAlias = Sentence | Blank


@dataclass(frozen=True)
class DossierPart:
    """A heading, and what stands under it."""

    heading: str
    items: tuple[Item, ...]

    @property
    def sentences(self) -> tuple[Sentence, ...]:
        """Those among the items."""
        return tuple(item for item in self.items if isinstance(item, Sentence))

    @property
    def blanks(self) -> tuple[Blank, ...]:
        """Those among the items."""
        return tuple(item for item in self.items if isinstance(item, Blank))


def part(facts: RunFacts, heading: str, *wanted: Wanted) -> DossierPart:
    """What of it applies to the run, in this order."""
    return DossierPart(heading, tuple(item for each in wanted for item in _items(facts, each)))


def said(facts: RunFacts, words: Words) -> tuple[Sentence, ...]:
    """What these words say of the run; TypeError for words whose parameters are no facts, or that have none."""
    names = ties(words)
    found = words(**{name: getattr(facts, name) for name in names})
    texts = () if found is None else (found,) if isinstance(found, str) else found
    return tuple(Sentence(one_line(text), words, names) for text in texts)


@cache
def ties(words: Words) -> tuple[str, ...]:
    """The facts that words are given: the names of their parameters, each of the type that the fact has."""
    typed, taken = get_type_hints(words), tuple(inspect.signature(words).parameters)
    wrong = [name for name in taken if name not in kinds() or kinds()[name] != typed.get(name)]
    if wrong or not taken:
        raise TypeError(f"{words.__name__}: wanted facts as parameters, got {', '.join(wrong) or 'none'}")
    return taken


def _items(facts: RunFacts, wanted: Wanted) -> Iterator[Item]:
    if isinstance(wanted, Blank):
        yield wanted
    elif isinstance(wanted, Unless):
        yield from said(facts, wanted.words) or (wanted.blank,)
    else:
        yield from said(facts, wanted)
