"""Coalition matrix: how much each set of participants can work out of what the others keep secret.

It is computed from the role code, which runs over symbols (`smc_dp.leakage.symbolic`), so it is a statement about the
conversation with ideal building blocks, among participants who follow the protocol, without priors. Numbers are forms
over the rationals: that a multiple of K of the noise leaves the sum mod K [N6] does not show. What is known of several
secrets together, and of none by itself, is in the cell `another sum`; the difference of two neighbouring coordinates is
a secret like the coordinates themselves. The same is computed with other numbers of coordinates and lengths of keys
(`Model.variants`), and a cell is that of the worst. Where drop-outs are tolerated, a row is about a coalition and a
drop-out pattern; a secret seed opens with enough of its shares, and nothing less.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from itertools import combinations
from typing import Any, Literal, TypeAlias

from protocols.programs import Protocol
from smc_dp.leakage.symbolic.hiding import weaken_view
from smc_dp.leakage.symbolic.naming import view_up_to_names
from smc_dp.leakage.symbolic.patterns import EVERYBODY_STAYS, Pattern
from smc_dp.leakage.symbolic.views import SymbolicView, result_view, symbolic_view
from smc_dp.leakage.symbolic.world_runs import WorldRuns, setting_labels
from smc_dp.leakage.symbolic.worlds import World

Level: TypeAlias = Literal["own", "nothing", "not all", "partly", "listed", "all"]
LEVELS: tuple[Level, ...] = ("own", "nothing", "not all", "partly", "listed", "all")
MATRIX_PARTIES = 5
OTHER_SUM = "another sum"
_DRAWN = "drawn by a member"  # how something is known that is no input
_NOT_IN_ALL = "; so in "


@dataclass(frozen=True)
class Cell:
    """Extent to which a coalition learns one secret: `level` from the protocol, `release` from its result alone.

    own: it is a member's. all: determined, and the coalition can compute it. listed: it is one of a few numbers that
    the coalition can compute, and the messages do not say which. partly: some values are excluded or more likely, or
    the remainder mod some number is known. nothing: no such thing was found. not all: two worlds with different values
    look the same, and more was not examined. `how` says how this was decided.
    """

    level: Level
    release: Level
    how: str

    @property
    def beyond(self) -> bool:
        """True if the coalition learns more than the result tells it."""
        return LEVELS.index(self.level) > LEVELS.index(self.release) and self.level != "not all"

    @property
    def always(self) -> bool:
        """True if the cell holds in all worlds that were looked at, and not in the worst of them alone."""
        return _NOT_IN_ALL not in self.how


@dataclass(frozen=True)
class Row:
    """Cells of one coalition, in all worlds in which `smallest` has the smallest number ("" where none are compared).

    `pattern`: the drop-out or late message. `session`: what distinguishes the session. `claimed`: the protocol's claim
    covers the coalition; `deviating`: even if it is malicious. `given`: the model states the result that everybody
    gets.
    """

    members: tuple[str, ...]
    smallest: str
    cells: Mapping[str, Cell]
    claimed: bool = False
    pattern: Pattern = EVERYBODY_STAYS
    session: str = ""
    given: bool = False
    deviating: bool = False

    @property
    def beyond(self) -> bool:
        """True if the coalition learns anything more than the result tells it."""
        return any(cell.beyond for cell in self.cells.values())


@dataclass(frozen=True)
class Matrix:
    """Coalition matrix of a protocol, with the number of worlds and the settings that were computed."""

    protocol: str
    parties: tuple[str, ...]
    worlds: int
    rows: tuple[Row, ...]
    settings: tuple[str, ...]

    @property
    def has_patterns(self) -> bool:
        """True if the matrix has drop-outs or late messages."""
        return any(row.pattern.name for row in self.rows)

    def as_dict(self) -> dict[str, Any]:
        """Return plain values for JSON; patterns in which a coalition learns the same share an entry."""
        same: dict[Hashable, list[Row]] = {}
        for row in self.rows:
            key = (row.session, row.members, row.smallest, tuple(row.cells.items()))
            same.setdefault(key, []).append(row)
        about = {"protocol": self.protocol, "parties": list(self.parties), "worlds": self.worlds}
        return {**about, "settings": list(self.settings), "rows": [self._entry(rows) for rows in same.values()]}

    def _entry(self, rows: Sequence[Row]) -> dict[str, Any]:
        row = rows[0]
        when = {"session": row.session, "patterns": [str(r.pattern) for r in rows]} if self.has_patterns else {}
        return {
            "members": list(row.members),
            **({"smallest": row.smallest} if row.smallest else {}),
            **when,
            "claimed": row.claimed,
            "cells": {secret: {**vars(cell), "beyond": cell.beyond} for secret, cell in row.cells.items()},
        }


def coalition_matrix(
    protocol: Protocol,
    parties: int,
    progress: Callable[[str], None] | None = None,
    chosen: Sequence[Sequence[str]] | None = None,
) -> Matrix:
    """Compute the matrix of a protocol among this many parties, of all coalitions or those `chosen`.

    Raises `LocalError` where the protocol's code cannot run over symbols.
    """
    first = protocol.model.sample(parties)
    sessions = (first, *protocol.model.profiles(first))
    rows: list[Row] = []
    books: list[WorldRuns] = []
    for p, session in zip(sessions, setting_labels(sessions), strict=True):
        for book in WorldRuns(protocol, p).under_patterns():
            books.append(book)
            here = f"{session}: {book.pattern}: " if book.pattern.name else ""
            for members in chosen or all_coalitions(book.names):
                if progress:
                    progress(f"{here}{' + '.join(members)}")
                rows += (replace(row, session=session) for row in _worst_rows(book, frozenset(members)))
    worlds = len(books[0].traces)
    return Matrix(protocol.program.name, tuple(first.parties), worlds, tuple(rows), books[0].settings)


def _worst_rows(book: WorldRuns, members: frozenset[str]) -> list[Row]:
    """Return the rows of a coalition, with the worst cells of all settings."""
    found = coalition_rows(book, members)
    for other, setting in zip(book.variants, book.settings[1:], strict=True):
        more = {row.smallest: row.cells for row in coalition_rows(other, members, briefly=True)}
        found = [replace(row, cells=_worse(row.cells, more.get(row.smallest, {}), setting)) for row in found]
    return found


def _worse(cells: Mapping[str, Cell], others: Mapping[str, Cell], setting: str) -> dict[str, Cell]:
    """Return the worse of each two cells. The last coordinate stands for all that have no cell of their own."""
    found, last = dict(cells), {_kind(secret): secret for secret in cells}
    for secret, cell in others.items():
        name = secret if secret in cells else last.get(_kind(secret), secret)
        known = found.get(name, cell)
        if cell.level != "not all" and known.level != "own" and _badness(cell) > _badness(known):
            found[name] = replace(cell, how=f"{cell.how}; so with {setting}")
    return found


def _kind(secret: str) -> tuple[str, bool]:
    """Return the vector of a secret, and whether the secret is a difference."""
    return secret.partition("(")[0], " - " in secret


def _badness(cell: Cell) -> tuple[int, bool]:
    return LEVELS.index(cell.level), cell.beyond


def all_coalitions(names: Sequence[str]) -> Iterator[tuple[str, ...]]:
    """Yield all non-empty sets of names, small ones first."""
    return (members for size in range(1, len(names) + 1) for members in combinations(names, size))


@dataclass(frozen=True)
class _Seen:
    """View of a coalition, and its view of the result alone."""

    view: SymbolicView
    result: SymbolicView

    @cached_property
    def weak(self) -> SymbolicView:
        """View without what coins fail to hide."""
        return weaken_view(self.view) or self.view


@dataclass(frozen=True)
class _Look:
    """World with a coalition's view of it; worlds with the same run so far share the view."""

    world: World
    seen: _Seen


