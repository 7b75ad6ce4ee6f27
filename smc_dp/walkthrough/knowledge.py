"""What each coalition knows at some moment of a protocol, and what is new in that, in words."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import NamedTuple

from smc_dp.leakage.matrix import _DRAWN, LEVELS, Cell, Level, Matrix, Row
from smc_dp.leakage.matrix_groups import SECRET_GROUPS
from smc_dp.leakage.matrix_text import join_names, name_secret

KNOWN: tuple[tuple[Level, str], ...] = (
    ("own", "drew"),
    ("all", "can compute"),
    ("listed", "can compute, as one of a few numbers,"),
    ("partly", "can find hints on"),
)
BEYOND = "which is more than the result and their own inputs will tell"
SOME = "in some cases"
CASES = (
    f"{SOME.capitalize()}: for some of the secret permutations and orders of the sizes, and for each secret by itself, "
    "so not for all that are named at once. Where no cases are named it is so in all of them. A cell of a table is "
    "that of the case in which most is known of it, whoever has the smallest number."
)
PARTS = "A coalition also knows what any part of it knows; only what is new by coming together is said of it."


class Known(NamedTuple):
    """How well a coalition knows one secret, where who has the smallest number ("" whoever has), whether no result will
    tell it, and whether it is so in all worlds of that kind.
    """

    level: Level
    secret: str
    smallest: str
    beyond: bool
    always: bool


@dataclass(frozen=True)
class Knowledge:
    """The coalition matrix of what has been sent so far: `matrix.rows`, a row for each coalition and each party that
    may have the smallest number.

    A cell says what the coalition knows by now (`level`), and what the result of the whole protocol will tell it
    (`release`): who knows more than that has learned something that nobody promised to hide, or that was to be hidden.
    """

    matrix: Matrix

    @cached_property
    def coalitions(self) -> tuple[tuple[str, ...], ...]:
        """All coalitions, small ones first."""
        return tuple(dict.fromkeys(row.members for row in self.matrix.rows))

    def rows(self, members: Sequence[str]) -> tuple[Row, ...]:
        """Those of one coalition."""
        return self._rows.get(frozenset(members), ())

    @cached_property
    def _rows(self) -> dict[frozenset[str], tuple[Row, ...]]:
        found: dict[frozenset[str], list[Row]] = {}
        for row in self.matrix.rows:
            found.setdefault(frozenset(row.members), []).append(row)
        return {members: tuple(rows) for members, rows in found.items()}

    def cells(self, members: Sequence[str]) -> Mapping[str, Cell]:
        """What one coalition knows of each secret, whoever has the smallest number: the worst of its rows."""
        found: dict[str, Cell] = {}
        for row in self.rows(members):
            for secret, cell in row.cells.items():
                known = found.get(secret, cell)
                found[secret] = max(known, cell, key=lambda c: (c.beyond, LEVELS.index(c.level)))
        return found

    def known(self, members: Sequence[str]) -> tuple[Known, ...]:
        """What one coalition knows of the others' secrets, and what it drew itself."""
        return self._known[frozenset(members)]

    @cached_property
    def _known(self) -> dict[frozenset[str], tuple[Known, ...]]:
        return {members: tuple(_of_rows(rows)) for members, rows in self._rows.items()}

    def sentence(self, members: Sequence[str]) -> str:
        """The same in words."""
        said = self._said(members, self.known(members))
        return _sentence([tuple(members)], said or " knows nothing of the secrets of others")

    def changed_from(self, earlier: Knowledge) -> tuple[str, ...]:
        """What is new since then, a sentence for those of whom the same is new.

        Of a coalition only what none of its parts knows by itself.
        """
        told: dict[str, list[tuple[str, ...]]] = {}
        for members in self.coalitions:
            old = {*earlier.known(members), *self._of_parts(members)}
            if new := [k for k in self.known(members) if k not in old]:
                told.setdefault(self._said(members, new), []).append(members)
        return tuple(_sentence(those, said) for said, those in told.items())

    def _of_parts(self, members: tuple[str, ...]) -> Iterator[Known]:
        """What is known to somebody who is in this coalition, or to some of them together, whether a result tells the
        whole coalition or not.
        """
        for known in (self.known(m) for m in self.coalitions if set(m) < set(members)):
            less = (k._replace(always=always) for k in known for always in {k.always, False})
            yield from (k._replace(beyond=beyond) for k in less for beyond in (False, True))

    def _said(self, members: Sequence[str], known: Sequence[Known]) -> str:
        """What somebody knows, in words that go with one as with several."""
        parts: list[str] = []
        for smallest in sorted({k.smallest for k in known}):
            where = f"{'' if parts else ','} where {smallest} has the smallest number," if smallest else ""
            here = [k for k in known if k.smallest == smallest]
            rows = [row for row in self.rows(members) if smallest in ("", row.smallest)]
            others = list(dict.fromkeys(s for row in rows for s, c in row.cells.items() if c.level != "own"))
            parts += [f"{where} {' and '.join(_verbs(here, others))}"]
        return ";".join(parts)


def _of_rows(rows: Sequence[Row]) -> Iterator[Known]:
    """What a coalition knows in all worlds, and in those in which one party has the smallest number."""
    by_row = {row.smallest: dict.fromkeys(_things(row)) for row in rows}
    for level, secret, *how in dict.fromkeys(thing for things in by_row.values() for thing in things):
        where = [smallest for smallest, things in by_row.items() if (level, secret, *how) in things]
        yield from (Known(level, secret, x, *how) for x in ([""] if len(where) == len(by_row) else where))


def _things(row: Row) -> Iterator[tuple[Level, str, bool, bool]]:
    """All that a row shows, but for the members' own inputs."""
    for secret, cell in row.cells.items():
        if cell.level not in ("nothing", "not all") and (cell.level != "own" or cell.how == _DRAWN):
            yield cell.level, secret, cell.beyond, cell.always


def _verbs(known: Sequence[Known], others: Sequence[str]) -> Iterator[str]:
    """What is known of the secrets, those together that are known alike."""
    for (level, words), beyond, always in product(KNOWN, (False, True), (True, False)):
        found = frozenset(k.secret for k in known if (k.level, k.beyond, k.always) == (level, beyond, always))
        names = sorted(found) if level == "own" else list(_folded(others, found))
        if names:
            yield f"{'' if always else f'{SOME} '}{words} {join_names(names)}{f', {BEYOND}' if beyond else ''}"


def _folded(others: Iterable[str], found: frozenset[str]) -> Iterator[str]:
    """In words which secrets of the others were found: vectors as a whole where all coordinates were, and all of a kind
    together.
    """
    kinds: dict[str, dict[str, list[str]]] = {}
    for secret in others:
        if " - " not in secret:
            vector = secret.partition("(")[0]
            kinds.setdefault(SECRET_GROUPS.get(vector.split("_")[0], vector), {}).setdefault(vector, []).append(secret)
    for kind, vectors in kinds.items():
        whole = [vector for vector, coordinates in vectors.items() if found.issuperset(coordinates)]
        if len(whole) == len(vectors):
            yield name_secret(kind)
            continue
        yield from map(name_secret, whole)
        yield from (x for vector, every in vectors.items() if vector not in whole for x in every if x in found)
    yield from (secret for secret in sorted(found) if " - " in secret and found.isdisjoint(secret.split(" - ")))


def _sentence(those: Sequence[tuple[str, ...]], said: str) -> str:
    """Whoever they are, they know this."""
    who = join_names([" + ".join(members) for members in those])
    return f"{who}{' each' if len(those) > 1 else ''}{said}."
