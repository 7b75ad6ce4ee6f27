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
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from itertools import combinations
from typing import Any, Literal, TypeAlias

from protocols.programs import Protocol
from smc_dp.leakage.symbolic.form import Form
from smc_dp.leakage.symbolic.hiding import weaken_view
from smc_dp.leakage.symbolic.patterns import EVERYBODY_STAYS, Pattern
from smc_dp.leakage.symbolic.views import SymbolicReading, SymbolicView, result_view
from smc_dp.leakage.symbolic.world_runs import WorldRuns, setting_labels
from smc_dp.leakage.symbolic.worlds import World

Level: TypeAlias = Literal["own", "nothing", "not all", "partly", "listed", "all"]
# From least to most learned: cells are compared by the place of their level.
LEVELS: tuple[Level, ...] = ("own", "nothing", "not all", "partly", "listed", "all")
MOST_MATRIX_PARTIES = 5
"""Largest number of parties for which `lab matrix` computes one."""
OTHER_SUM = "another sum"
"""Name of the cell for sums of private inputs, beyond the result and the secrets known one by one."""
_DRAWN = "drawn by a member"  # how something is known that is no input
_NOT_IN_ALL = "; so in "


@dataclass(frozen=True)
class Cell:
    """Extent to which a coalition learns one secret: `level` from the protocol, `release` from its result alone.

    `how`: the reason for the level, in words, with the number of worlds if it does not hold in all.

    own: it is a member's. all: determined, and the coalition can compute it. listed: it is one of a few numbers that
    the coalition can compute, and the messages do not say which. partly: some values are excluded or more likely, or
    the remainder mod some number is known. nothing: no such thing was found. not all: two worlds with different values
    look the same, and more was not examined.
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

    `claimed`: the protocol's claim covers the coalition; `even_malicious`: also if its members are malicious.
    `pattern`: the drop-out or late message. `session_label`: the parameters that distinguish this kind of session, ""
    where there is one kind. `states_result`: the model states the result that everybody gets.
    """

    members: tuple[str, ...]
    smallest: str
    cells: Mapping[str, Cell]
    claimed: bool = False
    pattern: Pattern = EVERYBODY_STAYS
    session_label: str = ""
    states_result: bool = False
    even_malicious: bool = False

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
            key = (row.session_label, row.members, row.smallest, tuple(row.cells.items()))
            same.setdefault(key, []).append(row)
        about = {"protocol": self.protocol, "parties": list(self.parties), "worlds": self.worlds}
        return {**about, "settings": list(self.settings), "rows": [self._entry(rows) for rows in same.values()]}

    def _entry(self, rows: Sequence[Row]) -> dict[str, Any]:
        row = rows[0]
        when = {"session": row.session_label, "patterns": [str(r.pattern) for r in rows]} if self.has_patterns else {}
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
    all_runs: list[WorldRuns] = []
    for p, session in zip(sessions, setting_labels(sessions), strict=True):
        for runs in WorldRuns(protocol, p).under_patterns():
            all_runs.append(runs)
            here = f"{session}: {runs.pattern}: " if runs.pattern.name else ""
            for members in chosen or all_coalitions(runs.names):
                if progress:
                    progress(f"{here}{' + '.join(members)}")
                rows += (replace(row, session_label=session) for row in _worst_rows(runs, frozenset(members)))
    worlds = len(all_runs[0].traces)
    return Matrix(protocol.program.name, tuple(first.parties), worlds, tuple(rows), all_runs[0].settings)


def _worst_rows(runs: WorldRuns, members: frozenset[str]) -> list[Row]:
    """Return the rows of a coalition, with the worst cells of all settings."""
    found = coalition_rows(runs, members)
    for other, setting in zip(runs.variants, runs.settings[1:], strict=True):
        more = {row.smallest: row.cells for row in coalition_rows(other, members, few_worlds=True)}
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
class _Views:
    """View of a coalition, and its view of the result alone."""

    reading: SymbolicReading
    result: SymbolicView

    @property
    def view(self) -> SymbolicView:
        """View of the coalition."""
        return self.reading.view

    @cached_property
    def weak(self) -> SymbolicView:
        """View without what coins fail to hide."""
        return weaken_view(self.view) or self.view