def coalition_rows(book: WorldRuns, members: frozenset[str], briefly: bool = False) -> list[Row]:
    """Return the rows of a coalition in the runs of this book alone, one for each possible smallest party."""
    found: dict[int, dict[str, Counter[Cell]]] = {}
    for worlds, wanted in book.scenes(members, briefly):
        made: dict[Hashable, tuple[_Classes, list[tuple[str, Cell]]]] = {}  # by what counts, which it keeps alive
        for look, classes in _classes(_looks(book, members, worlds), wanted, book.has_one_world):
            j = look.world.ranks.index(0)
            cells = found.setdefault(j, {})
            alike = (j, id(look.seen), *map(id, (classes.view, classes.weak, classes.result)))
            if alike not in made:
                made[alike] = classes, list(_cells(book, members, classes, look))
            for secret, cell in made[alike][1]:
                cells.setdefault(secret, Counter())[cell] += 1
    ordered = tuple(name for name in book.names if name in members)
    claim = book.protocol.claim
    claimed = claim is not None and claim.claims(book.p, ordered)
    given = book.model.given is not None
    strongest = {j: {s: _strongest(c) for s, c in cells.items()} for j, cells in sorted(found.items())}
    deviating = claim is not None and claim.keeps is not None and not claim.keeps(book.p)
    return [
        Row(ordered, book.smallest(j), c, claimed, book.pattern, given=given, deviating=deviating)
        for j, c in strongest.items()
    ]


