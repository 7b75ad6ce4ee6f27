"""The garbled search for the smallest size against MPyC's, of equal width; oblivious transfers are included."""

from __future__ import annotations

import socket
import subprocess
import sys
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from statistics import median

import pytest
from benchmarks.conftest import Compare
from benchmarks.timing import timed

from protocols.arithmetic import halves
from protocols.arithmetic.permutation import Permutation
from protocols.arithmetic.rng import Stream
from protocols.crypto import garbling, oblivious
from protocols.runtime.session import SESSION_BYTES

BITS, PARTIES, TRIES, PLACE_BYTES = 32, 3, 5, 4
PROGRAM = Path(__file__).with_name("mpyc_party.py")


@pytest.mark.parametrize(("K", "at_least"), [(100, 5), (1000, 20)])
def test_argmin_against_mpyc(K: int, at_least: float, compare: Compare) -> None:
    pytest.importorskip("mpyc", reason="MPyC is not installed: it is in the extra peers")
    rng = Stream.from_system()
    sizes = [*Permutation.random(K, rng)([n * 1000 + rng.below(1000) for n in range(K)])]
    wanted, taken = sizes.index(min(sizes)), []
    for _ in range(TRIES):
        seconds, place = timed(lambda: garbled_argmin(sizes, rng))
        assert place == wanted
        taken.append(seconds)
    theirs, place = mpyc_argmin(sizes)
    assert place == wanted
    compare(f"argmin over MPyC (3 parties on loopback), K = {K}", median(taken), theirs, at_least)


def garbled_argmin(sizes: Sequence[int], rng: Stream) -> int:
    """Return the place of the smallest, as the evaluator reads it: every row that may open holds its own."""
    K, session = len(sizes), rng.bytes(SESSION_BYTES)
    split = [halves.split(n, BITS, rng) for n in sizes]
    offer = oblivious.offer(rng)
    choice = oblivious.choose(session, offer.A, rng)
    bits = garbling.chosen([b for _, b in split], rng.bits(garbling.index_bits(K)), BITS)
    extension = oblivious.extend(session, offer, choice.points, bits)
    garbled = garbling.garble(
        session, choice, extension.u, [a for a, _ in split], Permutation.random(K, rng).images, BITS
    )
    locked = garbling.lock(garbled, [place.to_bytes(PLACE_BYTES, "big") for place in range(K)])
    return int.from_bytes(garbling.unlock(session, extension.labels, K, BITS, garbled.tables, locked), "big")


def mpyc_argmin(sizes: Sequence[int]) -> tuple[float, int]:
    """Return processor seconds of all three parties, and the place that they found."""
    addresses = [option for port in free_ports() for option in ("-P", f"localhost:{port}")]
    with ExitStack() as stack:
        running = []
        for i in range(PARTIES):
            command = [sys.executable, str(PROGRAM), *addresses, f"-I{i}"]
            one = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
            running.append(stack.enter_context(one))
            stack.callback(one.kill)
            print(",".join(map(str, sizes)), file=one.stdin, flush=True)
        said = [one.communicate(timeout=900)[0] for one in running]
    found = [out.strip().splitlines()[-1].split() for out in said]  # what MPyC itself says may stand above
    (place,) = {int(place) for _, place in found}
    return sum(float(seconds) for seconds, _ in found), place


def free_ports() -> list[int]:
    """Return ports that were free a moment ago."""
    with ExitStack() as stack:
        taken = [stack.enter_context(socket.socket()) for _ in range(PARTIES)]
        for one in taken:
            one.bind(("localhost", 0))
        return [int(one.getsockname()[1]) for one in taken]
