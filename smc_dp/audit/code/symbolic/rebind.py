"""The same role code on other building blocks: copies of its modules in which some names mean something else.

The functions keep their byte code; only what they look names up in is new. Nothing real is touched.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Set
from types import CellType, FunctionType, ModuleType
from typing import Any

CORE = ("protocols.arithmetic", "protocols.crypto", "protocols.runtime", "protocols.errors")


class Rebinding:
    """Copies of role modules in which each key of `instead` is replaced by its value.

    Reached are the modules of roles: those of `protocols` outside its core, and `homes`, where the roles are defined.
    Classes stay as they are.
    """

    def __init__(self, instead: Mapping[Any, Any], homes: Set[str]) -> None:
        self._instead = {id(real): other for real, other in instead.items()}
        self._homes = ("protocols", *homes)
        self._known: dict[str, bool] = {}
        self._spaces: dict[int, dict[str, Any]] = {}
        self._modules: dict[str, ModuleType] = {}

    def function(self, real: FunctionType) -> FunctionType:
        """The function with its names bound anew."""
        closure = tuple(CellType(self._value(cell.cell_contents)) for cell in real.__closure__ or ())
        made = FunctionType(real.__code__, self._space(real.__globals__), real.__name__, real.__defaults__, closure)
        made.__kwdefaults__, made.__module__ = real.__kwdefaults__, real.__module__
        return made

    def _space(self, real: dict[str, Any]) -> dict[str, Any]:
        if id(real) not in self._spaces:
            space = self._spaces[id(real)] = {"__builtins__": real["__builtins__"], "__name__": real["__name__"]}
            space.update({name: self._value(value) for name, value in real.items() if not name.startswith("__")})
        return self._spaces[id(real)]

    def _value(self, value: Any) -> Any:
        if id(value) in self._instead:
            return self._instead[id(value)]
        if isinstance(value, ModuleType) and self._is_role(value.__name__):
            return self._module(value)
        if isinstance(value, FunctionType) and self._is_role(value.__module__):
            return self.function(value)
        return value

    def _module(self, real: ModuleType) -> ModuleType:
        if real.__name__ not in self._modules:
            made = self._modules[real.__name__] = ModuleType(real.__name__)
            made.__dict__.update(self._space(vars(real)))
            # A cycle of imports has filled the space after the copy began.
            made.__dict__.update({name: self._value(value) for name, value in vars(real).items() if name[:2] != "__"})
        return self._modules[real.__name__]

    def _is_role(self, name: str) -> bool:
        if name not in self._known:
            self._known[name] = _inside(name, self._homes) and not _inside(name, CORE)
        return self._known[name]


def _inside(name: str, packages: Iterable[str]) -> bool:
    return any(name == package or name.startswith(package + ".") for package in packages)
