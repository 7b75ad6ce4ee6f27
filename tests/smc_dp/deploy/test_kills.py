"""Whatever dies when, by SIGKILL, and begins anew: the same envelopes, the same release, one charge."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from support import sites
from support.dying import (
    AT_RELAY,
    AT_SITE,
    CHARGED,
    COMMITTED,
    WRITTEN,
    DyingStore,
    Fate,
    Killed,
    called,
    die,
    plans,
)
from support.sites import Sites

from smc_dp.deploy.frame import Frame
from smc_dp.deploy.relay_store import RelayStore
from smc_dp.deploy.store import SiteStore

ROOT = Path(__file__).parents[3]
RUNS, OTHERS = 10, 4


def killed(folder: Path, runs: Sequence[Sequence[str]], *over: str) -> list[dict[str, Any]]:
    """What these runs left, each with its places to die at: sites and relay are processes of the system."""
    done = subprocess.run(
        [sys.executable, ROOT / "tests" / "support" / "killed.py", folder, *over],
        input=json.dumps(runs),
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "tests")])},
        check=False,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    found: list[dict[str, Any]] = json.loads(done.stdout)
    return found


def check(whole: Sites, runs: Sequence[Mapping[str, Any]]) -> None:
    """Each run left what the undisturbed one did."""
    links, releases = sites.stage_result(whole)
    for run in runs:
        assert sites.by_link(Frame.decode(bytes.fromhex(text)) for text in run["frames"]) == links
        assert {name: text.encode() for name, text in run["releases"].items()} == releases
        assert run["entries"] == [["released"]] * 3


@pytest.mark.slow
@pytest.mark.parametrize("over", [[], ["flower"]], ids=["sockets", "flower"])
def test_ten_runs_with_kills_everywhere_leave_what_one_without_leaves(
    over: list[str], curator_run: Sites, fast_path: Path
) -> None:
    frames = curator_run.frames()
    *runs, undisturbed = killed(fast_path, [*plans(frames, curator_run.study.names, RUNS, OTHERS), []], *over)
    check(curator_run, [*runs, undisturbed])
    assert not undisturbed["deaths"]
    met = {place for run in runs for death in run["deaths"] for place in death}
    assert {f"{COMMITTED}: {called(frame)}" for frame in frames} <= met
    assert {place.partition(":")[0] for place in met} == {COMMITTED, CHARGED, WRITTEN, *AT_SITE, *AT_RELAY}


class Mortal(Sites):
    """Whoever dies begins anew at once, as a program of the same thread."""

    def turn(self, name: str) -> None:
        try:
            super().turn(name)
        except Killed:
            self.begin(name)


def mortal(
    whole: Sites, folder: Path, kind: Callable[[Fate, RelayStore], Callable[..., SiteStore]], place: str
) -> Sites:
    """A run in which somebody dies at this place; coins are the system's, so that nothing is made twice by chance."""
    met = folder / "met"
    met.mkdir()
    run = Mortal(whole.study, folder, options={"coins": None})
    run.kind = kind(Fate([place], met, die), run.relay)
    return run


def test_dead_between_a_commit_and_its_send_a_site_sends_what_it_committed(curator_run: Sites, fast_path: Path) -> None:
    place = f"{COMMITTED}: envelope 0 from P2 to public"
    run = mortal(curator_run, fast_path, lambda fate, relay: partial(DyingStore, fate), place).run()
    assert sites.ends(run) == ["released"] * 4
    assert len(list((fast_path / "met").iterdir())) == 1
    run.close()
