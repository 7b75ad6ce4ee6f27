"""What commands share: when they start, and values of options, read exactly as written.

InputErrors name the option. The library names its parameters, which `in_options` turns into the command's options.
"""

from __future__ import annotations

import functools
import os
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, TypeVar, get_type_hints

import typer
from typer.models import ArgumentInfo, OptionInfo

from smc_dp.core.errors import InputError, shown
from smc_dp.privacy.target import HIGHEST, LOWEST

_LONGEST_NUMBER = 100
_QUOTED = re.compile(r"`([a-z_]+)`")
ALIASES = MappingProxyType({"folder": "data_dir", "limit": "budget"})
"""What the library calls a parameter -> what a command calls it, where the option's own name does not say so."""

Allowed = TypeVar("Allowed", bound=str)
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")]
DataDir = Annotated[Path | None, typer.Option(envvar="SMC_DP_DATA", help="Folder with the papers' data sets.")]
Cache = Annotated[Path | None, typer.Option(help="Folder that `smc-dp data prepare` keeps data sets in.")]


@dataclass(frozen=True)
class Invocation:
    """A command and what it was given. Calling this imports what the command needs, works, and gives the exit code."""

    command: Callable[..., int | None]
    given: Mapping[str, object]

    def __call__(self) -> int:
        """Exit code of the command, 0 where it gives none."""
        return self.command(**self.given) or 0

    def names(self) -> dict[str, str]:
        """What a message of the library may call a parameter -> what whoever typed the command calls it."""
        found: dict[str, str] = {}
        for name, hint in get_type_hints(self.command, include_extras=True).items():
            for info in getattr(hint, "__metadata__", ()):
                found |= dict(_names(name, info))
        return {alias: found[name] for alias, name in ALIASES.items() if name in found} | found


def _names(name: str, info: object) -> Iterator[tuple[str, str]]:
    if isinstance(info, ArgumentInfo) and info.metavar and info.metavar.isupper():
        yield name, info.metavar
    if isinstance(info, OptionInfo):
        # Typer keeps the first name of an option in `default` when it stands in Annotated.
        given = [text for text in (info.default, *(info.param_decls or ())) if isinstance(text, str)]
        options = [text for text in given if text.startswith("--")] or [f"--{name.replace('_', '-')}"]
        variable = f" or {info.envvar}" if info.envvar else ""
        yield from ((option[2:].replace("-", "_"), option + variable) for option in options)
        yield name, options[0] + variable


def deferred(command: Callable[..., int | None]) -> Callable[..., Invocation]:
    """The command as typer registers it: called, it does nothing yet.

    Typer would turn Ctrl-C into an error of its own; so a command works outside of it, where `main` sees to all errors.
    """

    @functools.wraps(command)
    def later(**given: object) -> Invocation:
        return Invocation(command, given)

    return later


def in_options(message: str, names: Mapping[str, str]) -> str:
    """The message with options for parameters: those it starts with, before a colon, and those in backquotes."""
    start, colon, rest = message.partition(":")
    parts = start.split(", ")
    if all(part in names for part in parts):
        start = ", ".join(names[part] for part in parts)
    return quoted_in_options(start + colon + rest, names)


def quoted_in_options(message: str, names: Mapping[str, str]) -> str:
    """The message with options for the parameters that it has in backquotes."""
    return _QUOTED.sub(lambda found: names.get(found[1], found[0]), message)


def positive(option: str, text: str, least: Fraction = LOWEST) -> Fraction:
    """A positive number exactly as written, such as 1, 0.1 or 1e-3, and at least `least`."""
    plain = r"\+?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]{1,6})?"
    if len(text) > _LONGEST_NUMBER or not re.fullmatch(plain, text.strip(), re.ASCII):
        raise InputError("option.not_positive", option=option, got=shown(text))
    value = Decimal(text.strip())
    if value == 0:
        raise InputError("option.not_positive", option=option, got=shown(text))
    lowest, highest = Decimal(str(float(least))), Decimal(str(float(HIGHEST)))
    if not lowest <= value <= highest:
        raise InputError(
            "option.out_of_range", option=option, lowest=f"{lowest:g}", highest=f"{highest:g}", got=shown(text)
        )
    return Fraction(value)


def whole(option: str, text: str) -> int:
    """A whole number of at most 18 digits."""
    if not re.fullmatch(r"[+-]?[0-9]{1,18}", text.strip(), re.ASCII):
        raise InputError("option.not_whole", option=option, got=shown(text))
    return int(text)


def count(option: str, text: str | None, least: int = 1) -> int | None:
    """A whole number of at least this; None if the option was not given."""
    if text is None:
        return None
    value = whole(option, text)
    if value < least:
        raise InputError("option.too_small", option=option, least=least, got=value)
    return value


def choice(option: str, text: str, choices: tuple[Allowed, ...]) -> Allowed:
    """One of the choices."""
    for known in choices:
        if text == known:
            return known
    raise InputError("option.not_one_of", option=option, choices=choices, got=shown(text))


def several(option: str, text: str) -> list[str]:
    """The parts of a list with commas, each different."""
    parts = [part.strip() for part in text.split(",")]
    if not all(parts) or len(set(parts)) < len(parts):
        raise InputError("option.not_different", option=option, got=shown(text))
    return parts


def check_new(files: Mapping[str, Path | None]) -> None:
    """InputError for the first of these that is no new file, before anything takes minutes."""
    for option, file in files.items():
        if file is not None and ((there := os.path.lexists(file)) or not file.absolute().parent.is_dir()):
            why = "exists already" if there else "its folder does not exist"
            raise InputError("option.no_new_file", option=option, file=str(file), why=why)


def check_beside(run: Path, files: Mapping[str, Path | None]) -> None:
    """InputError for the first of these that is not a new file of its own outside of the run folder, whose files it
    could be taken for.
    """
    check_new(files)
    seen: dict[Path, str] = {}
    for option, file in files.items():
        if file is None:
            continue
        place = file.resolve()
        if place.is_relative_to(run.resolve()):
            raise InputError("option.inside_the_run", option=option, file=str(file), run=str(run))
        if place in seen:
            raise InputError("option.same_file", option=option, file=str(file), seen=seen[place])
        seen[place] = option


def refuse(options: Mapping[str, object], why: str) -> None:
    """InputError for the first of these options that was given."""
    for option, value in options.items():
        if value is not None:
            raise InputError("option.refused", option=option, why=why)
