"""What the library says of its parameters, in the words of whoever typed a command."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from smc_dp.cli.compare import compare_methods
from smc_dp.cli.epsilon import bound_epsilon
from smc_dp.cli.ledger import init_ledger
from smc_dp.cli.main import main
from smc_dp.cli.options import Invocation, options_in_message
from smc_dp.cli.run import train_together

NAMES = {"key_bits": "--key-bits", "noise": "--noise", "lam": "--lambda", "calibration": "--calibration"}


@pytest.mark.parametrize(
    ("said", "printed"),
    [
        ("key_bits: wanted more", "--key-bits: wanted more"),
        ("calibration, noise: wanted neither", "--calibration, --noise: wanted neither"),
        ("noise: goes with `calibration` paper", "--noise: goes with --calibration paper"),
        ("file x: wanted `lam`", "file x: wanted --lambda"),
        ("noise", "--noise"),
        ("noise, size: one is no parameter", "noise, size: one is no parameter"),
        ("noise of a party: is a sentence", "noise of a party: is a sentence"),
        ("party noise: is a name", "party noise: is a name"),
        ("file x: key_bits: stands inside", "file x: key_bits: stands inside"),
        ("see `smc-dp data list` and `unknown`", "see `smc-dp data list` and `unknown`"),
        ("", ""),
    ],
)
def test_parameters_become_options_at_the_start_and_in_backquotes(said: str, printed: str) -> None:
    assert options_in_message(said, NAMES) == printed


@pytest.mark.parametrize(
    ("command", "names"),
    [
        (train_together, {"key_bits": "--key-bits", "lam": "--lambda", "lambda": "--lambda", "as_json": "--json"}),
        (train_together, {"insecure_test_keys": "--insecure-test-keys", "limit": "--budget", "party": "--party"}),
        (train_together, {"data_dir": "--data-dir or SMC_DP_DATA", "folder": "--data-dir or SMC_DP_DATA"}),
        (compare_methods, {"calibrations": "--calibrations", "calibration": "--calibration", "lam": "--lambda"}),
        (bound_epsilon, {"method": "METHOD", "through_protocol": "--protocol", "mutant": "--mutant"}),
        (init_ledger, {"limit": "--budget", "delta": "--delta", "file": "FILE"}),
    ],
)
def test_the_names_are_those_of_the_command(command: Callable[..., int | None], names: dict[str, str]) -> None:
    found = Invocation(command, {}).names()
    assert {name: found.get(name) for name in names} == names
    assert command is train_together or "key_bits" not in found  # the names of no other command


def test_a_file_with_the_name_of_a_parameter_is_no_option_in_a_message(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert "label" not in Invocation(train_together, {"bounds": Path("label")}).names()
    (tmp_path / "methods").touch()
    assert main(["lab", "compare", "--methods", "newton", "--out", "methods"]) == 2
    assert capsys.readouterr().err.startswith("error: methods: ")


@pytest.mark.parametrize(
    ("argv", "line"),
    [
        ("run --key-bits 1024", "--key-bits: wanted at least 2048 (or --insecure-test-keys), got 1024"),
        (
            "run --ledgers L --insecure-seed 1",
            "--ledgers: a run without a guarantee cannot be charged. Leave out --ledgers, or what takes the guarantee",
        ),
        (
            "run --as-published-insecure --calibration proven",
            "--calibration: the steps as published go with the noise as published, --calibration paper",
        ),
        (
            "run --dataset a9a",
            "data file a9a/a9a.gz: this data set is not built in. Name the folder that has this file with --data-dir",
        ),
        ("lab attack link-sender --key-bits 500", "--key-bits: wanted a multiple of 16 from 512 to 4096, got 500"),
        ("lab reproduce nothing", "figure: wanted one of pathak-fig2, "),
    ],
)  # fmt: skip
def test_messages_of_the_library_name_options(argv: str, line: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(argv.split()) == 2
    assert capsys.readouterr().err.startswith(f"error: {line}")


ALONE: dict[str, tuple[str, dict[str, str]]] = {
    "attack --list --trials 3 --json": ("option.list_runs_nothing", {"option": "--trials"}),
    "attack vote-flip --key-bits 512 --json": (
        "option.attack_without_keys",
        {"option": "--key-bits", "name": "vote-flip"},
    ),
    "epsilon knorm --list --json": ("option.not_with_list", {"option": "METHOD"}),
    "matrix comparison --parties 3 --json": (
        "option.matrix_is_shipped",
        {"option": "--parties", "protocol": "comparison"},
    ),
}


@pytest.mark.parametrize("line", ALONE)
def test_options_that_do_not_go_together_are_refused_by_codes_with_fields(
    line: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["lab", *line.split()]) == 2
    error = json.loads(capsys.readouterr().out)["error"]
    assert (error["code"], error["fields"]) == ALONE[line]
