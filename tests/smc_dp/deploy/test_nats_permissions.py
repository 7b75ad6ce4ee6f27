"""What a site may do at a relay from the kit; at a twin that allows everything the same attempts succeed."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import closing, suppress
from functools import partial
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec
from nats.aio.client import Client
from nats.errors import Error
from nats.js import JetStreamContext, api
from nats.js.errors import NotFoundError
from support.relays import (
    PARTIES,
    NatsRelay,
    account_of,
    open_soon,
    place,
    relay,
    sealed,
    two_studies,
    until,
    without_server,
)

from protocols.curator import CURATOR_NAME
from smc_dp.deploy.frame import CarrierError
from smc_dp.deploy.nats.carrier import NatsCarrier
from smc_dp.deploy.nats.certificates import Certified, authority, client
from smc_dp.deploy.nats.connection import CA_FILE, CERTIFICATE_FILE, KEY_FILE, RelayConnection
from smc_dp.deploy.nats.provision import provision_relay
from smc_dp.deploy.nats.server import OPERATOR, server_configuration
from smc_dp.deploy.nats.subjects import RelaySubjects
from tests.support.refusals import refused

pytestmark = without_server
NORTH, SOUTH, WEST = PARTIES
SHORT = 0.2


def head(subjects: RelaySubjects, address: str) -> str:
    text, cut, _ = server_configuration(address).partition("accounts {")
    assert cut
    return text


def with_mail(running: NatsRelay) -> NatsRelay:
    """With a letter between each two sites in turn."""
    for sender, to in ((WEST, NORTH), (SOUTH, WEST), (NORTH, SOUTH)):
        with closing(running.carrier(sender)) as carrier:
            carrier.send([sealed(running.subjects, sender, to)])
    return running


@pytest.fixture(scope="module")
def strict(tmp_path_factory: pytest.TempPathFactory) -> Iterator[NatsRelay]:
    with relay(tmp_path_factory.mktemp("strict")) as found:
        yield with_mail(found)


# Each attempt is SOUTH's, over a connection of his own, on what belongs to a study; it succeeds if its result is true.

Attempt = Callable[[Client, RelaySubjects], Awaitable[object]]
WANTED = b'{"batch": 1, "no_wait": true}'


async def heard(client: Client, subject: str, doing: Callable[[], Awaitable[object]]) -> bool:
    subscription = await client.subscribe(subject)
    await client.flush()
    with suppress(Error):
        await doing()
    with suppress(Error):
        return bool(await subscription.next_msg(SHORT))
    return False


async def taken(client: Client, there: RelaySubjects, of: str) -> bool:
    own, asking = f"{there.inbox(SOUTH)}.taken", there.asking(next(iter(there.consumers(of))))
    return await heard(client, own, lambda: client.publish(asking, WANTED, own))


async def posted(client: Client, there: RelaySubjects, sender: str) -> bool:
    return bool(await stream(client).publish(place(there, sender, WEST), b"forged", stream=there.stream))


def stream(client: Client) -> JetStreamContext:
    return client.jetstream(timeout=SHORT)


def changed_consumer(there: RelaySubjects) -> api.ConsumerConfig:
    acknowledging = {"ack_policy": api.AckPolicy.EXPLICIT, "ack_wait": 3600, "max_ack_pending": 1}
    return api.ConsumerConfig(durable_name=NORTH, filter_subject=there.consumers(NORTH)[NORTH], **acknowledging)


def changed_stream(there: RelaySubjects) -> api.StreamConfig:
    allowed = {"allow_direct": True, "deny_delete": True, "deny_purge": True}
    return api.StreamConfig(name=there.stream, subjects=[f"{there.stream}.>"], max_msgs=1, **allowed)


ATTEMPTS: Mapping[str, Attempt] = {
    "hears what passes": lambda client, there: heard(
        client, f"{there.stream}.>", lambda: client.publish(place(there, SOUTH, WEST), b"sealed")
    ),
    "reads an inbox": lambda client, there: heard(
        client, f"{there.inbox(NORTH)}.>", lambda: client.publish(f"{there.inbox(NORTH)}.x", b"")
    ),
    "makes a consumer": lambda client, there: stream(client).add_consumer(
        there.stream, api.ConsumerConfig(filter_subject=f"{there.stream}.>")
    ),
    "gets a message": lambda client, there: stream(client).get_msg(there.stream, 1),
    "looks at a subject": lambda client, there: stream(client).get_msg(
        there.stream, subject=place(there, WEST, NORTH), direct=True
    ),
    "looks at a number": lambda client, there: stream(client).get_msg(there.stream, 1, direct=True),
    "takes from a consumer": lambda client, there: taken(client, there, NORTH),
    "lists consumers": lambda client, there: stream(client).consumers_info(there.stream),
    "changes a consumer": lambda client, there: stream(client).add_consumer(there.stream, changed_consumer(there)),
    "deletes a consumer": lambda client, there: stream(client).delete_consumer(there.stream, WEST),
    "deletes its own consumer": lambda client, there: stream(client).delete_consumer(there.stream, there.seats[SOUTH]),
    "reads about the stream": lambda client, there: stream(client).stream_info(there.stream),
    "makes a stream": lambda client, there: stream(client).add_stream(name="mine", subjects=["mine.>"]),
    "posts as another": lambda client, there: posted(client, there, NORTH),
    "changes the stream": lambda client, there: stream(client).update_stream(changed_stream(there)),
    "deletes the stream": lambda client, there: stream(client).delete_stream(there.stream),
}
ELSEWHERE: Mapping[str, Attempt] = {
    "takes its own": lambda client, there: taken(client, there, SOUTH),
    "posts as itself": lambda client, there: posted(client, there, SOUTH),
    "looks at its own place": lambda client, there: stream(client).get_msg(
        there.stream, subject=place(there, SOUTH, WEST), direct=True
    ),
}
"""What a site may do in its own study, and not in another."""
BEYOND = ("posts as another", "looks at a subject", "hears what passes", "makes a consumer", "deletes the stream")


def successes(running: NatsRelay, there: RelaySubjects, attempts: Mapping[str, Attempt]) -> Iterator[str]:
    """Yield which of these attempts on a study succeed with the credentials of this one."""

    async def tried(client: Client, attempt: Attempt) -> bool:
        try:
            return bool(await attempt(client, there))
        except (Error, TimeoutError):
            return False

    for name, attempt in attempts.items():
        with closing(connection(running, SOUTH)) as found:
            if found.call(partial(tried, attempt=attempt)):
                yield name


def connection(running: NatsRelay, name: str, folder: Path | None = None) -> RelayConnection:
    return RelayConnection(running.study.relay, folder or running.site(name), running.subjects.inbox(name), 0.3)


def test_a_site_reaches_nothing_of_another_and_changes_nothing(strict: NatsRelay) -> None:
    assert not forged_by_an_answer(strict)
    assert not taken_for_another(strict)
    assert list(successes(strict, strict.subjects, ATTEMPTS)) == []


def test_a_site_reaches_nothing_of_another_study(tmp_path: Path) -> None:
    beyond = {name: ATTEMPTS[name] for name in BEYOND}
    with relay(tmp_path) as first:
        second = with_mail(two_studies(with_mail(first), tmp_path))
        assert list(successes(first, second.subjects, {**ELSEWHERE, **beyond})) == []
        with closing(second.carrier(SOUTH)) as south:
            assert [frame.body for frame in south.fetch(5)] == [b"sealed"]
        strange = NatsCarrier(second.subjects, second.study.relay, SOUTH, first.site(SOUTH), patience=0.5)
        with closing(strange), refused("relay.not_ours", error=CarrierError):
            strange.last(NORTH, "envelope")


def test_where_nothing_keeps_sites_or_studies_apart_every_attempt_succeeds(tmp_path: Path) -> None:
    with relay(tmp_path) as first:
        second = with_mail(one_account(first, tmp_path))
        assert forged_by_an_answer(second)
        assert taken_for_another(second)
        attempts = {**ELSEWHERE, **ATTEMPTS}
        assert list(successes(first, second.subjects, attempts)) == list(attempts)


def one_account(first: NatsRelay, folder: Path) -> NatsRelay:
    """Two studies in one account, without permissions: a twin that keeps nothing apart."""
    first.hand_over(folder / "handed")
    second = first.another("Length of stay")
    accounts = [account_of(first.kit, running.subjects) for running in (first, second)]
    names = (OPERATOR, *PARTIES, CURATOR_NAME)
    users = ", ".join(f'{{user: "CN={name},O={account}"}}' for account in accounts for name in names)
    accounts_in_one = f"accounts {{ RELAY: {{ jetstream: enabled, users: [{users}] }} }}\n"
    (first.operator / "server.conf").write_text(head(first.subjects, first.study.relay) + accounts_in_one)
    first.kill()
    first.start()
    for study in (first.study, second.study):
        open_soon(study, first.kit)
    return second


def forged_by_an_answer(running: NatsRelay) -> bool:
    """Whether SOUTH can have his own bytes stored as NORTH's, by asking for them to be sent there."""
    subjects = running.subjects
    own, of_north = place(subjects, SOUTH, WEST), place(subjects, NORTH, WEST)

    async def ask(client: Client) -> None:
        await client.publish(subjects.looking(own), b"", of_north)
        await client.publish(own, b"another", of_north)  # its receipt
        await client.publish(subjects.asking(subjects.seats[SOUTH]), WANTED, of_north)
        await client.flush()
        await asyncio.sleep(SHORT)

    async def stored(client: Client) -> bool:
        with suppress(NotFoundError):
            return bool(await client.jetstream().get_msg(subjects.stream, subject=of_north))
        return False

    with (
        closing(connection(running, SOUTH)) as south,
        closing(connection(running, NORTH, running.credentials)) as operator,
    ):
        south.call(ask)
        return operator.call(stored)


