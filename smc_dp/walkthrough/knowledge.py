"""Knowledge of each coalition at one moment of a protocol, and its changes, in words."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import NamedTuple

from smc_dp.leakage.matrix import _DRAWN, LEVELS, Cell, Level, Matrix, Row
from smc_dp.leakage.matrix_groups import SECRET_GROUPS
from smc_dp.leakage.matrix_text import join_names, name_secret

# In the order in which a sentence names them.
LEVEL_VERBS: tuple[tuple[Level, str], ...] = (
    ("own", "drew"),
    ("all", "can compute"),
    ("listed", "can compute a few numbers that include"),
    ("partly", "can partly work out"),
)
BEYOND_RESULT = " (*)"
IN_SOME_CASES = "in some cases"
CASES_NOTE = (
    f'"{IN_SOME_CASES.capitalize()}" means: for some secret permutations or some orders of the sizes, not for all. '
    'Which these are can differ from secret to secret. A sentence without these words, and without an "if", holds '
    "in all cases. A cell of a table shows the case in which the coalition knows most."
)
SUBSETS_NOTE = (
    'A coalition knows all that a part of it knows. The lines under "What is known now" do not repeat this. '
    'The sign "(*)" means that the coalition could not work this out from the result and its own inputs alone. '
    '"Drew" means: alone or with others. A participant may draw a secret before the step that uses it.'
)


class Known(NamedTuple):
    """Knowledge of one secret: its level, who has the smallest number ("" for anyone), and whether it holds in all
    worlds.
    """

    level: Level
    secret: str
    smallest: str
    beyond: bool
    always: bool


@dataclass(frozen=True)
class Knowledge:
    """Coalition matrix of what has been sent so far: a row for each coalition and each possible holder of the smallest
    number.

    A cell says what the coalition knows by now (`level`), and what the result of the whole protocol will tell it
    (`release`): who knows more than that has learned something that nobody promised to hide, or that was to be hidden.
    """

    matrix: Matrix

    @cached_property
    def coalitions(self) -> tuple[tuple[str, ...], ...]:
        """Coalitions, small ones first."""
        return tuple(dict.fromkeys(row.members for row in self.matrix.rows))

    def rows(self, members: Sequence[str]) -> tuple[Row, ...]:
        """Return the rows of one coalition."""
        return self._rows.get(frozenset(members), ())

    @cached_property
    def _rows(self) -> dict[frozenset[str], tuple[Row, ...]]:
        found: dict[frozenset[str], list[Row]] = {}
        for row in self.matrix.rows:
            found.setdefault(frozenset(row.members), []).append(row)
        return {members: tuple(rows) for members, rows in found.items()}

    def cells(self, members: Sequence[str]) -> Mapping[str, Cell]:
        """Return the worst cell of one coalition for each secret, over all holders of the smallest number."""
        found: dict[str, Cell] = {}
        for row in self.rows(members):
            for secret, cell in row.cells.items():
                known = found.get(secret, cell)
                found[secret] = max(known, cell, key=lambda c: (c.beyond, c.level == "own", LEVELS.index(c.level)))
        return found

    def known(self, members: Sequence[str]) -> tuple[Known, ...]:
        """Return the knowledge of one coalition of the others' secrets, and what it drew itself."""
        return self._known[frozenset(members)]

    @cached_property
    def _known(self) -> dict[frozenset[str], tuple[Known, ...]]:
        return {members: tuple(_of_rows(rows)) for members, rows in self._rows.items()}

    def sentence(self, members: Sequence[str]) -> str:
        """Return the knowledge of one coalition in words."""
        said = self._said(members, self.known(members))
        return _sentence([tuple(members)], said or " knows nothing of the secrets of others")

    def changed_from(self, earlier: Knowledge) -> tuple[str, ...]:
        """Return what is new since then, a sentence for coalitions with the same news.

        Of a coalition only what none of its parts knows by itself.
        """
        news: dict[str, list[tuple[str, ...]]] = {}
        for members in self.coalitions:
            old = {*earlier.known(members), *self._of_parts(members)}
            if new := [k for k in self.known(members) if k not in old]:
                news.setdefault(self._said(members, new), []).append(members)
        return tuple(_sentence(coalitions, said) for said, coalitions in news.items())

    def _of_parts(self, members: tuple[str, ...]) -> Iterator[Known]:
        """Yield what proper parts of this coalition know, whether or not a result tells it to the whole."""
        for known in (self.known(m) for m in self.coalitions if set(m) < set(members)):
            less = (k._replace(always=always) for k in known for always in {k.always, False})
            yield from (k._replace(beyond=beyond) for k in less for beyond in (False, True))

    def _said(self, members: Sequence[str], known: Sequence[Known]) -> str:
        """Return knowledge in words that fit one subject and several."""
        found: dict[str, list[str]] = {}
        for smallest in sorted({k.smallest for k in known}):
            here = [k for k in known if k.smallest == smallest]
            rows = [row for row in self.rows(members) if smallest in ("", row.smallest)]
            others = list(dict.fromkeys(s for row in rows for s, c in row.cells.items() if c.level != "own"))
            found.setdefault(" and ".join(_verbs(here, others, self.matrix.parties)), []).append(smallest)
        parts: list[str] = []
        for words, who in found.items():
            where = f"{' and' if parts else ','} if {' or '.join(who)} has the fewest rows," if any(who) else ""
            parts.append(f"{where} {words}")
        return ";".join(parts)