@dataclass(frozen=True)
class _WorldView:
    """World with a coalition's view of it; worlds with the same run so far share the view."""

    world: World
    views: _Views


def coalition_rows(runs: WorldRuns, members: frozenset[str], few_worlds: bool = False) -> list[Row]:
    """Return the rows of a coalition in these runs alone, one for each possible smallest party.

    `few_worlds`: compare hardly any worlds, as for settings beside the first.
    """
    found: dict[int, dict[str, Counter[Cell]]] = {}
    for worlds, wanted in runs.scenes(members, few_worlds):
        made: dict[
            Hashable, tuple[_Indistinguishable, list[tuple[str, Cell]]]
        ] = {}  # by what counts, which it keeps alive
        for current, classes in _classes(_world_views(runs, members, worlds), wanted, runs.has_one_world):
            j = current.world.ranks.index(0)
            cells = found.setdefault(j, {})
            alike = (j, id(current.views), *map(id, (classes.view, classes.weak, classes.result)))
            if alike not in made:
                made[alike] = classes, list(_cells(runs, members, classes, current))
            for secret, cell in made[alike][1]:
                cells.setdefault(secret, Counter())[cell] += 1
    ordered = tuple(name for name in runs.names if name in members)
    claim = runs.protocol.claim
    claimed = claim is not None and claim.claims(runs.p, ordered)
    states_result = runs.model.given is not None
    strongest = {j: {s: _strongest(c) for s, c in cells.items()} for j, cells in sorted(found.items())}
    even_malicious = claim is not None and claim.keeps is not None and not claim.keeps(runs.p)
    return [
        Row(
            ordered,
            runs.smallest(j),
            c,
            claimed,
            runs.pattern,
            states_result=states_result,
            even_malicious=even_malicious,
        )
        for j, c in strongest.items()
    ]


def _world_views(runs: WorldRuns, members: frozenset[str], worlds: Sequence[World]) -> list[_WorldView]:
    views: dict[int, _Views] = {}
    for trace in map(runs.trace, worlds):
        if id(trace) not in views:
            views[id(trace)] = _Views(SymbolicReading(trace, members), result_view(trace, members))
    return [_WorldView(world, views[id(runs.trace(world))]) for world in worlds]


@dataclass(frozen=True)
class _Indistinguishable:
    """Worlds that a coalition cannot tell from one: by its view, without what coins fail to hide, and by the result.

    `complete`: these are all such worlds, and not just some. `alone`: no other world was looked at.
    """

    view: list[_WorldView]
    weak: list[_WorldView]
    result: list[_WorldView]
    complete: bool = False
    alone: bool = False


def _classes(
    world_views: list[_WorldView], wanted: int, all_there_is: bool
) -> Iterator[tuple[_WorldView, _Indistinguishable]]:
    """Yield the first `wanted` worlds, each with those that look the same."""
    if len(world_views) == 1:
        yield world_views[0], _Indistinguishable(world_views, world_views, world_views, alone=not all_there_is)
        return
    if wanted < len(world_views):
        for here in world_views[:wanted]:
            result = [x for x in world_views if x.views.result.key_in(x.world) == here.views.result.key_in(here.world)]
            facts = here.views.reading.facts
            close = [x for x in world_views if x.views.reading.facts == facts and _key(x) == _key(here)]
            yield here, _Indistinguishable(close, [], result)
        return
    by_view, by_result = _grouped(world_views, _key), _grouped(world_views, lambda x: x.views.result.key_in(x.world))
    by_weak = _grouped(world_views, lambda x: x.views.weak.key_in(x.world))
    for current in world_views:
        yield (
            current,
            _Indistinguishable(by_view[current.world], by_weak[current.world], by_result[current.world], complete=True),
        )


def _key(current: _WorldView) -> Hashable:
    return current.views.view.key_in(current.world)


def _grouped(world_views: Sequence[_WorldView], key: Callable[[_WorldView], Hashable]) -> dict[World, list[_WorldView]]:
    groups: dict[Hashable, list[_WorldView]] = {}
    for current in world_views:
        groups.setdefault(key(current), []).append(current)
    return {current.world: group for group in groups.values() for current in group}


