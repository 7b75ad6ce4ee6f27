"""Exact numbers as text, and as a person reads them: never rounded to somebody's advantage."""

from __future__ import annotations

import re
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction

from smc_dp.core.errors import InputError, shown

_TEXT = re.compile(r"(0|[1-9][0-9]{0,999})/([1-9][0-9]{0,999})", re.ASCII)


def to_text(value: Fraction) -> str:
    """Return numerator and denominator, such as 1/10."""
    return f"{value.numerator}/{value.denominator}"


def from_text(where: str, text: object) -> Fraction:
    """Read a number that `to_text` wrote: not negative, in lowest terms; InputError, naming `where`, for all else."""
    found = _TEXT.fullmatch(text) if isinstance(text, str) else None
    if found is not None:
        value = Fraction(int(found[1]), int(found[2]))
        if to_text(value) == text:
            return value
    raise InputError("ledger.no_fraction", where=where, got=shown(text))


def digits_rounded_up(value: Fraction) -> str:
    """Return six digits, rounded up: for what was spent."""
    return _digits(value, ROUND_CEILING)


def without_rounding(delta: Fraction) -> Fraction:
    """Return a delta without the part by which a float can be above what was asked for."""
    return delta * (1 - Fraction(1, 1 << 50))


def delta_rounded_up(value: Fraction) -> str:
    """Return three digits of a delta that was asked for, rounded up."""
    return _digits(without_rounding(value), ROUND_CEILING, 3)


def digits_rounded_down(value: Fraction) -> str:
    """Return six digits, rounded down: for what is left."""
    return _digits(value, ROUND_FLOOR)


def _digits(value: Fraction, rounding: str, digits: int = 6) -> str:
    rounded = Context(prec=digits, rounding=rounding).divide(Decimal(value.numerator), Decimal(value.denominator))
    return f"{rounded.normalize():f}" if rounded == 0 or 1e-6 <= abs(rounded) < 1e9 else f"{rounded.normalize():e}"
