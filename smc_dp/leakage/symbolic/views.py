"""View of a coalition of a symbolic run, as facts and as numbers, and when two runs look the same.

*Facts* are what a member reads off without computing: who sends what to whom in which stage, integers and bytes in its
messages, permutations that it drew. *Rows* are linear forms whose value it has. Coins of the others, and their private
inputs, are unknowns without any prior. Then two runs look the same exactly when the facts and the linear relations
among the rows are the same, for these determine the distribution of the view; sizes give one thing more, their order.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence, Set
from copy import copy
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain
from math import lcm
from typing import Any

from protocols.runtime.session import PUBLIC_NAME
from smc_dp.leakage.symbolic import circuits
from smc_dp.leakage.symbolic.box import Box, Secret
from smc_dp.leakage.symbolic.form import Form, Number, Symbol, symbols_of
from smc_dp.leakage.symbolic.span import Combination, Span
from smc_dp.leakage.symbolic.trace import Trace
from smc_dp.leakage.symbolic.worlds import World

Recipe = tuple[frozenset[tuple[int, Any]], frozenset[tuple[str, Any]]]


@dataclass(repr=False)
class SymbolicView:
    """Facts, forms whose values are given, and the unknowns that the members know because they are theirs.

    `numbers`: given forms that a member reads as they are, for the question which coins are long enough. `hints`: forms
    that it can narrow down. `names`: other names for unknowns that the members know without knowing whose they are.
    `of`: the view of the same members that this one extends.
    """

    trace: Trace
    known: frozenset[Symbol]
    facts: list[Hashable] = field(default_factory=list)
    given: list[Form] = field(default_factory=list)
    numbers: list[Form] = field(default_factory=list)
    hints: list[Form] = field(default_factory=list)
    names: Mapping[str, str] = field(default_factory=dict)
    of: SymbolicView | None = None

    def with_more(self, more: Sequence[Form]) -> SymbolicView:
        """Return the view in which these are given as well."""
        return SymbolicView(self.trace, self.known, self.facts, [*self.given, *more], names=self.names, of=self)

    @property
    def key(self) -> Hashable:
        """Key that is equal for two views exactly when they look the same."""
        return self.key_in(self.trace.tape.world)

    def key_in(self, world: World) -> Hashable:
        """Return the key in a world with the same run, but other orders that nobody asked for so far."""
        orders = frozenset((recipe, world.ranks[i] < world.ranks[j]) for i, j, _, recipe in self._differences)
        return self._appearance, orders

    @cached_property
    def _appearance(self) -> Hashable:
        return tuple(self.facts), len(self._learnt.rows), tuple(self._learnt.relations)

    def solve(self, form: Form) -> Recipe | None:
        """Return how to compute the form from the rows and the members' own unknowns; None if impossible."""
        return self._learnt.solve(form)

    def spans(self, form: Form) -> bool:
        """Return whether the form can be computed from the rows and the members' own unknowns."""
        return self._learnt.combination(form) is not None

    def has_difference_with(self, form: Form) -> bool:
        """Return whether the members can compute a difference of compared numbers with this unknown."""
        return any(not form.terms.keys().isdisjoint(x.terms) for _, _, x, _ in self._differences)

    def exactly(self, recipe: Recipe, form: Form) -> bool:
        """Return whether the rows of a recipe give all of the form's value, and not just its remainder."""
        return self._learnt.exactly(recipe, form)

    def sums(self, known: Iterable[Form], result: Iterable[Form]) -> int:
        """Return the number of independent known sums of private inputs beyond those that these forms make.

        `known`: those that can be computed.
        """
        given = [self.unknown(form) for form in result]
        every = self._learnt.inputs_alone(given)
        made, rows = Span(self._learnt.inputs), chain(given, map(self.unknown, known))
        while made.last_rank < every and (row := next(rows, None)) is not None:  # these make no more than every sum
            made.add(row)
        return every - made.last_rank

    def gives(self, recipe: Recipe, form: Form) -> bool:
        """Return whether a recipe of a view that looks the same computes this form here."""
        total: dict[str, Any] = dict(recipe[1])
        for i, c in recipe[0]:
            _add(total, self.named(self._learnt.rows[i]), c)
        return {name: c for name, c in total.items() if c} == self.named(form)

    def named(self, form: Form) -> Mapping[str, int]:
        """Return the coefficients of a form by the names of its unknowns, and that of the constant."""
        return {self.names.get(name, name): c for name, c in form.named.items()} if self.names else form.named

    def unknown(self, form: Form) -> dict[Symbol, int]:
        """Return the part of a form that is not the members' own."""
        return {s: c for s, c in form.terms.items() if s not in self.known}

    @cached_property
    def _differences(self) -> list[tuple[int, int, Form, Recipe]]:
        """Differences of compared numbers that the members can compute, and how; they see its sign."""
        found = ((i, j, difference, self.solve(difference)) for i, j, difference in self.trace.contests)
        return [(i, j, difference, recipe) for i, j, difference, recipe in found if recipe is not None]

    @cached_property
    def _learnt(self) -> _Learnt:
        learnt, before = (self.of._learnt.copy(), len(self.of.given)) if self.of else (_Learnt(self), 0)
        for form in self.given[before:]:
            learnt.add(form)
        # who can compute a number that was made by joining digits knows the digits
        while (found := next((x for x in learnt.joined if learnt.has(x[0])), None)) is not None:
            learnt.joined = [x for x in learnt.joined if x is not found]
            for digit in found[1]:
                learnt.add(digit)
        return learnt


