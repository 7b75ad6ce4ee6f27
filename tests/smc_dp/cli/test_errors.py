"""Every line of bad input: exit code 2, one plain line on standard error that names the place, nothing left behind."""

from __future__ import annotations

import gc
import io
import json
import os
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import smc_dp
from protocols.errors import PeerError
from smc_dp.cli.main import main
from smc_dp.cli.screen import RARE_THRESHOLDS, rare_garbage_collection
from smc_dp.run.protocols import execution

BOUNDS = """
[columns]
age = [0, 120]
sex = ["f", "m"]
[label]
classes = ["no", "yes"]
column = "outcome"
"""
NORTH = "age,sex,outcome\n41,f,yes\n7,m,no\n55,f,no\n"
SOUTH = "age,sex,outcome\n23,f,yes\n64,m,no\n"
OWN = ["--party", "north.csv", "--party", "south.csv", "--bounds", "bounds.toml", "--method", "prr_mean"]


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch) -> Path:
    """Two good parties in an empty working folder; to send a message is an error of the test."""

    def secure(*args: object, **kwargs: object) -> None:
        raise AssertionError("a message would have been sent")

    monkeypatch.setattr(execution, "run_session", secure)
    monkeypatch.delenv("SMC_DP_DATA", raising=False)
    monkeypatch.chdir(tmp_path)
    for name, text in {"bounds.toml": BOUNDS, "north.csv": NORTH, "south.csv": SOUTH}.items():
        (tmp_path / name).write_text(text)
    return tmp_path


def complaint(capsys, folder: Path, *argv: str, several: bool = False) -> str:
    """The one line that a wrong command prints, or one for each fault; everything else about it is checked here."""
    before = sorted(folder.rglob("*"))
    code = main(list(argv))
    out, err = capsys.readouterr()
    assert (code, out) == (2, "")
    assert err.startswith("error: ")
    assert err.endswith("\n")
    line = err.removesuffix("\n")
    lines = line.splitlines() if several else [line]
    assert all(each.isprintable() for each in lines), "one line, without colours and boxes"
    assert all(each.startswith("error: ") for each in lines)
    assert "Traceback" not in line
    assert sorted(folder.rglob("*")) == before, "something was left behind"
    return line


def with_row(row: str) -> bytes:
    return f"{NORTH}{row}\n".encode()


def parquet(**columns) -> bytes:
    sink = io.BytesIO()
    pq.write_table(pa.table(columns), sink)
    return sink.getvalue()


@pytest.mark.parametrize(
    ("north", "names"),
    [
        pytest.param(b"", ["empty"], id="empty file"),
        pytest.param(with_row("nan,f,no"), ["'age'", "line 5", "finite"], id="NaN"),
        pytest.param(with_row("3,f,maybe"), ["'outcome'", "line 5", "'maybe'", "'no', 'yes'"], id="unknown label"),
        pytest.param(with_row("3,f"), ["line 5", "2 cells", "3"], id="ragged row"),
        pytest.param(bytes(range(256)), ["not a text file"], id="binary junk"),
        pytest.param(b"sex,outcome\nf,yes\nm,no\n", ["'age'", "missing"], id="missing column"),
        pytest.param(
            parquet(age=[1.0, None], sex=["f", "m"], outcome=["no", "yes"]), ["'age'", "row 2", "empty"], id="null"
        ),
        pytest.param(with_row("3,\x1b[31m[bold]red,no"), ["'sex'", "line 5"], id="terminal codes"),
    ],
)
@pytest.mark.parametrize("position", ["first", "second"])
def test_a_bad_file_names_the_party_the_field_and_the_row(north, names, position, folder, capsys):
    (folder / "north.csv").write_bytes(north)
    own = OWN if position == "first" else ["--party", "south.csv", "--party", "north.csv", *OWN[4:]]
    line = complaint(capsys, folder, "run", *own, several=True)
    assert line.startswith("error: party north (north.csv): ")
    for name in names:
        assert name in line


