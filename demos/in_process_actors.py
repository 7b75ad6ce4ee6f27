"""Parties as in-process actors that exchange sealed envelopes over a simulated channel.

Three hospitals and Charlie, an actor each, compute the noisy sum of the curator protocol with keys of 2048 bits.
You will see the first envelope of each kind as the channel carries it: its header, and the beginning of its sealed
body. At the end the script checks that the published shares add up to the sum that the ideal functionality gives, and
that an actor refuses an envelope of which the channel changed one bit.

    python in_process_actors.py
"""

from __future__ import annotations

from protocols.arithmetic.rng import Stream
from protocols.crypto.identity import Identity
from protocols.errors import PeerError
from protocols.pathak2010 import PROGRAM, Parameters, PartyInput
from protocols.pathak2010.ideal import functionality
from protocols.runtime.envelope import Envelope
from protocols.runtime.session import SESSION_BYTES, Session
from protocols.runtime.simulate import Run, Setting, Tamper, simulate

P = Parameters(("north", "south", "east"), dimension=2, key_bits=2048)
NAMES = tuple(PROGRAM.participants(P))
INPUTS = {name: PartyInput(n, (n, 7), (1, n)) for name, n in zip(P.parties, (900, 400, 120), strict=True)}


def run(channel: Tamper) -> Run:
    """Run all actors of a new session; `channel` is handed each envelope and returns what arrives where."""
    identities = {name: Identity.generate(Stream.from_system()) for name in NAMES}
    known = {name: identity.public for name, identity in identities.items()}
    session = Session(PROGRAM, P, known, Stream.from_system().bytes(SESSION_BYTES))
    inputs = {name: (P, INPUTS[name]) if name in INPUTS else (P,) for name in NAMES}
    seeds = {name: Stream.from_system() for name in NAMES}
    return simulate(session, identities, seeds, inputs, Setting(tamper=channel))


def main() -> None:
    """Show what the channel carries, then check the sum and the seals."""
    carried: list[Envelope] = []

    def shows(number: int, envelope: Envelope) -> list[tuple[str, Envelope]]:
        if envelope.kind not in {e.kind for e in carried}:
            way, how = (f"{envelope.sender} -> {envelope.to}", "signed" if envelope.is_public else "sealed")
            start = envelope.body[:8].hex()
            print(f"{number:>4}  {way:<20}{envelope.kind:<16}{how}, {len(envelope.body):>6} bytes: {start}...")
        carried.append(envelope)
        return [(envelope.to, envelope)]

    def flips(number: int, envelope: Envelope) -> list[tuple[str, Envelope]]:
        body = envelope.body
        changed = envelope.holding(bytes([body[0] ^ 1]) + body[1:]) if envelope.kind == "Slot" else envelope
        return [(envelope.to, changed)]

    published = run(shows).published
    total = P.weights.add_vectors(*(share.y for share in published.values()))
    sealed = sum(not envelope.is_public for envelope in carried)
    print(f"\n{len(NAMES)} actors exchanged {len(carried)} envelopes, {sealed} of them sealed for one addressee.")
    print(f"The published shares add up to {total}.")
    if total != functionality(P, list(INPUTS.values()), (0, 0, 0)):
        raise SystemExit("the sum is not that of the ideal functionality")
    try:
        run(flips)
    except PeerError as error:
        print(f"One bit was changed on the way: {error}.")
    else:
        raise SystemExit("an actor opened an envelope that was changed on the way")


if __name__ == "__main__":
    main()
