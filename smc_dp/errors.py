"""The one error for input that a person can correct."""

from __future__ import annotations

_SHOWN = 40
_LONGEST_NAME = 64


class InputError(ValueError):
    """A file, a row or an option is not what was wanted.

    The message is one plain sentence that names the party or file, the field, what came and what was wanted.

    Examples
    --------
    >>> from smc_dp import InputError, Target
    >>> try:
    ...     Target(epsilon=-1)
    ... except InputError as error:
    ...     print(error)
    epsilon: wanted a number from 1e-09 to 1e+06, or None for no noise, got -1

    """


def shown(value: object) -> str:
    """A value as it may stand in a message: quoted, on one line, cut after 40 characters."""
    try:
        text = " ".join(repr(value).split("\n"))
    except (ValueError, RecursionError):  # an integer of too many digits, lists in lists in lists
        text = f"a very large {type(value).__name__}"
    return text if len(text) <= _SHOWN else text[: _SHOWN - 4] + "..." + text[-1]


def one_line(message: str) -> str:
    """The message on one line, and with nothing in it that a terminal would obey."""
    return "".join(c if c.isprintable() else " " for c in " ".join(message.split()))


def plain_name(name: object) -> str:
    """Return a name for use in a message: on one line, printable, cut after 64 characters."""
    text = "".join(c if c.isprintable() else " " for c in str(name))
    return text if len(text) <= _LONGEST_NAME else text[: _LONGEST_NAME - 3] + "..."
