"""Every line of bad input: exit code 2, one plain line on standard error that names the place, nothing left behind."""

from __future__ import annotations

import errno
import gc
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import smc_dp
from protocols.errors import PeerError
from smc_dp.cli.main import main
from smc_dp.cli.screen import RARE_THRESHOLDS, rare_garbage_collection
from smc_dp.core.errors import LinesFault
from smc_dp.run.protocols import execution
from tests.support.commands import refusal

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
def _two_parties(folder, monkeypatch) -> None:
    """Two good parties; to send a message is an error of the test."""

    def secure(*args: object, **kwargs: object) -> None:
        raise AssertionError("a message would have been sent")

    monkeypatch.setattr(execution, "run_session", secure)
    for name, text in {"bounds.toml": BOUNDS, "north.csv": NORTH, "south.csv": SOUTH}.items():
        (folder / name).write_text(text)


def test_a_bad_file_names_the_party_the_field_and_the_row(folder, capsys):
    (folder / "north.csv").write_text(f"{NORTH}3,\x1b[31m[bold]red,no\n")
    assert main(["run", "--party", "south.csv", "--party", "north.csv", *OWN[4:]]) == 2
    line, header, *lines = capsys.readouterr().err.splitlines()
    assert line.startswith("error: party north (north.csv): column 'sex', line 5: ")
    assert header.startswith("error: party north (north.csv): write these lines into north.csv.toml")
    assert lines[0] == "  [aliases.sex]"
    assert lines[1].startswith("  # LEVEL = [")
    assert all(one.isprintable() for one in (line, header, *lines))


def test_rows_out_of_bounds_are_an_error_only_when_asked(folder, capsys):
    (folder / "north.csv").write_text(f"{NORTH}121,f,no\n")
    line = refusal(capsys, folder, "run", *OWN, "--strict-bounds")
    assert line == "party north (north.csv): column 'age', line 5: 121.0 is outside its bounds [0.0, 120.0]"
    with pytest.raises(AssertionError, match="a message would have been sent"):
        main(["run", *OWN])


REFUSED = {
    "run --party x= --bounds bounds.toml": "party.no_file",
    "run --party . --party south.csv --bounds bounds.toml": "party.no_file",
    "run --party north.csv --party south.csv --bounds bounds.toml --parties-by sex": "parties_by.several_tables",
    "run --party north.csv --party south.csv --bounds bounds.toml --parties 2": "option.contradicts",
    "run --bounds bounds.toml": "option.alone",
    "run --parties 1": "parties.wrong_number",
    "run --parties five": "option.not_whole",
    "run --epsilon nan": "option.not_positive",
    "run --epsilon 1e999999": "option.out_of_range",
    "run --calibration guess": "option.not_one_of",
    "run --out .": "folder.exists",
    "run --method prr_mean --protocol linear --as-published-insecure": "protocol.with_printed_steps",
    "run --method prr_mean --delta 1e-6": "delta.without_ddg",
    "run --method wsum --as-published-insecure": "method.not_printed",
    "run --method wsum --output shares --topology star": "topology.no_curator",
    "run --method wsum --drop-out hospital-1": "drop_out.not_a_message",
    "lab epsilon": "options.no_audit_subject",
    "lab epsilon nothing": "method.unknown",
    "lab epsilon knorm --epsilon 500001": "epsilon.too_large",
    "lab epsilon knorm --trials 59": "options.trials_out_of_range",
    "lab epsilon knorm --confidence 1": "options.confidence_out_of_range",
    "lab epsilon knorm --noise laplace": "calibration.not_taken",
    "lab epsilon batch --noise laplace": "calibration.not_taken",
    "lab epsilon all --mutant float-sampler": "mutant.not_available",
    "lab epsilon wsum --noise ddg": "noise.of_secure_sum",
    "lab epsilon wsum --noise vg": "noise.of_secure_sum",
    "lab epsilon wsum --mutant all-honest": "mutant.of_whole_protocol",
    "lab epsilon prr_mean --mutant stripped": "mutant.of_whole_protocol",
    "lab epsilon wsum --protocol --mutant stripped": "mutant.not_available",
    "lab epsilon vote --dimension 9": "dimension.no_canary",
    "lab epsilon gauss --mutant half-variance --lambda 1": "lambda.no_dimension",
    "lab epsilon prr_mean --protocol --dimension 9": "dimension.through_protocol",
}
"""Commands, and the codes of what only the command line refuses; what the library refuses has its tests there."""


