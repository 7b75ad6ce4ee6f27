"""Three hospitals learn from exports of their systems: from a data dictionary to predictions for new patients.

You will see the commands that a hospital's data scientist types: bounds drafted from a REDCap data dictionary, the line
that it does not say filled in by a person, a file checked on its own machine (it has empty cells, and the check says
what to write), the run, and predictions for new patients. One file has semicolons, decimal commas and Latin-1, one tabs
and codes, one is Parquet with truth values. At the end the script checks that each new patient has a prediction, and
that they are better than one answer for all.

    python own_exports.py
"""

from __future__ import annotations

import csv
import os
import tempfile
from pathlib import Path
from typing import TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from smc_dp.cli.main import main as smc_dp

Patient: TypeAlias = tuple[str, int, float, bool, bool, bool]
COLUMNS = ("patient", "age", "weight", "ward", "smoker", "readmitted")
WARDS = ("Köln", "Bern")
DICTIONARY = """Variable / Field Name,Field Type,"Choices, Calculations, OR Slider Labels",\
Text Validation Type OR Show Slider Number,Text Validation Min,Text Validation Max,Required Field?
patient,text,,,,,y\nage,text,,integer,18,110,y\nweight,text,,number_1dp,,,
ward,radio,"1, Köln | 2, Bern",,,,y\nsmoker,yesno,,,,,y\nreadmitted,yesno,,,,,y
"""


def patients(name: str, count: int, seed: int) -> list[Patient]:
    """Make up rows: the old, the heavy and the smokers come back."""
    rng = np.random.default_rng(seed)
    ages, weights = rng.integers(18, 100, count), rng.integers(90, 240, count) / 2
    wards, smokes = rng.random((2, count)) < 0.4
    back = (ages - 59) / 10 + (weights - 82) / 20 + 2 * smokes + rng.normal(size=count) > 0.8
    names = (f"{name}-{i}" for i in range(count))
    return list(zip(names, *(found.tolist() for found in (ages, weights, wards, smokes, back)), strict=True))


def write(
    name: str, rows: list[Patient], mark: str, encoding: str, wards: tuple[str, str], words: tuple[str, str]
) -> None:
    """Write the CSV file of a system with these words for levels; semicolons come with decimal commas and gaps."""
    with open(name, "w", encoding=encoding, newline="") as file:
        out = csv.writer(file, delimiter=mark)
        out.writerow(COLUMNS)
        for patient, age, weight, ward, smoker, back in rows:
            kilos = str(weight) if mark != ";" else "" if age == 70 else str(weight).replace(".", ",")
            out.writerow([patient, age, kilos, wards[ward], words[smoker], words[back]])


def export() -> None:
    """Write the files of four places."""
    write("north.csv", patients("north", 900, 1), ";", "latin-1", WARDS, ("no", "YES"))
    Path("north.csv.toml").write_text('[file]\nseparator = ";"\ndecimal = ","\nencoding = "latin-1"\n')
    write("south.tsv", patients("south", 700, 2), "\t", "utf-8", ("1", "2"), ("0", "1"))
    west = dict(zip(COLUMNS, zip(*patients("west", 400, 3), strict=True), strict=True))
    west["ward"] = pa.array([WARDS[ward] for ward in west["ward"]]).dictionary_encode()
    pq.write_table(pa.table(west), "west.parquet")
    write("new.csv", patients("new", 300, 4), ",", "utf-8", WARDS, ("No", "Yes"))


def shell(command: str, code: int = 0) -> None:
    """Show a command, and carry it out."""
    print(f"\n$ smc-dp {command}", flush=True)
    if smc_dp(command.split()) != code:
        raise SystemExit(f"the command did not end with code {code}")


def main() -> None:
    """Draft, check, fill in, plan, run, predict, check."""
    export()
    Path("dictionary.csv").write_text(DICTIONARY)
    shell("bounds draft dictionary.csv --label readmitted --out bounds.toml")
    text = Path("bounds.toml").read_text().replace('weight = ["?", "?"]', "weight = [30, 200]")
    Path("bounds.toml").write_text(text)
    shell("bounds check north.csv --bounds bounds.toml --party north", code=2)
    Path("bounds.toml").write_text(text.replace('# weight = "indicator"', 'weight = "indicator"'))
    for name in ("north.csv", "south.tsv", "west.parquet"):
        shell(f"bounds check {name} --bounds bounds.toml --party {name.split('.')[0]}")
    shell("plan --sizes north=900,south=700,west=400 --bounds bounds.toml --epsilon 1 --method newton")
    parties = "--party north.csv --party south.tsv --party west.parquet"
    shell(f"run {parties} --bounds bounds.toml --method newton --epsilon 1 --out release")
    shell("predict release --data new.csv --out predictions.csv --id patient")
    with open("predictions.csv", newline="") as file:
        predicted = {row["patient"]: row["prediction"] for row in csv.DictReader(file)}
    truth = {row[0]: ("No", "Yes")[row[-1]] for row in patients("new", 300, 4)}
    right = np.mean([predicted.get(patient) == answer for patient, answer in truth.items()])
    majority = max(list(truth.values()).count(answer) for answer in ("No", "Yes")) / len(truth)
    print(f"\nOf {len(truth)} new patients {right:.1%} are told rightly; one answer for all: {majority:.1%}.")
    if predicted.keys() != truth.keys() or right < majority + 0.1:
        raise SystemExit("the demo is wrong: see above")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as place:
        os.chdir(place)
        main()
        os.chdir("/")