def _looks(book: WorldRuns, members: frozenset[str], worlds: Sequence[World]) -> list[_Look]:
    views: dict[int, _Seen] = {}
    alike: dict[Hashable, _Seen] = {}  # but for the names of the others' coins
    for trace in map(book.trace, worlds):
        if id(trace) not in views:
            here = _Seen(symbolic_view(trace, members), result_view(trace, members))
            views[id(trace)] = alike.setdefault(view_up_to_names(here.view, here.result), here)
    return [_Look(world, views[id(book.trace(world))]) for world in worlds]


@dataclass(frozen=True)
class _Classes:
    """Worlds that look like one: by the view, by the view without what coins fail to hide, and by the result.

    `complete`: these are all such worlds, and not just some. `alone`: no other world was looked at.
    """

    view: list[_Look]
    weak: list[_Look]
    result: list[_Look]
    complete: bool = False
    alone: bool = False


def _classes(looks: list[_Look], wanted: int, all_there_is: bool) -> Iterator[tuple[_Look, _Classes]]:
    """Yield the first `wanted` worlds, each with those that look the same."""
    if len(looks) == 1:
        yield looks[0], _Classes(looks, looks, looks, alone=not all_there_is)
        return
    if wanted < len(looks):
        for here in looks[:wanted]:
            result = [x for x in looks if x.seen.result.key_in(x.world) == here.seen.result.key_in(here.world)]
            close = [x for x in looks if x.seen.view.facts == here.seen.view.facts and _key(x) == _key(here)]
            yield here, _Classes(close, [], result)
        return
    by_view, by_result = _grouped(looks, _key), _grouped(looks, lambda x: x.seen.result.key_in(x.world))
    by_weak = _grouped(looks, lambda x: x.seen.weak.key_in(x.world))
    for look in looks:
        yield look, _Classes(by_view[look.world], by_weak[look.world], by_result[look.world], complete=True)


def _key(look: _Look) -> Hashable:
    return look.seen.view.key_in(look.world)


def _grouped(looks: Sequence[_Look], key: Callable[[_Look], Hashable]) -> dict[World, list[_Look]]:
    groups: dict[Hashable, list[_Look]] = {}
    for look in looks:
        groups.setdefault(key(look), []).append(look)
    return {look.world: group for group in groups.values() for look in group}


def _cells(book: WorldRuns, members: frozenset[str], classes: _Classes, look: _Look) -> Iterator[tuple[str, Cell]]:
    for secret in book.shown(look.world):
        if look.seen.view.known.issuperset(book.linear(look.world, look.seen.view.trace)[secret].terms):
            yield secret, Cell("own", "own", "a member's own")
        else:
            yield secret, _linear_cell(book, secret, look, classes)
    yield OTHER_SUM, _sum_cell(book, look)
    for secret, value in book.discrete():
        if book.trace(look.world).tape.drawers.get(secret, set()) & members:
            yield secret, Cell("own", "own", _DRAWN)
        elif not classes.alone:
            yield secret, _discrete_cell(value, classes)


