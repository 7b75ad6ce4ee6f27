"""One nats-server serves several studies: all run to the end, and no site reaches anything of another study."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Awaitable, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from pathlib import Path

import pytest
from nats.aio.client import Client
from nats.errors import Error
from nats.js import api
from support.relays import PARTIES, NatsRelay, account_of, place, ready, relay, sealed, until, wait_for, without_server

from protocols.curator import CURATOR_NAME
from smc_dp.deploy.frame import CarrierError, Frame
from smc_dp.deploy.join import take_part
from smc_dp.deploy.nats.carrier import NatsCarrier
from smc_dp.deploy.nats.connection import RelayConnection
from smc_dp.deploy.nats.provision import MOST_STUDY_BYTES, open_study, provision_relay, readme_of
from smc_dp.deploy.nats.server import (
    OPERATOR,
    STUDY_LIST,
    new_account,
    server_configuration,
    study_accounts,
    study_line,
)
from smc_dp.deploy.nats.subjects import RelaySubjects
from tests.support.refusals import refused

pytestmark = without_server
SITES = (*PARTIES, CURATOR_NAME)
NORTH, SOUTH, WEST = PARTIES
SHORT = 0.2
Attempt = Callable[[Client, RelaySubjects], Awaitable[object]]


def two_studies(first: NatsRelay, folder: Path, most_bytes: int = MOST_STUDY_BYTES) -> NatsRelay:
    """Return the second study at a running relay, which went on."""
    first.hand_over(folder / "handed")
    second = first.another("Length of stay")
    reread(second, most_bytes)
    return second


def reread(running: NatsRelay, most_bytes: int = MOST_STUDY_BYTES) -> None:
    """Have the running server know a study that was added to its kit, and open it."""
    running.reload()
    for _ in until(10):
        with suppress(CarrierError):
            open_study(running.study, running.kit, most_bytes)
            break


def one_account(first: NatsRelay, folder: Path) -> NatsRelay:
    """The same two studies in one account, without permissions: a twin that keeps nothing apart."""
    first.hand_over(folder / "handed")
    second = first.another("Length of stay")
    accounts = [account_of(first.kit, running.subjects) for running in (first, second)]
    users = ", ".join(f'{{user: "CN={name},O={account}"}}' for account in accounts for name in (OPERATOR, *SITES))
    text, _, _ = server_configuration(first.study.relay).partition("accounts {")
    (first.operator / "server.conf").write_text(
        f"{text}accounts {{ RELAY: {{ jetstream: enabled, users: [{users}] }} }}\n"
    )
    first.kill()
    first.start()
    second.process = first.process
    for study in (first.study, second.study):
        for _ in until(10):
            with suppress(CarrierError):
                open_study(study, first.kit)
                break
    return second


# Each attempt is that of SOUTH in the first study on what belongs to the second.


async def posts_as_itself(client: Client, other: RelaySubjects) -> object:
    return await client.jetstream(timeout=SHORT).publish(place(other, SOUTH, WEST), b"x")


async def posts_as_another(client: Client, other: RelaySubjects) -> object:
    return await client.jetstream(timeout=SHORT).publish(place(other, NORTH, WEST), b"x")


async def looks_at_its_own_place(client: Client, other: RelaySubjects) -> object:
    subject = place(other, SOUTH, WEST)
    return await client.request(other.looking(subject), b"", timeout=SHORT)


async def looks_at_the_place_of_another(client: Client, other: RelaySubjects) -> object:
    return await client.request(other.looking(place(other, NORTH, SOUTH)), b"", timeout=SHORT)


async def takes_its_own(client: Client, other: RelaySubjects) -> object:
    wanted = b'{"batch": 1, "no_wait": true}'
    own = client.new_inbox()
    heard = await client.subscribe(own)
    await client.publish(other.asking(next(iter(other.consumers(SOUTH)))), wanted, own)
    return await heard.next_msg(SHORT)


async def hears_what_passes(client: Client, other: RelaySubjects) -> object:
    heard = await client.subscribe(f"{other.stream}.>")
    await client.publish(place(other, SOUTH, WEST), b"x")
    return await heard.next_msg(SHORT)


async def makes_a_consumer(client: Client, other: RelaySubjects) -> object:
    return await client.jetstream(timeout=SHORT).add_consumer(other.stream, api.ConsumerConfig())


async def reads_about_the_stream(client: Client, other: RelaySubjects) -> object:
    return await client.jetstream(timeout=SHORT).stream_info(other.stream)


async def deletes_the_stream(client: Client, other: RelaySubjects) -> object:
    return await client.jetstream(timeout=SHORT).delete_stream(other.stream)


ATTEMPTS: tuple[Attempt, ...] = (
    *(takes_its_own, posts_as_itself, posts_as_another, looks_at_its_own_place, looks_at_the_place_of_another),
    *(hears_what_passes, makes_a_consumer, reads_about_the_stream, deletes_the_stream),
)


def successes(first: NatsRelay, second: NatsRelay) -> Iterator[Attempt]:
    """Yield the attempts that succeed while both studies have frames."""
    for running in (first, second):
        with closing(running.carrier(NORTH)) as carrier:
            carrier.send([sealed(running.subjects, NORTH, SOUTH)])
    for attempt in ATTEMPTS:

        async def tried(client: Client, attempt: Attempt = attempt) -> bool:
            try:
                await attempt(client, second.subjects)
            except (Error, TimeoutError):
                return False
            return True

        inbox = first.subjects.inbox(SOUTH)
        with closing(RelayConnection(first.study.relay, first.site(SOUTH), inbox, 1.0)) as connection:
            if connection.call(tried):
                yield attempt


def test_a_site_reaches_nothing_of_another_study(tmp_path: Path) -> None:
    with relay(tmp_path) as first:
        second = two_studies(first, tmp_path)
        assert list(successes(first, second)) == []
        with closing(second.carrier(SOUTH)) as south:
            assert [frame.body for frame in south.fetch(5)] == [b"sealed"]
        strange = NatsCarrier(second.subjects, second.study.relay, SOUTH, first.site(SOUTH), patience=0.5)
        with closing(strange), refused("relay.not_ours", error=CarrierError):
            strange.last(NORTH, "envelope")


def test_where_nothing_keeps_studies_apart_every_attempt_succeeds(tmp_path: Path) -> None:
    with relay(tmp_path) as first:
        second = one_account(first, tmp_path)
        try:
            assert list(successes(first, second)) == list(ATTEMPTS)
        finally:
            first.kill()


@pytest.mark.slow
def test_two_studies_run_to_the_end_over_one_server_and_one_is_removed(tmp_path: Path) -> None:
    with relay(tmp_path) as first, ThreadPoolExecutor(2 * len(SITES)) as pool:
        waiting = [pool.submit(part, first, tmp_path / "first", name) for name in SITES[:2]]  # the relay is in use
        second = two_studies(first, tmp_path)
        later = [pool.submit(part, second, tmp_path / "second", name) for name in SITES]
        waiting += [pool.submit(part, first, tmp_path / "first", name) for name in SITES[2:]]
        assert [found.result() for found in (*waiting, *later)] == [True] * 2 * len(SITES)
        for study in ("first", "second"):
            releases = {(tmp_path / study / name / "run" / "release.json").read_bytes() for name in SITES}
            assert len(releases) == 1
        remove(first)
        with closing(first.carrier(NORTH, 0.5)) as gone, pytest.raises(CarrierError):
            gone.fetch(0)
        with closing(second.carrier(NORTH)) as north:
            assert north.last(SOUTH, "envelope") is not None


def test_a_study_that_fills_its_disk_stops_no_other(tmp_path: Path) -> None:
    def small(subjects: RelaySubjects, address: str, account: str) -> str:
        return server_configuration(address).replace("max_file_store: 100GB", "max_file_store: 300KB")

    with relay(tmp_path, twin=small, opened=False) as first:
        with refused("relay.refused", error=CarrierError):  # there is not so much
            open_study(first.study, first.kit)
        open_study(first.study, first.kit, 100_000)
        second = two_studies(first, tmp_path, 100_000)
        with closing(first.carrier(SOUTH)) as south, refused("relay.refused", error=CarrierError):
            south.send([Frame(first.study.digest, SOUTH, WEST, "envelope", n, bytes(40_000)) for n in range(20)])
        with closing(second.carrier(NORTH)) as north:
            north.send([sealed(second.subjects, NORTH, WEST)])
            assert north.last(WEST, "envelope") == sealed(second.subjects, NORTH, WEST)


def test_a_removed_study_that_is_added_again_has_nothing_of_the_former(tmp_path: Path) -> None:
    with relay(tmp_path) as first:
        with closing(first.carrier(SOUTH)) as south:
            south.send([sealed(first.subjects, SOUTH, WEST)])
        first.hand_over(tmp_path / "former")
        remove(first)
        assert [path for path in first.operator.rglob("*") if first.subjects.stream in path.name] == []
        assert (first.operator / STUDY_LIST).read_text().count("\n") == 1
        provision_relay(first.study, first.kit)
        again = NatsRelay(first.study, first.kit, first.process)
        reread(again)
        with closing(again.carrier(SOUTH)) as south, closing(again.carrier(WEST)) as west:
            assert south.last(WEST, "envelope") is None
            assert west.fetch(SHORT) == []
        with closing(first.carrier(SOUTH, 0.5)) as former, pytest.raises(CarrierError):  # its credentials
            former.last(WEST, "envelope")


def part(running: NatsRelay, folder: Path, name: str) -> bool:
    """Whether this site takes part until there is a release."""
    files = ready(folder / name, name, running.study)
    shutil.copytree(running.site(name), folder / name / "credentials")
    return take_part(folder / name / "study.toml", files, lambda line: None).end == "released"


def remove(running: NatsRelay) -> None:
    """Do what README.txt says of the time after a study."""
    path, line = running.operator / STUDY_LIST, study_line(running.subjects)
    page, lines = readme_of(running.study, running.kit).read_text(), path.read_text().splitlines()
    stopping, *removing, _ = re.findall(r"  (nats-server --signal quit.*|rm -r .*|nats-server -c .*)$", page, re.M)[1:]
    assert line in lines
    assert len(removing) == 2
    path.write_text("\n".join(found for found in lines if found != line) + "\n")
    subprocess.run(stopping.split(), cwd=running.operator, check=True)
    running.process.wait(10)
    for command in removing:
        subprocess.run(command.split(), cwd=running.operator, check=True)
    running.start()
    wait_for(running.study)


def test_no_two_names_have_one_word_and_all_is_nobodys() -> None:
    names = ("so.uth", "so-uth", "so_uth", "south", "all", "public-", "p0", CURATOR_NAME)
    subjects = RelaySubjects("0" * 64, names)
    words = list(subjects.seats.values())
    assert len(set(words)) == len(names) + 1
    consumers = [consumer for name in names for consumer in subjects.consumers(name)]
    assert len(set(consumers)) == len(consumers)
    assert not [word for word in (*words, *consumers) if set(word) & set(".*> /")]


def test_the_configuration_of_a_study_is_short() -> None:
    subjects = RelaySubjects("0" * 64, ("north", "south", "west", CURATOR_NAME))
    assert (
        len([*study_accounts(subjects, "Readmission", new_account(subjects)).splitlines(), study_line(subjects)]) == 62
    )
