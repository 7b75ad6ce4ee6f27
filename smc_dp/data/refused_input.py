"""Refused input with what explains it: the subject of a fault, a hint, and a fault that a file format would mend."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import NamedTuple, TypeAlias

from smc_dp.core.errors import Fault, FieldValue, InputError, InputFault
from smc_dp.data.file_format import DEFAULT_FORMAT, FileFormat, joined
from smc_dp.data.spelling_evidence import Settings, SpellingEvidence

LINE = "{line}"
"""Place in a clause for the line that is to be written."""
SettingChoices: TypeAlias = tuple[tuple[str, Settings], ...]
"""Settings of which a person chooses one, each after the text that says what it means."""


class Hint(NamedTuple):
    """Apparent kind of the input, in a word, and a clause that says so; both empty for no hint.

    settings: those of a file format with which the input would be read; the clause has `{line}` where the line stands
    that states them. choices: settings of which a person has to choose one, each after what it means; the clause has
    all lines.
    """

    recognised: str = ""
    clause: str = ""
    settings: Settings = MappingProxyType({})
    choices: SettingChoices = ()


@dataclass(frozen=True)
class RefusedInput:
    """Subject of a fault: a cell, its text and the levels of its column; or a header.

    evidence: all cells of the column, where there are others. may_be_empty: whether the bounds have a rule for empty
    cells of the column.
    """

    form: FileFormat = DEFAULT_FORMAT
    cell: object = None
    text: str = ""
    levels: Collection[str] = ()
    header: Sequence[str] = ()
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
    choices: SettingChoices = ()
    line: str = ""

    def completed(self, settings: Settings) -> FormatFault:
        """Return the fault with the line that states these settings, too.

        Where they hold one of its choices, none is left. Where they contradict its own, it keeps its own alone.
        """
        whole = joined(settings, self.settings)
        if not self._is_consistent(whole):
            whole = dict(self.settings)
        said = [said for said, chosen in self.choices if joined(whole, chosen, is_newer=True) == whole]
        fault = replace(self, choices=(), clause=self.clause.replace(LINE, said[0] + LINE)) if said else self
        line = fault._line(whole)
        return replace(fault.with_line(line), settings=whole if self.settings or said else {}, line=line)

    def in_list(self) -> FormatFault:
        """Return the fault as a list has it, below which the lines stand."""
        return self if self.choices else self.with_line("write the lines below")

    def with_line(self, line: str) -> FormatFault:
        """Return the fault with this text in place of its line."""
        fields: Mapping[str, FieldValue] = {**self.fields, "hint": self.clause.replace(LINE, line)}
        return replace(self, fields=fields)

    def _is_consistent(self, settings: Settings) -> bool:
        try:
            self.form.with_settings(settings)
        except InputError:
            return False
        return True

    def _line(self, settings: Settings) -> str:
        if not self.choices:
            return self.form.advice(**settings)
        return ", or ".join(said + self.form.advice(**joined(settings, chosen)) for said, chosen in self.choices)


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
            fault = fault.with_line("write what an error above says" if line in told else line)
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
