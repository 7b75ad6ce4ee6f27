"""Carrier of a site under Flower: a Unix socket at which the ClientApp hands over one turn at a time.

The socket lies in a folder that this user owns. It has mode 0600, for a SuperNode of the same user. A folder with the
set-group-id bit gives the socket its group and mode 0660, for a SuperNode of another user in this group: a socket that
another user may not write cannot be connected to.
"""

from __future__ import annotations

import fcntl
import os
import secrets
import socket
import stat
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack, suppress
from pathlib import Path

from typing_extensions import override

from smc_dp.core.errors import InputError
from smc_dp.deploy.arrival import longest_frame
from smc_dp.deploy.flower.app.smc_dp_flower.turns import decode_turn, encode_turn
from smc_dp.deploy.frame import MOST_FRAME_BYTES, Carrier, CarrierError, Frame, Lane
from smc_dp.deploy.study import JointStudy

SOCKET = "smc_dp.socket"
_MOST_TURN_BYTES = 4 * MOST_FRAME_BYTES
_READS = 30.0  # seconds for which a question may stop in its middle


class FlowerCarrier(Carrier):
    """A `Carrier` to the relay of a study in Flower's ServerApp, which calls in turns.

    `most_bytes`: of a frame; a longer one is not decoded, and left out as if the relay had lost it. `patience`: seconds
    without a turn after which the relay counts as out of reach. `longest`: seconds for which a turn stays open while
    the site computes.
    """

    def __init__(
        self, folder: Path, most_bytes: int = MOST_FRAME_BYTES, patience: float = 300.0, longest: float = 60.0
    ) -> None:
        self._most, self._patience, self._longest = most_bytes, patience, longest
        self._program = secrets.token_hex(8)
        self._changed = threading.Condition()
        self._needed: Callable[[], bool] | None = None
        self._inbox: dict[bytes, Frame] = {}
        self._outbox: dict[bytes, Frame] = {}
        self._offered: list[bytes] = []
        self._stored: dict[tuple[str, str], Frame] | None = None  # last own frames at the relay, once it has told
        self._turn = 0
        self._heard = time.monotonic()
        self._over = self._busy = False
        self._path = folder / SOCKET
        self._lock, self._door = _open_door(self._path)
        threading.Thread(target=self._serve, daemon=True).start()

    @override
    def send(self, frames: Sequence[Frame]) -> None:
        with self._changed:
            self._outbox.update((frame.digest, frame) for frame in frames)
        self._wait(lambda: not self._outbox)

    @override
    def fetch(self, seconds: float) -> list[Frame]:
        with suppress(CarrierError):
            self._wait(lambda: bool(self._inbox), seconds)
        if not self._inbox and time.monotonic() - self._heard > self._patience:
            raise self._unheard()
        return list(self._inbox.values())

    @override
    def taken(self, frames: Sequence[Frame]) -> None:
        with self._changed:
            for frame in frames:
                self._inbox.pop(frame.digest, None)

    @override
    def last(self, to: str, lane: Lane) -> Frame | None:
        self._wait(lambda: self._stored is not None)
        return (self._stored or {}).get((to, lane))

    @override
    def close(self) -> None:
        with self._changed:
            if self._over:
                return
            self._over = True
            self._changed.notify_all()
            self._changed.wait_for(lambda: not self._busy, _READS)  # the relay hears that this program has ended
        self._path.unlink(missing_ok=True)
        self._door.shutdown(socket.SHUT_RDWR)  # what waits at the door in another thread goes on
        self._door.close()
        os.close(self._lock)

    def _wait(self, holds: Callable[[], bool], seconds: float | None = None) -> None:
        """Wait for what a turn brings. CarrierError when it has not come in time."""
        with self._changed:
            self._needed = holds
            self._changed.notify_all()
            came = self._changed.wait_for(holds, self._patience if seconds is None else seconds)
            self._needed = None
        if not came:
            raise self._unheard()

    def _unheard(self) -> CarrierError:
        return CarrierError("relay.no_turn", seconds=round(time.monotonic() - self._heard))

    def _serve(self) -> None:
        """Take one turn after the other, until the socket is closed."""
        while not self._over:
            with suppress(OSError, ValueError):  # what is no turn gets no answer; the relay asks again
                line, _ = self._door.accept()
                with line:
                    line.settimeout(_READS)
                    question = _read(line)
                    self._busy = True
                    line.sendall(self._take_turn(question))
            with self._changed:
                self._busy = False
                self._changed.notify_all()

    def _take_turn(self, question: bytes) -> bytes:
        head, bodies = decode_turn(question, program=str, turn=int, own=int, at=int)
        frames: list[Frame] = []
        with self._changed:
            if head["program"] in ("", self._program):  # else it is for a program that ran here before
                self._bring(head, bodies)
                self._changed.wait_for(self._needs_a_turn, self._longest)
                self._turn += 1
                frames = list(self._outbox.values())
                self._offered = list(self._outbox)
            places = [[frame.to, frame.lane, frame.number] for frame in frames]
            said = {"program": self._program, "turn": self._turn, "over": self._over, "places": places}
            return encode_turn({**said, "at": head["at"]}, [frame.encode() for frame in frames])

    def _needs_a_turn(self) -> bool:
        """Tell whether the site has ended, or waits for what only another turn can bring."""
        return self._over or (self._needed is not None and not self._needed())

    def _bring(self, head: dict[str, int], bodies: Sequence[bytes]) -> None:
        """Take in what a question brings. A frame that is none, or too long, is left out."""
        self._heard = time.monotonic()
        if head["turn"] == self._turn and head["program"]:
            for digest in self._offered:
                self._keep(self._outbox.pop(digest, None))
        frames = [_frame(body) if len(body) <= self._most else None for body in bodies]
        if not head["program"] or self._stored is None:
            for frame in frames[: head["own"]]:
                self._keep(frame)
            self._stored = self._stored or {}
        self._inbox.update((frame.digest, frame) for frame in frames[head["own"] :] if frame is not None)
        self._changed.notify_all()

    def _keep(self, frame: Frame | None) -> None:
        """Note an own frame that the relay has."""
        self._stored = self._stored or {}
        if frame is not None:
            known = self._stored.get((frame.to, frame.lane))
            if known is None or frame.number > known.number:
                self._stored[frame.to, frame.lane] = frame


