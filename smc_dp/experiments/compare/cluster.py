"""A grid on the workers of a Dask scheduler that is running already, through joblib's own backend for it.

Whoever reaches a Dask scheduler can have its workers run anything, and it hands them the rows in the clear: this is for
experiments with rows that may be there, and no way for organisations to learn together.
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

from smc_dp.core.errors import Fault, InputError, one_line, shown
from smc_dp.core.version import __version__

MISSING = Fault(
    "cluster.no_dask",
    "backend: dask is not installed; pip install 'distributed>=2024.1' puts it into this environment",
)
_ADDRESS = re.compile(r"(tcp|tls)://[^\s/?#@]+:[0-9]{1,5}", re.ASCII)
_SECONDS = 20  # for the scheduler to answer, and for a first worker
_NUMBERS = ("joblib", "numpy", "scipy", "scikit-learn")  # what computes: another version may round otherwise


@contextmanager
def connected(address: str) -> Iterator[None]:
    """Inside, whatever joblib spreads goes to the workers of this scheduler, each trial on one thread.

    Raises InputError for an address that nobody answers, for a cluster without workers, for workers with another
    smc-dp, Python or library than here, whose numbers would be others, and where the cluster goes away meanwhile.
    """
    if not _ADDRESS.fullmatch(address):
        raise InputError(
            "cluster.bad_address", "address: wanted tcp://HOST:PORT or tls://HOST:PORT of a scheduler, got {got}",
            got=shown(address),
        )  # fmt: skip
    try:
        import distributed
    except ImportError as error:
        raise InputError(MISSING) from error
    try:
        client = distributed.Client(address, timeout=_SECONDS, set_as_default=False)
    except (OSError, ValueError, RuntimeError) as error:
        raise InputError(
            "cluster.no_answer", "address: no scheduler answers at {address}: {reason}",
            address=address, reason=_line(error),
        ) from error  # fmt: skip
    try:
        _check_workers(client, address)
        with joblib.parallel_config("dask", client=client):
            yield
    except (distributed.CancelledError, distributed.KilledWorker) as error:
        raise InputError(
            "cluster.workers_lost",
            "address: the workers of {address} went away; the same command goes on from the cells that are finished",
            address=address,
        ) from error
    finally:
        client.close()


def _check_workers(client: Any, address: str) -> None:
    try:
        client.wait_for_workers(1, timeout=_SECONDS)
        found = client.run(state)
    except TimeoutError as error:
        raise InputError(
            "cluster.no_workers", "address: the scheduler at {address} has no workers, wanted at least one",
            address=address,
        ) from error  # fmt: skip
    except Exception as error:  # whatever a worker answers that cannot even load this module
        raise InputError(
            "cluster.worker_cannot_run", "address: a worker of {address} cannot run smc-dp {version}: {reason}",
            address=address, version=__version__, reason=_line(error),
        ) from error  # fmt: skip
    threads = client.nthreads()
    if sum(threads.values()) < 2:
        raise InputError(
            "cluster.one_thread",
            "address: {address} has one thread in all, for which joblib would work here, wanted two",
            address=address,
        )
    for worker, (versions, pools) in found.items():
        for name, here in state()[0].items():
            if versions.get(name) != here:
                raise InputError(
                    "cluster.other_version", "address: worker {worker} has {name} {got}, wanted {wanted} as here",
                    worker=worker, name=name, got=versions.get(name), wanted=here,
                )  # fmt: skip
        if threads.get(worker, 1) > 1 and pools > 1:
            raise InputError(
                "cluster.too_many_threads",
                "address: worker {worker} runs {trials} trials at once, each on {threads} threads, wanted one "
                "thread a trial: set OMP_NUM_THREADS=1 where it is started, or give it one thread",
                worker=worker, trials=threads[worker], threads=pools,
            )  # fmt: skip


def state() -> tuple[dict[str, str], int]:
    """What this process computes with: versions, and the most threads that a library of it takes."""
    import scipy.linalg  # noqa: F401  so that its threads are there to be counted

    versions = {"smc-dp": __version__, "Python": "{}.{}".format(*sys.version_info), **{n: version(n) for n in _NUMBERS}}
    return versions, max((pool["num_threads"] for pool in threadpool_info()), default=1)


def _line(error: BaseException) -> str:
    return one_line(str(error) or type(error).__name__)
