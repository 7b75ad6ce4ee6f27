"""Whether the messages of a wire record are those of the session that line 0 describes: identities, routes, sizes."""

from __future__ import annotations

from collections.abc import Mapping

from protocols.runtime.channel import HELLO, STAGE_END, Envelope
from protocols.runtime.message import Kind, Route
from protocols.runtime.network import TOPOLOGIES, is_relayed
from protocols.runtime.session import CURATOR_NAME, PUBLIC_NAME
from smc_dp.audit.run.blame import blamed
from smc_dp.audit.run.check import CheckOutcome, failed, not_possible, passed
from smc_dp.audit.run.conformity.schedule import body_bytes
from smc_dp.audit.run.evidence import Evidence
from smc_dp.errors import shown
from smc_dp.run.agreement import AS_PRINTED, SEEDED, TEST_KEYS


def session(evidence: Evidence) -> CheckOutcome:
    """The session id is the hash of what line 0 describes; identities differ; topology and marks are possible ones.

    Topology and marks stand beside the session; the digest `agreed` in its parameters binds it to them.
    """
    head, described = evidence.head, evidence.session
    if head["session"] != described.id.hex():
        return failed("the session id is not that of the stated protocol, parameters, identities and nonce", 0)
    if len(set(described.identities.values())) < len(described.identities):
        return failed("identities: one key belongs to two participants", 0)
    if head["topology"] not in TOPOLOGIES:
        return failed(f"topology: wanted one of {', '.join(TOPOLOGIES)}, got {shown(head['topology'])}", 0)
    marks = head["insecure"]
    due = {
        TEST_KEYS: evidence.protocol.limits.are_test_keys(described.parameters),
        AS_PRINTED: evidence.protocol.claim is None,
    }
    wanted = [
        mark for mark in (SEEDED, TEST_KEYS, AS_PRINTED) if due.get(mark, isinstance(marks, list) and mark in marks)
    ]
    if marks != wanted:
        return failed(f"insecure: wanted {', '.join(wanted) or 'no mark'}, got {shown(marks)}", 0)
    return passed(f"{described.program.name} {described.program.version}, {head['topology']}; {described.id.hex()}")


def identities(evidence: Evidence) -> CheckOutcome:
    """Every participant's identity is the one that is known from elsewhere."""
    if evidence.pinned is None:
        return not_possible("no identities were given; signatures hold only for those that line 0 states itself")
    for name, stated in evidence.session.identities.items():
        if name not in evidence.pinned:
            return failed(f"no identity of {shown(name)} is known from elsewhere", 0)
        if evidence.pinned[name] != stated:
            return failed(f"line 0 states another identity of {shown(name)} than the one known from elsewhere", 0)
    return passed(f"{len(evidence.session.identities)} identities are those known from elsewhere")


def routes(evidence: Evidence) -> CheckOutcome:
    """Every kind is declared, travels between the kinds of participant that it may, and by whom it should."""
    described, topology = evidence.session, evidence.head["topology"]
    declared = {kind.__name__: kind.route for kind in described.program.kinds}
    people = {name: described.kind(name) for name in (*described.names, PUBLIC_NAME)}
    for n, e in evidence.envelopes.items():
        if not _is_routed(declared, people, e):
            what = f"no {shown(e.kind)} goes from {shown(e.sender)} to {shown(e.to)}"
            return failed(what, n, blamed(evidence, n))
        via = CURATOR_NAME if is_relayed(topology, e.sender, e.to) else None
        said = evidence.lines[n - 1].get("via")
        if said != via:
            return failed(f"via: wanted {via or 'nobody'} in a {topology}, got {shown(said) if said else 'nobody'}", n)
    return passed(f"{len(evidence.envelopes)} messages of {len({e.kind for e in evidence.envelopes.values()})} kinds")


def sizes(evidence: Evidence) -> CheckOutcome:
    """Every body has exactly the length that the public parameters give, and every line states the envelope's size."""
    wanted = body_bytes(evidence.session)
    for n, e in evidence.envelopes.items():
        if e.kind not in wanted:
            return failed(f"nobody can say how long a {shown(e.kind)} is", n, blamed(evidence, n))
        if len(e.body) != wanted[e.kind]:
            return failed(
                f"{e.kind} has a body of {len(e.body)} bytes, wanted {wanted[e.kind]}", n, blamed(evidence, n)
            )
        if evidence.lines[n - 1].get("size") != e.size:
            return failed(f"states {shown(evidence.lines[n - 1].get('size'))} bytes, has {e.size}", n)
    total = sum(len(e.body) for e in evidence.envelopes.values())
    return passed(f"{total} bytes of bodies, each as long as its kind and the parameters say")


def _is_routed(declared: Mapping[str, Route], people: Mapping[str, Kind], e: Envelope) -> bool:
    if e.sender not in people or e.to not in people or e.to == e.sender:
        return False
    if e.kind in (HELLO, STAGE_END):
        return e.sender != PUBLIC_NAME and (e.to == PUBLIC_NAME) == (e.kind == STAGE_END)
    return e.kind in declared and declared[e.kind].allows(people[e.sender], people[e.to])
