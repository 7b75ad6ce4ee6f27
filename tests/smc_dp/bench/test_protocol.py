"""The benchmark runs both sides on the same numbers, compares their results, and reports a ratio."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace

import pytest

from smc_dp import aggregation
from smc_dp.bench import protocol
from smc_dp.cli.main import main


def test_both_sides_agree_and_every_part_is_timed(capsys: pytest.CaptureFixture[str]) -> None:
    measured = protocol.bench_protocol(3, 5, 512)
    assert set(measured.naive) == {"stage1", "stage2", "stage3"}
    assert set(measured.ours) == {"setup", "stage1", "stage2", "stage3"}
    assert all(seconds > 0 for seconds in (*measured.naive.values(), *measured.ours.values(), measured.keys))
    assert measured.ratio == pytest.approx(sum(measured.naive.values()) / sum(measured.ours.values()))
    json.dumps(measured.as_dict())


def test_a_wrong_release_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    def wrong(*given, **rest):  # type: ignore[no-untyped-def]
        outcome = aggregation.secure(*given, **rest)
        return replace(outcome, value=(outcome.value[0] + 1, *outcome.value[1:]))

    monkeypatch.setattr(protocol, "secure", wrong)
    with pytest.raises(RuntimeError, match="disagree"):
        protocol.bench_protocol(2, 2, 512)


@pytest.mark.parametrize(
    "arguments", [["--parties", "1"], ["--dimension", "0"], ["--key-bits", "512"], ["--key-bits", "x"]]
)
def test_bad_options_are_one_line(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bench", *arguments]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("error: --")
    assert err.count("\n") == 1


@pytest.mark.slow
def test_at_real_size_the_protocol_needs_far_less_than_the_port() -> None:
    """A ratio within one run and one process of its own; what is wanted is 10, what is measured about 12."""
    command = [sys.executable, "-m", "smc_dp.cli", "bench", "--json"]
    measured = json.loads(subprocess.run(command, capture_output=True, check=True).stdout)
    assert measured["peak_megabytes"] < 500
    assert measured["ratio"] > 7, "far below what is wanted: something is broken, not merely slow"
