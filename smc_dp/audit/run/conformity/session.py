"""Session: the messages of a transcript are those of the session that line 0 describes: identities, routes, sizes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from protocols.curator import CURATOR_NAME
from protocols.errors import LocalError
from protocols.runtime.body_bytes import body_bytes
from protocols.runtime.channel import GREETING_STAGE
from protocols.runtime.envelope import HELLO, STAGE_END, Envelope, is_signed
from protocols.runtime.message import Route
from protocols.runtime.network import TOPOLOGIES, check_topology, is_relayed
from protocols.runtime.session import PUBLIC_NAME, Session
from smc_dp.audit.run.blame import chain_signer, identity_key, line_signer
from smc_dp.audit.run.check import CheckOutcome, failed, not_possible, passed
from smc_dp.audit.run.evidence import Evidence
from smc_dp.core.errors import shown
from smc_dp.run.agreement import AS_PUBLISHED, REASONS, TEST_KEYS
from smc_dp.run.release_consistency import session_fault

_NAMED = 5  # no more than so many names in a sentence


def check_session(evidence: Evidence) -> CheckOutcome:
    """Check that the session id is the hash of line 0, identities differ, and topology and markers are possible.

    Topology and markers stand beside the session; the digest `agreed` in its parameters binds it to them.
    """
    head, described = evidence.head, evidence.session
    if wrong := session_fault(evidence.recorded):
        return failed(wrong.fault, line=0)
    if len(set(described.identities.values())) < len(described.identities):
        return failed("identities.shared_key", line=0)
    if head["topology"] not in TOPOLOGIES:
        return failed("topology.unknown", line=0, topologies=TOPOLOGIES, got=shown(head["topology"]))
    try:
        check_topology(head["topology"], described)
    except LocalError as error:
        return failed(error.fault.within("topology"), line=0)
    marks = head["insecure"]
    due = {
        TEST_KEYS: evidence.protocol.limits.are_test_keys(described.parameters),
        AS_PUBLISHED: evidence.protocol.claim is None,
    }
    wanted = [mark for mark in REASONS if due.get(mark, isinstance(marks, list) and mark in marks)]
    if marks != wanted:
        return failed("insecure_markers.not_due", line=0, wanted=", ".join(wanted) or "no mark", got=shown(marks))
    name, version, topology = described.program.name, described.program.version, head["topology"]
    return passed("session.holds", protocol=name, version=version, topology=topology, id=described.id.hex())


def check_identities(evidence: Evidence) -> CheckOutcome:
    """Check that the participants are those whose identities are known from elsewhere, and no others.

    But for Charlie where the protocol needs none, and for those whom the participants agreed to leave out.
    """
    if evidence.pinned is None:
        return not_possible("identities.not_given")
    for name, stated in evidence.session.identities.items():
        if name not in evidence.pinned:
            return failed("identity.unknown", line=0, name=shown(name))
        if evidence.pinned[name] != stated:
            return failed("identity.other", line=0, name=shown(name))
    not_there = [name for name in evidence.pinned if name not in evidence.session.identities]
    agreed = [name for name in not_there if name in _left_out(evidence)]
    needless = [CURATOR_NAME] if evidence.session.curator is None else []
    if missing := [name for name in not_there if name not in (*agreed, *needless)]:
        return failed("identity.without_participant", line=0, names=_listed(missing))
    said = f"; {_listed(agreed)} had dropped out before anybody paid, as the others agreed" if agreed else ""
    return passed("identities.hold", count=len(evidence.session.identities), said=said)


def _left_out(evidence: Evidence) -> tuple[str, ...]:
    """Return whom the participants agreed to leave out, by the release; the check `agreed` says whether they did."""
    parameters = evidence.release.get("parameters")
    stated = parameters.get("left_out") if isinstance(parameters, dict) else None
    return tuple(name for name in stated if isinstance(name, str)) if isinstance(stated, list) else ()


def _listed(names: Sequence[str]) -> str:
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return f"{', '.join(shown(name) for name in names[:_NAMED])}{more}"


def check_routes(evidence: Evidence) -> CheckOutcome:
    """Check that every kind is declared, and travels between those who may send it, by the relay it should take."""
    described, topology = evidence.session, evidence.head["topology"]
    declared = {kind.__name__: kind.route for kind in described.program.kinds}
    linked = {name: frozenset(described.peers(name)) for name in described.names}
    kinds: set[str] = set()
    for n, e in evidence.envelopes.items():
        if not _is_routed(described, linked, declared, e):
            culprit, kind, sender, to = chain_signer(evidence, n), shown(e.kind), shown(e.sender), shown(e.to)
            return failed("message.no_route", line=n, culprit=culprit, kind=kind, sender=sender, to=to)
        via = described.curator if is_relayed(topology, described, e) else None
        said = evidence.lines[n - 1].get("via")
        if said != via:
            got = shown(said) if said else "nobody"
            return failed("message.other_relay", line=n, wanted=via or "nobody", topology=topology, got=got)
        kinds.add(e.kind)
    for n, (reader, absent) in evidence.absences.items():
        greets = (absent.kind, absent.stage, absent.read) == (HELLO, GREETING_STAGE, 0)
        ends = (reader, absent.kind, absent.read) == (PUBLIC_NAME, STAGE_END, 0)
        if not (greets or ends) and not _goes(described, declared, absent.kind, absent.sender, reader):
            return failed(
                "absence.no_route", line=n, kind=shown(absent.kind), sender=shown(absent.sender), reader=shown(reader)
            )
    return passed("routes.hold", messages=len(evidence.envelopes), kinds=len(kinds))


def check_message_sizes(evidence: Evidence) -> CheckOutcome:
    """Check that every body has the length that the public parameters give, and every line the envelope's size."""
    wanted = body_bytes(evidence.session)
    total = 0
    for n, e in evidence.envelopes.items():
        length = wanted(e.sender, e.to, e.kind, e.stage)
        if length is None:
            return failed("message.unknown_length", line=n, culprit=chain_signer(evidence, n), kind=shown(e.kind))
        if len(e.body) != length:
            culprit, got = chain_signer(evidence, n), len(e.body)
            return failed("message.other_length", line=n, culprit=culprit, kind=e.kind, got=got, wanted=length)
        stated = evidence.lines[n - 1].get("size")
        if stated != e.size:
            return failed("message.other_size", line=n, stated=shown(stated), size=e.size)
        total += length
    return passed("sizes.hold", bytes=total)


