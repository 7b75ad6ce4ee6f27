"""Publication by Charlie: the sums, and on request all that he added up, so that anybody can do it again."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from protocols.curator import CURATOR_NAME
from protocols.errors import Fault
from protocols.runtime.endpoint import Endpoint
from protocols.secure_sum.messages import PublishedOpening, PublishedSum
from protocols.secure_sum.parameters import Parameters
from protocols.secure_sum.values import CuratorState, Sums


async def publish_sums(me: Endpoint, p: Parameters, state: CuratorState) -> Sums:
    """Publish the sums; Charlie learns nothing more."""
    vault = state.vault
    S = tuple(x for value in vault.values for x in value)
    if not p.verifiable:
        me.publish(PublishedSum(vault.members, S))
    else:
        every = state.openings
        me.publish(
            PublishedOpening(
                vault.members,
                S,
                tuple(x for opening in every for y in opening.y for x in y),
                tuple(x for opening in every for x in opening.inputs),
                tuple(x for opening in every for x in opening.agreed),
                tuple(x for opening in every for x in opening.seeds),
            )
        )
    return Sums(vault.values, vault.members)


def broken_commitment(
    session_id: bytes, names: tuple[str, ...], announced: Sums, published: Mapping[str, Any]
) -> tuple[str, Fault] | None:
    """Return Charlie and what he did, if he published other sums than he announced to this participant; else None.

    He is not named for publishing nothing: it may have been held back on the way.
    """
    publication = published.get(CURATOR_NAME)
    S = tuple(x for value in announced.values for x in value)
    if publication is None or (publication.members, publication.S) == (announced.members, S):
        return None
    return CURATOR_NAME, Fault("sum.not_as_told")
