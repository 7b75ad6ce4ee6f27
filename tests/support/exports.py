"""The same rows as eight systems would export them, each with a data dictionary."""

from __future__ import annotations

import csv
import datetime
import gzip
import io
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from smc_dp.data.dictionaries.draft import draft_bounds
from smc_dp.data.dictionaries.read_dictionary import read_data_dictionary

SEXES, WARDS = ("female", "male"), ("Köln", "Zürich", "Bern")
FIRST, LAST = datetime.date(2015, 1, 1), datetime.date(2024, 12, 31)
LABEL = "readmitted"


@dataclass(frozen=True)
class Patient:
    """A row; None where nobody filled it in."""

    patient: str
    age: int
    weight: float | None
    sex: str
    ward: str
    smoker: bool | None
    admitted: datetime.date
    note: str
    readmitted: bool


COLUMNS = tuple(Patient.__dataclass_fields__)


def patients(n: int, seed: int = 1) -> list[Patient]:
    """So many made-up rows, by a public seed; the old, the heavy and the smokers come back."""
    rng = np.random.default_rng(seed)
    found = []
    for i in range(n):
        age, weight, smoker = int(rng.integers(18, 100)), float(rng.integers(90, 240)) / 2, bool(rng.random() < 0.3)
        back = (age - 59) / 20 + (weight - 80) / 40 + 1.5 * smoker + rng.normal() > 0.4
        days = int(rng.integers((LAST - FIRST).days))
        missing = [rng.random() < 0.1 for _ in range(2)]
        found.append(
            Patient(
                patient=f"P{seed:02}{i:04}",
                age=age,
                weight=None if missing[0] else weight,
                sex=SEXES[int(rng.integers(2))],
                ward=WARDS[int(rng.integers(3))],
                smoker=None if missing[1] else smoker,
                admitted=FIRST + datetime.timedelta(days),
                note="came on foot",
                readmitted=bool(back),
            )
        )
    return found


@dataclass(frozen=True)
class Spelling:
    """How a system writes cells: each kind of value as a text, the columns in its order."""

    separator: str = ","
    columns: Sequence[str] = COLUMNS
    number: Callable[[float], str] = str
    level: Callable[[str], str] = str
    truth: tuple[str, str] = ("no", "yes")
    day: str = "%Y-%m-%d"
    empty: Sequence[str] = ("",)
    line: str = "\n"

    def text(self, rows: Sequence[Patient]) -> str:
        """A CSV file of these rows."""
        text = io.StringIO()
        writer = csv.writer(text, delimiter=self.separator, lineterminator=self.line)
        writer.writerow(self.columns)
        writer.writerows([self.cell(getattr(row, name), i) for name in self.columns] for i, row in enumerate(rows))
        return text.getvalue()

    def cell(self, value: object, i: int) -> str:
        """One cell of row i."""
        if value is None:
            return self.empty[i % len(self.empty)]
        if isinstance(value, bool):
            return self.truth[value]
        if isinstance(value, datetime.date):
            return value.strftime(self.day)
        return self.level(value) if isinstance(value, str) else self.number(value)  # type: ignore[arg-type]


@dataclass(frozen=True)
class Export:
    """A form of a file: `write` makes its content; dictionary: its own, None where that is the file's schema.

    filled: what a person writes where the dictionary is silent, None to strike a line out. form: the lines of a
    section [file] that say how the file is written.
    """

    name: str
    ending: str
    write: Callable[[Sequence[Patient]], bytes]
    dictionary: str | None
    filled: dict[str, str | None] = field(default_factory=dict)
    form: str = ""

    def save(self, rows: Sequence[Patient], folder: Path, name: str) -> Path:
        """The rows as a file of this form, with what its site says of the form in a file beside it."""
        path = folder / f"{name}{self.ending}"
        path.write_bytes(self.write(rows))
        if self.form:
            path.with_name(f"{path.name}.toml").write_text(f"[file]\n{self.form}\n", encoding="utf-8")
        return path

    def bounds(self, folder: Path) -> Path:
        """The bounds that the tool drafts from the dictionary, with what a person has to say: rules for empty cells."""
        text = self._draft(folder)
        for name, value in self.filled.items():
            text = re.sub(
                rf'^{name} = \["\?".*$', "" if value is None else f"{name} = {value}", text, flags=re.MULTILINE
            )
        for rule in ('weight = "indicator"', 'smoker = "category"'):
            assert f"# {rule}" in text
            text = text.replace(f"# {rule}", rule)
        path = folder / f"{self.name}.bounds.toml"
        path.write_text(text, encoding="utf-8")
        return path

    def _draft(self, folder: Path) -> str:
        dictionary = folder / f"{self.name}.codebook"
        if self.dictionary is None:
            dictionary.write_bytes(self.write(patients(3, seed=9)))
        else:
            dictionary.write_text(self.dictionary, encoding="utf-8")
        return draft_bounds(read_data_dictionary(dictionary), LABEL).text