def test_rows_out_of_bounds_are_an_error_only_when_asked(folder, capsys):
    (folder / "north.csv").write_bytes(with_row("121,f,no"))
    line = complaint(capsys, folder, "run", *OWN, "--strict-bounds")
    assert line == "error: party north (north.csv): column 'age', line 5: 121.0 is outside its bounds [0.0, 120.0]"
    with pytest.raises(AssertionError, match="a message would have been sent"):
        main(["run", *OWN])


@pytest.mark.parametrize(
    ("argv", "names"),
    [
        (["--party", "north.csv", "--party", "north=south.csv", *OWN[4:]], ["'north'", "twice"]),
        (["--party", "charlie=north.csv", "--party", "south.csv", *OWN[4:]], ["'charlie'", "reserved"]),
        (["--party", "a/b=north.csv", "--party", "south.csv", *OWN[4:]], ["'a/b'", "letters"]),
        (["--party", "north.csv", *OWN[4:]], ["parties", "at least 2, got 1"]),
        (["--party", "none.csv", "--party", "south.csv", *OWN[4:]], ["party none (none.csv)", "No such file"]),
        (["--party", ".", "--party", "south.csv", *OWN[4:]], ["--party: wanted a file"]),
        (["--party", "x=.", "--party", "south.csv", *OWN[4:]], ["party x (.)", "Is a directory"]),
        (["--party", "x=", *OWN[4:]], ["--party", "'x='"]),
        (OWN[:4], ["--bounds", "missing"]),
        ([*OWN[:4], "--bounds", "none.toml"], ["bounds file none.toml", "No such file"]),
        ([*OWN[:4], "--bounds", "north.csv"], ["bounds file north.csv", "not TOML"]),
        ([*OWN, "--label", "result"], ["party north (north.csv)", "'result'", "missing"]),
        ([*OWN, "--label", "age"], ["'age'", "label"]),
        ([*OWN, "--test", "none.csv"], ["test file none.csv", "No such file"]),
        ([*OWN, "--test", "bounds.toml"], ["test file bounds.toml"]),
        ([*OWN, "--parties-by", "sex"], ["--parties-by", "single --party"]),
        ([*OWN, "--parties", "2"], ["--parties", "--party"]),
        ([*OWN, "--split", "50,50"], ["--split", "--party"]),
        ([*OWN, "--dataset", "a9a"], ["--dataset", "--party"]),
        (["--party", "north.csv", "--parties-by", "town", *OWN[4:]], ["table north.csv", "'town'", "missing"]),
        (["--party", "north.csv", "--parties-by", "sex", *OWN[4:]], ["party m (table north.csv)", "wanted both"]),
        (["--bounds", "bounds.toml"], ["--bounds", "--party"]),
        (["--label", "x"], ["--label", "--party"]),
        (["--parties", "1"], ["--parties", "at least 2", "got 1"]),
        (["--parties", "five"], ["--parties", "'five'"]),
        (["--parties", "400"], ["party hospital-", "wanted"]),
        (["--split", "15,20,20,20,20"], ["--split", "sum to 100", "95"]),
        (["--split", "50,50", "--parties", "3"], ["--split", "3", "2"]),
        (["--split", "a,b"], ["--split", "'a,b'"]),
        (["--dataset", "adult"], ["--dataset", "'adult'", "a9a"]),
        (["--dataset", "a9a"], ["a9a/a9a.gz", "--data-dir", "SMC_DP_DATA"]),
        (["--dataset", "a9a", "--data-dir", "."], ["a9a/a9a.gz", "No such file"]),
        (["--epsilon", "0"], ["--epsilon", "positive", "'0'"]),
        (["--epsilon", "nan"], ["--epsilon", "positive", "'nan'"]),
        (["--epsilon", "1e999999"], ["--epsilon", "1e999999"]),
        (["--epsilon", "1e-8"], ["hospital-1", "too large for the grid", "raise epsilon or lambda"]),
        (
            ["--method", "prr_mean", "--lambda", "1e-8"],
            ["hospital-1", "too large for the grid", "raise epsilon or lambda"],
        ),
        (["--lambda", "0"], ["--lambda", "positive"]),
        (["--calibration", "guess"], ["--calibration", "'guess'", "proven, paper"]),
        (["--topology", "ring"], ["--topology", "'ring'", "mesh, star"]),
        (["--key-bits", "1024"], ["--key-bits", "2048", "--insecure-test-keys", "1024"]),
        (["--key-bits", "big"], ["--key-bits", "'big'"]),
        (["--insecure-seed", "x"], ["--insecure-seed", "'x'"]),
        (["--out", "."], ["error: .: exists already"]),
        (["--out", "north.csv/run"], ["error: north.csv/run: cannot be made"]),
        (["--frobnicate"], ["--frobnicate"]),
        (["--epsilon"], ["--epsilon", "argument"]),
        (["surplus"], ["surplus"]),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else None,
)
def test_a_bad_option_names_the_option(argv, names, folder, capsys):
    line = complaint(capsys, folder, "run", *argv, several="result" in argv)
    for name in names:
        assert name in line


@pytest.mark.parametrize(
    ("argv", "names"),
    [
        (["nonsense"], ["nonsense", "predict"]),
        (["ledger", "new"], ["new", "init, show, check, export, head, witness, cosign, compare"]),
        (["--nonsense"], ["--nonsense"]),
        (["predict"], ["RUN"]),
        (["predict", "runs/x"], ["--data"]),
        (["predict", "none", "--data", "north.csv"], ["run folder none: there is no such folder"]),
    ],
)
def test_a_bad_command_is_one_line_too(argv, names, folder, capsys):
    line = complaint(capsys, folder, *argv)
    for name in names:
        assert name in line


def test_an_abort_of_the_protocol_is_one_line_and_leaves_nothing(folder, capsys, monkeypatch):
    def secure(*args: object, **kwargs: object) -> None:
        raise PeerError("south", "paillier.not_a_unit", [3])

    monkeypatch.setattr(execution, "run_session", secure)
    assert main(["run", *OWN, "--json"]) == 2  # which also silences the progress
    out, err = capsys.readouterr()
    found = json.loads(out)["error"]
    assert (found["code"], found["place"]) == ("paillier.not_a_unit", "south")
    assert err == f"error: {found['message']}\n"


def test_json_has_every_fault_with_its_code(folder, capsys):
    before = sorted(folder.rglob("*"))
    assert main(["run", *OWN, "--json", "--method", "newton", "--lambda", "1", "--key-bits", "2048"]) == 2
    out, err = capsys.readouterr()
    found = json.loads(out)
    codes = ["method.no_such_setting", "protocol.no_such_setting"]
    assert [fault["code"] for fault in found["faults"]] == codes
    assert found["error"] == found["faults"][0]
    assert [line.removeprefix("error: ") for line in err.splitlines()] == [f["message"] for f in found["faults"]]
    assert [fault["fields"]["setting"] for fault in found["faults"]] == ["lambda", "key_bits"]
    assert sorted(folder.rglob("*")) == before


def test_an_interrupt_is_one_line_and_exit_code_130(folder, capsys, monkeypatch):
    def secure(*args: object, **kwargs: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(execution, "run_session", secure)
    before = sorted(folder.rglob("*"))
    assert main(["run", *OWN, "--json"]) == 130
    assert capsys.readouterr() == ("", "interrupted\n")
    assert sorted(folder.rglob("*")) == before


def test_the_command_itself_says_one_line_and_no_traceback(folder):
    root = str(Path(smc_dp.__file__).parents[1])
    done = subprocess.run(
        [sys.executable, "-m", "smc_dp.cli", "run", "--epsilon", "nan"],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": root, "COLUMNS": "20"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("error: ")
    assert done.stderr.count("\n") == 1


def test_ctrl_c_while_options_are_read_is_no_success(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Typer gives an exit code there, where a command that is to be run is expected, and --help gives none."""

    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr("typer.core.TyperCommand.parse_args", interrupted)
        assert main(["run"]) == 130
    assert capsys.readouterr() == ("", "interrupted\n")
    assert main(["run", "--help"]) == 0


def test_garbage_is_looked_for_seldom_inside_and_as_before_after_an_error() -> None:
    before = gc.get_threshold()
    inside = []

    def stopped() -> None:
        with rare_garbage_collection():
            inside.append(gc.get_threshold())
            raise KeyError

    with pytest.raises(KeyError):
        stopped()
    assert inside == [RARE_THRESHOLDS] != [before]
    assert gc.get_threshold() == before
