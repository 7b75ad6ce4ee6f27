"""Run the everyday tests of each stored mutant's room: `python tests/mutants_by_room.py --out FILE`.

A room is the folder of tests of the mutated file: `tests/smc_dp/deploy`, `tests/protocols/secure_sum`. The killer that
the mutant names may be slow or of another room, so here it counts only as a test of the room. Results are appended to
FILE, and what stands there is not run again. The last line is the share that died in their rooms; the exit code is 1
when it is below 95 % or a survivor has no reason (`survives`) in its table.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from queue import Empty, SimpleQueue
from threading import Lock

from support.pages import ROOT
from support.planted import FAILED, MUTANTS, Mutant, Planter

GOAL = 0.95
SECONDS = 900
_NOTHING_RAN = 5  # pytest's exit code where all tests are slow
_NOTICED = re.compile(r"^(?:FAILED|ERROR) (tests/\S+\.py::.+?)(?: - .*)?$", re.MULTILINE)


def room_of(file: str) -> str:
    """Return the folder of the tests of this file's room."""
    package, *folders, _ = file.split("/")
    return "/".join(["tests", package, *folders[:1]])


def in_turn(mutant: Mutant, root: Path = ROOT) -> Iterator[list[str]]:
    """Yield what is run: the killer if it is of the room, then each file of the room, the likeliest first."""
    room = room_of(mutant.file)
    file = mutant.killer.partition("::")[0]
    if file.startswith(f"{room}/"):
        yield [mutant.killer]
    stem, mirror = Path(mutant.file).stem, f"tests/{Path(mutant.file).parent}"
    tests = sorted(str(path.relative_to(root)) for path in (root / room).rglob("test_*.py"))
    yield sorted(tests, key=lambda test: (test != file, stem not in test, str(Path(test).parent) != mirror))


class _Room:
    """A planter, and which tests fail in it at an edit without effect, as those of digests of code: these notice
    nothing.
    """

    def __init__(self, folder: Path) -> None:
        self._planter = Planter(folder, SECONDS)
        self._fails: dict[str, bool] = {}

    def _fails_anyway(self, test: str, file: str) -> bool:
        if test not in self._fails:
            content = (self._planter.root / file).read_text(encoding="utf-8")
            with self._planter.planted(Mutant("nothing", file, content, f"{content}\n()\n", "")):
                self._fails[test] = self._planter.run(test)[0] != 0
        return self._fails[test]

    def killer_of(self, mutant: Mutant) -> str:
        """Return the first everyday test of the room that notices the fault, or nothing."""
        for arguments in in_turn(mutant, self._planter.root):
            while True:
                deselected = [test for test, fails in self._fails.items() if fails]
                with self._planter.planted(mutant):
                    code, log = self._planter.run(*arguments, deselect=deselected)
                if code in (0, _NOTHING_RAN):
                    break
                if code < 0:
                    return f"no end within {SECONDS} seconds"
                noticed = _NOTICED.search(log)
                if code != FAILED or noticed is None or self._fails.get(noticed[1]):
                    raise RuntimeError(f"{mutant.name}: pytest gave {code}\n{log}")
                if not self._fails_anyway(noticed[1], mutant.file):
                    return noticed[1]
        return ""

    def close(self) -> None:
        self._planter.close()


def known_results(out: Path) -> dict[str, str]:
    lines = out.read_text(encoding="utf-8").splitlines() if out.exists() else []
    return {entry["mutant"]: entry["test"] for entry in map(json.loads, lines)}


def run_all(mutants: Sequence[Mutant], out: Path, jobs: int) -> None:
    """Run each mutant that has no result in the file, and append its result."""
    found = known_results(out)
    left: SimpleQueue[Mutant] = SimpleQueue()
    for mutant in mutants:
        if mutant.name not in found:
            left.put(mutant)
    writing = Lock()

    def work(folder: Path) -> None:
        room = _Room(folder)
        try:
            while True:
                mutant, started = left.get_nowait(), time.monotonic()
                test = room.killer_of(mutant)
                seconds = round(time.monotonic() - started, 1)
                with writing, out.open("a", encoding="utf-8") as file:
                    print(json.dumps({"mutant": mutant.name, "test": test, "seconds": seconds}), file=file)
                    print(f"{seconds:6.1f} s, {left.qsize()} left, {mutant.name}: {test or 'SURVIVES'}", flush=True)
        except Empty:
            pass
        finally:
            room.close()

    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(jobs) as pool:
        places = [Path(folder, str(job)) for job in range(jobs)]
        for place in places:
            place.mkdir()
        list(pool.map(work, places))


def summary(mutants: Sequence[Mutant], found: dict[str, str]) -> tuple[str, bool]:
    """Return what was found, room by room with every survivor, and whether it is enough."""
    lines, survivors = [], [mutant for mutant in mutants if not found[mutant.name]]
    for room in sorted({room_of(mutant.file) for mutant in mutants}):
        there = [mutant for mutant in mutants if room_of(mutant.file) == room]
        alive = [mutant for mutant in there if mutant in survivors]
        lines.append(f"{room}: {len(there) - len(alive)} of {len(there)} killed")
        lines += [f"  survives: {mutant.name}: {mutant.survives or 'NO REASON GIVEN'}" for mutant in alive]
    killed = len(mutants) - len(survivors)
    lines.append(f"{killed} of {len(mutants)} killed by everyday tests of their rooms ({killed / len(mutants):.1%})")
    return "\n".join(lines), killed >= GOAL * len(mutants) and all(mutant.survives for mutant in survivors)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help="words in the names of mutants; without any, all run")
    parser.add_argument("--out", type=Path, required=True, help="the file of results")
    parser.add_argument("--jobs", type=int, default=1)
    asked = parser.parse_args()
    mutants = [m for m in MUTANTS if not asked.names or any(name in m.name for name in asked.names)]
    run_all(mutants, asked.out, asked.jobs)
    text, enough = summary(mutants, known_results(asked.out))
    print(text)
    return 0 if enough else 1


if __name__ == "__main__":
    sys.exit(main())
