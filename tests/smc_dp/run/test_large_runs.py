"""Runs of 1,000 parties with 1,000 weights and with 100: memory, time, and the audit, each in its own process."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

MOST_RUN_BYTES, MOST_AUDIT_BYTES, MOST_RUN_SECONDS = 1 << 30, 2 << 30, 15.0

_PEAK = """
import sys, time
# What the kernel says of resource.ru_maxrss begins with the size of whoever started this process.
def said(code):
    peak = next(int(line.split()[1]) for line in open("/proc/self/status") if line.startswith("VmHWM:"))
    print(code, peak * 1024, time.process_time() - begun, file=sys.stderr)
"""
_RUN = """
import numpy as np
from smc_dp.methods.functionality import Contribution
from smc_dp.data.federation import Federation, Rows
from smc_dp.run.party import LocalParty
from smc_dp.run.run_protocol import run_protocol
K, d = int(sys.argv[1]), int(sys.argv[2])
def untrained(own):  # training would take minutes, and the protocol reads integers
    made = own.rng.fork("numbers")
    return Contribution(len(own.rows), *(tuple(x - (1 << 39) for x in made.numbers(d, 40)) for _ in range(2)))
LocalParty.contribution = property(untrained)
rows = [Rows(np.full((1 + j % 3, d), 0.5 / d), np.arange(1 + j % 3) % 2) for j in range(K)]
data = Federation(tuple(rows), 2, names=tuple(f"P{j}" for j in range(K)))
begun = time.process_time()
run_protocol(data, method="prr_mean", protocol="linear", out=sys.argv[3])
said(0)
"""
_AUDIT = """
from smc_dp.cli.main import main
begun = time.process_time()
said(main(["audit", sys.argv[1]]))
"""


def measured(program: str, *given: str) -> tuple[int, int, float]:
    """Exit code, largest memory in bytes, processor seconds."""
    done = subprocess.run([sys.executable, "-c", _PEAK + program, *given], capture_output=True, text=True)
    assert "Traceback" not in done.stderr, done.stderr
    code, memory, seconds = done.stderr.splitlines()[-1].split()
    return int(code), int(memory), float(seconds)


@pytest.mark.slow
def test_a_thousand_parties_with_a_thousand_weights(tmp_path: Path) -> None:
    code, memory, seconds = measured(_RUN, "1000", "1000", str(tmp_path / "run"))
    assert (code, memory < MOST_RUN_BYTES, seconds < MOST_RUN_SECONDS) == (0, True, True), (memory, seconds)
    code, memory, _ = measured(_AUDIT, str(tmp_path / "run"))
    assert (code, memory < MOST_AUDIT_BYTES) == (0, True), memory


@pytest.mark.slow
def test_no_bytes_are_kept_for_each_pair_of_parties(tmp_path: Path) -> None:
    """A thousand parties take 184 MiB, and 200 take 121: a short text for each of a million pairs breaks the bound."""
    code, memory, _ = measured(_RUN, "1000", "100", str(tmp_path / "run"))
    assert (code, memory < 220 << 20) == (0, True), memory
