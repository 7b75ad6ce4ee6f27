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
        self._names: dict[Symbol, Hashable] = {}
        self._descriptions: list[Hashable] = []  # of the unknowns in this order, for a name alone says too little
        self._known: frozenset[Symbol] = frozenset()  # to the members of the view that is looked at

    def view(self, view: SymbolicView) -> Hashable:
        """Return all that a view is made of, with coins renamed."""
        self._known = view.known
        forms = tuple(self._form(x) for part in (view.given, view.numbers, view.hints) for x in part)
        joins = tuple((self._form(x), *map(self._form, digits)) for x, digits in view.trace.joins)
        lengths = len(view.given), len(view.numbers), len(view.hints)
        about = tuple(self._descriptions)
        return tuple(view.facts), view.drawn, tuple(view.names.items()), lengths, forms, joins, about

    def _form(self, x: Form) -> Hashable:
        found: list[Hashable] = [x.constant, x.modulus, x.wrap]
        for s, c in x.terms.items():
            found += self._name(s), c
        return tuple(found)

    def _name(self, s: Symbol) -> Hashable:
        if s not in self._names:
            known = s in self._known
            name = self._names[s] = s.name if known or s.kind == "input" else len(self._names)
            about = None if s.about is None else self._form(s.about)
            self._descriptions.append((name, known, s.kind, s.low, s.high, about))
        return self._names[s]
