"""`bounds draft` and `bounds check` from the command line: what they print, write and end with."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

import pytest

from smc_dp.cli import screen
from smc_dp.cli.main import main
from smc_dp.data.bounds import read_bounds
from smc_dp.data.validate_file import PRIVATE_NOTICE

DICTIONARY = """\
Variable / Field Name,Field Type,"Choices, Calculations, OR Slider Labels",\
Text Validation Type OR Show Slider Number,Text Validation Min,Text Validation Max
id,text,,,,
age,text,,integer,18,110
bmi,calc,,,,
sex,radio,"1, Female | 2, Male",,,
back,yesno,,,,
"""
BOUNDS = """
[label]
classes = ["no", "yes"]
column = "back"
[columns]
age = [18, 110]
sex = ["f", "m"]
[rows]
clip = 1.0
"""
FAULTY = "age,sex,back\n17,F,no\n,m,yes\n30,\x1b[31mx,Yes\nx,F,1\n"
FINE = "sex,age,back\nf,18,no\nm,64,no\nf,111,no\n"


@pytest.fixture(autouse=True)
def _files(folder: Path) -> None:
    texts = {"dictionary.csv": DICTIONARY, "bounds.toml": BOUNDS, "bad.csv": FAULTY, "good.csv": FINE}
    for name, text in texts.items():
        (folder / name).write_text(text)


def said(capsys: pytest.CaptureFixture[str], *argv: str) -> tuple[int, str, str]:
    code = main(["bounds", *argv])
    out, err = capsys.readouterr()
    return code, out, err


def test_a_draft_goes_to_the_screen_or_into_a_new_file_and_names_what_is_to_be_filled_in(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, text, err = said(capsys, "draft", "dictionary.csv", "--label", "back")
    assert (code, err) == (0, 'to fill in: bmi = ["?", "?"] # the dictionary gives no range\n')
    written = (0, "Written: b.toml.\n", err)
    assert said(capsys, "draft", "dictionary.csv", "--label", "back", "--out", "b.toml") == written
    assert (folder / "b.toml").read_text() == text
    code, out, err = said(capsys, "draft", "dictionary.csv", "--out", "b.toml")
    assert (code, out, err) == (2, "", "error: bounds b.toml: exists already. Name another file\n")
    (folder / "b.toml").write_text(text.replace('["?", "?"]', "[10, 70]"))
    assert read_bounds(folder / "b.toml").classes == ("No", "Yes")


def test_a_file_of_rows_and_a_label_that_is_not_there_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = said(capsys, "draft", "good.csv")
    assert (code, out) == (2, "")
    assert err.startswith("error: data dictionary good.csv: is no data dictionary; wanted")
    code, out, err = said(capsys, "draft", "dictionary.csv", "--label", "gone")
    assert err.startswith("error: dictionary.csv: has no column 'gone', which --label names. ")


def test_every_fault_is_in_one_list_with_the_lines_that_mend_it(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = sorted(folder.rglob("*"))
    code, out, err = said(capsys, "check", "bad.csv", "--bounds", "bounds.toml", "--party", "north")
    assert (code, err) == (2, "")
    assert sorted(folder.rglob("*")) == before
    assert out.isascii()
    first, *lines = out.splitlines()
    assert first == f"party north (bad.csv): 6 faults. {PRIVATE_NOTICE}"
    assert [line for line in lines if line][:2] == [
        "  column 'age', line 3: wanted a number, the cell is empty",
        "  column 'age', line 5: wanted a number, got 'x'",
    ]
    own = out[out.index("  [aliases.") : out.index("Lines for the bounds file")]
    (folder / "bad.csv.toml").write_text(own)
    to_add = out[out.index("  [missing]") : out.index("warning")]
    (folder / "bounds.toml").write_text(BOUNDS + to_add)
    bounds = read_bounds(folder / "bounds.toml")
    assert bounds.columns[0].missing == "indicator"
    assert "sex" in own
    assert "back" in own
    assert lines[-1] == (
        "warning: column 'age': 1 cell lies outside the bounds and will be clipped to them; "
        "the first, in line 2: 17.0 is outside its bounds [18.0, 110.0]"
    )
    code, out, _ = said(capsys, "check", "bad.csv", "--bounds", "bounds.toml", "--party", "north")
    assert (code, out.splitlines()[0]) == (2, f"party north (bad.csv): 2 faults. {PRIVATE_NOTICE}")


@pytest.mark.parametrize(("file", "code", "faults"), [("bad.csv", 2, 6), ("good.csv", 0, 0), ("gone.csv", 2, 1)])
def test_the_same_as_json(file: str, code: int, faults: int, capsys: pytest.CaptureFixture[str]) -> None:
    came, out, _ = said(capsys, "check", file, "--bounds", "bounds.toml", "--party", "north", "--json")
    found = json.loads(out)
    assert (came, found["party"], found["file"], found["fits"]) == (code, "north", file, not faults)
    assert len(found["faults"]) == faults
    assert all("." in fault["code"] and isinstance(fault["fields"], dict) for fault in found["faults"])
    assert found["private"] == PRIVATE_NOTICE
    assert bool(found["warnings"]) == (file != "gone.csv")


def test_lines_to_be_copied_are_whole_on_a_narrow_terminal(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(screen, "paragraph_width", lambda: 40)
    (folder / "east.csv").write_bytes("age;sex;back;ward\n18,5;odd;no;Köln\n".encode("latin-1"))
    _, out, _ = said(capsys, "check", "east.csv", "--bounds", "bounds.toml", "--party", "east")
    first, *_ = out.splitlines()
    own = out[out.index("  [file]") :].splitlines()
    assert own[:4] == ["  [file]", '  separator = ";"', '  decimal = ","', '  encoding = "latin-1"']
    assert own[5].startswith('  # LEVEL = ["odd"]')
    assert len(first) <= 40


def test_a_site_s_own_terms_say_how_its_file_is_written(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "east.csv").write_text("age;sex;back\n18;f;no\n64;m;yes\n")
    (folder / "own.toml").write_text('[file]\nseparator = ";"\n')  # the limits are for studies
    options = ("check", "east.csv", "--bounds", "bounds.toml", "--party")
    code, out, _ = said(capsys, *options, "east")
    assert (code, "add --policy own.toml" in out) == (2, True)
    code, out, _ = said(capsys, *options, "east", "--policy", "own.toml")
    assert (code, "--policy" in out) == (0, False)
    code, out, err = said(capsys, *options, "north/south")
    assert (code, out) == (2, "")
    assert err.startswith("error: party name 'north/south': wanted letters")


def test_columns_that_no_bounds_name_and_columns_of_another_unit_are_warned_of(
    capsys: pytest.CaptureFixture[str],
) -> None:
    Path("north.csv").write_text("weight,back,ward\n150,no,a\n160,yes,b\n70,yes,b\n")
    Path("bounds.toml").write_text('[label]\ncolumn = "back"\nclasses = ["no", "yes"]\n[columns]\nweight = [30, 120]\n')
    assert main(["bounds", "check", "north.csv", "--bounds", "bounds.toml", "--party", "north", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["unused"] == ["ward"]
    assert [(one["column"], one["count"]) for one in found["outside"]] == [("weight", 2)]
    assert len([text for text in found["warnings"] if "67% of its cells" in text]) == 1


def test_drafted_from_a_header_checked_and_filled_in(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Each refusal names the command that comes next, with the names of the files."""
    (folder / "north ward.csv").write_text("id,age,back\nzebra,18,no\nokapi,64,yes\n")
    assert main(["run", "--party", "n=north ward.csv", "--party", "good.csv", "--label", "back", "--json"]) == 2
    (fault,) = json.loads(capsys.readouterr().out)["faults"]
    assert fault["code"] == "bounds.missing_beside_label"
    draft, check = (shlex.split(text) for text in fault["message"].split("`")[1:4:2])
    assert draft[4:6] == ["north ward.csv", "--label"]
    (folder / "bounds.toml").unlink()
    assert main(draft[1:]) == 0
    out, err = capsys.readouterr()
    assert [line.split(" =")[0] for line in err.splitlines()] == [f"to fill in: {n}" for n in ("classes", "id", "age")]
    assert main([*check[1:], "--json"]) == 2
    codes = ["bounds.open_classes", "bounds.open_column", "bounds.open_column"]
    assert [fault["code"] for fault in json.loads(capsys.readouterr().out)["faults"]] == codes
    text = (folder / "bounds.toml").read_text().replace('classes = ["?", "?"]', 'classes = ["no", "yes"]')
    (folder / "bounds.toml").write_text(text.replace('id = "?"\n', "").replace('age = "?"', "age = [0, 120]"))
    assert main(["bounds", "check", "--bounds", "bounds.toml"]) == 0
    assert main(check[1:]) == 0
    assert "zebra" not in out + err + text


def test_a_draft_is_of_one_file_and_a_policy_is_for_rows(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "east.csv").write_text("age;sex;back\n18;f;no\n")
    (folder / "own.toml").write_text('[file]\nseparator = ";"\n[limits]\nmax_epsilon = "1"\nmax_delta = "0"\n')
    assert said(capsys, "draft", "--header", "east.csv", "--policy", "own.toml", "--label", "back")[0] == 0
    for wrong in ([], ["dictionary.csv", "--header", "east.csv"], ["dictionary.csv", "--policy", "own.toml"]):
        assert said(capsys, "draft", *wrong)[0] == 2
