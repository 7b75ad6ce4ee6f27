"""Invocation of commands, and values of options, read exactly as written.

InputErrors name the option. The library names its parameters, which `options_in_message` turns into options.
"""

from __future__ import annotations

import functools
import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
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
"""Name of a parameter in the library -> its name in a command, where the option's own name differs."""

Allowed = TypeVar("Allowed", bound=str)
"""Type of the choices of an option."""
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")]
MostCells = Annotated[
    str | None,
    typer.Option(
        metavar="INTEGER",
        help="Number of cells that a file may have here. Overrides most_cells in own.toml or in FILE.toml beside "
        "the file [default: what the free memory allows].",
    ),
]
DataDir = Annotated[Path | None, typer.Option(envvar="SMC_DP_DATA", help="Folder with the papers' data sets.")]


@dataclass(frozen=True)
class Invocation:
    """A command with its arguments. Calling it imports what the command needs, works, and returns the exit code."""

    command: Callable[..., int | None]
    given: Mapping[str, object]

    def __call__(self) -> int:
        """Return the exit code of the command, 0 where it gives none."""
        return self.command(**self.given) or 0

    def names(self) -> dict[str, str]:
        """Return the names of parameters in messages of the library -> the options or arguments of the command.

        A name that was given as a path is none: a message that begins with it is about that file.
        """
        found: dict[str, str] = {}
        for name, hint in get_type_hints(self.command, include_extras=True).items():
            for info in getattr(hint, "__metadata__", ()):
                found |= dict(_names(name, info))
        found |= {alias: found[name] for alias, name in ALIASES.items() if name in found and alias not in found}
        paths = {str(value) for value in self.given.values() if isinstance(value, Path)}
        return {name: option for name, option in found.items() if name not in paths}


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
    """Return the command as typer registers it: called, it does nothing yet.

    Typer would turn Ctrl-C into an error of its own, so a command works outside of it, where `main` handles all errors.
    """

    @functools.wraps(command)
    def later(**given: object) -> Invocation:
        return Invocation(command, given)

    return later


def options_in_message(message: str, names: Mapping[str, str]) -> str:
    """Replace parameters in a message by options: those before its first colon, and those in backquotes."""
    start, colon, rest = message.partition(":")
    parts = start.split(", ")
    if all(part in names for part in parts):
        start = ", ".join(names[part] for part in parts)
    return options_in_backquotes(start + colon + rest, names)


def options_in_backquotes(message: str, names: Mapping[str, str]) -> str:
    """Replace the parameters in backquotes by options."""
    return _QUOTED.sub(lambda found: names.get(found[1], found[0]), message)


def read_positive(option: str, text: str, least: Fraction = LOWEST) -> Fraction:
    """Read a positive number exactly as written, such as 1, 0.1 or 1e-3, and at least `least`."""
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


def read_by_column(option: str, given: Sequence[str] | None) -> dict[str, float]:
    """Read COLUMN=NUMBER of an option that is repeated, each column once."""
    found: dict[str, float] = {}
    for text in given or ():
        column, is_there, number = text.rpartition("=")
        if not is_there or column in found:
            raise InputError("option.not_by_column", option=option, got=shown(text))
        found[column] = float(read_positive(option, number))
    return found


def read_integer(option: str, text: str) -> int:
    """Read a whole number of at most 18 digits."""
    if not re.fullmatch(r"[+-]?[0-9]{1,18}", text.strip(), re.ASCII):
        raise InputError("option.not_whole", option=option, got=shown(text))
    return int(text)


def read_count(option: str, text: str | None, least: int = 1) -> int | None:
    """Read a whole number of at least this; None if the option was not given."""
    if text is None:
        return None
    value = read_integer(option, text)
    if value < least:
        raise InputError("option.too_small", option=option, least=least, got=value)
    return value


def cells_allowed(text: str | None) -> AbstractContextManager[None]:
    """Let each table that is read inside the block have as many cells as --most-cells says, if it is given."""
    from smc_dp.data.limits import allow_cells

    return allow_cells(read_count("--most-cells", text))


def read_choice(option: str, text: str, choices: tuple[Allowed, ...]) -> Allowed:
    """Read one of the choices."""
    for known in choices:
        if text == known:
            return known
    raise InputError("option.not_one_of", option=option, choices=choices, got=shown(text))


def read_choices(option: str, text: str, choices: tuple[Allowed, ...]) -> list[Allowed]:
    """Read a list with commas of different choices."""
    return [read_choice(option, part, choices) for part in read_list(option, text)]


def read_list(option: str, text: str) -> list[str]:
    """Read the parts of a list with commas, each different."""
    parts = [part.strip() for part in text.split(",")]
    if not all(parts) or len(set(parts)) < len(parts):
        raise InputError("option.not_different", option=option, got=shown(text))
    return parts


def check_new(files: Mapping[str, Path | None]) -> None:
    """Raise InputError for the first of these that is no new file, before anything takes minutes."""
    for option, file in files.items():
        if file is not None and os.path.lexists(file):
            raise InputError("option.file_exists", option=option, file=str(file))
        if file is not None and not file.absolute().parent.is_dir():
            raise InputError("option.no_folder_for_file", option=option, file=str(file))


def check_beside(run: Path, option: str, file: Path | None) -> None:
    """Raise InputError for a file that is not new, or inside of the run folder, of which it could seem a part."""
    check_new({option: file})
    if file is not None and file.resolve().is_relative_to(run.resolve()):
        raise InputError("option.inside_the_run", option=option, file=str(file), run=str(run))


def refuse_options(options: Mapping[str, object], code: str, **fields: str | None) -> None:
    """Raise InputError with this code for the first of these options that was given."""
    for option, value in options.items():
        if value is not None:
            raise InputError(code, option=option, **fields)