@pytest.mark.parametrize("line", REFUSED)
def test_a_bad_command_is_refused_by_a_code_in_one_line(line, folder, capsys):
    before = sorted(folder.rglob("*"))
    assert main([*line.split(), "--json"]) == 2
    out, err = capsys.readouterr()
    assert json.loads(out)["error"]["code"] == REFUSED[line]
    assert (err[:7], err.count("\n")) == ("error: ", 1)
    assert sorted(folder.rglob("*")) == before


@pytest.mark.parametrize(
    ("argv", "names"),
    [
        (["nonsense"], ["nonsense", "predict"]),
        (["run", "--frobnicate"], ["--frobnicate"]),
        (["run", "--epsilon"], ["--epsilon", "argument"]),
        (["run", "surplus"], ["surplus"]),
        (["ledger", "new"], ["new", "init, show, check, export, head, witness, cosign, compare"]),
        (["--nonsense"], ["--nonsense"]),
        (["predict"], ["Give RUN: "]),
        (["predict", "runs/x"], ["Give --data"]),
        (["predict", "none", "--data", "north.csv"], ["run folder none: is no folder"]),
    ],
)
def test_a_command_that_there_is_not_is_one_line_too(argv, names, folder, capsys):
    line = refusal(capsys, folder, *argv)
    for name in names:
        assert name in line


def test_below_an_error_stand_only_lines_to_copy_indented_and_printable(folder, capsys):
    (folder / "north.csv").write_text(NORTH + '1,"x\nerror: y",no\n1,"z\x1b[0m",no\n1,F,no\n')
    assert main(["run", *OWN]) == 2
    err = capsys.readouterr().err
    *errors, header, certain, one, other = err.splitlines()
    assert [line.startswith("error: party north") for line in errors] == [True] * 4
    assert (header, certain, err.count("\x1b")) == ("  [aliases.sex]", '  f = ["F"]', 0)
    assert one.startswith('  # LEVEL = ["x\\U0000000aerror: y"]')
    assert other.startswith('  # LEVEL = ["z')
    fault = LinesFault("form.lines_beside", {"file": "f", "lines": ("a  b\nerror: \x1b",)})
    assert str(fault).splitlines()[1:] == ["  a  b error:  "]
    assert main(["show", "no\nerror: forged\x1b[0m"]) == 2
    said = capsys.readouterr().err
    assert (said.count("\n"), said.count("\x1b")) == (1, 0)


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
    wrong = ["--method", "newton", "--lambda", "1", "--key-bits", "2048", "--drop-out", "x"]
    assert main(["run", *OWN, "--json", *wrong]) == 2
    out, err = capsys.readouterr()
    found = json.loads(out)
    codes = ["method.no_such_setting", "protocol.no_such_setting", "drop_out.not_a_message"]
    assert [fault["code"] for fault in found["faults"]] == codes
    assert found["error"] == found["faults"][0]
    assert [line.removeprefix("error: ") for line in err.splitlines()] == [f["message"] for f in found["faults"]]
    assert [fault["fields"]["setting"] for fault in found["faults"][:2]] == ["lambda", "key_bits"]
    assert sorted(folder.rglob("*")) == before


def test_what_the_system_refuses_is_one_line_that_begins_with_the_file(capsys):
    assert main(["audit", "x" * 300]) == 2
    assert capsys.readouterr().err == f"error: {'x' * 300}: {os.strerror(errno.ENAMETOOLONG)}\n"


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


@pytest.mark.parametrize(
    ("argv", "code", "lines"), [(["audit", "nowhere", "--json"], 2, 1), (["lab", "schema", "study"], 0, 0)]
)
def test_a_reader_who_has_seen_enough_changes_nothing_else(argv, code, lines, folder):
    read, write = os.pipe()
    os.close(read)
    command = [sys.executable, "-m", "smc_dp", *argv]
    environment = {**os.environ, "PYTHONPATH": str(Path(smc_dp.__file__).parents[1])}
    ran = subprocess.run(command, stdout=write, stderr=subprocess.PIPE, text=True, cwd=folder, env=environment)
    os.close(write)
    assert (ran.returncode, ran.stderr.count("\n")) == (code, lines)


@pytest.mark.parametrize("option", ["--epsilon", "--budge"])
def test_an_unknown_option_names_the_help_with_all(option: str, folder, capsys: pytest.CaptureFixture[str]) -> None:
    line = refusal(capsys, folder, "ledger", "init", "x.ledger", option, "1")
    assert option in line
    assert line.endswith(" All options: `smc-dp ledger init --help`")


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
