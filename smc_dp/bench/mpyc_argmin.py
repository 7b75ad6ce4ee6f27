"""One of three MPyC parties on loopback that look for the smallest of hidden numbers: run as a program of its own.

MPyC's own `argmin` on secret-shared integers of 32 bits, honest majority. The first party enters all numbers, and all
learn the place of the smallest, which is what a reader of an index would do. Prints processor seconds from the input to
the output, without imports and connecting, and the place.
"""

from __future__ import annotations

import socket
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import ExitStack
from importlib.util import find_spec

from smc_dp.bench.apart import environment
from smc_dp.bench.goals import DisagreeError, MissingError

PARTIES, BITS = 3, 32
LARGEST = 1 << BITS - 1  # MPyC's integers have a sign
_LONGEST_WAIT = 900


def mpyc_argmin(sizes: Sequence[int]) -> tuple[float, int]:
    """Processor seconds of all three parties, and the place that they found; raises MissingError without MPyC."""
    if find_spec("mpyc") is None:
        raise MissingError("MPyC is not installed; pip install 'smc-dp[peers]' has it")
    numbers = ",".join(map(str, sizes))
    addresses = [option for port in _free_ports() for option in ("-P", f"localhost:{port}")]
    with ExitStack() as stack:
        running = [
            stack.enter_context(
                subprocess.Popen(  # noqa: S603 (this interpreter, and this module)
                    [sys.executable, "-m", __spec__.name, *addresses, f"-I{i}"],
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.PIPE,
                    env=environment(),
                    text=True,
                )
            )
            for i in range(PARTIES)
        ]
        for one in running:
            stack.callback(one.kill)
            _fed(one, numbers)
        said = [one.communicate(timeout=_LONGEST_WAIT) for one in running]
    if any(one.returncode for one in running):
        last = [err.strip().splitlines()[-1] for _, err in said if err.strip()]
        raise MissingError(f"MPyC did not run: {last[0] if last else 'it said nothing'}")
    found = [out.strip().splitlines()[-1].split() for out, _ in said]  # what MPyC itself says may stand above
    places = {int(place) for _, place in found}
    if len(places) > 1:
        raise DisagreeError("MPyC's parties found different places")
    return sum(float(seconds) for seconds, _ in found), places.pop()


def _fed(one: subprocess.Popen[str], numbers: str) -> None:
    if one.stdin is None:
        raise RuntimeError("a party has no standard input")
    print(numbers, file=one.stdin, flush=True)


def _free_ports() -> list[int]:
    """Ports that were free a moment ago."""
    with ExitStack() as stack:
        taken = [stack.enter_context(socket.socket()) for _ in range(PARTIES)]
        for one in taken:
            one.bind(("localhost", 0))
        return [int(one.getsockname()[1]) for one in taken]


def main() -> None:
    """One party's part: numbers on standard input, seconds and place on standard output."""
    from mpyc.runtime import mpc

    sizes = [int(x) for x in sys.stdin.readline().split(",")]
    secret = mpc.SecInt(BITS)

    async def search() -> tuple[float, int]:
        await mpc.start()
        start = time.process_time()
        place, _ = mpc.argmin(mpc.input([secret(n) for n in sizes], senders=0))
        found = int(await mpc.output(place))
        seconds = time.process_time() - start
        await mpc.shutdown()
        return seconds, found

    print(*mpc.run(search()))


if __name__ == "__main__":
    main()
