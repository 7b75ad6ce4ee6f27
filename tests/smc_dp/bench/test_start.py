"""What a start costs is processor time of a fresh interpreter, and `bench` states it."""

from __future__ import annotations

import json
import sys
from functools import partial

import pytest

from smc_dp.bench import greetings, start, words
from smc_dp.bench.protocol import Bench
from smc_dp.bench.start import start_seconds
from smc_dp.cli.main import main


def test_work_costs_and_sleep_does_not(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(start, "STARTS", 3)
    idle = start_seconds(["-c", "import time; time.sleep(0.1)"])
    busy = start_seconds(["-c", "import time\nwhile time.process_time() < 0.2: pass"])
    assert idle is not None
    assert busy is not None
    assert 0 < idle < busy, "the time slept does not count"
    assert busy >= 0.2


def test_a_program_that_fails_is_not_timed() -> None:
    with pytest.raises(RuntimeError, match="exit code 3"):
        start_seconds(["-c", "import sys; sys.exit(3)"])


def test_where_the_system_does_not_say_nothing_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "resource", None)
    assert start_seconds(["-c", "pass"]) is None
    measured = Bench(2, 3, 512, {"stage1": 1.0}, {"stage1": 0.5}, 0.1, None)
    assert len(list(words.notes(measured, 0.5, None))) == len(list(words.notes(measured, 0.5, 0.1))) - 1


def test_the_benchmark_has_it_as_one_more_key(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(start, "STARTS", 1)
    monkeypatch.setattr(greetings, "greeting_seconds", partial(greetings.greeting_seconds, 20))
    assert main(["bench", "--parties", "2", "--dimension", "1", "--key-bits", "2048", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert list(found) == [
        *(
            "parties",
            "dimension",
            "key_bits",
            "cpu_seconds",
            "ratio",
            "peak_megabytes",
            "greeting_cpu_seconds",
            "help_cpu_seconds",
        ),
    ]
    assert 0 < found["help_cpu_seconds"] < 2