def _cells(
    runs: WorldRuns, members: frozenset[str], classes: _Indistinguishable, current: _WorldView
) -> Iterator[tuple[str, Cell]]:
    view = current.views.view
    secrets = runs.linear(current.world, view.trace)
    for secret in runs.shown(current.world):
        if view.known.issuperset(secrets[secret].terms):
            yield secret, Cell("own", "own", "a member's own")
        else:
            yield secret, _linear_cell(runs, secret, secrets[secret], current, classes)
    yield OTHER_SUM, _sum_cell(secrets.values(), current)
    for secret, value in runs.discrete():
        if runs.trace(current.world).tape.permutation_drawers.get(secret, set()) & members:
            yield secret, Cell("own", "own", _DRAWN)
        elif not classes.alone:
            yield secret, _discrete_cell(value, classes)


def _linear_cell(runs: WorldRuns, secret: str, form: Form, current: _WorldView, classes: _Indistinguishable) -> Cell:
    release, _ = _solved(runs, secret, form, current, classes.result, lambda x: x.views.result)
    level, how = _solved(runs, secret, form, current, classes.view, lambda x: x.views.view)
    if classes.alone:  # that one computation fits other worlds too was not looked at
        release, level = min(release, "listed", key=LEVELS.index), min(level, "listed", key=LEVELS.index)
    weak = current.views.weak
    if level == "nothing" and (weak.spans(form) or weak.has_difference_with(form)):
        level, how = "partly", "in the span once coins too short to hide and ranges that tell are added"
    return Cell(level, release, how)


def _solved(
    runs: WorldRuns,
    secret: str,
    form: Form,
    current: _WorldView,
    alike: Sequence[_WorldView],
    view: Callable[[_WorldView], SymbolicView],
) -> tuple[Level, str]:
    """Decide whether all worlds that look like this one give the secret by one and the same computation."""
    here = view(current)
    recipe = here.solve(form)
    if recipe is None:
        return "nothing", "not in the span of what is seen"
    if not here.exactly(recipe, form):
        return "partly", "its remainder mod some number is in the span"
    if runs.has_one_world:
        return "all", "in the span of what is seen"
    if all(view(x).gives(recipe, runs.linear(x.world, x.views.view.trace)[secret]) for x in alike):
        return "all", f"in the span, by one computation in all {len(alike)} worlds that look the same"
    return "listed", f"in the span, by other computations in some of the {len(alike)} worlds that look the same"


def _sum_cell(secrets: Iterable[Form], current: _WorldView) -> Cell:
    """Return the cell for sums of the others' inputs beyond the result and secrets known one by one."""
    views: list[tuple[Level, SymbolicView]] = [("all", current.views.view)]
    if current.views.weak is not current.views.view:
        views.append(("partly", current.views.weak))
    for level, view in views:
        if view.sums(filter(view.spans, secrets), current.views.result.given):
            return Cell(level, "nothing", "a sum of private inputs in the span of what is seen")
    return Cell("nothing", "nothing", "no other sum of private inputs in the span of what is seen")


def _discrete_cell(value: Callable[[World], Hashable], classes: _Indistinguishable) -> Cell:
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


def _spread(value: Callable[[World], Hashable], world_views: list[_WorldView]) -> dict[Hashable, Fraction]:
    """Return the probability of each value among equally likely worlds."""
    counted = Counter(value(current.world) for current in world_views)
    return {v: Fraction(c, len(world_views)) for v, c in counted.items()}


def _strongest(cells: Counter[Cell]) -> Cell:
    """Return the cell of the worst world, with a note where not all worlds are alike."""
    if len(cells) == 1:
        return next(iter(cells))
    worst = max(cells, key=lambda c: (LEVELS.index(c.level), LEVELS.index(c.release)))
    count = sum(n for c, n in cells.items() if c.level == worst.level)
    if count == cells.total():
        return worst
    return Cell(worst.level, worst.release, f"{worst.how}{_NOT_IN_ALL}{count} of {cells.total()} worlds")
