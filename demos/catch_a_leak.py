"""The paper's step 1.2, run exactly as published, tells who has the smallest database: see it leak, and see it caught.

The parties hide their sizes behind a permutation pi_1 that Charlie must not know. You will see that the wire record
shows pi_1 to anybody, that Charlie reads it off his own mail, and that he then names the smallest hospital. The same
attack on the hardened protocol finds nothing. Last comes a check that catches the leak without knowing the attack:
sessions that differ in their permutations must look alike from outside. Keys are toys of 512 bits (INSECURE, quick).
"""

from __future__ import annotations

from protocols.arithmetic.permutation import Permutation
from protocols.arithmetic.rng import Stream
from protocols.crypto.identity import Identity
from protocols.curator import CURATOR_NAME
from protocols.pathak2010 import PROGRAM, Parameters, PartyInput, as_published
from protocols.pathak2010.values import Halves
from protocols.runtime.session import Program, Session
from protocols.runtime.simulate import Run, Setting, simulate

SIZES = {"north": 900, "south": 400, "east": 120, "west": 700}  # secret: east is the smallest
P = Parameters(tuple(SIZES), dimension=2, key_bits=512)


def run(program: Program, seed: int) -> Run:
    """Run one session; each seed gives other keys and other permutations."""
    root = Stream.insecure_from_seed(seed)
    identities = {name: Identity.generate(root.fork(f"identity {name}")) for name in (*SIZES, CURATOR_NAME)}
    session = Session(program, P, {n: i.public for n, i in identities.items()}, root.fork("nonce").bytes(32))
    make = as_published.PrintedInput if program is as_published.PROGRAM else PartyInput
    inputs = {name: (P, make(n, P.weights.vector([5, -7]), (1, 2))) for name, n in SIZES.items()}
    seeds = {name: root.fork(f"seed {name}") for name in identities}
    return simulate(session, identities, seeds, {**inputs, CURATOR_NAME: (P,)}, Setting(views=True))


def addressees(seen: Run) -> dict[str, set[str]]:
    """Return what an eavesdropper sees in headers: to whom each party writes in step 1.2; itself, if to nobody."""
    edges = [(x["from"], x["to"]) for x in seen.transcript.lines() if x["kind"] in ("PrintedShare", "Relay")]
    return {name: {to for sender, to in edges if sender == name} or {name} for name in SIZES}


def culprit(seen: Run) -> str | None:
    """Return Charlie's answer: the smallest party, if senders name their places; he has j~ and pi_2 anyway."""
    view = seen.views[CURATOR_NAME]
    places = {sender: x.index for sender, x in view.messages if isinstance(x, as_published.PrintedCuratorShare)}
    if not places:
        return None
    pi1 = Permutation(tuple(places[name] for name in SIZES))
    pi2 = next(result.pi2 for result in view.results if isinstance(result, Halves))
    smallest = next(result for result in view.results if isinstance(result, int))
    return P.parties[pi1.inverse[pi2.inverse[smallest]]]


def headers(seen: Run) -> tuple[tuple[str, str, str, int], ...]:
    """Return the headers, which have to be the same whatever pi_1 is."""
    return tuple(sorted((x["from"], x["to"], x["kind"], x["size"]) for x in seen.transcript.lines()))


def main() -> None:
    """Attack both protocols, then check both."""
    print("Toy keys of 512 bits: INSECURE, for this demonstration only.")
    for title, program, leaks in (("as published", as_published.PROGRAM, True), ("hardened", PROGRAM, False)):
        runs = [run(program, seed) for seed in range(1, 5)]
        secret = [r.views["north"].results[0].pi1 for r in runs]
        watched, named = addressees(runs[0]), culprit(runs[0])
        print(f"\nStep 1.2 {title}. An observer of the network sees:")
        for name, found in watched.items():
            print(f"  {name} writes to {', '.join(sorted(found - {name})) or 'nobody'}")
        print(f"Charlie names the smallest hospital: {named or 'he cannot'}.")
        caught = len({headers(r) for r in runs}) > 1
        print(f"The check: {len(runs)} sessions, each with its own pi_1, look {'DIFFERENT' if caught else 'alike'}.")
        truth = {name: {P.parties[secret[0][j]]} if leaks else set(SIZES) - {name} for j, name in enumerate(SIZES)}
        if (watched, named) != (truth, "east" if leaks else None):
            raise SystemExit(f"{title}: the attack did not end as it should")
        if len(set(secret)) != len(runs) or caught != leaks:
            raise SystemExit(f"{title}: the check did not do its work")


if __name__ == "__main__":
    main()
