"""Provisioning of a relay: all files for its operator, a folder for each site, and the study opened at the relay."""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import closing
from functools import partial
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING

from smc_dp.core.errors import InputError
from smc_dp.core.writing import write_folder
from smc_dp.deploy.nats import certificates
from smc_dp.deploy.nats.certificates import Certified
from smc_dp.deploy.nats.connection import CA_FILE, CERTIFICATE_FILE, KEY_FILE, RelayConnection, relay_address
from smc_dp.deploy.nats.server import OPERATOR, SERVER_CERTIFICATE, SERVER_KEY, configuration
from smc_dp.deploy.nats.subjects import RelaySubjects
from smc_dp.deploy.study import JointStudy

if TYPE_CHECKING:
    from nats.aio.client import Client


_YEAR = 365 * 24 * 3600.0  # for so long the relay drops repeats of what it has
_AGAIN = 2.0  # seconds after which what was brought and not taken is brought again
_PATIENCE = 15.0
_INBOX = "_INBOX_operator"


def open_at_relay(subjects: RelaySubjects, relay: str, credentials: Path) -> None:
    """Create the stream and consumers of a study that are missing at the relay. Raise `CarrierError`."""
    with closing(RelayConnection(relay, credentials, _INBOX, _PATIENCE)) as connection:
        connection.call(partial(_open, subjects))


async def _open(subjects: RelaySubjects, client: Client) -> None:
    from nats.js import api

    manager = client.jetstream()
    await manager.add_stream(
        api.StreamConfig(
            name=subjects.stream,
            subjects=[f"{subjects.stream}.>"],
            storage=api.StorageType.FILE,
            retention=api.RetentionPolicy.LIMITS,
            discard=api.DiscardPolicy.NEW,  # a full disk refuses, and never drops what is there
            duplicate_window=_YEAR,
            allow_direct=True,
            deny_delete=True,
            deny_purge=True,
        )
    )
    for consumer, brought in (item for name in subjects.names for item in subjects.consumers(name).items()):
        await manager.add_consumer(
            subjects.stream,
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


SITES, README, CONFIGURATION = "sites", "README.txt", "server.conf"
_AUTHORITY_KEY = "ca.key"
_TEXT = "operator_readme.txt"  # beside this file


def provision_relay(study: JointStudy, folder: Path) -> list[Path]:
    """Write the provisioning kit of a study to a new folder; return the folders to hand over.

    Raises InputError when the folder exists or cannot be written.
    """
    host, _ = relay_address(study.relay)
    if os.path.lexists(folder):
        raise InputError("kit.exists", folder=str(folder))
    subjects = subjects_of(study)
    by = certificates.authority(f"{subjects.stream}-authority")
    handed = [folder / SITES / name for name in study.names]
    for name, site in zip(study.names, handed, strict=True):
        write_folder(site, _credentials(by, certificates.client(by, subjects.certificate_name(name))), 0o700)
    operator = {
        **_credentials(by, certificates.client(by, f"{subjects.stream}-{OPERATOR}")),
        **_server(by, certificates.server(by, host)),
        _AUTHORITY_KEY: [by.key_pem],
        CONFIGURATION: [configuration(subjects, study.relay).encode()],
        README: [relay_readme(study, handed).encode()],
    }
    write_folder(folder / OPERATOR, operator, 0o700)
    return handed


def open_study(study: JointStudy, folder: Path) -> None:
    """Open a study at its relay with the operator's credentials in a provisioning kit; what is open stays as it is.

    Raises `CarrierError`, and InputError for a folder that is no provisioning kit.
    """
    open_at_relay(subjects_of(study), study.relay, folder / OPERATOR)


def subjects_of(study: JointStudy) -> RelaySubjects:
    """Return the subjects of a study at its relay."""
    return RelaySubjects(study.digest, study.names)


def relay_readme(study: JointStudy, handed: list[Path]) -> str:
    """Return the instructions for the relay's operator."""
    host, port = relay_address(study.relay)
    sites = "\n".join(f"     {Path(SITES) / site.name}" for site in handed)
    text = resources.files(__package__).joinpath(_TEXT).read_text(encoding="utf-8")
    return text.format(
        title=study.title,
        digest=study.digest,
        relay=study.relay,
        host=host,
        port=port,
        sites=sites,
        authority=_AUTHORITY_KEY,
        configuration=CONFIGURATION,
    )


def _credentials(by: Certified, one: Certified) -> Mapping[str, list[bytes]]:
    return {CA_FILE: [by.certificate_pem], CERTIFICATE_FILE: [one.certificate_pem], KEY_FILE: [one.key_pem]}


def _server(by: Certified, one: Certified) -> Mapping[str, list[bytes]]:
    return {SERVER_CERTIFICATE: [one.certificate_pem], SERVER_KEY: [one.key_pem]}
