"""Whether what was published is what the record commits to: files, shares, weights, parameters, cost."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from protocols.errors import DecodeError
from protocols.runtime import message as messages
from protocols.runtime.envelope import HELLO, STAGE_END, Envelope, signed_payload
from protocols.runtime.network import LINKS, Traffic, traffic
from smc_dp.audit.run.blame import gone
from smc_dp.audit.run.check import CheckOutcome, failed, not_possible, passed
from smc_dp.audit.run.evidence import MAX_BYTES, Evidence
from smc_dp.errors import InputError, shown
from smc_dp.files import reading
from smc_dp.run.agreement import REASONS
from smc_dp.run.folder import RELEASE, SHARES, TIMINGS, TRANSCRIPT, opened

_COUNTED = tuple(field.name for field in fields(Traffic))
_COST = {*_COUNTED, "seconds", "by_stage"}


def files(evidence: Evidence) -> CheckOutcome:
    """Every file of the folder has the digest that the release states."""
    digests = reading.mapping("digests", evidence.release.get("digests"))
    reading.keys("digests", digests, {SHARES, TRANSCRIPT, TIMINGS})
    contents = {name: evidence.files[name] for name in (SHARES, TRANSCRIPT)}
    if (timings := _timings(evidence)) is not None:
        contents[TIMINGS] = timings
    for name, content in contents.items():
        if digests[name] != hashlib.sha256(content).hexdigest():
            return failed(f"{name} does not have the digest that {RELEASE} states")
    return passed(f"digests of {', '.join(contents)}")


def shares(evidence: Evidence) -> CheckOutcome:
    """shares.json holds, name by name and number by number, what the participants signed and published."""
    stated = reading.mapping("shares", evidence.shares.get("shares"))
    hygiene = evidence.protocol.model.hygiene
    if hygiene is None:
        return not_possible("the protocol does not say in which ring its shares add up")
    ring_bits = hygiene.ring_bits(evidence.session.parameters)
    if evidence.shares.get("modulus") != str(1 << ring_bits):
        return failed(f"modulus: wanted 2**{ring_bits}, got {shown(evidence.shares.get('modulus'))}")
    published = {
        e.sender: (n, e) for n, e in evidence.envelopes.items() if e.is_public and e.kind not in (HELLO, STAGE_END)
    }
    if evidence.absences and not published:
        return not_possible("letters were given up, and nobody published anything")
    names = [name for name in evidence.session.names if name in published or name not in gone(evidence)]
    reading.keys("shares", stated, set(names))
    for name in names:
        if name not in published:
            return failed(f"the record holds no share of {name}")
        line, envelope = published[name]
        try:
            signed = [str(y) for y in _published(evidence, envelope)]
        except DecodeError as error:
            return failed(f"what the record has as the share of {name} is none: {error}", line)
        if stated[name] != signed:
            return failed(f"the shares of {name} in {SHARES} are not those that were published as its own", line)
    return passed(f"{len(names)} shares of {len(stated[names[0]])} numbers, as they were published")


def release(evidence: Evidence) -> CheckOutcome:
    """The release is well-formed, and its weights are the sum of the shares over the number of parties."""
    found = opened(dict(evidence.release), dict(evidence.shares))
    return passed(
        f"{len(found.weights)} weights are the sum of the shares over {len(evidence.session.parties)} parties"
    )


def agreement(evidence: Evidence) -> CheckOutcome:
    """The session is bound to parameters, bounds and grid of the release and to the marks, and both state the same."""
    found = opened(dict(evidence.release), dict(evidence.shares))
    head, parameters = evidence.head, evidence.session.parameters
    stated = parameters.as_dict()
    said = {field.name: stated[field.name] for field in fields(parameters)} | {
        "topology": head["topology"],
        "protocol": head["protocol"],
    }
    for name, value in said.items():
        got = found.parameters.get(name)
        if type(got) is not type(value) or got != value:
            return failed(f"{name}: line 0 has {shown(value)}, the release {shown(got)}", 0)
    marks = head["insecure"]
    if not isinstance(marks, list) or list(found.insecure) != [REASONS[mark] for mark in REASONS if mark in marks]:
        return failed("insecure: the release gives other reasons than the marks on line 0", 0)
    if found.agreement.digest != stated["agreed"]:
        what = "the parameters, bounds and marks of the release and the grid of its shares"
        return failed(f"the session was not bound to {what}", 0)
    columns = len(found.bounds.columns)
    return passed(f"{len(found.parameters)} parameters, the bounds of {columns} columns, the grid and the marks")


def cost(evidence: Evidence) -> CheckOutcome:
    """The messages, bytes and rounds in timings.json are those of the record, as a whole and stage by stage.

    Rounds are counted from what messages state, which `rounds` looks at. Seconds are what each site says of itself.
    """
    content = _timings(evidence)
    if content is None:
        return not_possible(f"there is no {TIMINGS}")
    stated = reading.parse_object(content, TIMINGS)
    link = reading.mapping("parameters", evidence.release.get("parameters")).get("link")
    if not isinstance(link, str) or link not in LINKS:
        raise InputError(f"link: wanted one of {', '.join(LINKS)}, got {shown(link)}")
    topology = evidence.head["topology"]
    found = traffic(evidence.envelopes.values(), evidence.session, LINKS[link], topology)
    reading.keys(TIMINGS, stated, _COST)
    reading.numbers("seconds", [stated["seconds"]])
    if fault := _stages_fault(reading.items("by_stage", stated["by_stage"]), found):
        return failed(fault)
    total = {name: sum(getattr(stage, name) for stage in found.values()) for name in _COUNTED}
    for name, value in total.items():
        if type(stated[name]) is not int or stated[name] != value:
            return failed(f"{name}: {TIMINGS} states {shown(stated[name])}, the record has {value}")
    counted = ", ".join(f"{value} {name}" for name, value in total.items())
    return passed(f"{counted}, in {len(found)} stages; seconds are what each site says of itself")


def _stages_fault(stated: list[Any], found: Mapping[str, Traffic]) -> str | None:
    """What is wrong with the figures of a stage; one with seconds alone has no messages."""
    named: set[str] = set()
    for stage in map(_stage, stated):
        if stage["stage"] in named:
            return f"by_stage: {shown(stage['stage'])} stands there twice"
        named.add(stage["stage"])
        sent = found.get(stage["stage"], Traffic())
        for name in _COUNTED:
            if stage[name] != getattr(sent, name):
                said = f"{TIMINGS} states {stage[name]} {name} for {shown(stage['stage'])}"
                return f"{said}, the record has {getattr(sent, name)}"
    missing = next((name for name in found if name not in named), None)
    return None if missing is None else f"by_stage: {TIMINGS} has no stage {shown(missing)}, the record has"


def _stage(stage: Any) -> dict[str, Any]:
    """What timings.json states of one stage; raises InputError unless it has the shape of that."""
    found = reading.mapping("by_stage", stage)
    reading.keys("by_stage", found, (_COST - {"by_stage"}) | {"stage"})
    reading.numbers("seconds", list(reading.mapping("seconds", found["seconds"]).values()))
    if not isinstance(found["stage"], str) or any(type(found[name]) is not int for name in _COUNTED):
        raise InputError("by_stage: wanted a name and whole numbers of messages, bytes and rounds")
    return found


def _published(evidence: Evidence, envelope: Envelope) -> tuple[int, ...]:
    """The numbers in a published message; raises `DecodeError` when it is none that this participant may publish."""
    session = evidence.session
    kind = session.kinds.get(envelope.kind)
    if kind is None or not kind.route.allows(session.kind(envelope.sender), messages.PUBLIC):
        raise DecodeError(f"{shown(envelope.kind)} is not published in this protocol")
    read: Any = messages.decode(kind, signed_payload(envelope), session.layout, {})
    return tuple(read.y)


def _timings(evidence: Evidence) -> bytes | None:
    present = os.path.lexists(evidence.folder / TIMINGS)
    return reading.read_file(evidence.folder / TIMINGS, MAX_BYTES) if present else None
