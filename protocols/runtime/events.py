"""Log of a session: stages, envelopes by kind and size, absences.

Only this file of `protocols` may log, and its input is public: names, headers of envelopes as in the transcript, marks.
It never receives an input, a state, a decrypted message or the cause of an error.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from protocols.runtime.envelope import Envelope
from protocols.runtime.inbox import Absent
from protocols.runtime.session import Session

_LOG = logging.getLogger(__name__)


@dataclass
class _Counted:
    messages: int = 0
    bytes: int = 0


class Events:
    """Log of one session; without a listener it counts nothing and formats nothing."""

    def __init__(self, session: Session) -> None:
        self._enabled, self._each = _LOG.isEnabledFor(logging.INFO), _LOG.isEnabledFor(logging.DEBUG)
        self._kinds: dict[tuple[str, str], _Counted] = {}
        if self._enabled:
            participants = len(session.names)
            _LOG.info("session %s: %s, %d participants", session.id.hex()[:16], session.program.name, participants)

    def stage(self, name: str, stage: str) -> None:
        """Log that a role enters a stage."""
        if self._each:
            _LOG.debug("%s enters %s", name, stage)

    def sent(self, envelope: Envelope) -> None:
        """Log an envelope."""
        if not self._enabled:
            return
        counted = self._kinds.setdefault((envelope.stage, envelope.kind), _Counted())
        counted.messages += 1
        counted.bytes += envelope.size
        if self._each:
            said = (envelope.sender, envelope.to, envelope.kind, envelope.stage, envelope.size, envelope.round)
            _LOG.debug("%s to %s: %s of %s, %d bytes, round %d", *said)

    def missed(self, reader: str, absent: Absent) -> None:
        """Log that a reader goes on without a message."""
        if self._enabled:
            _LOG.info("%s goes on without %s of %s in %s", reader, absent.kind, absent.sender, absent.stage)

    def over(self, ends: Mapping[str, str]) -> None:
        """Log the ends of all roles."""
        if self._enabled:
            for line in self._totals():
                _LOG.info("%s", line)
            for name, end in ends.items():
                if end != "done":
                    _LOG.info("%s is %s", name, end)

    def _totals(self) -> Iterator[str]:
        for (stage, kind), counted in self._kinds.items():
            yield f"{stage}: {counted.messages:,} {kind}, {counted.bytes:,} bytes"
