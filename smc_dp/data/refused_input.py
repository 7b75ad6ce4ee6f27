"""Refused input with what explains it: the subject of a fault, a hint, and a fault that a file format would mend."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import NamedTuple, TypeAlias, cast

from smc_dp.core.errors import Fault, FieldValue, InputError, InputFault, LinesFault
from smc_dp.data.file_format import DEFAULT_FORMAT, OWN_SETTINGS_FILE, FileFormat, joined, toml_sections
from smc_dp.data.spelling_evidence import Settings, SpellingEvidence

LINE = "{line}"
"""Place in a clause for the line that is to be written."""
LEVEL = "LEVEL"
"""Place in a line for the name of a level, which a person has to fill in."""
SettingChoices: TypeAlias = tuple[tuple[str, Settings], ...]
"""Settings of which a person chooses one, each after what the refused cell is with them."""


class Hint(NamedTuple):
    """Apparent kind of the input, in a word, and a clause that says so; both empty for no hint.

    settings: those of a file format with which the input would be read; the clause has `{line}` where the line stands
    that states them. to_complete: settings in which a person has to fill in a level. choices: settings of which a
    person has to choose one, each after what the cell is then.
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

    def completed(self, settings: Settings) -> FormatFault:
        """Return the fault with a line that states these settings, too.

        Where they hold one of its choices, none is left. Where they contradict its own, it keeps its own alone.
        """
        whole = joined(settings, self.settings)
        if not self.reads(whole):
            whole = dict(self.settings)
        said = [said for said, chosen in self.choices if joined(whole, chosen, is_newer=True) == whole]
        clause = self.clause.replace(LINE, f"where it is {said[0]}, {LINE}") if said else self.clause
        choices = () if said else self.choices
        return replace(
            self, settings=whole if self.settings or said else {}, clause=clause, choices=choices
        ).with_advice()

    def with_advice(self, *, in_sections: bool = False) -> FormatFault:
        """Return the fault with the lines to write in its own sentence; in_sections: as `FileFormat.advice` has it."""
        choices = self.choices or (("", joined(self.settings, self.to_complete)),)
        told = [
            (f"where it is {said}, " if said else "") + self.form.advice(in_sections=in_sections, **settings)
            for said, settings in choices
        ]
        to_complete = f"put that one in place of {LEVEL} and " if self.to_complete else ""
        return self._saying(to_complete + ", or ".join(told))

    def above_lines(self) -> FormatFault:
        """Return the fault as it stands above the lines of all faults of its file."""
        to_do = "complete its line" if self.to_complete else "choose its line" if self.choices else "write the lines"
        return self._saying(f"{to_do} below")

    def comments(self) -> Iterator[tuple[str, str]]:
        """Yield the lines that a person completes or chooses, as comments of TOML, each after its section's header."""
        said = [(f"where {self.fields['got']} is {said},", settings) for said, settings in self.choices]
        if self.to_complete:
            levels = ", ".join(cast("Sequence[str]", self.fields["levels"]))
            level = f"if it means one of {levels}, write that one in place of {LEVEL}, and"
            said = [(level, self.to_complete)]
        for when, settings in said:
            for header, lines in toml_sections(settings).items():
                yield from ((header, f"# {line}  # {when} take away the first #") for line in lines)

    def _saying(self, advice: str) -> FormatFault:
        fields: Mapping[str, FieldValue] = {**self.fields, "hint": self.clause.replace(LINE, advice)}
        return replace(self, fields=fields)

    def reads(self, settings: Settings) -> bool:
        """Return whether the format can have these settings together."""
        try:
            self.form.with_settings(settings)
        except InputError:
            return False
        return True


NO_HINT = Hint()
DATE = Hint("date", " (a date)")


def advise(faults: Sequence[Fault]) -> tuple[Sequence[Fault], LinesFault | None]:
    """Return the faults of one file, and the lines to which they refer if two or more have advice for its format."""
    if sum(isinstance(fault, FormatFault) for fault in faults) < 2:
        return faults, None
    whole = _settings_of_all(faults)
    found = [
        fault.completed(whole).above_lines()
        if isinstance(fault, FormatFault) and fault.reads(joined(whole, fault.settings))
        else fault  # one that contradicts the lines keeps its own
        for fault in faults
    ]
    return found, lines_for_site(found)


def with_lines(faults: Iterable[Fault], source: str) -> list[Fault]:
    """Return the faults of the file `source`, and behind them the lines to which they refer, if there are any."""
    found, lines = advise(list(faults))
    return [*found, *([] if lines is None else [lines.within(source)])]


def lines_for_site(faults: Iterable[Fault]) -> LinesFault | None:
    """Return the lines by which a site states the format of a file as its faults propose; None where they do not."""
    formal = [fault for fault in faults if isinstance(fault, FormatFault)]
    if not formal:
        return None
    form = formal[0].form.with_settings(_settings_of_all(formal))
    sections = {"[file]": list[str](), **form.sections()}
    for header, line in (comment for fault in formal for comment in fault.comments()):
        sections.setdefault(header, []).append(line)
    lines = tuple(line for header, lines in sections.items() if lines for line in (header, *lines))
    code = "form.lines_of_site" if form.place == OWN_SETTINGS_FILE else "form.lines_beside"
    return LinesFault(code, {"file": form.place, "lines": lines})


def _settings_of_all(faults: Iterable[Fault]) -> Settings:
    """Return the settings that the faults of one file propose together; of contradictory ones the first."""
    settings: Settings = {}
    for fault in faults:
        if isinstance(fault, FormatFault) and fault.reads(more := joined(settings, fault.settings)):
            settings = more
    return settings


def settings_of(fault: Fault) -> Settings:
    """Return the settings of a file format with which the refused input would be read; none for most."""
    return fault.settings if isinstance(fault, FormatFault) else {}
