"""Print processor seconds and memory of some work by an older state of the source, by this one, and by this one where
the roles of a simulation share no work:

    git worktree add /tmp/older 87653c1
    python tests/benchmarks/against.py /tmp/older
    python tests/benchmarks/against.py /tmp/older sum-200-11-1000-1 audit

Each cell is a process of its own, one after the other, so that a slow moment is one for all three.
"""

from __future__ import annotations

import contextlib
import io
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from resource import RUSAGE_SELF, getrusage
from tempfile import TemporaryDirectory

HERE = Path(__file__).resolve().parents[2]
ROWS = (
    *("sum-60-3-1000-1", "sum-60-0-1000-1", "sum-200-11-1000-1", "sum-200-0-1000-1", "sum-50-2-124-8"),
    *("sum-1000-0-1000-1", "linear-300-300", "linear-1000-1000", "newton-10-500", "audit-20-2", "audit-50-2", "plan"),
)
"""Sessions of secure sums by parties, drop-outs, numbers of a sum and sums; linear paths by parties and numbers;
`newton` by parties and columns; the audit of `newton` by parties, and how many of them may drop out; and `plan`, from
its start to its end."""


def processor_seconds() -> float:
    """Return the processor seconds of this process, and of its kernel calls."""
    used = getrusage(RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def command(*arguments: str) -> None:
    """Carry out a command of the program."""
    from smc_dp.cli.main import main

    with contextlib.redirect_stdout(io.StringIO()):
        code = main(arguments)
    if code:
        sys.exit(code)


def newton(parties: int, columns: int) -> Callable[[], object]:
    """Return a run of `newton` on rows drawn at random, 200 for each party."""
    import numpy as np

    from smc_dp import Federation, run_protocol
    from smc_dp.data.federation import Rows

    rng = np.random.default_rng(1)
    X = rng.normal(size=(parties, 200, columns))
    X /= 1.01 * np.linalg.norm(X, axis=2, keepdims=True)
    rows = tuple(Rows(of_party, (of_party[:, 0] > 0).astype(int)) for of_party in X)
    return lambda: run_protocol(Federation(rows, 2), method="newton")


def work_of(row: str, folder: str) -> tuple[Callable[[], object], float]:
    """Return the work of a row, prepared, and the processor seconds at which it starts."""
    name, *numbers = row.split("-")
    sizes = [int(number) for number in numbers]
    if name == "sum":
        from support.sums import made, parameters

        K, D, d, count = sizes
        return made(parameters(K, 0 if D else K - 1, D, (d,) * count, 64)).simulate, processor_seconds()
    if name == "linear":
        from support.linear_path import linear

        K, d = sizes
        return linear(range(1000, 1000 + K), d).simulate, processor_seconds()
    if name == "plan":
        return lambda: command("plan", "--sizes", "a=5000,b=800,c=300", "--columns", "20"), 0.0
    if name == "newton":
        return newton(*sizes), processor_seconds()
    if name == "audit":
        parties, dropouts = map(str, sizes)
        command("run", "--method", "newton", "--parties", parties, "--dropouts", dropouts, "--out", folder)
        return lambda: command("audit", folder), processor_seconds()
    raise SystemExit(f"no such work: {row}")


def measure(row: str, *, shares: bool) -> None:
    """Print the seconds and the largest memory of one row in this process."""
    if not shares:
        from protocols.runtime import simulate

        simulate.sharing_work = lambda read, charge: contextlib.nullcontext()  # type: ignore[assignment]
    with TemporaryDirectory() as folder:
        work, start = work_of(row, f"{folder}/run")
        work()
    print(processor_seconds() - start, getrusage(RUSAGE_SELF).ru_maxrss / 1024)


def measured(tree: Path, row: str, how: str) -> tuple[float, float]:
    """Return seconds and megabytes of one row by the source of this tree."""
    # Threads of linear algebra wait for each other by running: on a busy machine that counts as work.
    environment = {**os.environ, "PYTHONPATH": f"{tree}:{tree}/tests", "OMP_NUM_THREADS": "1"}
    done = subprocess.run(
        [sys.executable, __file__, how, row], cwd=tree, env=environment, capture_output=True, text=True, check=True
    )
    seconds, megabytes = map(float, done.stdout.split()[-2:])
    return seconds, megabytes


def main() -> None:
    """Measure one row in this process, or print the table."""
    first, *rows = sys.argv[1:]
    if first in ("--shared", "--unshared"):
        measure(rows[0], shares=first == "--shared")
        return
    print("| work | older | now, nothing shared | now | ratio, nothing shared | ratio |\n|---|---|---|---|---|---|")
    for row in rows or ROWS:
        older, alone, now = (
            measured(Path(first).resolve(), row, "--shared"),
            measured(HERE, row, "--unshared"),
            measured(HERE, row, "--shared"),
        )
        cells = " | ".join(f"{seconds:.2f} s, {megabytes:.0f} MB" for seconds, megabytes in (older, alone, now))
        print(f"| {row} | {cells} | {older[0] / alone[0]:.1f} | {older[0] / now[0]:.1f} |", flush=True)


if __name__ == "__main__":
    main()