def open_flower(study: JointStudy, name: str, credentials: Path | None) -> FlowerCarrier:
    """Return the carrier of a participant, whose socket is made in its folder of credentials."""
    if credentials is None:
        raise InputError("relay.no_credentials")
    return FlowerCarrier(credentials, longest_frame(study))


def _open_door(path: Path) -> tuple[int, socket.socket]:
    """Make the socket in a folder that no other program has locked; return the lock and the socket."""
    with ExitStack() as undone:
        door = undone.enter_context(socket.socket(socket.AF_UNIX))
        try:
            lock = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY)
            undone.callback(os.close, lock)
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            path.unlink(missing_ok=True)
            before = os.umask(0o177)  # nobody else connects before the mode is right
            try:
                door.bind(str(path))
            finally:
                os.umask(before)
            if path.parent.stat().st_mode & stat.S_ISGID:
                path.chmod(0o660)
            door.listen()
        except BlockingIOError:
            raise InputError("relay.socket_in_use", path=str(path)) from None
        except OSError as error:  # also a path that is too long for a socket
            raise InputError("relay.no_socket", path=str(path), why=error.strerror or str(error)) from None
        undone.pop_all()
    return lock, door


def _read(line: socket.socket) -> bytes:
    """Return all that a connection brings. ValueError for more than a turn has."""
    parts, size = [], 0
    while part := line.recv(1 << 20):
        parts.append(part)
        size += len(part)
        if size > _MOST_TURN_BYTES:
            raise ValueError("more than a turn has")
    return b"".join(parts)


def _frame(data: bytes) -> Frame | None:
    try:
        return Frame.decode(data)
    except InputError:
        return None
