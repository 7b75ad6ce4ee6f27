"""The texts that stand for a level in one export or another: its code, its label, other letter cases of both.

Only what can mean one level alone: a spelling that two levels could have is nobody's.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from smc_dp.data.bounds import canonical
from smc_dp.data.dictionaries.data_dictionary import LevelSaid

_NO, _YES = ("false", "no"), ("true", "yes")
_BEFORE = frozenset({*_NO, "0", "n", "f", "off", "unchecked", "none", "negative", "absent"})
"""Of two levels the one that says so comes first, so that the other is the class +1."""


def ordered(levels: Sequence[LevelSaid]) -> tuple[LevelSaid, ...]:
    """The levels in their order; of two, no before yes."""
    first, last = (levels[0], levels[-1]) if len(levels) == 2 else (None, None)
    if first is None or last is None or not _denies(last) or _denies(first):
        return tuple(levels)
    return (last, first)


def _denies(level: LevelSaid) -> bool:
    return level.name.casefold() in _BEFORE


def spelled(levels: Sequence[LevelSaid]) -> list[tuple[str, tuple[str, ...]]]:
    """Each level, and everything else that stands for it alone."""
    truth = _truth(levels)
    found = [(level.name, [*_cases(level.name, *level.others, *truth.get(level.name, ()))]) for level in levels]
    names = {canonical(name) for name, _ in found}
    claimed = Counter(form for _, texts in found for form in {canonical(text) for text in texts})
    return [(name, tuple(_alone(texts, names, claimed))) for name, texts in found]


def _truth(levels: Sequence[LevelSaid]) -> dict[str, tuple[str, ...]]:
    """Of a pair such as no and yes: false and true, which mean the same wherever they stand."""
    if len(levels) != 2:
        return {}
    no, yes = (level.name for level in levels)
    return {no: _NO, yes: _YES} if no.casefold() in _NO and yes.casefold() in _YES else {}


def _cases(*texts: str) -> Iterator[str]:
    for text in texts:
        yield from (text, text.lower(), text.upper(), text.capitalize())


def _alone(texts: Sequence[str], names: set[str], claimed: Counter[str]) -> Iterator[str]:
    seen = set(names)
    for text in texts:
        form = canonical(text)
        if form not in seen and form and claimed[form] == 1:
            seen.add(form)
            yield text.strip()
