"""Equality of views up to the names of unknown coins: such views look the same and give the same."""

from __future__ import annotations

from collections.abc import Hashable

from smc_dp.leakage.symbolic.form import Form, Symbol
from smc_dp.leakage.symbolic.views import SymbolicView


def view_up_to_names(*views: SymbolicView) -> Hashable:
    """Return a key, equal for views of the same members that differ only in the names of unknown coins."""
    naming = _Naming()
    return tuple(naming.view(view) for view in views)


class _Naming:
    """Numbers for unknown coins in the order in which they are met; everything else keeps its name."""

    def __init__(self) -> None:
        self._numbers: dict[Symbol, Hashable] = {}
        self._known: frozenset[Symbol] = frozenset()  # to the members of the view that is looked at

    def view(self, view: SymbolicView) -> Hashable:
        """Return all that a view is made of, with coins renamed."""
        self._known = view.known
        forms = tuple(self._form(x) for part in (view.given, view.numbers, view.hints) for x in part)
        joins = tuple((self._form(x), *map(self._form, digits)) for x, digits in view.trace.joins)
        lengths = len(view.given), len(view.numbers), len(view.hints)
        return tuple(view.facts), view.drawn, tuple(view.names.items()), lengths, forms, joins

    def _form(self, x: Form) -> Hashable:
        return x.constant, x.modulus, x.wrap, tuple((self._symbol(s), c) for s, c in x.terms.items())

    def _symbol(self, s: Symbol) -> Hashable:
        if s not in self._numbers:
            known = s in self._known
            name = s.name if known or s.kind == "input" else len(self._numbers)
            self._numbers[s] = name
            about = None if s.about is None else self._form(s.about)
            self._numbers[s] = name, known, s.kind, s.low, s.high, about
        return self._numbers[s]
