"""Whether what was published is what the record commits to: files, shares, weights, parameters, cost."""

from __future__ import annotations

import hashlib
import os
from dataclasses import fields
from typing import Any

from protocols.crypto.identity import SIGNATURE_BYTES
from protocols.errors import DecodeError
from protocols.runtime import message as messages
from protocols.runtime.channel import STAGE_END, Envelope
from protocols.runtime.network import LINKS, is_relayed
from protocols.runtime.session import PUBLIC_NAME
from smc_dp.audit.run.check import CheckOutcome, failed, not_possible, passed
from smc_dp.audit.run.conformity.schedule import learn, walk
from smc_dp.audit.run.evidence import MAX_BYTES, Evidence
from smc_dp.errors import InputError, shown
from smc_dp.files import reading
from smc_dp.run.agreement import REASONS
from smc_dp.run.folder import RELEASE, SHARES, TIMINGS, TRANSCRIPT, opened

_COUNTED = ("messages", "bytes", "rounds")
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
    names, hygiene = evidence.session.names, evidence.protocol.model.hygiene
    if hygiene is None:
        return not_possible("the protocol does not say in which ring its shares add up")
    ring_bits = hygiene.ring_bits(evidence.session.parameters)
    if evidence.shares.get("modulus") != str(1 << ring_bits):
        return failed(f"modulus: wanted 2**{ring_bits}, got {shown(evidence.shares.get('modulus'))}")
    reading.keys("shares", stated, set(names))
    published = {e.sender: (n, e) for n, e in evidence.envelopes.items() if e.to == PUBLIC_NAME and e.kind != STAGE_END}
    for name in names:
        if name not in published:
            return failed(f"{name} published nothing in the record")
        line, envelope = published[name]
        try:
            signed = [str(y) for y in _published(evidence, envelope)]
        except DecodeError as error:
            return failed(f"{name} published what is no share: {error}", line)
        if stated[name] != signed:
            return failed(f"the shares of {name} in {SHARES} are not those that it published", line)
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
    """The messages, bytes and rounds in timings.json are those of the record, and its stages add up to them.

    Seconds, and who of the stages had which part of the rounds, cannot be checked.
    """
    content = _timings(evidence)
    if content is None:
        return not_possible(f"there is no {TIMINGS}")
    stated = reading.parse_object(content, TIMINGS)
    found = _cost(evidence)
    if found is None:
        return failed("the record has less than half of the messages that the protocol sends")
    reading.keys(TIMINGS, stated, _COST)
    reading.numbers("seconds", [stated["seconds"]])
    stages = [_stage(stage) for stage in reading.items("by_stage", stated["by_stage"])]
    for name, value in found.items():
        if type(stated[name]) is not int or stated[name] != value:
            return failed(f"{name}: {TIMINGS} states {shown(stated[name])}, the record has {value}")
        if sum(stage[name] for stage in stages) != value:
            return failed(f"{name}: the stages in {TIMINGS} do not add up to {value}")
    return passed(", ".join(f"{value} {name}" for name, value in found.items()))


def _stage(stage: Any) -> dict[str, Any]:
    """What timings.json states of one stage; raises InputError unless it has the shape of that."""
    found = reading.mapping("by_stage", stage)
    reading.keys("by_stage", found, (_COST - {"by_stage"}) | {"stage"})
    reading.numbers("seconds", list(reading.mapping("seconds", found["seconds"]).values()))
    if not isinstance(found["stage"], str) or any(type(found[name]) is not int for name in _COUNTED):
        raise InputError("by_stage: wanted a name and whole numbers of messages, bytes and rounds")
    return found


def _cost(evidence: Evidence) -> dict[str, int] | None:
    """What the record shows of its cost; mail that Charlie passes on travels twice."""
    schedule = learn(evidence.protocol, evidence.session.parameters, len(evidence.lines))
    if schedule is None:
        return None
    link = reading.mapping("parameters", evidence.release.get("parameters")).get("link")
    if not isinstance(link, str) or link not in LINKS:
        raise InputError(f"link: wanted one of {', '.join(LINKS)}, got {shown(link)}")
    topology, sent = evidence.head["topology"], list(evidence.envelopes.values())
    hops = [2 if is_relayed(topology, e.sender, e.to) else 1 for e in sent]
    cost = {
        "messages": sum(hops),
        "bytes": sum(h * (e.size + LINKS[link].overhead) for h, e in zip(hops, sent, strict=True)),
    }
    if not schedule.free:  # else who waited for what follows something secret
        cost["rounds"] = walk(schedule.scripts, schedule.free, evidence.envelopes).rounds
    return cost


def _published(evidence: Evidence, envelope: Envelope) -> tuple[int, ...]:
    """The numbers in a published message; raises `DecodeError` when it is none that this participant may publish."""
    session = evidence.session
    kind = {kind.__name__: kind for kind in session.program.kinds}.get(envelope.kind)
    if kind is None or not kind.route.allows(session.kind(envelope.sender), messages.PUBLIC):
        raise DecodeError(f"{shown(envelope.kind)} is not published in this protocol")
    read: Any = messages.decode(kind, envelope.body[:-SIGNATURE_BYTES], session.layout, {})
    return tuple(read.y)


def _timings(evidence: Evidence) -> bytes | None:
    present = os.path.lexists(evidence.folder / TIMINGS)
    return reading.read_file(evidence.folder / TIMINGS, MAX_BYTES) if present else None
