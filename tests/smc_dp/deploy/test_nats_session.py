"""A whole study over a real nats-server: three parties and Charlie, with short test keys."""

from __future__ import annotations

import shutil
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from support.organisations import CHARGED_ONCE, entries
from support.relays import PARTIES, NatsRelay, ready, relay, without_server

from protocols.curator import CURATOR_NAME
from smc_dp.deploy.join import Part, take_part

pytestmark = without_server
SITES = (*PARTIES, CURATOR_NAME)


def play(running: NatsRelay, folder: Path) -> list[Part]:
    """Everybody takes part, in a thread each."""
    with ThreadPoolExecutor(len(SITES)) as pool:
        files = {name: ready(folder / name, name, running.study) for name in SITES}
        for name in SITES:
            shutil.copytree(running.site(name), folder / name / "credentials")
        found = pool.map(lambda name: take_part(folder / name / "study.toml", files[name], lambda line: None), SITES)
        return list(found)


def test_every_site_makes_the_same_release_and_settles_its_own_book(tmp_path: Path) -> None:
    with relay(tmp_path) as running:
        parts = play(running, tmp_path)
    assert [(part.name, part.end, part.why.on_screen()) for part in parts] == [(name, "released", "") for name in SITES]
    rows = [None if part.compared is None else part.compared.rows for part in parts]
    assert rows == [None, 25, 30, None]  # the first has too few to say anything, Charlie none
    for file in ("release.json", "transcript.jsonl"):
        assert len({(part.out / file).read_bytes() for part in parts}) == 1
    for name in PARTIES:
        assert entries(tmp_path / name / f"{name}.ledger") == CHARGED_ONCE
