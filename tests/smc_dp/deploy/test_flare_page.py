"""HOWTO_FLARE.md is followed as it is, by organisations with a folder each, over a real NVIDIA FLARE; one job dies."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.flare_sites import RELEASED, environment, forked, frames_of, jobs_in, kill, processes_in, under_two_digests
from support.organisations import CHARGED_ONCE, Organisation, entries, loaded, organisations, until
from support.pages import write_program
from support.relays import free_port

from tests.smc_dp.deploy.test_operator_page import EVERYBODY, FLARE, PARTIES, Step, follow, lines, rows, steps

HOST, PORT = "relay.example", ":8002"
"""The address of the relay, the one thing on the page that is not taken as it stands."""
AFTERWARDS, STARTS = "6. Afterwards", "startup/start.sh"


def with_flare(one: Organisation, programs: Path) -> None:
    """Put FLARE's programs on the organisation's path."""
    for name in ("python3", "nvflare"):
        write_program(one.folder / "bin" / name, f'#!/bin/sh\nexec {programs / name} "$@"\n')


def follow_with_flare(step: Step, everybody: dict[str, Organisation]) -> None:
    """Do it; the scripts of FLARE leave processes behind, which would keep a pipe open."""
    if STARTS not in step.text:
        follow(step, everybody, "")
        return
    for line in lines(step.text):
        one = everybody[step.at]
        one.start(line) if STARTS in line else one.run(line)


def kill_the_job(sites: dict[str, Path], relay: Path) -> None:
    """A site's job and the relay's are killed in the middle of the session, and nobody has released anything."""
    until("a session", lambda: frames_of(relay, "south") >= 1, 90, look=0.005)
    killed = [*jobs_in(sites["south"] / "package"), *jobs_in(relay)]
    until("its middle", lambda: frames_of(relay, "south") >= 4, 60, look=0.005)
    kill(*killed)
    assert len(killed) == 2
    until("the job's end", lambda: not any(map(jobs_in, (relay, *(f / "package" for f in sites.values())))), 60)
    assert not any(map(released, sites.values()))


@pytest.mark.slow
def test_the_page_leads_to_one_release_at_every_site(tmp_path: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    """The first job dies; as the page says, the same command again has all go on."""
    page = FLARE.replace(PORT, f":{free_port()}").replace(HOST, "localhost")
    with (
        forked(tmp_path / "bin", environment(tmp_path_factory.getbasetemp().parent)) as programs,
        loaded(tmp_path / "door") as program,
        organisations(tmp_path, EVERYBODY, program) as everybody,
    ):
        for one in everybody.values():
            with_flare(one, programs)
        for name, count in zip(PARTIES, (600, 450, 300), strict=True):
            rows(everybody[name].folder, count)
        sites = {name: everybody[name].folder for name in EVERYBODY[:-1]}
        relay = everybody["relay"].folder / "provisioned/smc_dp/prod_00/localhost"
        try:
            for step in steps(page):
                if "job submit" in step.text:
                    until("all sites", lambda: all("uccessfully registered" in log(f) for f in sites.values()), 90)
                if step.heading == AFTERWARDS:
                    until("all releases", lambda: all(map(released, sites.values())), 120)
                follow_with_flare(step, everybody)
                if "job submit" in step.text:
                    kill_the_job(sites, relay)
                    follow_with_flare(step, everybody)
        finally:
            kill(*processes_in(tmp_path))
        for name in ("release.json", "transcript.jsonl"):
            assert len({next(f.glob(f"package/local/smc_dp/*/run/{name}")).read_bytes() for f in sites.values()}) == 1
        assert frames_of(relay, "south") > 4
        assert under_two_digests(relay) == 0
        for name in PARTIES:
            (path,) = sites[name].glob(f"package/local/smc_dp/*/{name}.ledger")
            assert entries(path) == CHARGED_ONCE


def log(site: Path) -> str:
    """Return what FLARE's log of a site has."""
    file = site / "package" / "log.txt"
    return file.read_text(errors="replace") if file.exists() else ""


def released(site: Path) -> bool:
    """Tell whether a site has said that it has a release."""
    return RELEASED in (site / "said.txt").read_text(errors="replace")
