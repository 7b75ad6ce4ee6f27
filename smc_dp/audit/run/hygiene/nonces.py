"""The nonces and link keys of a run: no key is used twice with one nonce, and no two keys are alike."""

from __future__ import annotations

from protocols.crypto.identity import SIGNATURE_BYTES
from protocols.errors import DecodeError
from protocols.runtime.channel import HELLO
from protocols.runtime.view import Recomputed
from smc_dp.audit.run.blame import blamed
from smc_dp.audit.run.check import CheckOutcome, failed, passed
from smc_dp.audit.run.evidence import Evidence
from smc_dp.errors import shown


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
            public = e.body[:-SIGNATURE_BYTES]
            if greetings.setdefault(e.sender, public) != public:
                return failed(f"{shown(e.sender)} greets with another session key than before", n, blamed(evidence, n))
    if len(set(greetings.values())) != len(greetings):
        return failed("two participants greet with one session key")
    links: dict[tuple[str, str], bytes] = {}
    for role, again in evidence.recomputed.items():
        if fault := _link_fault(again, evidence.session.names, links):
            return failed(fault, None, role)
    if len(set(links.values())) != len(links):
        return failed("two links have one key")
    what = f"{len(numbers)} links numbered without a gap, {len(greetings)} session keys"
    return passed(f"{what}, {len(links)} link keys, no two alike" if links else f"{what}; link keys need views")


def _link_fault(again: Recomputed, names: tuple[str, ...], links: dict[tuple[str, str], bytes]) -> str | None:
    """Collects the keys of both directions of the owner's links; what is wrong with one, if anything."""
    me = again.view.name
    for edge in [edge for peer in names if peer != me for edge in ((me, peer), (peer, me))]:
        try:
            key = again.links.key(*edge)
        except DecodeError:
            return f"{shown(me)} has no key for its link from {shown(edge[0])} to {shown(edge[1])}"
        if links.setdefault(edge, key) != key:
            return f"both ends of the link from {shown(edge[0])} to {shown(edge[1])} have different keys"
    return None
