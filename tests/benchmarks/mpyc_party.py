"""One of three MPyC parties on loopback that look for the smallest of hidden numbers: a program of its own.

MPyC's `argmin` on secret-shared integers of 32 bits, honest majority. The first party enters all numbers, which stand
on standard input, and all learn the place of the smallest. Prints processor seconds from the input to the output,
without imports and connecting, and the place.
"""

from __future__ import annotations

import sys
import time

from mpyc.runtime import mpc

BITS = 32


async def search(sizes: list[int]) -> tuple[float, int]:
    await mpc.start()
    start = time.process_time()
    secret = mpc.SecInt(BITS)
    place, _ = mpc.argmin(mpc.input([secret(n) for n in sizes], senders=0))
    found = int(await mpc.output(place))
    seconds = time.process_time() - start
    await mpc.shutdown()
    return seconds, found


print(*mpc.run(search([int(x) for x in sys.stdin.readline().split(",")])))
