"""Messages that the given views open, each line once, and the description of whose views they are."""

from __future__ import annotations

from collections.abc import Iterable

from protocols.runtime.link_decryption import DecryptedEnvelope
from smc_dp.audit.run.check import not_possible
from smc_dp.audit.run.evidence import Evidence, Recomputed
from smc_dp.core.errors import shown

NO_VIEWS_OUTCOME = not_possible("views.not_given")


def decrypted_messages(evidence: Evidence) -> tuple[DecryptedEnvelope, ...]:
    """Return every sealed line that a given view opens, in order, from the end that reads it best."""
    return most_legible_messages(evidence.recomputed.values())


def most_legible_messages(views: Iterable[Recomputed]) -> tuple[DecryptedEnvelope, ...]:
    """Return the messages that these views open, each from the view that reads it best."""
    best: dict[int, DecryptedEnvelope] = {}
    for again in views:
        for message in again.decrypted:
            had = best.get(message.line)
            if had is None or _legible(message) > _legible(had):
                best[message.line] = message
    return tuple(best[line] for line in sorted(best))


def _legible(message: DecryptedEnvelope) -> int:
    return sum(part is not None for part in (message.payload, message.message))


def describe_views(evidence: Evidence) -> str:
    """Return in words whose views were given."""
    names = [name for name in evidence.session.names if name in evidence.views]
    if len(names) == len(evidence.session.names):
        return f"views of all {len(names)} participants"
    few = ", ".join(shown(name) for name in names[:5]) + (f" and {len(names) - 5} more" if len(names) > 5 else "")
    return f"{'view' if len(names) == 1 else 'views'} of {few}"
