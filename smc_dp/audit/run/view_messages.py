"""What the given views open, each line once, and whose views they are."""

from __future__ import annotations

from collections.abc import Iterable

from protocols.runtime.link_decryption import DecryptedEnvelope
from smc_dp.audit.run.check import not_possible
from smc_dp.audit.run.evidence import Evidence, Recomputed
from smc_dp.core.errors import shown

NO_VIEWS = not_possible("views.not_given")


def opened(evidence: Evidence) -> tuple[DecryptedEnvelope, ...]:
    """Every sealed line that a given view opens, in the order of the record, from the end that could read it best."""
    return most_legible(evidence.recomputed.values())


def most_legible(views: Iterable[Recomputed]) -> tuple[DecryptedEnvelope, ...]:
    """The same of these views."""
    best: dict[int, DecryptedEnvelope] = {}
    for again in views:
        for letter in again.decrypted:
            had = best.get(letter.line)
            if had is None or _legible(letter) > _legible(had):
                best[letter.line] = letter
    return tuple(best[line] for line in sorted(best))


def _legible(letter: DecryptedEnvelope) -> int:
    return sum(part is not None for part in (letter.payload, letter.message))


def whose(evidence: Evidence) -> str:
    """Whose views were given, in words."""
    names = [name for name in evidence.session.names if name in evidence.views]
    if len(names) == len(evidence.session.names):
        return f"views of all {len(names)} participants"
    few = ", ".join(shown(name) for name in names[:5]) + (f" and {len(names) - 5} more" if len(names) > 5 else "")
    return f"{'view' if len(names) == 1 else 'views'} of {few}"
