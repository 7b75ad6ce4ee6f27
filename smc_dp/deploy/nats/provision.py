"""Open a study at its relay: the stream and one durable consumer for each place that a site reads, by the operator."""

from __future__ import annotations

from contextlib import closing
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from smc_dp.deploy.nats.connection import RelayConnection
from smc_dp.deploy.nats.subjects import RelayPlaces

if TYPE_CHECKING:
    from nats.aio.client import Client

_YEAR = 365 * 24 * 3600.0  # for so long the relay drops repeats of what it has
_AGAIN = 2.0  # seconds after which what was brought and not taken is brought again
_PATIENCE = 15.0
_INBOX = "_INBOX_operator"


def open_at_relay(places: RelayPlaces, relay: str, credentials: Path) -> None:
    """Make what is not there yet; a study that is open stays as it is. Raises `CarrierError`."""
    with closing(RelayConnection(relay, credentials, _INBOX, _PATIENCE)) as connection:
        connection.call(partial(_open, places))


async def _open(places: RelayPlaces, client: Client) -> None:
    from nats.js import api

    manager = client.jetstream()
    await manager.add_stream(
        api.StreamConfig(
            name=places.stream,
            subjects=[f"{places.stream}.>"],
            storage=api.StorageType.FILE,
            retention=api.RetentionPolicy.LIMITS,
            discard=api.DiscardPolicy.NEW,  # a full disk refuses, and never drops what is there
            duplicate_window=_YEAR,
            allow_direct=True,
            deny_delete=True,
            deny_purge=True,
        )
    )
    for consumer, brought in (item for name in places.names for item in places.consumers(name).items()):
        await manager.add_consumer(
            places.stream,
            api.ConsumerConfig(
                durable_name=consumer,
                filter_subject=brought,
                deliver_policy=api.DeliverPolicy.ALL,
                ack_policy=api.AckPolicy.EXPLICIT,
                ack_wait=_AGAIN,
                max_deliver=-1,
                max_ack_pending=-1,
            ),
        )
