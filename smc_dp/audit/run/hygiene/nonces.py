"""Session and link keys of a run: no two are alike, so that no key is used twice with one nonce."""

from __future__ import annotations

from collections.abc import Iterable

from protocols.crypto.sealing import KEY_BYTES
from protocols.errors import DecodeError
from protocols.runtime.envelope import HELLO
from protocols.runtime.view import Recomputed
from smc_dp.audit.run.check import CheckOutcome, failed, make_fault, passed
from smc_dp.audit.run.evidence import Evidence
from smc_dp.core.errors import Fault, shown


def check_nonces(evidence: Evidence) -> CheckOutcome:
    """Check that no two keys are alike.

    The nonce of a message is its number on its link, which `sender-chain` checks; `greetings` checks that nobody greets
    with two keys.
    """
    greetings = {e.sender: e.body[:KEY_BYTES] for e in evidence.envelopes.values() if e.kind == HELLO}
    if len(set(greetings.values())) != len(greetings):
        return failed("greeting.shared_key")
    links: dict[tuple[str, str], bytes] = {}
    for role, again in evidence.recomputed.items():
        if fault := _link_fault(again, _peers(evidence, role), links):
            return failed(fault)
    if len(set(links.values())) != len(links):
        return failed("link.shared_key")
    if not links:
        return passed("nonces.hold_in_record", keys=len(greetings))
    return passed("nonces.hold", keys=len(greetings), links=len(links))


def _peers(evidence: Evidence, role: str) -> list[str]:
    """Return the peers of this participant: all that the program declares, without those who never greeted it."""
    absent = {absent.sender for reader, absent in evidence.absences.values() if (reader, absent.kind) == (role, HELLO)}
    return [peer for peer in evidence.session.peers(role) if peer not in absent]


def _link_fault(again: Recomputed, peers: Iterable[str], links: dict[tuple[str, str], bytes]) -> Fault | None:
    """Collect the keys of both directions of the owner's links; return the fault of one, if any."""
    me = again.view.name
    for edge in [edge for peer in peers for edge in ((me, peer), (peer, me))]:
        between = {"sender": shown(edge[0]), "reader": shown(edge[1])}
        try:
            key = again.links.key(*edge)
        except DecodeError:
            return make_fault("link.no_key", **between)
        if links.setdefault(edge, key) != key:
            return make_fault("link.different_keys", **between)
    return None