REDCAP = f"""\
"Variable / Field Name","Form Name","Field Type","Field Label","Choices, Calculations, OR Slider Labels",\
"Text Validation Type OR Show Slider Number","Text Validation Min","Text Validation Max",Identifier?,"Required Field?"
patient,base,text,Patient,,,,,,y
age,base,text,Age,,integer,18,110,,y
weight,base,text,Weight,,number_1dp,30,250,,
sex,base,radio,Sex,"1, Female | 2, Male",,,,,y
ward,base,dropdown,Ward,"1, Köln | 2, Zürich | 3, Bern",,,,,y
smoker,base,yesno,Smoker,,,,,,
admitted,base,text,Admitted,,date_dmy,2015-01-01,{LAST},,y
note,base,notes,Note,,,,,,
readmitted,base,yesno,Readmitted,,,,,,y
"""


def _parquet(rows: Sequence[Patient]) -> bytes:
    columns: dict[str, Any] = {name: [getattr(row, name) for row in rows] for name in COLUMNS}
    for name in ("sex", "ward"):
        columns[name] = pa.array(columns[name]).dictionary_encode()
    sink = io.BytesIO()
    pq.write_table(pa.table(columns), sink)
    return sink.getvalue()


def _with_newlines(rows: Sequence[Patient]) -> bytes:
    talkative = [replace(row, note='said "no, thank you"\r\n\r\nand left;\n') for row in rows]
    return Spelling(truth=("No", "Yes"), level=_title, line="\r\n").text(talkative).encode("utf-8-sig")


def _code(level: str) -> str:
    codes = {**{name: str(i) for i, name in enumerate(SEXES, 1)}, **{name: str(i) for i, name in enumerate(WARDS, 1)}}
    return codes.get(level, level)


def _title(level: str) -> str:
    return level.capitalize() if level in SEXES else level


def _packed(rows: Sequence[Patient]) -> bytes:
    return gzip.compress(Spelling(columns=COLUMNS[::-1]).text(rows).encode())


COMMA = Spelling(";", number=lambda x: str(x).replace(".", ","), truth=("0", "1"), day="%d.%m.%Y")
CODES, CAPITALS = Spelling("\t", level=_code, truth=("0", "1")), Spelling(level=str.upper, truth=("NO", "YES"))
AMERICAN, GAPS = Spelling(day="%m/%d/%Y", truth=("FALSE", "TRUE")), Spelling(empty=("", "NA"))
GERMAN = 'separator = ";"\nencoding = "latin-1"\ndecimal = ","\ndates = "dd.mm.yyyy"'
OF_THE_SCHEMA: dict[str, str | None] = {
    **{"age": "[18, 110]", "weight": "[30, 250]", "admitted": f"[{FIRST}, {LAST}]", "patient": None, "note": None},
    **{"sex": '["female", "male"]', "ward": '["Köln", "Zürich", "Bern"]'},
}
EXPORTS = {
    export.name: export
    for export in (
        Export("semicolon", ".csv", lambda rows: COMMA.text(rows).encode("latin-1"), REDCAP, form=GERMAN),
        Export("tab", ".tsv", lambda rows: CODES.text(rows).encode(), REDCAP),
        Export("packed", ".csv.gz", _packed, REDCAP),
        Export("gaps", ".csv", lambda rows: GAPS.text(rows).encode(), REDCAP, form='missing = ["NA"]'),
        Export("parquet", ".parquet", _parquet, None, OF_THE_SCHEMA),
        Export("american", ".csv", lambda rows: AMERICAN.text(rows).encode(), REDCAP, form='dates = "mm/dd/yyyy"'),
        Export("capitals", ".csv", lambda rows: CAPITALS.text(rows).encode(), REDCAP),
        Export("quoted", ".csv", _with_newlines, REDCAP),
    )
}
