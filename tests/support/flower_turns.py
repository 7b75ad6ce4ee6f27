"""Turns of a study as Flower's ServerApp gives them: the sites' sockets are called as its ClientApp calls them."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path

from smc_dp.deploy.flower.app.smc_dp_flower.turns import TurnRelay
from smc_dp.deploy.flower.carrier import SOCKET


def passed(socket_file: Path, question: bytes) -> bytes:
    """The answer to a turn; none where nobody listens."""
    with suppress(OSError), socket.socket(socket.AF_UNIX) as line:
        line.connect(str(socket_file))
        line.sendall(question)
        line.shutdown(socket.SHUT_WR)
        return b"".join(iter(lambda: line.recv(1 << 20), b""))
    return b""


def give_turns(relay: TurnRelay, lines: Mapping[str, Path], stopped: Callable[[], bool]) -> int:
    """Give turns to the sites, each in a thread, until it is stopped, and return their number, as the ServerApp does.

    `lines`: folders of their sockets.
    """
    answers: dict[str, bytes] = {}
    count = 0

    def ask(name: str, question: bytes) -> None:
        answers[name] = passed(lines[name] / SOCKET, question)

    while not stopped():
        for name in relay.due(list(lines)):
            count += 1
            threading.Thread(target=ask, args=[name, relay.question(name)], daemon=True).start()
        for name in list(answers):
            relay.take(name, answers.pop(name))
        time.sleep(0.001)
    return count