def taken_for_another(running: NatsRelay) -> bool:
    """Whether SOUTH can say that NORTH took his mail, so that it is not brought again."""

    async def waiting(client: Client) -> int:
        info = await client.jetstream().consumer_info(running.subjects.stream, NORTH)
        return int(info.num_ack_pending or 0)

    async def acknowledge(client: Client) -> None:
        for n in range(1, 30):
            await client.publish(f"{running.subjects.acknowledging(NORTH)}1.{n}.1.1.0", b"+ACK")
        await client.flush()

    with closing(running.carrier(NORTH)) as north, closing(connection(running, SOUTH)) as south:
        for left in until(10):
            if north.fetch(left):
                break
        with closing(connection(running, NORTH, running.credentials)) as operator:
            before = operator.call(waiting)
            south.call(acknowledge)
            for _ in until(SHORT):
                pass
            return operator.call(waiting) < before


def test_only_certificates_of_the_kit_connect(strict: NatsRelay, tmp_path: Path) -> None:
    provision_relay(strict.study, tmp_path / "other")  # the same names, vouched for by another authority
    stranger = connection(strict, SOUTH, tmp_path / "other" / "sites" / SOUTH)
    with closing(stranger), refused("relay.other_certificate", error=CarrierError, at=strict.study.relay):
        stranger.call(lambda client: client.flush())
    for folder, code, is_forged in (
        (unknown_to_the_relay(strict, tmp_path), "relay.unknown_certificate", False),
        (vouched_for_by_another(strict, tmp_path), "relay.other_certificate", True),
    ):
        with closing(connection(strict, SOUTH, folder)) as unknown, pytest.raises(CarrierError) as raised:
            unknown.call(lambda client: client.flush())
        fault = raised.value.fault
        hung_up = fault.code == "relay.not_reached" and (is_forged or fault.fields["hint"])  # before it said why
        assert hung_up or fault.code == code


