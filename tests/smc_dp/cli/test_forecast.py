"""The command `forecast`: a table for people, the same as JSON, and one line for what cannot be."""

from __future__ import annotations

import json
import re

import pytest

from smc_dp import forecast
from smc_dp.cli.main import main


def test_the_command_says_what_the_function_says(capsys: pytest.CaptureFixture[str]) -> None:
    words = "forecast --parties 20 --dim 31 --method wsum --dropouts 2 --link wan --no-seconds"
    assert main([*words.split(), "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    found = forecast(20, 31, method="wsum", dropouts=2, link="wan", seconds=False)
    assert told == json.loads(json.dumps(found.as_dict()))
    assert main(words.replace("--dim", "--dimension").split()) == 0
    shown = capsys.readouterr().out
    assert re.search(rf"\nall +{found.messages:,} +{found.bytes:,} +{found.rounds}\n", shown)
    assert re.search(r"\ncharlie +1 ", shown)


def test_seconds_are_there_unless_nobody_wants_them(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["forecast", "--parties", "3", "--dim", "2", "--protocol", "linear"]) == 0
    out = capsys.readouterr().out
    assert out.startswith("linear among 3 parties, if nobody vanishes\n")
    assert re.search(r"\nFrom start to end \S+ s, without the time that links take", out)


@pytest.mark.parametrize(
    ("words", "line"),
    [
        ("--parties 1 --dim 2", "--parties: wanted at least 2, got 1"),
        ("--parties 5 --dim x", "--dim: wanted a whole number of at most 18 digits, got 'x'"),
        ("--parties 5 --dim 0", "--dim: wanted at least 1, got 0"),
        ("--parties 5 --dim 1000000", "--dim: wanted at most 100000, got 1000000"),
        ("--parties 5 --dim 2 --link dsl", "--link: wanted one of lan, wan, none, got 'dsl'"),
        ("--parties 5 --dim 2 --protocol x", "--protocol: wanted one of pathak2010, "),
        ("--parties 5 --dim 2 --protocol linear --key-bits 3072", "--key-bits: does not go with protocol linear"),
        ("--parties 5 --dim 2 --method wsum --rounds 3", "--rounds: goes with --protocol secure_sum and no --method"),
        ("--parties 5 --dim 2 --protocol pathak2010 --key-bits 512", "--key-bits: wanted at least 2048"),
    ],
)
def test_what_cannot_be_forecast_is_one_line(words: str, line: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["forecast", *words.split()]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith(f"error: {line}")
    assert err.count("\n") == 1


def test_the_size_has_two_spellings_in_a_benchmark_too(capsys: pytest.CaptureFixture[str]) -> None:
    for command in ("bench", "bench-training"):
        for spelling in ("--dim", "--dimension"):
            assert main([command, spelling, "0"]) == 2
            assert capsys.readouterr().err.startswith("error: --")
