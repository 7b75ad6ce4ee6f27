"""Which carrier goes with which address of a relay."""

from __future__ import annotations

from pathlib import Path

from smc_dp.core.errors import InputError, shown
from smc_dp.deploy.frame import Carrier
from smc_dp.deploy.study import JointStudy

_NATS = ("nats", "tls")


def open_carrier(study: JointStudy, name: str, credentials: Path | None) -> Carrier:
    """This participant's way to the relay of the study; nothing is sent yet.

    `credentials`: the folder that the relay's operator made for it. InputError for an address of no carrier, and where
    what the carrier needs is not installed.
    """
    scheme = study.relay.partition("://")[0]
    if scheme == "flare":
        raise InputError("relay: FLARE starts the site's program itself: follow the page of its kit")
    if scheme not in _NATS:
        raise InputError(f"relay: wanted an address that begins with nats:// or tls://, got {shown(study.relay)}")
    if credentials is None:
        raise InputError(
            "relay: wanted the folder of credentials that its operator made, as `credentials` or in the terms, got none"
        )
    from smc_dp.deploy.nats.carrier import NatsCarrier
    from smc_dp.deploy.nats.subjects import RelayPlaces

    return NatsCarrier(RelayPlaces(study.digest, study.names), study.relay, name, credentials)