def unknown_to_the_relay(running: NatsRelay, folder: Path) -> Path:
    """Credentials that the authority of the kit made out to somebody whom the study does not know."""
    key = serialization.load_pem_private_key((running.operator / "ca.key").read_bytes(), None)
    assert isinstance(key, ec.EllipticCurvePrivateKey)
    by = Certified(x509.load_pem_x509_certificate((running.operator / CA_FILE).read_bytes()), key)
    return credentials(folder / "unknown", by, client(by, "nobody", account_of(running.kit, running.subjects)))


def vouched_for_by_another(running: NatsRelay, folder: Path) -> Path:
    """Credentials with the true authority, and a certificate with the right name that another authority made."""
    true = Certified(x509.load_pem_x509_certificate((running.operator / CA_FILE).read_bytes()), authority("x").key)
    return credentials(
        folder / "forged", true, client(authority("x"), SOUTH, account_of(running.kit, running.subjects))
    )


def credentials(folder: Path, by: Certified, one: Certified) -> Path:
    folder.mkdir()
    (folder / CA_FILE).write_bytes(by.certificate_pem)
    (folder / CERTIFICATE_FILE).write_bytes(one.certificate_pem)
    (folder / KEY_FILE).write_bytes(one.key_pem)
    return folder


def test_a_relay_without_tls_is_refused(tmp_path: Path) -> None:
    def plain(subjects: RelaySubjects, address: str, account: str) -> str:
        return re.sub(r"tls \{.*?\n\}\n", "", head(subjects, address), flags=re.DOTALL)

    with (
        relay(tmp_path, twin=plain, opened=False) as clear,
        closing(clear.carrier(NORTH, 0.5)) as north,
        refused("relay.other_certificate", error=CarrierError),
    ):
        north.fetch(0)
