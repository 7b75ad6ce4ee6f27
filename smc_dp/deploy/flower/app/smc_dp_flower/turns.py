"""Turns of a study: their bytes, and the relay that keeps all frames and says whose turn it is. It reads no frame.

A turn is a question to one site and its answer. The question brings frames that the site has not had, and the number of
the last turn whose answer is stored here. The site's program then runs until only another turn can bring what it waits
for. Its answer has all frames that it does not know to be stored. So a turn that is lost is repeated.
"""

from __future__ import annotations

import hashlib
import json
import sqlite3
import time
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

CURATOR, EVERYBODY = "charlie", "public"
_BATCH_BYTES = 8 << 20  # of frames in a question, about; a larger frame travels alone
_LOST = 6  # pauses after which a turn counts as lost
_SCHEMA = """
CREATE TABLE IF NOT EXISTS frames (
  position INTEGER PRIMARY KEY AUTOINCREMENT, sender TEXT NOT NULL, addressee TEXT NOT NULL, lane TEXT NOT NULL,
  number INTEGER NOT NULL, digest BLOB NOT NULL UNIQUE, frame BLOB NOT NULL
) STRICT
"""


def encode_turn(head: dict[str, Any], frames: Sequence[bytes]) -> bytes:
    """Encode a question or an answer: a line of JSON, then the frames."""
    return b"".join([json.dumps({**head, "sizes": [len(frame) for frame in frames]}).encode(), b"\n", *frames])


def decode_turn(data: bytes, **kinds: type) -> tuple[dict[str, Any], list[bytes]]:
    """Decode a question or an answer whose head has values of these types. ValueError for any other bytes."""
    line, _, rest = data.partition(b"\n")
    try:
        head = json.loads(line)
        fits = isinstance(head, dict) and all(type(head.get(name)) is kind for name, kind in kinds.items())
        if not fits or any(type(size) is not int or size < 0 for size in head["sizes"]):
            raise ValueError("a head of other types")
        if sum(head["sizes"]) != len(rest):
            raise ValueError("frames of other lengths")
    except (KeyError, TypeError, RecursionError) as error:
        raise ValueError(type(error).__name__) from None
    return head, list(_cut(rest, head["sizes"]))


def _cut(data: bytes, sizes: Sequence[int]) -> Iterator[bytes]:
    at = 0
    for size in sizes:
        yield data[at : at + size]
        at += size


@dataclass
class SiteTurns:
    """Turns of one site at the relay. `program` names the one that runs there, and is empty until it has answered."""

    program: str = ""
    turn: int = 0  # its last turn whose answer is stored
    at: int = 0  # position up to which it has frames
    owes: bool = False  # it waits to hear that its frames are stored
    over: bool = False  # its program has ended; another may be started
    deaf: bool = False  # nobody answered its last turn
    since: float | None = None  # when its turn began that it has not ended
    heard: float = 0.0


class TurnRelay:
    """Frames of one study in the order of arrival, in SQLite, and the turns of its sites. The curator comes last.

    `pause`: seconds after which a site without news has a turn, and after which nobody waits for a site's answer.
    """

    def __init__(self, path: str, names: Sequence[str], pause: float) -> None:
        self._base = sqlite3.connect(path, isolation_level=None)
        self._base.executescript(f"PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; {_SCHEMA}")
        self._places = {name: SiteTurns() for name in names}
        self._pause, self.lost = pause, _LOST * pause

    @property
    def over(self) -> bool:
        """Tell whether every site has ended."""
        return all(place.over for place in self._places.values())

    def due(self, there: Collection[str]) -> list[str]:
        """Return the sites of these that have a turn now.

        A turn of parties waits for the curator's, and the curator's for theirs: that halves the number of messages.
        """
        now = time.monotonic()
        since = [place.since for place in self._places.values() if place.since is not None]
        if any(now - at < self._pause for at in since):
            return []
        free = {
            name: place
            for name, place in self._places.items()
            if name in there and (place.since is None or now - place.since > self.lost)
        }
        rested = [name for name, place in free.items() if now - place.heard > self._pause]
        lively = {name: place for name, place in free.items() if not (place.over or place.deaf)}
        ready = [name for name, place in lively.items() if not place.program or self._news(name, place.at, 1)]
        if CURATOR in ready and lively[CURATOR].program:
            return [CURATOR]
        return ready or [name for name, place in lively.items() if place.owes] or rested

    def question(self, name: str) -> bytes:
        """Return the question of a site's turn, which begins now."""
        place = self._places[name]
        place.since = time.monotonic()
        own = [] if place.program else self._last(name)
        news = self._news(name, place.at)
        head = {"program": place.program, "turn": place.turn, "own": len(own), "at": max([place.at, *dict(news)])}
        return encode_turn(head, [*own, *(frame for _, frame in news)])

    def take(self, name: str, answer: bytes) -> None:
        """Store the frames in a site's answer. Bytes that are none count as no answer."""
        place = self._places[name]
        place.since, place.heard, place.deaf = None, time.monotonic(), True
        try:
            head, frames = decode_turn(answer, program=str, turn=int, at=int, over=bool, places=list)
            keys = [(str(to), str(lane), int(number)) for to, lane, number in head["places"]]
            rows = [(name, *key, hashlib.sha256(one).digest(), one) for key, one in zip(keys, frames, strict=True)]
        except (TypeError, ValueError):
            return
        if place.program not in ("", head["program"]):  # another program, which is told all that the relay has of it
            self._places[name] = SiteTurns()
            return
        self._base.executemany(
            "INSERT OR IGNORE INTO frames (sender, addressee, lane, number, digest, frame) VALUES (?, ?, ?, ?, ?, ?)",
            rows,
        )
        place.program, place.turn, place.at = head["program"], head["turn"], head["at"]
        place.over, place.owes, place.deaf = head["over"], bool(frames), False

    def close(self) -> None:
        """Close the file."""
        self._base.close()

    def _news(self, name: str, at: int, most: int = -1) -> list[tuple[int, bytes]]:
        """Return frames for this site and for all after a position, and for the curator the envelopes of all."""
        found: list[tuple[int, bytes]] = []
        size = 0
        for position, frame in self._base.execute(
            "SELECT position, frame FROM frames WHERE position > ? AND sender <> ? AND (addressee IN (?, ?) "
            "OR (? AND lane = 'envelope')) ORDER BY position LIMIT ?",
            (at, name, name, EVERYBODY, name == CURATOR, most),
        ):
            size += len(frame)
            if found and size > _BATCH_BYTES:
                break
            found.append((position, frame))
        return found

    def _last(self, name: str) -> list[bytes]:
        """Return a site's frame with the highest number to each addressee in each lane."""
        statement = "SELECT frame, max(number) FROM frames WHERE sender = ? GROUP BY addressee, lane"
        return [frame for frame, _ in self._base.execute(statement, (name,))]
