"""Role code on other building blocks: copies of its modules in which some names mean something else.

The functions keep their byte code; only the names that they look up are new. Nothing real is touched. What functions
are held in is copied as well: closures, defaults, tuples, lists, dicts, and records of role modules.

A role that catches every error, or errors in what Python does with a symbol, would take a refusal for an answer. So the
broadest errors are bound to one that nothing raises, and objects have no `id`.
"""

from __future__ import annotations

import builtins
from collections.abc import Callable, Iterable, Mapping, Set
from dataclasses import is_dataclass, replace
from types import CellType, FunctionType, ModuleType
from typing import Any, ClassVar

from protocols.runtime.session import Program

_CORE = ("protocols.arithmetic", "protocols.crypto", "protocols.runtime", "protocols.errors")


class NeverRaisedError(Exception):
    """Error that is never raised."""


class Rebinding:
    """Copies of role modules in which each key of `instead` is replaced by its value.

    Modules of roles are those of `protocols` outside its core, and `role_packages`, where the roles are
    defined. Classes stay as they are.
    """

    BUILTINS: ClassVar[Mapping[str, Any]] = {
        **vars(builtins),
        **dict.fromkeys(("BaseException", "Exception", "TypeError", "AttributeError"), NeverRaisedError),
        "id": None,
    }

    def __init__(self, instead: Mapping[Any, Any], role_packages: Set[str]) -> None:
        self._instead = {id(real): other for real, other in instead.items()}
        self._role_packages = ("protocols", *role_packages)
        self._known: dict[str, bool] = {}
        self._kept: set[type] = set()  # types of which every value stays as it is
        self._functions: dict[int, FunctionType] = {}
        self._modules: dict[int, ModuleType] = {}  # by the id of the names of the real one

    def program(self, real: Program) -> Program:
        """Return the program with its roles, and the functions of its greeting, bound anew."""
        bound: Callable[[Any], Any] = self.function
        said = real.greeting
        greeting = said and replace(said, draw=bound(said.draw), make=bound(said.make))
        return replace(real, roles={kind: bound(role) for kind, role in real.roles.items()}, greeting=greeting)

    def function(self, real: FunctionType) -> FunctionType:
        """Return the function with its names bound anew."""
        if id(real) in self._functions:
            return self._functions[id(real)]
        cells = tuple(CellType() for _ in real.__closure__ or ())
        made = FunctionType(real.__code__, vars(self._module(real.__globals__)), real.__name__, None, cells)
        self._functions[id(real)] = made  # before anything in it is looked at, for it may hold itself
        for cell, old in zip(cells, real.__closure__ or (), strict=True):
            cell.cell_contents = self._value(old.cell_contents)
        made.__defaults__, made.__kwdefaults__ = self._value(real.__defaults__), self._value(real.__kwdefaults__)
        made.__module__ = real.__module__
        return made

    def _value(self, value: Any) -> Any:
        if id(value) in self._instead:
            return self._instead[id(value)]
        kind = type(value)
        if kind in self._kept:
            return value
        if isinstance(value, ModuleType):
            return self._module(vars(value)) if self._is_role(value.__name__) else value
        if isinstance(value, FunctionType):
            return self.function(value) if self._is_role(value.__module__) else value
        if kind in (tuple, list):
            return kind(self._value(x) for x in value)
        if kind is dict:
            return {key: self._value(x) for key, x in value.items()}
        if is_dataclass(kind) and not isinstance(value, type) and self._is_role(kind.__module__):
            return self._instance(value)
        self._kept.add(kind)
        return value

    def _instance(self, real: Any) -> Any:
        made = object.__new__(type(real))
        made.__dict__.update({name: self._value(value) for name, value in vars(real).items()})
        return made

    def _module(self, real: Mapping[str, Any]) -> ModuleType:
        if id(real) not in self._modules:
            # Noted before its names are looked at, for imports have cycles; builtins first, for functions take them.
            made = self._modules[id(real)] = ModuleType(real["__name__"])
            space = vars(made)
            space["__builtins__"] = self.BUILTINS
            space.update({name: self._value(value) for name, value in real.items() if not name.startswith("__")})
        return self._modules[id(real)]

    def _is_role(self, name: str) -> bool:
        if name not in self._known:
            self._known[name] = _inside(name, self._role_packages) and not _inside(name, _CORE)
        return self._known[name]


def _inside(name: str, packages: Iterable[str]) -> bool:
    return any(name == package or name.startswith(package + ".") for package in packages)
