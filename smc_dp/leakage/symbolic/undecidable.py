"""Questions that a role may not ask of an unknown number: no form can follow the answer.

Python answers some questions for any object: its text, its size in memory, its address. The answer would be one
constant for all values, and what a role makes of it would pass for something public. So each is refused, and each
refusal is noted with the unknowns that it was about: a role that catches the error does not undo it.
"""

from __future__ import annotations

from typing import Any, NoReturn

from typing_extensions import override

from protocols.errors import FieldValue, LocalError


class UndecidedError(LocalError):
    """Question that does not have the same answer for all values of the unknowns."""


class UndecidableNumber:
    """Number of which only what its class defines can be asked."""

    def refuse(self, code: str, /, **fields: FieldValue) -> NoReturn:
        """Stop the run, and note the refusal in case the role goes on."""
        error = UndecidedError(code, **fields)
        for notes in self._notes():
            notes.append(str(error))
        raise error

    def _notes(self) -> list[list[str]]:
        """Return the lists in which a refusal is noted."""
        raise NotImplementedError

    def __getattr__(self, name: str) -> NoReturn:
        self._as_only_numbers(name)

    def _as_only_numbers(self, what: str) -> NoReturn:
        self.refuse("symbol.used_as_a_number", what=what)

    def _in_words(self, *_: Any) -> NoReturn:
        self.refuse("symbol.put_into_words")

    def _as_number(self, *_: Any) -> NoReturn:
        self._as_only_numbers("asks for its value")

    def _computed(self, *_: Any) -> NoReturn:
        self._as_only_numbers("computes what no form can follow")

    def _as_object(self, *_: Any) -> NoReturn:
        self.refuse("symbol.asked_as_object")

    @override
    def __hash__(self) -> int:
        self._as_object()

    __repr__ = __str__ = __format__ = __bytes__ = _in_words
    __int__ = __index__ = __float__ = __complex__ = __round__ = __trunc__ = __floor__ = __ceil__ = _as_number
    __abs__ = __invert__ = __pow__ = __rpow__ = __truediv__ = __rtruediv__ = __floordiv__ = __rfloordiv__ = _computed
    __divmod__ = __rdivmod__ = __rmod__ = __xor__ = __rxor__ = __rand__ = __ror__ = __rlshift__ = _computed
    __rrshift__ = __matmul__ = __rmatmul__ = __len__ = __iter__ = __getitem__ = __contains__ = _computed
    __sizeof__ = __reduce__ = __reduce_ex__ = __dir__ = _as_object
