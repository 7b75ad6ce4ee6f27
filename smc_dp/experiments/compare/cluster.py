"""Grids on the workers of a running Dask scheduler, through joblib's own backend for it.

Anybody who reaches a Dask scheduler can run anything on its workers, and it hands them the rows in the clear: this is
for experiments with rows that may be there, and no way for organisations to learn together.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import version
from typing import Any

import joblib
from threadpoolctl import threadpool_info

from smc_dp.core.errors import InputError, InputFault, one_line, shown
from smc_dp.core.version import __version__

NO_DASK = InputFault("cluster.no_dask")
_ADDRESS = re.compile(r"(tcp|tls)://[^\s/?#@]+:[0-9]{1,5}", re.ASCII)
_SECONDS = 20  # for the scheduler to answer, and for a first worker
_NUMBERS = ("joblib", "numpy", "scipy", "scikit-learn")  # what computes: another version may round otherwise


@contextmanager
def connect_to_dask(address: str) -> Iterator[None]:
    """Send the tasks of joblib to the workers of this scheduler while the block runs, each trial on one thread.

    Raises InputError for an address that nobody answers, for a cluster without workers, for workers with another
    smc-dp, Python or library than here, which may round otherwise, and for a cluster that goes away meanwhile.
    """
    if not _ADDRESS.fullmatch(address):
        raise InputError("cluster.bad_address", got=shown(address))
    try:
        import distributed
    except ImportError as error:
        raise InputError(NO_DASK) from error
    try:
        client = distributed.Client(address, timeout=_SECONDS, set_as_default=False)
    except (OSError, ValueError, RuntimeError) as error:
        raise InputError("cluster.no_answer", address=address, reason=_line(error)) from error
    try:
        _check_workers(client, address)
        with joblib.parallel_config("dask", client=client):
            yield
    except (distributed.CancelledError, distributed.KilledWorker) as error:
        raise InputError("cluster.workers_lost", address=address) from error
    finally:
        client.close()


def _check_workers(client: Any, address: str) -> None:
    try:
        client.wait_for_workers(1, timeout=_SECONDS)
        found = client.run(worker_state)
    except TimeoutError as error:
        raise InputError("cluster.no_workers", address=address) from error
    except Exception as error:  # whatever a worker answers that cannot even load this module
        about = {"address": address, "version": __version__, "reason": _line(error)}
        raise InputError("cluster.worker_cannot_run", **about) from error
    threads = client.nthreads()
    if sum(threads.values()) < 2:
        raise InputError("cluster.one_thread", address=address)
    for worker, (versions, pools) in found.items():
        for name, here in worker_state()[0].items():
            if versions.get(name) != here:
                raise InputError("cluster.other_version", worker=worker, name=name, got=versions.get(name), wanted=here)
        if threads.get(worker, 1) > 1 and pools > 1:
            raise InputError("cluster.too_many_threads", worker=worker, trials=threads[worker], threads=pools)


def worker_state() -> tuple[dict[str, str], int]:
    """Return the versions that this process computes with, and the most threads that a library of it takes."""
    import scipy.linalg  # noqa: F401  so that its threads are there to be counted

    versions = {"smc-dp": __version__, "Python": "{}.{}".format(*sys.version_info), **{n: version(n) for n in _NUMBERS}}
    return versions, max((pool["num_threads"] for pool in threadpool_info()), default=1)


def _line(error: BaseException) -> str:
    return one_line(str(error) or type(error).__name__)
