"""Refused input with what explains it: the subject of a fault, a hint, and a fault that a file format would mend."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import NamedTuple

from smc_dp.core.errors import Fault, FieldValue, InputFault
from smc_dp.data.file_format import DEFAULT_FORMAT, OWN_SETTINGS_FILE, FileFormat, joined
from smc_dp.data.spelling_evidence import Settings, SpellingEvidence

LINE = "{line}"
"""Place in a clause for the line that is to be written."""


class Hint(NamedTuple):
    """Apparent kind of the input, in a word, and a clause that says so; both empty for no hint.

    settings: those of a file format with which the input would be read; the clause has `{line}` where the line stands
    that states them. to_complete: settings in which a person has to fill in something, for the same line.
    """

    recognised: str = ""
    clause: str = ""
    settings: Settings = MappingProxyType({})
    to_complete: Settings = MappingProxyType({})


@dataclass(frozen=True)
class RefusedInput:
    """Subject of a fault: a cell, its text and the levels of its column; a header and lines; or a file's start.

    evidence: all cells of the column, where there are others.
    """

    form: FileFormat = DEFAULT_FORMAT
    cell: object = None
    text: str = ""
    levels: Collection[str] = ()
    header: Sequence[str] = ()
    lines: Iterable[str] = ()
    start: bytes = b""
    column: str = ""
    evidence: SpellingEvidence | None = None

    @property
    def column_evidence(self) -> SpellingEvidence:
        """Evidence of the column, or of the cell alone."""
        return SpellingEvidence([self.cell], self.form) if self.evidence is None else self.evidence


@dataclass(frozen=True)
class FormatFault(InputFault):
    """Fault of input that a file format with these settings would read; the site that has the file can state them."""

    form: FileFormat = DEFAULT_FORMAT
    clause: str = ""
    settings: Settings = field(default_factory=dict)
    to_complete: Settings = field(default_factory=dict)

    def completed(self, settings: Settings) -> FormatFault:
        """Return the fault with the line that states these settings, too."""
        whole = joined(settings, self.settings)
        hint = self.clause.replace(LINE, self.form.advice(**joined(whole, self.to_complete)))
        fields: Mapping[str, FieldValue] = {**self.fields, "hint": hint}
        return replace(self, fields=fields, settings=whole if self.settings else {})

    def in_list(self) -> FormatFault:
        """Return the fault as a list has it, below which the lines stand."""
        line = "write the lines below"
        if self.to_complete:
            of_section = replace(self.form, place=OWN_SETTINGS_FILE).advice(**self.to_complete)
            line = of_section.removesuffix(f" of {OWN_SETTINGS_FILE}")
        return replace(self, fields={**self.fields, "hint": self.clause.replace(LINE, line)})


NO_HINT = Hint()
DATE = Hint("date", " (a date)")


def in_list(fault: Fault) -> Fault:
    """Return a fault as it stands in a list above the lines that `proposed_format` has."""
    return fault.in_list() if isinstance(fault, FormatFault) else fault


def proposed_format(faults: Iterable[Fault]) -> FileFormat | None:
    """Return the format that the faults of one file propose together; None where they propose none."""
    formal = [fault for fault in faults if isinstance(fault, FormatFault) and fault.settings]
    if not formal:
        return None
    settings: Settings = {}
    for fault in formal:
        settings = joined(settings, fault.settings)
    return formal[0].form.with_settings(settings)


def settings_of(fault: Fault) -> Settings:
    """Return the settings of a file format with which the refused input would be read; none for most."""
    return fault.settings if isinstance(fault, FormatFault) else {}
