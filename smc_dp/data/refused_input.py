"""Refused input with what explains it: the subject of a fault, a hint, and a fault that a file format would mend."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import NamedTuple, TypeAlias

from smc_dp.core.errors import Fault, FieldValue, InputError, InputFault, LinesFault, refusal_of
from smc_dp.data.file_format import DEFAULT_FORMAT, OWN_SETTINGS_FILE, FileFormat, joined, toml_sections
from smc_dp.data.spelling_evidence import Settings, SpellingEvidence

LINE = "{line}"
"""Place in a clause for the line that is to be written."""
SettingChoices: TypeAlias = tuple[tuple[str, Settings], ...]
"""Settings of which a person chooses one, or completes the only one, each after the text that says when."""


class Hint(NamedTuple):
    """Apparent kind of the input, in a word, and a clause that says so; both empty for no hint.

    settings: those of a file format with which the input would be read; the clause has `{line}` where the line stands
    that states them. choices: settings of which a person chooses one, or completes the only one.
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

    def completed(self, settings: Settings) -> FormatFault:
        """Return the fault with advice that states these settings, too.

        Where they hold one of its choices, none is left. Where they contradict its own, it keeps its own alone.
        """
        whole = joined(settings, self.settings)
        if not self.allows(whole):
            whole = dict(self.settings)
        said = [said for said, chosen in self.choices if joined(whole, chosen, is_newer=True) == whole]
        fault = replace(self, choices=(), clause=self.clause.replace(LINE, f"{said[0]} {LINE}")) if said else self
        advice = [f"{said} {self.form.advice(**chosen)}" for said, chosen in fault.choices]
        found = fault._saying(", or ".join(advice) or self.form.advice(**whole))
        return replace(found, settings=whole if self.settings or said else {})

    def above_lines(self) -> FormatFault:
        """Return the fault as it stands above the lines for all faults of its file."""
        advice = (
            "write the TOML lines",
            "if it means one of these, complete the TOML line for it",
            "choose its TOML line",
        )
        return self._saying(f"{advice[len(self.choices[:2])]} below")

    def comments(self) -> Iterator[tuple[str, str]]:
        """Yield the lines that a person completes or chooses, as comments of TOML, each after its section's header."""
        for said, chosen in self.choices:
            for header, lines in toml_sections(chosen).items():
                yield from ((header, f"# {line}  # {said} take away the first #") for line in lines)

    def allows(self, settings: Settings) -> bool:
        """Return whether the format can have these settings together."""
        try:
            self.form.with_settings(settings)
        except InputError:
            return False
        return True

    def _saying(self, advice: str) -> FormatFault:
        fields: Mapping[str, FieldValue] = {**self.fields, "hint": self.clause.replace(LINE, advice)}
        return replace(self, fields=fields)


NO_HINT = Hint()
DATE = Hint("date", " (a date)")


def advise(faults: Sequence[Fault]) -> tuple[Sequence[Fault], LinesFault | None]:
    """Return the faults of one file, and the lines to which they refer if any has advice for its format."""
    whole = _settings_of_all(faults)
    found = [
        fault.completed(whole).above_lines()
        if isinstance(fault, FormatFault) and fault.allows(joined(whole, fault.settings))
        else fault  # one that contradicts the lines keeps its own
        for fault in faults
    ]
    return found, lines_for_site(found)


def with_lines(faults: Iterable[Fault], source: str) -> list[Fault]:
    """Return the faults of the file `source`, and behind them the lines to which they refer, if there are any."""
    found, lines = advise(list(faults))
    return [*found, *([] if lines is None else [lines.within(source)])]


def refusal_with_lines(error: InputError, source: str) -> InputError:
    """Return the refusal of the file `source` with the lines to copy, if a format would read it."""
    return refusal_of(with_lines([error.fault], source)) if isinstance(error.fault, FormatFault) else error


def lines_for_site(faults: Iterable[Fault]) -> LinesFault | None:
    """Return the lines by which a site states the format of a file as its faults propose; None where they do not."""
    formal = [fault for fault in faults if isinstance(fault, FormatFault)]
    if not formal:
        return None
    form = formal[0].form.with_settings(_settings_of_all(formal))
    lines = form.sections(comment for fault in formal for comment in fault.comments())
    code = "form.lines_of_site" if form.place == OWN_SETTINGS_FILE else "form.lines_beside"
    return LinesFault(code, {"file": form.place, "lines": lines})


def _settings_of_all(faults: Iterable[Fault]) -> Settings:
    """Return the settings that the faults of one file propose together; of contradictory ones the first."""
    settings: Settings = {}
    for fault in faults:
        if isinstance(fault, FormatFault) and fault.allows(more := joined(settings, fault.settings)):
            settings = more
    return settings


def settings_of(fault: Fault) -> Settings:
    """Return the settings of a file format with which the refused input would be read; none for most."""
    return fault.settings if isinstance(fault, FormatFault) else {}
