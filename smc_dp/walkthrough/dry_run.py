"""Dry run for a walkthrough: a real session of the program with small keys and numbers, and everybody's view.

Nothing in it is made up but the inputs. All coins follow from one number, so that a walkthrough is the same each time
it is made; such a run protects nothing.
"""

from __future__ import annotations

from typing import Any

from protocols.arithmetic.rng import Stream
from protocols.crypto.identity import Identity
from protocols.programs import Protocol
from protocols.runtime.session import SESSION_BYTES, Session
from protocols.runtime.simulate import DropOutAfter, Setting, simulate
from protocols.runtime.view import recompute
from smc_dp.leakage.symbolic.patterns import EVERYBODY_STAYS, Pattern
from smc_dp.walkthrough.observed_session import ObservedSession, observe_session

_SEED = "a lecture 2"  # in which, among two and among three, pi_1 leaves no party in its place
_LEAST, _BELOW = 10, 1000  # inputs of two and three digits


def run_dry(protocol: Protocol, p: Any, pattern: Pattern = EVERYBODY_STAYS) -> ObservedSession:
    """Run a session of this protocol with these parameters and this drop-out pattern."""
    root = Stream.insecure_from_seed(_SEED)
    drawn = root.fork("inputs")
    inputs = protocol.model.inputs(p, lambda _, bits: _small(drawn, bits))
    identities = {name: Identity.generate(root.fork(f"identity {name}")) for name in inputs}
    public = {name: identity.public for name, identity in identities.items()}
    session = Session(protocol.program, p, public, root.fork("nonce").bytes(SESSION_BYTES))
    seeds = {name: root.fork(f"seed {name}") for name in inputs}
    drop_outs = {pattern.name: DropOutAfter(pattern.message_number - 1)} if pattern.name else {}
    run = simulate(session, identities, seeds, inputs, Setting(drop_outs=drop_outs, views=True))
    transcript = dict(enumerate(run.transcript.read(), start=1))
    views = {name: recompute(session, view, transcript) for name, view in run.recorded.items()}
    return observe_session(session, transcript, views, (name for name, end in run.ends.items() if end == "gone"))


def _small(drawn: Stream, bits: int) -> int:
    """Return a number below 2**bits that reads well on a page."""
    return _LEAST + drawn.below(_BELOW - _LEAST) if 1 << bits >= _BELOW else drawn.bits(bits)
