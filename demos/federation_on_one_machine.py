"""Three hospitals and Charlie, each a program with its own files, and a NATS server that carries their envelopes.

You will see each organisation make its key, check the study against its policy, sign and take part, with the commands
that it would give on its own machine. South is killed (`kill -9`) in the middle, and the same command goes on. At the
end the script checks that all four have one release, that an auditor with the four keys accepts its transcript, that
each hospital was charged once, and that no key or row of a hospital lies on the disk of anybody else, the relay's among
them. It needs the program nats-server on the PATH.
"""

from __future__ import annotations

import csv
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import suppress
from importlib import resources
from pathlib import Path

from sklearn.datasets import load_breast_cancer

from smc_dp import audit_run, predict
from smc_dp.deploy.store import StoreError, read_facts
from smc_dp.privacy.ledger.ledger import Ledger

SITES, KILLED, WHEN = ("north", "south", "west"), "south", "sum3"
ALL = (*SITES, "charlie")
PLACES = (*ALL, "relay")
STUDY = """study new --out study.toml --title Tumours --purpose research --bounds bounds.toml --party north.pub
 --party south.pub --party west.pub --curator charlie.pub --method newton --colluders 1 --most-rows 200 --relay """
TERMS = '[limits]\nmax_epsilon = 1\nmax_delta = 1e-5\nmin_colluders = 1\n[relay]\ncredentials = "credentials"\n'
JOIN = "join study.toml --data rows.csv --key {0}.key --ledger {0}.ledger --policy own.toml"
SERVE = "serve study.toml --key charlie.key --credentials credentials --out run"


def start(place: Path, name: str, line: str) -> subprocess.Popen[bytes]:
    """Start a command of this organisation, in its folder; no variable tells it of anybody else."""
    own = {key: os.environ[key] for key in ("PATH", "PYTHONPATH") if key in os.environ} | {"HOME": str(place / name)}
    words = [sys.executable, "-m", "smc_dp.cli", *line.format(name).split()]
    with (place / f"{name}.log").open("ab") as log:
        return subprocess.Popen(words, cwd=place / name, env=own, stdout=log, stderr=log)  # noqa: S603 (this program)


def ended(place: Path, running: dict[str, subprocess.Popen[bytes]]) -> None:
    """Wait for these; all have to end well."""
    if failed := [name for name, process in running.items() if process.wait()]:
        raise SystemExit(f"{failed[0]}: {(place / f'{failed[0]}.log').read_text()}")


def at(place: Path, names: Sequence[str], line: str) -> None:
    """Run the same command at each of these organisations, to its end."""
    called = "NAME" if len(names) > 1 else names[0]
    print(f"{', '.join(names)}: smc-dp {' '.join(line.format(called).split())}")
    ended(place, {name: start(place, name, line) for name in names})


def hand_over(place: Path, what: str, giver: str, takers: Sequence[str], called: str) -> None:
    """Hand a file or folder over, by whatever way organisations have."""
    print(f"  {giver} hands over {what.format('NAME')} to {', '.join(takers)}")
    for taker in takers:
        found = place / giver / what.format(taker)
        (shutil.copytree if found.is_dir() else shutil.copy)(found, place / taker / called)


def agree(place: Path, port: int) -> None:
    """Prepare rows, keys, a study, everybody's approval, and the relay's provisioning kit."""
    bunch = load_breast_cancer()
    table = [[*map(repr, x), bunch.target_names[y]] for x, y in zip(bunch.data.tolist(), bunch.target, strict=True)]
    for n, name in enumerate(ALL):  # what lies at charlie are patients whom no hospital has
        with (place / name / "rows.csv").open("w", newline="", encoding="utf-8") as file:
            csv.writer(file).writerows([[*bunch.feature_names, "diagnosis"], *table[n::4]])
        (place / name / "own.toml").write_text(TERMS)
    at(place, ALL, "identities new {0}")
    for name in SITES:
        hand_over(place, f"{name}.pub", name, ["charlie"], f"{name}.pub")
    bounds = resources.files("smc_dp.data").joinpath("breast_cancer.toml")
    (place / "charlie" / "bounds.toml").write_bytes(bounds.read_bytes())
    at(place, ["charlie"], f"{STUDY} tls://127.0.0.1:{port}")
    hand_over(place, "study.toml", "charlie", [*SITES, "relay"], "study.toml")
    at(place, SITES, "ledger init {0}.ledger --budget 2 --delta 1e-5")
    at(place, SITES, "study check study.toml --data rows.csv --ledger {0}.ledger --key {0}.key --policy own.toml")
    at(place, ALL, "study approve study.toml --key {0}.key --policy own.toml")
    at(place, ["relay"], "study provision study.toml --engine nats --out provisioning-kit")
    hand_over(place, "provisioning-kit/sites/{0}", "relay", ALL, "credentials")
    shutil.rmtree(place / "relay" / "provisioning-kit" / "sites")  # theirs alone