class _Learnt:
    """Rows of a view, and every relation among them. `joined`: numbers whose digits are no rows."""

    def __init__(self, view: SymbolicView) -> None:
        self._view = view
        self.inputs = frozenset(view.trace.inputs.values())
        self._span = Span(self.inputs)
        self._met = set(view.known)  # and every unknown in a row
        self.joined = view.trace.joins
        self.rows: list[Form] = []
        self.relations: list[Hashable] = []

    def copy(self) -> _Learnt:
        """Return an independent copy."""
        made = copy(self)
        made._span, made._met = self._span.copy(), self._met.copy()
        made.rows, made.relations = self.rows.copy(), self.relations.copy()
        return made

    def add(self, row: Form) -> None:
        found = self._span.add(self._view.unknown(row))
        self._met.update(row.terms)
        self.rows.append(row)
        if found is not None:
            self.relations.append((len(self.rows) - 1, self._recipe(found, row)))

    def combination(self, form: Form) -> Combination | None:
        """Return the combination of rows in the form; None if it cannot be computed."""
        return self._span.solve(self._view.unknown(form)) if self._met.issuperset(form.terms) else None

    def solve(self, form: Form) -> Recipe | None:
        found = self.combination(form)
        return None if found is None else self._recipe(found, form)

    def inputs_alone(self, more: Iterable[Mapping[Symbol, int]]) -> int:
        """Return the number of independent sums of private inputs, and of nothing else, that the rows and more give."""
        span = self._span.copy()
        for row in more:
            span.add(row)
        return span.last_rank

    def has(self, form: Form) -> bool:
        """Return whether all of the form's value can be computed."""
        recipe = self.solve(form)
        return recipe is not None and self.exactly(recipe, form)

    def exactly(self, recipe: Recipe, form: Form) -> bool:
        """Return whether no unknown of the form is longer than the moduli of the recipe's rows.

        A row times p/q is known mod its modulus over the powers of two in q; all moduli here are powers of two.
        """
        used = [(self.rows[i].wrap, c.denominator) for i, c in recipe[0]]
        moduli = [wrap // (q & -q) for wrap, q in used if wrap]
        return all(s.high - s.low < modulus for modulus in moduli for s in form.terms)

    def _recipe(self, used: Combination, form: Form) -> Recipe:
        """Return the recipe of a form: a combination of rows, and the members' own numbers and the constant to add."""
        rest: dict[str, Any] = {**self._view.named(form)}
        for i, c in used.items():
            _add(rest, self._view.named(self.rows[i]), -c)
        return frozenset(used.items()), frozenset((name, c) for name, c in rest.items() if c)


class SymbolicReading:
    """Reading of a run by the members of a coalition: facts, and the view with all that can be computed of them.

    Everybody sees headers, and what is published. The view is made when it is asked for: most worlds differ in facts.
    """

    def __init__(self, trace: Trace, members: frozenset[str]) -> None:
        self._trace, self._members, tape = trace, members, trace.tape
        messages = [s for s in trace.sent if s.to in members or s.to == PUBLIC_NAME]
        self._found = [v for s in messages for v in s.values]
        own = {x for name in members for x in tape.secrets.get(name, ())}
        self._held = {x.key for x in (*own, *self._found) if isinstance(x, Secret)}
        self._texts = {v for v in self._found if isinstance(v, bytes)}
        self._before = self._theirs = tape.strings.reached(members, self._texts)
        self._rows = list(circuits.open_rows(tape.locked_rows, self._before, self._texts))
        if self._rows:
            opened = {x for key, row in self._rows for x in (key.tag, key.key, row.text)}
            self._theirs = tape.strings.reached(members, self._texts | opened)
        self._drawn = tape.permutations_of(self._theirs)
        self.facts: list[Hashable] = [(label, tape.images(label)) for label in sorted(self._drawn)]
        self.facts += trace.headers
        self.facts += map(self._fact, self._found)
        for key, row in self._rows:
            self.facts.append(tuple(x if x in self._before else "a new string" for x in (key.tag, row.text)))
            self.facts += map(self._fact, row.numbers)

    def _fact(self, value: Any) -> Hashable:
        if isinstance(value, Box):
            return self._fact(value.content) if value.n in self._held else "a locked box"
        return "a number" if isinstance(value, Form) else value

    @cached_property
    def view(self) -> SymbolicView:
        """View of the coalition."""
        trace, tape, members = self._trace, self._trace.tape, self._members
        acquainted = tape.sources_of(self._before)
        strange = (source for source in tape.sources_of(self._theirs) if source not in acquainted)
        strangers = [tape.agreed_draws[source] for source in strange]
        known = {s for name in members for s in tape.coins.get(name, ())}
        known |= {s for name, s in trace.inputs.items() if trace.owners[name] in members}
        known |= tape.coins_of(self._theirs)
        known |= {s for s in tape.products.values() if symbols_of(s.factors) <= known}
        view = SymbolicView(trace, frozenset(known), self.facts, names=circuits.stranger_names(strangers))
        for value in self._found:
            if isinstance(value, Box):
                _read_box(view, value, value.n in self._held)
            else:
                _read_plain(view, value)
        for tried in _tried(view, members, [v for v in self._found if isinstance(v, Box)], self._held):
            more = view.given if len(tried) == 1 else view.hints
            more += tried
        for number in (x for _, row in self._rows for x in row.numbers):
            _read_plain(view, number)
        for circuit in tape.circuits.values():
            view.given += circuit.numbers(self._before)
        view.given += _opened(trace, self._found, self._texts)
        view.hints += tape.strings.guessable_numbers(self._theirs)
        for circuit in tape.circuits.values():
            if circuit.is_ordered_by(self._drawn) and view.spans(circuit.ties):
                view.hints += circuit.differences()
        return view


def result_view(trace: Trace, members: frozenset[str]) -> SymbolicView:
    """Return the members' view if a trusted third party had computed the result: their inputs and its output.

    The output is the sum of the shares unless the model states another one.
    """
    known = frozenset(s for name, s in trace.inputs.items() if trace.owners[name] in members)
    if trace.ideal is not None:
        return SymbolicView(trace, known, given=list(trace.given(members).values()))
    return SymbolicView(trace, known, given=list(trace.released))


def _read_plain(view: SymbolicView, value: Any) -> None:
    """Add a number with everything that is packed into it; what is no number is a fact."""
    if isinstance(value, Form):
        view.numbers += value.slots
        view.given += value.slots


def _opened(trace: Trace, found: Iterable[Any], texts: Set[bytes]) -> Iterator[Form]:
    """Yield the numbers in commitments that were read together with their openings."""
    commitments = trace.tape.commitments
    for _, value, opening in (commitments[v] for v in found if isinstance(v, bytes) and v in commitments):
        if opening in texts and isinstance(value, tuple):
            yield from (Form.of(x) for x in value)


def _read_box(view: SymbolicView, box: Box, opened: bool) -> None:
    """Add content and randomiser for the holder of the key, their sum for everybody else."""
    if opened:
        _read_plain(view, box.content)
        view.hints += box.hints
    view.given.append(Form.of(box.randomiser) if opened else box.closed)


def _tried(view: SymbolicView, members: Set[str], read: Sequence[Box], held: Set[int]) -> Iterator[list[Form]]:
    """Yield the exponents found by trying: of boxes, and of products of boxes, in which nothing else is unknown.

    A product that the members can make has a whole number of each box; which of them leave nothing else is linear
    algebra. Every box that was raised has to be seen.
    """
    if not any(box.trials for box in read):
        return
    messages = [s for s in view.trace.sent if s.sender in members or s.to in members]
    seen = {id(v) for s in messages for v in s.values}
    span = Span()
    raised: list[Box] = []
    for box in read:
        hidden = Form.of(box.randomiser if box.n in held else box.plain + box.randomiser)
        rest = {s: c for s, c in view.unknown(hidden).items() if s.kind != "product"}
        if not rest and not box.trials:
            continue
        raised.append(box)
        used = span.add(rest)
        if used is not None:
            yield _exponents(view, [(raised[i], -c) for i, c in used.items()] + [(box, 1)], seen)


def _exponents(view: SymbolicView, product: Sequence[tuple[Box, Any]], seen: Set[int]) -> list[Form]:
    """Return the unknown exponents of a product of powers, one for each box that was raised; none if one is unseen."""
    whole = lcm(*(c.denominator for _, c in product))
    found: dict[int, Number] = {}
    for box, c in product:
        for base, k in box.trials:
            if id(base) not in seen:
                return []
            found[id(base)] = found.get(id(base), 0) + k * int(c * whole)
    return [k for k in found.values() if isinstance(k, Form) and view.unknown(k)]


def _add(total: dict[str, Any], named: Mapping[str, Any], factor: Any) -> None:
    for name, c in named.items():
        total[name] = total.get(name, 0) + factor * c
