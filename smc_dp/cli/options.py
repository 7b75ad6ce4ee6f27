"""What commands share: values of options, read exactly as written, with InputErrors that name the option."""

from __future__ import annotations

import re
import secrets
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import TypeAlias, TypeVar

from smc_dp.errors import InputError, shown
from smc_dp.privacy.target import HIGHEST, LOWEST

_LONGEST_NUMBER = 100

Job: TypeAlias = Callable[[], int | None]
"""The work of a command, and its exit code, None for 0."""
Choice = TypeVar("Choice", bound=str)


def positive(option: str, text: str, least: Fraction = LOWEST) -> Fraction:
    """A positive number exactly as written, such as 1, 0.1 or 1e-3, and at least `least`."""
    plain = r"\+?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]{1,6})?"
    if len(text) > _LONGEST_NUMBER or not re.fullmatch(plain, text.strip(), re.ASCII):
        raise InputError(f"{option}: wanted a positive number, got {shown(text)}")
    value = Decimal(text.strip())
    if value == 0:
        raise InputError(f"{option}: wanted a positive number, got {shown(text)}")
    lowest, highest = Decimal(str(float(least))), Decimal(str(float(HIGHEST)))
    if not lowest <= value <= highest:
        raise InputError(f"{option}: wanted a number from {lowest:g} to {highest:g}, got {shown(text)}")
    return Fraction(value)


def whole(option: str, text: str) -> int:
    """A whole number of at most 18 digits."""
    if not re.fullmatch(r"[+-]?[0-9]{1,18}", text.strip(), re.ASCII):
        raise InputError(f"{option}: wanted a whole number, got {shown(text)}")
    return int(text)


def count(option: str, text: str | None, least: int = 1) -> int | None:
    """A whole number of at least this; None if the option was not given."""
    if text is None:
        return None
    value = whole(option, text)
    if value < least:
        raise InputError(f"{option}: wanted at least {least}, got {value}")
    return value


def choice(option: str, text: str, choices: tuple[Choice, ...]) -> Choice:
    """One of the choices."""
    for known in choices:
        if text == known:
            return known
    raise InputError(f"{option}: wanted one of {', '.join(choices)}, got {shown(text)}")


def several(option: str, text: str) -> list[str]:
    """The parts of a list with commas, each different."""
    parts = [part.strip() for part in text.split(",")]
    if not all(parts) or len(set(parts)) < len(parts):
        raise InputError(f"{option}: wanted different values with commas between them, got {shown(text)}")
    return parts


def refuse(options: Mapping[str, object], why: str) -> None:
    """InputError for the first of these options that was given."""
    for option, value in options.items():
        if value is not None:
            raise InputError(f"{option}: {why}")


def cells_failed(number: int) -> str:
    """In words."""
    return f"{number} cell{'' if number == 1 else 's'} failed"


def new_run_folder() -> Path:
    """A folder in runs/ that no other run takes."""
    return Path("runs") / f"{datetime.now(UTC):%Y%m%d-%H%M%S}-{secrets.token_hex(3)}"