def _of_rows(rows: Sequence[Row]) -> Iterator[Known]:
    """Yield the knowledge of a coalition in all worlds, and in those of one holder of the smallest number."""
    by_row = {row.smallest: dict.fromkeys(_things(row)) for row in rows}
    for level, secret, *how in dict.fromkeys(thing for things in by_row.values() for thing in things):
        where = [smallest for smallest, things in by_row.items() if (level, secret, *how) in things]
        yield from (Known(level, secret, x, *how) for x in ([""] if len(where) == len(by_row) else where))


def _things(row: Row) -> Iterator[tuple[Level, str, bool, bool]]:
    """Yield all that a row shows, without the members' own inputs."""
    for secret, cell in row.cells.items():
        if cell.level not in ("nothing", "not all") and (cell.level != "own" or cell.how == _DRAWN):
            yield cell.level, secret, cell.beyond, cell.always


def _verbs(known: Sequence[Known], others: Sequence[str], parties: Sequence[str]) -> Iterator[str]:
    """Yield the knowledge of secrets, with secrets that are known alike together."""
    for (level, words), beyond, always in product(LEVEL_VERBS, (False, True), (True, False)):
        found = frozenset(k.secret for k in known if (k.level, k.beyond, k.always) == (level, beyond, always))
        names = sorted(found) if level == "own" else list(_folded(others, found, parties))
        if names:
            where, more = "" if always else f"{IN_SOME_CASES} ", BEYOND_RESULT if beyond else ""
            yield f"{where}{words} {join_names(names)}{more}"


def _folded(others: Iterable[str], found: frozenset[str], parties: Sequence[str]) -> Iterator[str]:
    """Yield names of the secrets that were found, with whole vectors and whole kinds together."""
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
        for vector, every in vectors.items():
            some = [] if vector in whole else [x for x in every if x in found]
            if vector in whole or some:
                yield _described(vector, some, parties)
    yield from (secret for secret in sorted(found) if " - " in secret and found.isdisjoint(secret.split(" - ")))


def _described(vector: str, coordinates: Sequence[str], parties: Sequence[str]) -> str:
    """Return the kind and the owner of a secret before its name; `coordinates`: those that are known of it, if not all.

    A secret that is of no kind has only its name.
    """
    letter, _, owner = vector.partition("_")
    kind, named = SECRET_GROUPS.get(letter, "").removeprefix("other "), join_names(coordinates or [vector])
    if not kind:
        return join_names(coordinates) if coordinates else name_secret(vector)
    if not owner.isdigit():
        return f"the {kind} {named}" if coordinates else f"the {kind}"
    return f"{parties[int(owner) - 1]}'s {'size' if letter == 'n' else kind} {named}"


def _sentence(coalitions: Sequence[tuple[str, ...]], said: str) -> str:
    """Return the sentence about these coalitions."""
    who, several = join_names([" + ".join(members) for members in coalitions]), len(coalitions) > 1
    if any(len(members) > 1 for members in coalitions):
        who = f"The coalition{'s' * several} {who}"
    return f"{who}{' each' * several}{said}."
