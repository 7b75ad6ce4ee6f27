"""Studies over a real nats-server, several over one: all run to the end, and one is removed without a trace."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest
from support.organisations import CHARGED_ONCE, entries
from support.relays import (
    PARTIES,
    NatsRelay,
    open_soon,
    ready,
    relay,
    sealed,
    two_studies,
    wait_for,
    without_server,
)

from protocols.curator import CURATOR_NAME
from smc_dp.deploy.frame import CarrierError, Frame
from smc_dp.deploy.join import Part, take_part
from smc_dp.deploy.nats.provision import open_study, provision_relay, readme_of
from smc_dp.deploy.nats.server import (
    STUDY_LIST,
    server_configuration,
    study_line,
)
from smc_dp.deploy.nats.subjects import RelaySubjects
from tests.support.refusals import refused

pytestmark = without_server
SITES = (*PARTIES, CURATOR_NAME)
NORTH, SOUTH, WEST = PARTIES


def test_every_site_makes_the_same_release_and_settles_its_own_book(tmp_path: Path) -> None:
    with relay(tmp_path) as running, ThreadPoolExecutor(len(SITES)) as pool:
        parts = list(pool.map(lambda take: take(), [prepared(running, tmp_path, name) for name in SITES]))
    assert [(part.name, part.end, part.why.on_screen()) for part in parts] == [(name, "released", "") for name in SITES]
    rows = [None if part.compared is None else part.compared.rows for part in parts]
    assert rows == [None, 25, 30, None]  # the first has too few to say anything, Charlie none
    for file in ("release.json", "transcript.jsonl"):
        assert len({(part.out / file).read_bytes() for part in parts}) == 1
    for name in PARTIES:
        assert entries(tmp_path / name / f"{name}.ledger") == CHARGED_ONCE


@pytest.mark.slow
def test_two_studies_run_to_the_end_over_one_server_and_one_is_removed(tmp_path: Path) -> None:
    with relay(tmp_path) as first, ThreadPoolExecutor(2 * len(SITES)) as pool:
        waiting = [pool.submit(prepared(first, tmp_path / "first", name)) for name in SITES[:2]]  # the relay is in use
        second = two_studies(first, tmp_path)
        later = [pool.submit(prepared(second, tmp_path / "second", name)) for name in SITES]
        waiting += [pool.submit(prepared(first, tmp_path / "first", name)) for name in SITES[2:]]
        assert [found.result().end for found in (*waiting, *later)] == ["released"] * 2 * len(SITES)
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
        again.reload()
        open_soon(again.study, again.kit)
        with closing(again.carrier(SOUTH)) as south, closing(again.carrier(WEST)) as west:
            assert south.last(WEST, "envelope") is None
            assert west.fetch(0.2) == []
        with closing(first.carrier(SOUTH, 0.5)) as former, pytest.raises(CarrierError):  # its credentials
            former.last(WEST, "envelope")


def prepared(running: NatsRelay, folder: Path, name: str) -> Callable[[], Part]:
    """Give a site its files, before the kit hands them over, and return what takes part with them."""
    files = ready(folder / name, name, running.study)
    shutil.copytree(running.site(name), folder / name / "credentials")
    return lambda: take_part(folder / name / "study.toml", files, lambda line: None)


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