def take_part(place: Path) -> None:
    """Run all at once; kill one of them, and run its command again."""
    at(place, ["relay"], "study open study.toml --provisioning-kit provisioning-kit")
    line = dict.fromkeys(SITES, JOIN) | {"charlie": SERVE}
    print(f"{', '.join(SITES)}: smc-dp {JOIN.format('NAME')}\ncharlie: smc-dp {SERVE}")
    running, stage = {name: start(place, name, line[name]) for name in ALL}, ""
    while (not stage.startswith("sum") or stage < WHEN) and running[KILLED].poll() is None:  # witnesses, sum0, ...
        with suppress(StoreError):  # as long as there is no state
            stage = read_facts(place / KILLED / f"study.{KILLED}.state").get("stage", "")
        time.sleep(0.002)
    running[KILLED].kill()
    if running[KILLED].wait() != -signal.SIGKILL:
        raise SystemExit(f"{KILLED} came to an end before it was killed")
    print(f"  {KILLED} is killed in {stage}; the same command again:")
    at(place, [KILLED], JOIN)
    ended(place, {name: running[name] for name in ALL if name != KILLED})


def look(place: Path) -> bool:
    """Check the releases, the ledgers and the disks."""
    runs = [place / "charlie" / "run", *(place / name / f"study.{name}.state" / "run" for name in SITES)]
    pinned = {name: (place / name / f"{name}.pub").read_text().split()[-1] for name in ALL}
    (place / "identities.json").write_text(json.dumps(pinned))
    disks = {n: b"".join(p.read_bytes() for p in (place / n).rglob("*") if p.is_file()) for n in PLACES}
    secrets = [(n, (place / n / file).read_bytes().split()[-1]) for n in SITES for file in (f"{n}.key", "rows.csv")]
    where = [[other for other in PLACES if secret in disks[other]] == [name] for name, secret in secrets]
    charged = []
    for name in SITES:
        with Ledger.open(place / name / f"{name}.ledger") as ledger:
            charged.append([entry.state for entry in ledger.history().entries] == ["limit", "reserved", "released"])
    accuracy = predict(runs[0], place / "charlie" / "rows.csv").accuracy or 0.0
    found = {
        "all four have made the same release": len({(run / "release.json").read_bytes() for run in runs}) == 1,
        "an auditor who knows the keys accepts its transcript": audit_run(
            runs[1], identities=place / "identities.json"
        ).passed,
        "each hospital was charged once": all(charged),
        "a hospital's key and rows lie on its own disk, and nowhere else": all(where),
        f"{accuracy:.1%} of new patients are classified correctly": accuracy > 0.8,
    }
    print("""
The relay sees who writes to whom, when and how much; what is sealed it cannot open. Charlie sees masked numbers, and
sums with noise that nobody knows. A hospital sees its own rows and messages. All see the release.""")
    print(*(f"{'yes' if is_so else 'NO ':<4}{said}" for said, is_so in found.items()), sep="\n")
    return all(found.values())


def main(place: Path, server: str) -> int:
    """Agree, take part, look."""
    for name in PLACES:
        (place / name).mkdir()
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    agree(place, port)
    print("relay: nats-server -c server.conf")
    operator = place / "relay" / "provisioning-kit" / "operator"
    with (place / "relay.log").open("ab") as log:
        relay = subprocess.Popen([server, "-c", "server.conf"], cwd=operator, stdout=log, stderr=log)  # noqa: S603
    try:
        take_part(place)
    finally:
        relay.kill()
        relay.wait()
    return 0 if look(place) else 1


if __name__ == "__main__":
    found = shutil.which("nats-server")
    if found is None:
        print("nats-server is not on the PATH: install it (Debian: apt install nats-server)", file=sys.stderr)
        raise SystemExit(2)
    with tempfile.TemporaryDirectory() as made:
        raise SystemExit(main(Path(made), found))
