"""Grids on a Dask cluster: the numbers of this machine, to the last digit, and one line where one does not fit."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from protocols.errors import FaultError
from smc_dp.cli import main as cli
from smc_dp.cli.main import main
from smc_dp.data.load_pool import load_pool
from smc_dp.experiments.compare import cluster
from tests.support.refusals import refused

ROOT = Path(__file__).parents[4]


@pytest.mark.parametrize(
    ("options", "option", "code"),
    [
        (("--backend", "dask"), "--address", "options.no_dask_address"),
        (("--address", "tcp://h:1"), "--address", "option.without_dask"),
        (("--backend", "ray"), "--backend", "option.not_one_of"),
        (("--backend", "dask", "--address", "tcp://h:1", "--jobs", "2"), "--jobs", "option.not_with_dask"),
        (("--backend", "dask", "--address", "h:1"), "--address", "cluster.bad_address"),
        (("--backend", "dask", "--address", "tcp://h:1"), "--backend", "cluster.no_dask"),
    ],
)
@pytest.mark.parametrize("command", [("lab", "compare", "--methods", "wsum"), ("lab", "reproduce", "pathak-fig2")])
def test_what_cannot_be_is_one_line_and_leaves_nothing_behind(
    command: tuple[str, ...],
    options: tuple[str, ...],
    option: str,
    code: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(sys.modules, "distributed", None)  # as where it is not installed
    refuse, heard = cli._refuse, list[FaultError]()
    monkeypatch.setattr(
        cli, "_refuse", lambda error, *names, **how: heard.append(error) or refuse(error, *names, **how)
    )
    assert main([*command, *options]) == 2
    assert [fault.code for error in heard for fault in error.faults] == [code]
    err = capsys.readouterr().err
    assert err.startswith(f"error: {option}: ")
    assert err.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


def test_a_data_set_is_as_large_as_its_rows() -> None:
    pool = load_pool("breast_cancer")
    assert sys.getsizeof(pool) >= pool.train.X.nbytes > 100_000


REFUSED = {
    "another numpy": "cluster.other_version",
    "threads": "cluster.too_many_threads",
    "one thread": "cluster.one_thread",
    "no workers": "cluster.no_workers",
    "gone": "cluster.workers_lost",
}


@pytest.mark.slow
def test_a_cluster_gives_the_numbers_of_this_machine_and_what_does_not_fit_is_refused(tmp_path: Path) -> None:
    """In a process of its own, which starts workers; the twin of equal tables is a seed that is another."""
    unset = {"OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"}
    environment = {name: value for name, value in os.environ.items() if name not in unset}
    done = subprocess.run(
        [sys.executable, "-m", "support.on_a_cluster", str(tmp_path)],
        env={**environment, "PYTHONPATH": os.pathsep.join((str(ROOT), str(ROOT / "tests")))},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
        timeout=240,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    found = json.loads(done.stdout)
    assert len(found["here"]) == 12
    assert found["there"] == found["here"]
    assert found["another seed"] != found["here"]
    assert found["pickled"] == 1
    fields = {name: found[name]["fields"] for name in REFUSED}
    assert {name: found[name]["code"] for name in REFUSED} == REFUSED
    assert (fields["another numpy"]["name"], fields["another numpy"]["wanted"]) == ("numpy", "0.1")
    assert (fields["threads"]["trials"], fields["threads"]["threads"]) == (2, 2)


def test_nobody_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    class Silent:
        @staticmethod
        def Client(*_: object, **__: object) -> None:  # as the library spells it
            raise OSError("Timed out trying to connect")

    monkeypatch.setitem(sys.modules, "distributed", Silent)
    with refused("cluster.no_answer", address="tcp://h:1"):
        cluster.connect_to_dask("tcp://h:1").__enter__()