def _linear_cell(book: WorldRuns, secret: str, look: _Look, classes: _Classes) -> Cell:
    release, _ = _solved(book, secret, look, classes.result, lambda x: x.seen.result)
    level, how = _solved(book, secret, look, classes.view, lambda x: x.seen.view)
    if classes.alone:  # that one computation fits other worlds too was not looked at
        release, level = min(release, "listed", key=LEVELS.index), min(level, "listed", key=LEVELS.index)
    form = book.linear(look.world, look.seen.view.trace)[secret]
    if level == "nothing" and (look.seen.weak.solve(form) is not None or look.seen.weak.tells_of(form)):
        level, how = "partly", "in the span once coins too short to hide and ranges that tell are added"
    return Cell(level, release, how)


def _solved(
    book: WorldRuns, secret: str, look: _Look, alike: Sequence[_Look], view: Callable[[_Look], SymbolicView]
) -> tuple[Level, str]:
    """Decide whether all worlds that look like this one give the secret by one and the same computation."""
    here, form = view(look), book.linear(look.world, look.seen.view.trace)[secret]
    recipe = here.solve(form)
    if recipe is None:
        return "nothing", "not in the span of what is seen"
    if not here.exactly(recipe, form):
        return "partly", "its remainder mod some number is in the span"
    if book.has_one_world:
        return "all", "in the span of what is seen"
    if all(view(x).gives(recipe, book.linear(x.world, x.seen.view.trace)[secret]) for x in alike):
        return "all", f"in the span, by one computation in all {len(alike)} worlds that look the same"
    return "listed", f"in the span, by other computations in some of the {len(alike)} worlds that look the same"


def _sum_cell(book: WorldRuns, look: _Look) -> Cell:
    """Return the cell for sums of the others' inputs beyond the result and secrets known one by one."""
    views: list[tuple[Level, SymbolicView]] = [("all", look.seen.view)]
    if look.seen.weak is not look.seen.view:
        views.append(("partly", look.seen.weak))
    for level, view in views:
        known = [x for x in book.linear(look.world, look.seen.view.trace).values() if view.solve(x) is not None]
        if view.sums([*known, *look.seen.result.given]):
            return Cell(level, "nothing", "a sum of private inputs in the span of what is seen")
    return Cell("nothing", "nothing", "no other sum of private inputs in the span of what is seen")


def _discrete_cell(value: Callable[[World], Hashable], classes: _Classes) -> Cell:
    prior, found = _spread(value, classes.result), _spread(value, classes.view)
    release: Level = "all" if len(prior) == 1 else "nothing"
    count = len(classes.view)
    if len(found) == 1:
        return Cell("all", release, f"the same in all {count} worlds that look the same")
    if not classes.complete:
        return Cell("not all", release, f"{len(found)} values in {count} worlds that look the same")
    if found != prior:
        return Cell("partly", release, f"{len(found)} values, not as likely as before, in {count} worlds")
    if _spread(value, classes.weak) != prior:
        return Cell("partly", release, "not as likely as before, once coins too short to hide are added")
    return Cell("nothing", release, f"{len(found)} values, as likely as before, in {count} worlds")


def _spread(value: Callable[[World], Hashable], looks: list[_Look]) -> dict[Hashable, Fraction]:
    """Return the probability of each value among equally likely worlds."""
    counted = Counter(value(look.world) for look in looks)
    return {v: Fraction(c, len(looks)) for v, c in counted.items()}


def _strongest(cells: Counter[Cell]) -> Cell:
    """Return the cell of the worst world, with a note where not all worlds are alike."""
    worst = max(cells, key=lambda c: (LEVELS.index(c.level), LEVELS.index(c.release)))
    count = sum(n for c, n in cells.items() if c.level == worst.level)
    if count == cells.total():
        return worst
    return Cell(worst.level, worst.release, f"{worst.how}{_NOT_IN_ALL}{count} of {cells.total()} worlds")
