"""Provisioning of a relay for its studies: files for its operator, a folder for each site, and a study opened there."""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import closing
from functools import partial
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING

from smc_dp.core.errors import InputError, one_line
from smc_dp.core.reading import read_file
from smc_dp.core.writing import replace_file, write_folder
from smc_dp.deploy.nats import certificates
from smc_dp.deploy.nats.certificates import Certified
from smc_dp.deploy.nats.connection import CA_FILE, CERTIFICATE_FILE, KEY_FILE, RelayConnection, relay_address
from smc_dp.deploy.nats.server import (
    ACCOUNTS,
    OPERATOR,
    PROCESS,
    SERVER_CERTIFICATE,
    SERVER_KEY,
    STORE,
    STUDIES,
    STUDY_LIST,
    new_account,
    server_configuration,
    study_accounts,
    study_line,
    study_list,
)
from smc_dp.deploy.nats.subjects import RelaySubjects
from smc_dp.deploy.site_transcript import MOST_TRANSCRIPT_BYTES
from smc_dp.deploy.study import JointStudy

if TYPE_CHECKING:
    from nats.aio.client import Client


_NO_LIST = 0.1  # seconds, the least, for which the relay keeps the `Nats-Msg-Id` of messages: no frame has one
MOST_STUDY_BYTES = 4 * MOST_TRANSCRIPT_BYTES
"""Bytes that the relay keeps of one study: room for the messages of the longest transcript, with all that the relay
adds, and for that transcript."""
_AGAIN = 2.0  # seconds after which what was brought and not taken is brought again
_PATIENCE = 15.0
_INBOX = "_INBOX_operator"


def open_at_relay(subjects: RelaySubjects, relay: str, credentials: Path, most_bytes: int) -> None:
    """Create the stream and consumers of a study that are missing at the relay. Raise `CarrierError`."""
    with closing(RelayConnection(relay, credentials, _INBOX, _PATIENCE)) as connection:
        connection.call(partial(_open, subjects, most_bytes))


