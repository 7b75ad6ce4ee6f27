"""Who vanished in a session, as the engine says it of its own."""

from __future__ import annotations

from typing import Any

from protocols.programs import Protocol
from protocols.runtime.session import PUBLIC_NAME
from smc_dp.audit.code.symbolic.book import WorldBook
from smc_dp.audit.code.symbolic.patterns import Pattern, patterns
from smc_dp.audit.code.symbolic.worlds import base
from smc_dp.lecture.watched import Watched


def pattern_of(watched: Watched, protocol: Protocol, p: Any) -> Pattern | None:
    """The pattern in which the same party vanishes after as many letters; None where nobody did, or several, or the
    engine has no such pattern.
    """
    if len(watched.gone) != 1:
        return None
    (name,) = watched.gone
    sent = sum(letter.sender == name and letter.to != PUBLIC_NAME for letter in watched.letters)
    book = WorldBook(protocol, p)
    party = book.names[watched.session.names.index(name)]
    trace = book.trace(base(book.parties, len(protocol.model.permutations), 0))
    found = patterns(trace.sent, [x for x in protocol.model.vanishing(p) if x == party])
    return next((x for x in found if not x.late and x.letter == sent + 2), None)
