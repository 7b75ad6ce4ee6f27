"""Every participant in an operating-system process of its own: mail goes through a folder, and one process is killed.

Each site has a folder with its identity, its seed and its newest state; no other site's process looks into it. Here
you will see three hospitals and Charlie compute the noisy sum with real keys, `kill -9` at work on one of them, again
and again, its next process go on from the state on its disk, and the sum come out that the ideal functionality gives.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import cbor2

from protocols.arithmetic.rng import Stream
from protocols.crypto.identity import Identity
from protocols.pathak2010 import PROGRAM, Parameters, PartyInput
from protocols.pathak2010.ideal import functionality
from protocols.runtime.actor import Actor
from protocols.runtime.bulletin_board import BulletinBoard
from protocols.runtime.envelope import Envelope
from protocols.runtime.replay import resume, save
from protocols.runtime.session import PUBLIC_NAME, Session

P = Parameters(("north", "south", "east"), dimension=2, key_bits=2048)
NAMES = tuple(PROGRAM.participants(P))
INPUTS = {name: PartyInput(n, (n, 7), (1, n)) for name, n in zip(P.parties, (900, 400, 120), strict=True)}
KILLS = 3


def write(path: Path, content: bytes) -> None:
    """Write a file whole or not at all."""
    partial = path.with_suffix(".partial")
    partial.write_bytes(content)
    partial.rename(path)


def session(folder: Path) -> Session:
    """Return the agreed session: each site pins the others' identities."""
    known = json.loads((folder / "agreed.json").read_text())
    return Session(PROGRAM, P, {n: bytes.fromhex(known[n]) for n in NAMES}, bytes.fromhex(known["nonce"]))


def mail(folder: Path, to: str, sender: str, first: int) -> list[Envelope]:
    """Return the envelopes on one link, from this number on."""
    found = []
    while (path := folder / "mail" / f"{sender} {to} {first + len(found)}").exists():
        found.append(Envelope.decode(path.read_bytes()))
    return found


def site(name: str, folder: Path) -> None:
    """Take mail, run, commit state and outbox, send; a process that dies anywhere in between is followed by another."""
    agreed, own, number = session(folder), folder / name, folder / name / "number"
    me, seed = Identity((own / "identity").read_bytes()), Stream((own / "seed").read_bytes(), insecure=False)
    board: dict[str, Envelope] = {}
    actor = Actor(agreed, name, me, seed, (P, *([INPUTS[name]] if name in INPUTS else [])), board)
    if number.exists():
        state, outbox = cbor2.loads((own / f"state {int(number.read_text())}").read_bytes())
        send(folder, [Envelope.decode(envelope) for envelope in outbox])
        actor = resume(agreed, state, me, int(number.read_text()), board)
    while True:
        board.update({n: hello[0] for n in NAMES if (hello := mail(folder, PUBLIC_NAME, n, 0)[:1])})
        at = actor.channel.counters.received
        new = [e for sender in NAMES for e in mail(folder, name, sender, at.get(sender, 0))]
        for envelope in new:
            actor.deliver(envelope)
        out = actor.advance() + (actor.release() if actor.done else [])
        if not (new or out):
            if actor.done:  # it had been killed after its last commit
                return
            time.sleep(0.02)
            continue
        state = save(actor)
        write(own / f"state {actor.counter}", cbor2.dumps([state, [envelope.encode() for envelope in out]]))
        write(number, str(actor.counter).encode())  # from here on, only this state may go on
        (own / f"state {actor.counter - 1}").unlink(missing_ok=True)  # with what a finished stage has forgotten
        send(folder, out)


def send(folder: Path, envelopes: list[Envelope]) -> None:
    """Put them where their addressees look; what is there already is the same."""
    for e in envelopes:
        write(folder / "mail" / f"{e.sender} {e.to} {e.number}", e.encode())


def main(folder: Path) -> int:
    """Make the sites, run them all, kill one, and add up what was published."""
    for place in (folder / "mail", *(folder / name for name in NAMES)):
        place.mkdir(mode=0o700)
    identities = {name: Identity.generate(Stream.from_system()) for name in NAMES}
    for name, identity in identities.items():
        (folder / name / "identity").write_bytes(identity.seed)
        (folder / name / "seed").write_bytes(Stream.from_system().key)
    known = {name: identity.public.hex() for name, identity in identities.items()}
    (folder / "agreed.json").write_text(json.dumps({**known, "nonce": Stream.from_system().bytes(32).hex()}))
    start = {name: [sys.executable, __file__, name, str(folder)] for name in NAMES}
    running = {name: subprocess.Popen(command) for name, command in start.items()}  # noqa: S603 (this file)
    for kill in range(1, KILLS + 1):
        while len(list((folder / "mail").glob("south *"))) < 6 * kill - 5 and running["south"].poll() is None:
            time.sleep(0.01)
        running["south"].kill()
        running["south"].wait()
        print(f"south was killed after {len(list((folder / 'mail').glob('south *')))} envelopes, and starts again")
        running["south"] = subprocess.Popen(start["south"])  # noqa: S603
    if any([process.wait() for process in running.values()]):
        return 1
    board = BulletinBoard(session(folder))
    for name in NAMES:
        for envelope in mail(folder, PUBLIC_NAME, name, 0):
            board.post(envelope)
    total = P.weights.add_vectors(*(share.y for share in board.published.values()))
    right = total == functionality(P, list(INPUTS.values()), (0, 0, 0))
    print(
        f"{len(list((folder / 'mail').iterdir()))} envelopes; the noisy sum is {total}: {'right' if right else 'wrong'}"
    )
    return 0 if right else 1


if __name__ == "__main__":
    if len(sys.argv) == 3:
        site(sys.argv[1], Path(sys.argv[2]))
    else:
        with tempfile.TemporaryDirectory() as made:
            raise SystemExit(main(Path(made)))
