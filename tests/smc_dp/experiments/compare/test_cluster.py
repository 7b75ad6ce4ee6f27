"""Grids on a Dask cluster: the numbers of this machine, to the last digit, and one line where one does not fit."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from smc_dp.cli.main import main
from smc_dp.data.load_pool import load_pool
from smc_dp.experiments.compare import cluster
from tests.support.refusals import refused

ROOT = Path(__file__).parents[4]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (
            ("--backend", "dask"),
            "--address: is missing, wanted tcp://HOST:PORT of a Dask scheduler with --backend dask",
        ),
        (("--address", "tcp://h:1"), "--address: is of a Dask cluster, wanted it with --backend dask"),
        (("--backend", "ray"), "--backend: wanted one of loky, dask, got 'ray'"),
        (("--backend", "dask", "--address", "tcp://h:1", "--jobs", "2"), "--jobs: is for --backend loky; a Dask"),
        (("--backend", "dask", "--address", "h:1"), "--address: wanted tcp://HOST:PORT or tls://HOST:PORT of a"),
        (
            ("--backend", "dask", "--address", "tcp://h:1"),
            "--backend: dask is not installed; pip install 'distributed>=2024.1'",
        ),
    ],
)
@pytest.mark.parametrize("command", [("lab", "compare", "--methods", "wsum"), ("lab", "reproduce", "pathak-fig2")])
def test_what_cannot_be_is_one_line_and_leaves_nothing_behind(
    command: tuple[str, ...],
    options: tuple[str, ...],
    said: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(sys.modules, "distributed", None)  # as where it is not installed
    assert main([*command, *options]) == 2
    err = capsys.readouterr().err
    assert err.startswith(f"error: {said}")
    assert err.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


def test_a_data_set_is_as_large_as_its_rows() -> None:
    pool = load_pool("breast_cancer")
    assert sys.getsizeof(pool) >= pool.train.X.nbytes > 100_000


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
    assert found["another numpy"].endswith("wanted 0.1 as here")
    assert "runs 2 trials at once, each on 2 threads, wanted one" in found["threads"]
    assert found["one thread"].endswith("has one thread in all, for which joblib would work here, wanted two")
    assert found["no workers"].endswith("has no workers, wanted at least one")
    assert "went away; the same command goes on from the cells that are finished" in found["gone"]


def test_nobody_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    class Silent:
        @staticmethod
        def Client(*_: object, **__: object) -> None:  # as the library spells it
            raise OSError("Timed out trying to connect")

    monkeypatch.setitem(sys.modules, "distributed", Silent)
    with refused("cluster.no_answer", address="tcp://h:1"):
        cluster.connect_to_dask("tcp://h:1").__enter__()
