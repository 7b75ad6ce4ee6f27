"""A number under all values of some coins at once: each coin is an axis of an array.

A role computes with it as with an integer. Where only one number will do (a branch, an index), `AskedError` says which
coins decide, and whoever drives the role runs it again for each of their values.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NoReturn, TypeAlias

import numpy as np
from numpy.typing import NDArray

from protocols.errors import LocalError

MOST = 1 << 20  # values of one number


class AskedError(Exception):
    """A role asks for a number that these coins decide, by their axes."""

    def __init__(self, axes: tuple[int, ...]) -> None:
        super().__init__(f"asks for {len(axes)} coins")
        self.axes = axes


@dataclass(frozen=True, eq=False, repr=False)
class Many:
    """The values, which are not all the same; coin i is the axis -(i + 1)."""

    values: NDArray[np.int64] = field(repr=False)

    @property
    def axes(self) -> tuple[int, ...]:
        """The coins that it may depend on."""
        return tuple(i for i, size in enumerate(reversed(self.values.shape)) if size > 1)

    def _with(self, how: Callable[[Any, Any], Any], other: ManyOrOne, turned: bool = False) -> ManyOrOne:
        pair = (array(other), self.values) if turned else (self.values, array(other))
        return number(how(*pair))

    def __add__(self, other: ManyOrOne) -> ManyOrOne:
        return self._with(operator.add, other)

    __radd__ = __add__

    def __sub__(self, other: ManyOrOne) -> ManyOrOne:
        return self._with(operator.sub, other)

    def __rsub__(self, other: ManyOrOne) -> ManyOrOne:
        return self._with(operator.sub, other, turned=True)

    def __mul__(self, other: ManyOrOne) -> ManyOrOne:
        return self._with(operator.mul, other)

    __rmul__ = __mul__

    def __mod__(self, other: ManyOrOne) -> ManyOrOne:
        return self._with(operator.mod, other)

    def __lshift__(self, other: ManyOrOne) -> ManyOrOne:
        return self._with(operator.lshift, other)

    def __rshift__(self, other: ManyOrOne) -> ManyOrOne:
        return self._with(operator.rshift, other)

    def __and__(self, other: ManyOrOne) -> ManyOrOne:
        return self._with(operator.and_, other)

    __rand__ = __and__

    def __or__(self, other: ManyOrOne) -> ManyOrOne:
        return self._with(operator.or_, other)

    __ror__ = __or__

    def __xor__(self, other: ManyOrOne) -> ManyOrOne:
        return self._with(operator.xor, other)

    __rxor__ = __xor__

    def __neg__(self) -> ManyOrOne:
        return number(-self.values)

    def is_zero(self) -> ManyOrOne:
        """1 where it is zero, else 0."""
        return number(self.values == 0)

    def __eq__(self, other: object) -> bool:
        return self._asked()

    def __lt__(self, other: object) -> bool:
        return self._asked()

    __le__ = __gt__ = __ge__ = __lt__

    def __bool__(self) -> bool:
        return self._asked()

    def __index__(self) -> int:
        return self._asked()

    __int__ = __index__
    __hash__ = None  # type: ignore[assignment]

    def _asked(self) -> NoReturn:
        raise AskedError(self.axes)


ManyOrOne: TypeAlias = int | Many


def array(x: ManyOrOne) -> NDArray[np.int64]:
    """The values of a number."""
    return x.values if isinstance(x, Many) else np.asarray(int(x), dtype=np.int64)


def number(values: NDArray[Any]) -> ManyOrOne:
    """The number with these values: an integer where they are all the same."""
    if values.size > MOST:
        raise LocalError("exact.too_many_values", most=MOST)
    first = int(values.item(0))
    return first if np.logical_and.reduce(values == first, axis=None) else Many(values.astype(np.int64, copy=False))


def coin(axis: int, size: int) -> ManyOrOne:
    """The coin of this axis, in [0, size)."""
    return number(np.arange(size, dtype=np.int64).reshape((size, *(1,) * axis)))
