"""The one error for input that a person can correct, alone or with others, and warnings that stay on this machine."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import ClassVar, TypeVar, cast

from typing_extensions import override

from protocols.errors import Fault as Fault
from protocols.errors import FaultError as FaultError
from protocols.errors import FieldValue as FieldValue

_SHOWN = 40
_LONGEST_NAME = 64
Accepted = TypeVar("Accepted")


class InputFault(Fault):
    """A fault of input; its sentence stands in the `faults.toml` of its room."""

    PACKAGE: ClassVar[Path] = Path(__file__).parents[1]


class LinesFault(InputFault):
    """Fault behind those of a file: below its sentence stand lines to copy."""

    @property
    def lines(self) -> tuple[str, ...]:
        """Lines to copy, printable."""
        return tuple(map(_printable, cast("Sequence[str]", self.fields["lines"])))

    @property
    def sentence(self) -> str:
        """Sentence without the lines."""
        return super().__str__()

    @override
    def __str__(self) -> str:
        return "\n  ".join((self.sentence, *self.lines))


class InputError(FaultError, ValueError):
    """Refusal of a file, a row or an option that is not what was wanted.

    `code` is stable and `fault.fields` are typed; the message is one sentence that names the party or file, the field,
    what came and what was wanted.

    Examples
    --------
    >>> from smc_dp import InputError, Target
    >>> try:
    ...     Target(epsilon=-1)
    ... except InputError as error:
    ...     print(error)
    epsilon: wanted a number from 1e-09 to 1e+06, or None for no noise, got -1

    """

    KIND: ClassVar[type[Fault]] = InputFault


class UnfitError(InputError):
    """Refuse a document with all of its faults at once; the message has the sentences of all."""

    def __init__(self, where: str, faults: Iterable[Fault]) -> None:
        self.where = where
        self._faults = tuple(faults)
        number = sum(not isinstance(fault, LinesFault) for fault in self._faults)
        between = "; " if number == len(self._faults) else "\n"
        at = count(1)
        plain = number == 1
        said = (str(x) if plain or isinstance(x, LinesFault) else f"({next(at)}) {x}" for x in self._faults)
        fields = {"count": "" if plain else f"{number} things do not fit: ", "faults": between.join(said)}
        place = f"{where}: " if where else ""
        super().__init__(InputFault("document.unfit", fields, place))

    @property
    @override
    def faults(self) -> tuple[Fault, ...]:
        return self._faults

    @override
    def within(self, place: str) -> UnfitError:
        return UnfitError(f"{place}: {self.where}" if self.where else place, self._faults)


class AdvisedError(InputError):
    """Refuse input for one fault, of which `code` and `fault` tell; `faults` has the lines to copy behind it."""

    def __init__(self, fault: Fault, lines: Fault) -> None:
        super().__init__(fault)
        self._lines = lines

    @override
    def __str__(self) -> str:
        return "\n".join(map(str, self.faults))

    @property
    @override
    def faults(self) -> tuple[Fault, ...]:
        return self.fault, self._lines

    @override
    def within(self, place: str) -> AdvisedError:
        return AdvisedError(self.fault.within(place), self._lines.within(place))


class FaultCollector:
    """Faults of several steps, collected so that a step that is refused hides no other."""

    def __init__(self) -> None:
        self.faults: list[Fault] = []

    @contextmanager
    def step(self, place: str = "") -> Iterator[None]:
        """Keep the faults of a step; `place` stands in front of each."""
        try:
            yield
        except InputError as error:
            found = [fault.within(place) for fault in error.faults]
            self.faults += [fault for fault in found if fault not in self.faults]

    def require(self, where: str = "") -> None:
        """Raise the one fault that was kept, or an `UnfitError` with all of them; `where` is what does not fit."""
        if self.faults:
            raise refusal_of(self.faults, where)

    def required(self, made: Accepted | None) -> Accepted:
        """Return what several steps made; raise as `require` does where one was refused."""
        self.require()
        if made is None:
            raise RuntimeError("a step was refused without a fault")
        return made


def refusal_of(faults: Iterable[Fault], where: str = "") -> InputError:
    """Return the error of the one fault that there is, or an `UnfitError` with all of them.

    One fault with lines to copy behind it is one fault.
    """
    first, *others = faults
    if not others:
        return InputError(first)
    if len(others) == 1 and isinstance(others[0], LinesFault):
        return AdvisedError(first, others[0])
    return UnfitError(where, (first, *others))


def refuse_all(faults: Iterable[Fault]) -> None:
    """Raise the refusal of all faults, if there are any."""
    if found := tuple(faults):
        raise refusal_of(found)


def shown(value: object) -> str:
    """Return a value as it may stand in a message: quoted, on one line, cut after 40 characters."""
    try:
        text = " ".join(repr(value).split("\n"))
    except (ValueError, RecursionError):  # an integer of too many digits, lists in lists in lists
        text = f"a very large {type(value).__name__}"
    return text if len(text) <= _SHOWN else text[: _SHOWN - 4] + "..." + text[-1]


def check_one_of(name: str, value: object, known: Iterable[str]) -> None:
    """Raise InputError unless the value of a setting is one of the known texts."""
    listed = tuple(known)
    if not isinstance(value, str) or value not in listed:
        raise InputError("setting.unknown_value", name=name, known=listed, got=shown(value))


def one_line(message: str) -> str:
    """Return the message on one line, with nothing in it that a terminal would obey."""
    return _printable(" ".join(message.split()))


def plain_name(name: object) -> str:
    """Return a name for use in a message: on one line, printable, cut after 64 characters."""
    text = _printable(str(name))
    return text if len(text) <= _LONGEST_NAME else text[: _LONGEST_NAME - 3] + "..."


def _printable(text: str) -> str:
    return text if text.isprintable() else "".join(c if c.isprintable() else " " for c in text)


MOST_CLIPPED = 0.05
"""Share of clipped rows, or of numbers outside their bounds, above which their owner is warned."""
_LOCAL = " This counts private rows and stays on this machine: nothing that is released has it."


class RowsClippedWarning(FaultError, UserWarning):  # noqa: N818  a warning
    """Warning that a public bound clipped more than 5 % of the rows of a training, or of a column's numbers.

    It counts private rows, so only their owner gets it: it enters no release, no `privacy_` and no transcript. Clipping
    costs accuracy and no privacy. Change the bound by what is publicly known, and not by this warning: a bound that
    follows private rows is a release of its own.

    Examples
    --------
    To be sure that no row of a trial is clipped, make it an error:

    >>> import warnings
    >>> from smc_dp import AveragingClassifier, RowsClippedWarning
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("error", RowsClippedWarning)
    ...     AveragingClassifier(radius=1.0).fit([[3.0], [-4.0], [2.0], [-3.0], [5.0]], [1, 0, 1, 0, 1])
    Traceback (most recent call last):
    smc_dp.core.errors.RowsClippedWarning: AveragingClassifier: 5 of 5 rows are longer than radius 1 and clipped. ...

    """


class FileIgnoredWarning(FaultError, UserWarning):  # noqa: N818  a warning
    """Warning that a file in a run folder was ignored."""


class ColumnIgnoredWarning(FaultError, UserWarning):  # noqa: N818  a warning
    """Warning that a column without a name was ignored."""


def clipped_too_often(clipped: int, count: int) -> bool:
    """Return whether so many out of `count` are worth a warning."""
    return clipped > MOST_CLIPPED * count


def warn_clipped(fault: Fault, *, stacklevel: int = 2) -> None:
    """Warn of a fault whose sentence says who counted how many, and what to do about it."""
    warnings.warn(RowsClippedWarning(fault.followed_by(_LOCAL)), stacklevel=stacklevel + 1)


def warn_ignored(fault: Fault, *, stacklevel: int = 2) -> None:
    """Warn that a file was ignored; the fault says which and why."""
    warnings.warn(FileIgnoredWarning(fault), stacklevel=stacklevel + 1)