def check_greetings(evidence: Evidence) -> CheckOutcome:
    """Check that nobody signed two greetings of this session that differ: that alone names the signer."""
    first: dict[str, Envelope] = {}
    for n, e in evidence.envelopes.items():
        if e.kind == HELLO and e.is_public and first.setdefault(e.sender, e) != e:
            culprit = line_signer(evidence, n) if _is_signed(evidence, first[e.sender]) else None
            return failed("greeting.twice", line=n, culprit=culprit, sender=shown(e.sender))
    return passed("greetings.hold", count=len(first))


def _is_signed(evidence: Evidence, e: Envelope) -> bool:
    public = identity_key(evidence, e.sender)
    return public is not None and is_signed(public, e)


def _is_routed(
    session: Session, linked: Mapping[str, frozenset[str]], declared: Mapping[str, Route], e: Envelope
) -> bool:
    if e.sender not in session.names:
        return False
    if e.kind in (HELLO, STAGE_END):
        return e.is_public
    return (e.is_public or e.to in linked[e.sender]) and _goes(session, declared, e.kind, e.sender, e.to)


def _goes(session: Session, declared: Mapping[str, Route], kind: str, sender: str, to: str) -> bool:
    """Return whether this kind has a route between participants of these names."""
    known = kind in declared and sender in session.names and to in (*session.names, PUBLIC_NAME)
    return known and declared[kind].allows(session.kind(sender), session.kind(to))
