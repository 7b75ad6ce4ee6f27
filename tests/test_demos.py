"""Every demo runs from an empty folder and ends well; and what it shows a reader is what the record says."""

from __future__ import annotations

import os
import runpy
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NoReturn

import pytest
from support.organisations import loaded
from support.pages import write_program
from support.relays import without_server

ROOT = Path(__file__).resolve().parent.parent
DEMOS = sorted(path.name for path in (ROOT / "demos").glob("*.py"))
SLOW = {
    *{"audit_a_run.py", "epsilon_curve.py", "federation_on_one_machine.py", "learn_from_sums.py", "own_exports.py"},
    *{"plan_first.py", "separate_processes.py", "three_hospitals.py", "with_scikit_learn.py"},
}
# In a process of their own; the others run in that of the test, where most of what they import is loaded already.
ALONE = {"epsilon_curve.py", "separate_processes.py"}
NEEDS_A9A = {"epsilon_curve.py"}
NEEDS_NATS = {"federation_on_one_machine.py"}
# A site of one's own takes more lines than a simulation; so do files as three systems write them, and three panels.
LONG = {
    "epsilon_curve.py": 83,
    "federation_on_one_machine.py": 170,
    "own_exports.py": 110,
    "separate_processes.py": 131,
}
LONGEST = 600  # seconds
HAS_A9A = (Path(os.environ.get("SMC_DP_DATA", "/nowhere")) / "a9a" / "a9a.gz").is_file()


def run(folder: Path, demo: str, *options: str) -> tuple[object, str]:
    """The exit code of the demo in a process of its own, started in `folder`, and what it printed."""
    path = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
    variables = os.environ | {"PYTHONPATH": path, "MPLBACKEND": "Agg", "PYTHONUTF8": "1"}
    command = [sys.executable, str(ROOT / "demos" / demo), *options]
    done = subprocess.run(
        command, cwd=folder, env=variables, capture_output=True, text=True, timeout=LONGEST, check=False
    )
    return done.returncode, done.stdout or done.stderr


@contextmanager
def at_most(seconds: int) -> Iterator[None]:
    """Fail where the block takes longer, and again each second: no `except Exception` of it makes it go on."""

    def end(*_: object) -> NoReturn:
        pytest.fail(f"longer than {seconds} s")

    before = signal.signal(signal.SIGALRM, end)
    signal.setitimer(signal.ITIMER_REAL, seconds, 1)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def here(demo: str, *options: str) -> None:
    """Run the demo in this process, where what it imports is loaded already."""
    with pytest.MonkeyPatch.context() as patch, at_most(LONGEST):
        patch.setattr(sys, "argv", [demo, *options])
        runpy.run_path(str(ROOT / "demos" / demo), run_name="__main__")


def run_here(capsys: pytest.CaptureFixture[str], demo: str, *options: str) -> tuple[object, str]:
    """The same in this process."""
    try:
        here(demo, *options)
    except SystemExit as ended:
        return ended.code or 0, capsys.readouterr().out
    return 0, capsys.readouterr().out


MODULE = "smc_dp.cli.main.main(sys.argv[3:]) if sys.argv[1:3] == ['-m', 'smc_dp.cli'] else 2"


def run_with_forks(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], demo: str
) -> tuple[object, str]:
    """The same, and each command that the demo gives is a fork of one process that has loaded the program."""
    with loaded(folder / "door", runs=MODULE) as program:
        write_program(folder / "python", program)
        monkeypatch.setattr(sys, "executable", str(folder / "python"))
        return run_here(capsys, demo)


def refusal(capsys: pytest.CaptureFixture[str], demo: str, *options: str) -> tuple[object, str, str]:
    """The exit code of a demo in this process, and what it printed."""
    with pytest.raises(SystemExit) as ended:
        here(demo, *options)
    return ended.value.code, *capsys.readouterr()


def marked(demo: str) -> object:
    needed = pytest.mark.skipif(not HAS_A9A, reason="a9a is not there: SMC_DP_DATA names no folder with a9a/a9a.gz")
    found = ((pytest.mark.slow, SLOW), (needed, NEEDS_A9A), (without_server, NEEDS_NATS))
    marks = [mark for mark, demos in found if demo in demos]
    return pytest.param(demo, marks=marks)


def test_a_demo_that_hangs_ends_with_the_test():
    def hangs() -> None:
        for _ in range(50):
            with suppress(Exception):
                time.sleep(0.1)

    with pytest.raises(pytest.fail.Exception), at_most(1):
        hangs()
    assert signal.getitimer(signal.ITIMER_REAL) == (0, 0)


def test_the_lists_above_name_demos_that_exist():
    assert set(DEMOS) >= SLOW | NEEDS_A9A | NEEDS_NATS | set(LONG)
    assert len(DEMOS) >= 4


@pytest.mark.filterwarnings("ignore::smc_dp.core.errors.RowsClippedWarning")  # it is no error outside of a test
@pytest.mark.parametrize("demo", [marked(demo) for demo in DEMOS])
def test_the_demo_runs_and_agrees_with_itself(tmp_path, monkeypatch, capsys, demo):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TMPDIR", str(tmp_path.parent))  # where folders of tests are, which may be in memory
    monkeypatch.setattr(tempfile, "tempdir", None)
    if demo in NEEDS_NATS:
        code, out = run_with_forks(tmp_path, monkeypatch, capsys, demo)
    else:
        code, out = run(tmp_path, demo) if demo in ALONE else run_here(capsys, demo)
    assert (code, out != "") == (0, True), out
    assert demo not in NEEDS_NATS or "is killed in sum" in out
    if demo == "epsilon_curve.py":
        assert (tmp_path / "figure2.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize("demo", DEMOS)
def test_the_demo_is_short_and_says_what_one_will_see(demo):
    text = (ROOT / "demos" / demo).read_text(encoding="utf-8")
    assert len(text.splitlines()) < LONG.get(demo, 80)
    assert text.startswith('"""')
    assert "ou will see" in text.split('"""')[1]
    assert "raise SystemExit(" in text


def test_without_a9a_the_curve_says_where_it_comes_from(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    code, out, err = refusal(capsys, "epsilon_curve.py", "--data-dir", str(tmp_path))
    assert (code, out, len(err.splitlines())) == (2, "", 1)
    assert "a9a/a9a.gz" in err
    assert "LIBSVM" in err
    assert list(tmp_path.iterdir()) == []


def test_without_a_server_the_federation_says_what_to_install(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", str(tmp_path))
    code, out, err = refusal(capsys, "federation_on_one_machine.py")
    assert (code, out, len(err.splitlines())) == (2, "", 1)
    assert "apt install nats-server" in err
    assert list(tmp_path.iterdir()) == []
