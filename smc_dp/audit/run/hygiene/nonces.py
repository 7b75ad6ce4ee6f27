"""The nonces and link keys of a run: no key is used twice with one nonce, and no two keys are alike."""

from __future__ import annotations

from collections.abc import Iterable

from protocols.crypto.sealing import KEY_BYTES
from protocols.errors import DecodeError
from protocols.runtime.envelope import HELLO
from protocols.runtime.view import Recomputed
from smc_dp.audit.run.blame import blamed
from smc_dp.audit.run.check import CheckOutcome, failed, passed
from smc_dp.audit.run.evidence import Evidence
from smc_dp.core.errors import shown


def nonces(evidence: Evidence) -> CheckOutcome:
    """No key is used twice with one nonce: the nonce of a message is its number on its link."""
    numbers: dict[tuple[str, str], int] = {}
    greetings: dict[str, bytes] = {}
    for n, e in evidence.envelopes.items():
        edge = e.sender, e.to
        if e.number != numbers.get(edge, 0):
            return failed(f"has number {e.number} on its link, wanted {numbers.get(edge, 0)}", n)
        numbers[edge] = e.number + 1
        if e.kind == HELLO:
            public = e.body[:KEY_BYTES]
            if greetings.setdefault(e.sender, public) != public:
                return failed(f"{shown(e.sender)} greets with another session key than before", n, blamed(evidence, n))
    if len(set(greetings.values())) != len(greetings):
        return failed("two participants greet with one session key")
    links: dict[tuple[str, str], bytes] = {}
    for role, again in evidence.recomputed.items():
        if fault := _link_fault(again, _peers(evidence, role), links):
            return failed(fault)
    if len(set(links.values())) != len(links):
        return failed("two links have one key")
    what = f"{len(numbers)} links numbered without a gap, {len(greetings)} session keys"
    return passed(f"{what}, {len(links)} link keys, no two alike" if links else f"{what}; link keys need views")


def _peers(evidence: Evidence, role: str) -> list[str]:
    """With whom this participant has a link: all that the program declares, without those who never greeted it."""
    absent = {absent.sender for reader, absent in evidence.absences.values() if (reader, absent.kind) == (role, HELLO)}
    return [peer for peer in evidence.session.peers(role) if peer not in absent]


def _link_fault(again: Recomputed, peers: Iterable[str], links: dict[tuple[str, str], bytes]) -> str | None:
    """Collects the keys of both directions of the owner's links; what is wrong with one, if anything."""
    me = again.view.name
    for edge in [edge for peer in peers for edge in ((me, peer), (peer, me))]:
        try:
            key = again.links.key(*edge)
        except DecodeError:
            return f"there is no key for the link from {shown(edge[0])} to {shown(edge[1])}"
        if links.setdefault(edge, key) != key:
            return f"both ends of the link from {shown(edge[0])} to {shown(edge[1])} have different keys"
    return None