async def _open(subjects: RelaySubjects, most_bytes: int, client: Client) -> None:
    from nats.js import api

    manager = client.jetstream()
    await manager.add_stream(
        api.StreamConfig(
            name=subjects.stream,
            subjects=[f"{subjects.stream}.>"],
            storage=api.StorageType.FILE,
            retention=api.RetentionPolicy.LIMITS,
            max_bytes=most_bytes,  # or any site could leave other studies of this relay no room
            discard=api.DiscardPolicy.NEW,  # a full disk refuses, and never drops what is there
            duplicate_window=_NO_LIST,
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
OPERATOR_FOLDER = "operator"
_AUTHORITY_KEY = "ca.key"
_TEXT = "operator_readme.txt"  # beside this file


def provision_relay(study: JointStudy, folder: Path) -> list[Path]:
    """Write the provisioning kit of a relay, or add a study to one; return the folders to hand over.

    The relay's authority and server certificate stay those of the first study. Raises InputError when the folder is
    something else, is the kit of another relay or has the study already, or cannot be written.
    """
    host, _ = relay_address(study.relay)
    subjects, operator = subjects_of(study), folder / OPERATOR_FOLDER
    handed = [folder / SITES / name for name in study.names]
    if os.path.lexists(folder):
        by = _kept_authority(study, folder)
    else:
        by = certificates.authority("relay authority")
        write_folder(operator, _new_relay(by, study.relay, host), 0o700)
    account = new_account(subjects)
    for name, site in zip(study.names, handed, strict=True):
        write_folder(site, _credentials(by, certificates.client(by, name, account)), 0o700)
    accounts = {
        **_credentials(by, certificates.client(by, OPERATOR, account)),
        ACCOUNTS: [study_accounts(subjects, study.title, account).encode()],
        README: [relay_readme(study, handed, account).encode()],
    }
    write_folder(_study_folder(subjects, folder), accounts, 0o700)
    _include(operator / STUDY_LIST, study_line(subjects))
    return handed


def open_study(study: JointStudy, folder: Path, most_bytes: int = MOST_STUDY_BYTES) -> None:
    """Open a study at its relay with the operator's credentials in a provisioning kit; what is open stays as it is.

    `most_bytes`: that the relay keeps of the study.
    Raises `CarrierError`, and InputError for a folder that is no provisioning kit of this study.
    """
    subjects = subjects_of(study)
    own = _study_folder(subjects, folder)
    if not os.path.lexists(own):
        raise InputError("kit.lacks_study", folder=str(folder))
    open_at_relay(subjects, study.relay, own, most_bytes)


def readme_of(study: JointStudy, folder: Path) -> Path:
    """Return the path of the operator's instructions for a study in a provisioning kit."""
    return _study_folder(subjects_of(study), folder) / README


def subjects_of(study: JointStudy) -> RelaySubjects:
    """Return the subjects of a study at its relay."""
    return RelaySubjects(study.digest, study.names)


def relay_readme(study: JointStudy, handed: list[Path], account: str) -> str:
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
        process=PROCESS,
        studies=STUDY_LIST,
        line=study_line(subjects_of(study)),
        folder=f"{STUDIES}/{subjects_of(study).stream}",
        stored=f"{STORE}/jetstream/{account}",
    )


def _kept_authority(study: JointStudy, folder: Path) -> Certified:
    """Return the authority of a provisioning kit that can take this study."""
    subjects, operator = subjects_of(study), folder / OPERATOR_FOLDER
    host, _ = relay_address(study.relay)
    if not (operator / STUDY_LIST).is_file():
        raise InputError("kit.exists", folder=str(folder))
    if os.path.lexists(_study_folder(subjects, folder)):
        raise InputError("kit.has_study", folder=str(folder), study=str(_study_folder(subjects, folder)))
    for name in study.names:
        if os.path.lexists(site := folder / SITES / name):
            raise InputError("kit.not_handed_over", folder=str(folder), site=str(site))
    key = operator / _AUTHORITY_KEY
    if not os.path.lexists(key):
        raise InputError("kit.no_authority_key", folder=str(folder), key=str(key))
    try:
        by = certificates.read_authority(read_file(operator / CA_FILE), read_file(key))
        fits = certificates.is_for(read_file(operator / SERVER_CERTIFICATE), host)
    except (ValueError, TypeError) as error:  # TypeError: a key under a passphrase
        raise InputError("credentials.unusable", credentials=str(operator), why=one_line(str(error))) from None
    if not fits:
        raise InputError("kit.of_another_relay", folder=str(folder), host=host)
    if not certificates.lasts(by.certificate):
        raise InputError("kit.ends_soon", folder=str(folder), day=f"{by.certificate.not_valid_after_utc:%Y-%m-%d}")
    return by


def _include(path: Path, line: str) -> None:
    """Add a line to the list of studies, which is replaced whole: nats-server may read it at any time."""
    lines = [found for found in read_file(path).decode().splitlines() if found and not found.startswith("#")]
    replace_file(path, study_list([*lines, line]).encode(), str(path), 0o600)


def _study_folder(subjects: RelaySubjects, folder: Path) -> Path:
    return folder / OPERATOR_FOLDER / STUDIES / subjects.stream


def _new_relay(by: Certified, relay: str, host: str) -> Mapping[str, list[bytes]]:
    return {
        CA_FILE: [by.certificate_pem],
        _AUTHORITY_KEY: [by.key_pem],
        **_server(by, certificates.server(by, host)),
        CONFIGURATION: [server_configuration(relay).encode()],
        STUDY_LIST: [study_list([]).encode()],
    }


def _credentials(by: Certified, one: Certified) -> Mapping[str, list[bytes]]:
    return {CA_FILE: [by.certificate_pem], CERTIFICATE_FILE: [one.certificate_pem], KEY_FILE: [one.key_pem]}


def _server(by: Certified, one: Certified) -> Mapping[str, list[bytes]]:
    return {SERVER_CERTIFICATE: [one.certificate_pem], SERVER_KEY: [one.key_pem]}
