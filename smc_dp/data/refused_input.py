"""Refused input with what explains it: the subject of a fault, a hint, and a fault that a file format would mend."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import PurePath
from types import MappingProxyType
from typing import NamedTuple, TypeAlias, cast

from smc_dp.core.errors import Fault, FieldValue, InputError, InputFault
from smc_dp.data.file_format import DEFAULT_FORMAT, OWN_SETTINGS_FILE, ColumnAliases, FileFormat, joined
from smc_dp.data.spelling_evidence import Settings, SpellingEvidence

LINE = "{line}"
"""Place in a clause for the line that is to be written."""
AND_LINE = f", and {LINE}"
"""End of a clause that says first what a person has to fill in in the line."""
LEVEL = "LEVEL"
"""Place in a line for the name of a level, which a person has to fill in."""
SettingChoices: TypeAlias = tuple[tuple[str, Settings], ...]
"""Settings of which a person chooses one, each after the text that says what it means."""


class Hint(NamedTuple):
    """Apparent kind of the input, in a word, and a clause that says so; both empty for no hint.

    settings: those of a file format with which the input would be read; the clause has `{line}` where the line stands
    that states them. to_complete: settings in which a person has to fill in something, for the same line. choices:
    settings of which a person has to choose one, each after what it means; the clause has all lines.
    """

    recognised: str = ""
    clause: str = ""
    settings: Settings = MappingProxyType({})
    to_complete: Settings = MappingProxyType({})
    choices: SettingChoices = ()


@dataclass(frozen=True)
class RefusedInput:
    """Subject of a fault: a cell, its text and the levels of its column; a header and lines; or a file's start.

    evidence: all cells of the column, where there are others. may_be_empty: whether the bounds have a rule for empty
    cells of the column.
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
    may_be_empty: bool = False

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
    choices: SettingChoices = ()
    line: str = ""

    def completed(self, settings: Settings, to_complete: Settings = MappingProxyType({})) -> FormatFault:
        """Return the fault with the line that states these settings, too, and those that a person completes.

        Where they hold one of its choices, none is left. Where they contradict its own, it keeps its own alone.
        """
        whole = joined(settings, self.settings)
        if not self._is_consistent(whole):
            whole = dict(self.settings)
        said = [said for said, chosen in self.choices if joined(whole, chosen, is_newer=True) == whole]
        fault = replace(self, choices=(), clause=self.clause.replace(LINE, said[0] + LINE)) if said else self
        line = fault._line(self.form, joined(whole, joined(to_complete, self.to_complete)))
        return replace(fault.with_line(line), settings=whole if self.settings or said else {}, line=line)

    def in_list(self) -> FormatFault:
        """Return the fault as a list has it, below which the lines stand."""
        return self.in_sections() if self.to_complete or self.choices else self.with_line("write the lines below")

    def in_sections(self) -> FormatFault:
        """Return the fault with its settings alone, by their sections: those of several faults go into one file."""
        settings = joined(self.settings, self.to_complete)
        line = self._line(replace(self.form, place=OWN_SETTINGS_FILE), settings)
        place = self.form.place
        beside = f"the file {place} in the folder of {PurePath(place.removesuffix('.toml')).name}"
        where = place if place == OWN_SETTINGS_FILE else beside
        return self.with_line(line.replace(f" of {OWN_SETTINGS_FILE}", f" of {where}"))

    def referring(self) -> FormatFault:
        """Return the fault with a reference to its line, which a fault above it has."""
        if AND_LINE not in self.clause:
            return self.with_line("write what an error above says")
        clause = self.clause.replace(AND_LINE, " in the line that an error above prints")
        return replace(self, clause=clause).with_line("")

    def with_line(self, line: str) -> FormatFault:
        """Return the fault with this text in place of its line."""
        fields: Mapping[str, FieldValue] = {**self.fields, "hint": self.clause.replace(LINE, line)}
        return replace(self, fields=fields)

    def with_place(self, place: str) -> FormatFault:
        """Return the fault with another text in place of LEVEL."""
        told = tuple(
            (column, tuple((place if level == LEVEL else level, texts) for level, texts in levels))
            for column, levels in cast("ColumnAliases", self.to_complete.get("aliases", ()))
        )
        return replace(self, clause=self.clause.replace(LEVEL, place, 1), to_complete={"aliases": told})

    def _is_consistent(self, settings: Settings) -> bool:
        try:
            self.form.with_settings(settings)
        except InputError:
            return False
        return True

    def _line(self, form: FileFormat, settings: Settings) -> str:
        if not self.choices:
            return form.advice(**settings)
        return ", or ".join(said + form.advice(**joined(settings, chosen)) for said, chosen in self.choices)


NO_HINT = Hint()
DATE = Hint("date", " (a date)")


def in_list(fault: Fault) -> Fault:
    """Return a fault as it stands in a list above the lines that `proposed_format` has."""
    return fault.in_list() if isinstance(fault, FormatFault) else fault


def each_line_once(faults: Iterable[Fault]) -> list[Fault]:
    """Return the faults of one file with each line in the first fault that it is for; others refer to it."""
    every = tuple(faults)
    lines = [fault.line if isinstance(fault, FormatFault) and LINE in fault.clause else "" for fault in every]
    uses, found, told = Counter(lines), list[Fault](), set[str]()
    for fault, line in zip(every, lines, strict=True):
        if isinstance(fault, FormatFault) and line and uses[line] > 1:
            fault = fault.referring() if line in told else fault.with_line(line)
        found.append(fault)
        told |= {line} - {""}
    return found


def proposed_format(faults: Iterable[Fault]) -> FileFormat | None:
    """Return the format that the faults of one file propose together; None where they propose none."""
    formal = [fault for fault in faults if isinstance(fault, FormatFault) and fault.settings]
    if not formal:
        return None
    form = formal[0].form
    settings: Settings = {}
    for fault in formal:
        with suppress(InputError):  # of settings that contradict each other the first are proposed
            form, settings = fault.form.with_settings(more := joined(settings, fault.settings)), more
    return form


def settings_of(fault: Fault) -> Settings:
    """Return the settings of a file format with which the refused input would be read; none for most."""
    return fault.settings if isinstance(fault, FormatFault) else {}
