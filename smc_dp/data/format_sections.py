"""Sections [file], [aliases] and [dates] as a site writes them: in its own.toml, or in FILE.toml beside a file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import cached_property
from typing import Annotated, TypeAlias

from pydantic import AfterValidator, Field, model_validator
from typing_extensions import override

from smc_dp.core.documents import Document, PathStep
from smc_dp.core.errors import InputError
from smc_dp.core.kinds import limit_keys
from smc_dp.data.bounds_file import LevelList
from smc_dp.data.file_format import DEFAULT_FORMAT, ColumnAliases, FileFormat, list_date_forms

_MANY, _SHOWN = 1 << 12, 40
AliasSection: TypeAlias = Annotated[dict[str, dict[str, LevelList]], limit_keys(_MANY)]
"""Columns, their levels by the names of a study, and the texts that this site has for each."""


def _known(dates: str | list[str]) -> str | list[str]:
    """Return forms of dates; raise InputError for unknown ones."""
    try:
        FileFormat(dates=list_date_forms(dates))
    except InputError as error:
        raise InputError(replace(error.fault, place="")) from None
    return dates


Dates: TypeAlias = str | list[str]
"""One form of dates, or several."""
DateSection: TypeAlias = Annotated[dict[str, Annotated[Dates, AfterValidator(_known)]], limit_keys(_MANY)]
"""Columns, and the forms of their dates where they differ from those of the file."""


class FileSection(Document):
    """The section [file]: how a table is written, as far as its file does not say so itself."""

    separator: str | None = None
    decimal: str = "."
    thousands: str | None = None
    encoding: str | None = None
    missing: list[str] = Field(default_factory=list)
    dates: Dates = "yyyy-mm-dd"
    true: list[str] = Field(default_factory=list)
    false: list[str] = Field(default_factory=list)
    skip_blank_rows: bool = False
    most_cells: int | None = None

    @model_validator(mode="after")
    def _is_one(self) -> FileSection:
        try:
            self.form  # noqa: B018  which says what is no form
        except InputError as error:
            place = error.fault.place.removeprefix("[file] ")  # where it stands is said in any case
            raise InputError(replace(error.fault, place=place)) from None
        return self

    @cached_property
    def form(self) -> FileFormat:
        """File format for the readers of tables."""
        return FileFormat(
            self.separator,
            self.decimal,
            self.encoding,
            tuple(self.missing),
            list_date_forms(self.dates),
            self.skip_blank_rows,
            self.thousands,
            tuple(self.true),
            tuple(self.false),
            most_cells=self.most_cells,
        )


class FileFormatDocument(Document):
    """FILE.toml, beside a data file: the sections [file], [aliases] and [dates]."""

    file: FileSection | None = None
    aliases: AliasSection = Field(default_factory=dict)
    dates: DateSection = Field(default_factory=dict)

    @classmethod
    @override
    def place(cls, path: tuple[PathStep, ...]) -> str:
        return super().place(alias_place(path))

    @property
    def form(self) -> FileFormat:
        """Format that the file states, with the site's texts for levels; the default where it states none."""
        return site_format(self.file, self.aliases, self.dates)


def alias_place(path: tuple[PathStep, ...]) -> tuple[PathStep, ...]:
    """Return the way to a value of [aliases.COLUMN] as a message has it."""
    return (f"[aliases.{str(path[1])[:_SHOWN]}]", *path[2:]) if path[:1] == ("aliases",) and len(path) > 1 else path


def site_format(
    file: FileSection | None, aliases: Mapping[str, Mapping[str, list[str]]], dates: Mapping[str, Dates]
) -> FileFormat:
    """Return the format that all sections state together; raise InputError for unknown forms of dates."""
    said: ColumnAliases = tuple(
        (column, tuple((level, tuple(texts)) for level, texts in levels.items())) for column, levels in aliases.items()
    )
    own = tuple((column, list_date_forms(forms)) for column, forms in dates.items())
    return replace(DEFAULT_FORMAT if file is None else file.form, aliases=said, column_dates=own)
