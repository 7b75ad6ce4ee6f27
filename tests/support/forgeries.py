"""What a forger can do to a run folder: change its record, and then make as much anew as his keys allow.

A `Record` is a wire record taken apart. A `Change` takes one and gives another; changes may be applied one after the
other. How much of what ties a record together is made anew afterwards is said by the order of the changes:

* `forge` always makes the hash chain over the lines anew, the digest in release.json and the page: anybody can.
* `linked` also makes every sender's own chain, its numbers and the headers' session anew: anybody can, but the
  signatures of the participants do not hold any more.
* `resigned` does that and signs with the identities it is given: what only their owners can do. What was sealed stays
  as it was, so its seal is broken, which only views show.

`rewritten` and `edited` change single lines and files and make nothing anew but, on request, the digests of the files.

    target = forge(run, tmp_path / "forged", drop("Reshare"), linked)
"""

from __future__ import annotations

import base64
import copy
import hashlib
import json
import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from protocols.crypto.identity import SIGNATURE_BYTES, Identity
from protocols.curator import CURATOR_NAME
from protocols.runtime.envelope import START, Envelope
from protocols.runtime.inbox import Absent
from protocols.runtime.session import session_id
from protocols.runtime.transcript import ABSENT, digest_of_absence, encode_line, link, read_absence, read_envelope
from smc_dp.core import reading
from smc_dp.run.release import RELEASE, SHARES, TIMINGS, TRANSCRIPT


@dataclass(frozen=True)
class Missed:
    """A line that is no envelope: `reader` went on without a letter."""

    reader: str
    absent: Absent


@dataclass(frozen=True)
class Record:
    """Line 0 without its digest, and the envelopes on lines 1, 2, ...; `missed` follows them."""

    head: dict[str, Any]
    envelopes: tuple[Envelope, ...]
    missed: tuple[Missed, ...] = ()

    def place(self, kind: str, sender: str | None = None, nth: int = 0) -> int:
        """The index of the nth envelope of this kind (of this sender); its line is one more."""
        found = [i for i, e in enumerate(self.envelopes) if e.kind == kind and sender in (None, e.sender)]
        return found[nth]

    def put(self, i: int, *envelopes: Envelope) -> Record:
        """The record with these in place of envelope i."""
        return replace(self, envelopes=(*self.envelopes[:i], *envelopes, *self.envelopes[i + 1 :]))

    def dumps(self) -> str:
        """The text, with the hash chain over the lines made anew."""
        prev = hashlib.sha256(encode_line(self.head)).digest()
        text = [encode_line({**self.head, "digest": prev.hex()})]
        for n, held in enumerate((*self.envelopes, *self.missed), start=1):
            is_missed = isinstance(held, Missed)
            digest = digest_of_absence(held.reader, held.absent) if is_missed else held.digest
            fields = _absence(held) if is_missed else self._fields(held)
            made = link(prev, digest)
            text.append(encode_line({**fields, "n": n, "prev": prev.hex(), "digest": made.hex()}))
            prev = made
        return "".join(line.decode() + "\n" for line in text)

    def _fields(self, e: Envelope) -> dict[str, Any]:
        relayed = self.head["topology"] == "star" and CURATOR_NAME not in (e.sender, e.to) and not e.is_public
        return {
            **({"via": CURATOR_NAME} if relayed else {}),
            **{"from": e.sender, "to": e.to, "kind": e.kind, "stage": e.stage, "number": e.number, "round": e.round},
            **{"size": e.size, "chain": e.prev.hex(), "body": base64.b64encode(e.body).decode()},
        }


def _absence(m: Missed) -> dict[str, Any]:
    a = m.absent
    fields = {"from": a.sender, "to": m.reader, "kind": ABSENT, "stage": a.stage, "missing": a.kind, "read": a.read}
    return {**fields, "size": 0}


Change = Callable[[Record], Record]
Lines = list[dict[str, Any]]


def read_record(run: Path) -> Record:
    """The record in a run folder."""
    head, *lines = read_lines(run)
    session = bytes.fromhex(head["session"])
    del head["digest"]
    sent = tuple(read_envelope(session, line) for line in lines if line["kind"] != ABSENT)
    missed = tuple(Missed(*read_absence(line)) for line in lines if line["kind"] == ABSENT)
    return Record(head, sent, missed)


def read_lines(run: Path) -> Lines:
    """The lines of the record in a run folder."""
    return [json.loads(line) for line in (run / TRANSCRIPT).read_text("ascii").splitlines()]


# Folders.


def forge(run: Path, target: Path, *changes: Change) -> Path:
    """A copy of a run folder with a changed record, its line digests and its digest in release.json made anew."""
    record = read_record(run)
    for change in changes:
        record = change(record)
    return with_text(run, target, record.dumps())


def with_text(run: Path, target: Path, text: str) -> Path:
    """A copy of a run folder with this text as its record, and its digest."""
    shutil.copytree(run, target)
    (target / TRANSCRIPT).write_text(text, "ascii")
    return redigested(target)


def rewritten(run: Path, target: Path, n: int, change: Callable[[dict[str, Any]], Any]) -> Path:
    """A copy in which `change` has altered the JSON object on line n, and no other line."""
    lines = read_lines(run)
    change(lines[n])
    return with_text(run, target, "".join(encode_line(line).decode() + "\n" for line in lines))


def edited(
    run: Path, target: Path, name: str, change: Callable[[dict[str, Any]], Any], *, redigest: bool = True
) -> Path:
    """A copy in which `change` has altered the JSON object in one file; release.json then states its digest or not."""
    shutil.copytree(run, target)
    change_json(target / name, change)
    return redigested(target) if redigest else target


def change_json(path: Path, change: Callable[[dict[str, Any]], Any]) -> None:
    document = json.loads(path.read_text())
    change(document)
    path.write_text(json.dumps(document, indent=2) + "\n")


def redigested(run: Path) -> Path:
    """The folder itself, with the digests in release.json made anew."""
    release = json.loads((run / RELEASE).read_text())
    for name in (SHARES, TRANSCRIPT, TIMINGS):
        if (run / name).exists():
            release["digests"][name] = hashlib.sha256((run / name).read_bytes()).hexdigest()
    (run / RELEASE).write_text(json.dumps(release, indent=2) + "\n")
    return run


def altered_weight(run: Path, target: Path) -> Path:
    """One weight of the release is another."""
    return edited(run, target, RELEASE, lambda d: d["weights"].__setitem__(0, d["weights"][0] + 2**-20))


def altered_share(run: Path, target: Path, name: str, *, redigest: bool = True) -> Path:
    """The first number that a participant published is another in shares.json."""

    def change(document: dict[str, Any]) -> None:
        share, modulus = document["shares"][name], int(document["modulus"])
        share[0] = str((int(share[0]) + 1) % modulus)

    return edited(run, target, SHARES, change, redigest=redigest)


def altered_timings(run: Path, target: Path, *, redigest: bool = False) -> Path:
    """The run is said to have taken a second more; release.json states the digest of the old file unless asked."""
    return edited(run, target, TIMINGS, lambda d: d.__setitem__("seconds", d["seconds"] + 1), redigest=redigest)


# Changes that anybody can make.


def flip(i: int, at: int = 0) -> Change:
    """One bit of the body of envelope i is another; `at` counts bytes, from the end when negative."""

    def change(record: Record) -> Record:
        body = bytearray(record.envelopes[i].body)
        body[at] ^= 1
        return record.put(i, replace(record.envelopes[i], body=bytes(body)))

    return change


def alter(i: int, **fields: Any) -> Change:
    """Envelope i has other fields: sender, to, kind, stage, number, round, prev, body."""
    return lambda record: record.put(i, replace(record.envelopes[i], **fields))


def resize(i: int, more: int) -> Change:
    """The body of envelope i is longer, or shorter; of signed ones the payload is, not the signature."""

    def change(record: Record) -> Record:
        body = record.envelopes[i].body
        body = bytes(more) + body if more >= 0 else body[-more:]
        return record.put(i, replace(record.envelopes[i], body=body))

    return change


def miss(reader: str, sender: str, kind: str, stage: str, read: int = 0) -> Change:
    """The record says that somebody went on without a letter."""
    more = Missed(reader, Absent(sender, kind, stage, read))
    return lambda record: replace(record, missed=(*record.missed, more))


def drop(i: int) -> Change:
    """Envelope i is not there."""
    return lambda record: record.put(i)


def duplicate(i: int) -> Change:
    """Envelope i stands there twice."""
    return lambda record: record.put(i, record.envelopes[i], record.envelopes[i])


def swap(i: int, j: int) -> Change:
    """Envelopes i and j have changed places."""
    return lambda record: record.put(i, record.envelopes[j]).put(j, record.envelopes[i])


def move(i: int, to: int) -> Change:
    """Envelope i stands at place `to`, the others in their order."""

    def change(record: Record) -> Record:
        rest = [*record.envelopes]
        rest.insert(to, rest.pop(i))
        return replace(record, envelopes=tuple(rest))

    return change


def cut(i: int) -> Change:
    """The record ends before envelope i."""
    return lambda record: replace(record, envelopes=record.envelopes[:i])


def splice(other: Path, i: int) -> Change:
    """Envelope i comes from another run: its header, number and body, under the session id of this record."""
    return lambda record: record.put(i, replace(read_record(other).envelopes[i], session=record.envelopes[i].session))


def with_head(**fields: Any) -> Change:
    """Line 0 has other fields: topology, insecure, nonce, ..."""
    return lambda record: replace(record, head={**record.head, **fields})


def with_parameters(**fields: Any) -> Change:
    """Line 0 states other parameters; the session id stays as it was."""
    return lambda record: replace(record, head={**record.head, "parameters": record.head["parameters"] | fields})


def with_identity(name: str, identity: Identity) -> Change:
    """Line 0 states another identity for one participant; the session id stays as it was."""

    def change(record: Record) -> Record:
        head = copy.deepcopy(record.head)
        head["identities"][name] = identity.public.hex()
        return replace(record, head=head)

    return change


def with_session(record: Record) -> Record:
    """The session id is made anew from line 0, and stands in every header."""
    head = record.head
    identities = {name: bytes.fromhex(key) for name, key in head["identities"].items()}
    new = session_id(head["protocol"], head["version"], head["parameters"], identities, bytes.fromhex(head["nonce"]))
    envelopes = tuple(replace(e, session=new) for e in record.envelopes)
    return replace(record, head={**head, "session": new.hex()}, envelopes=envelopes)


def linked(record: Record) -> Record:
    """Every sender's chain and numbers made anew: only signatures (and, to their readers, seals) can tell."""
    return resigned({})(record)


# What takes a participant's identity.


def resigned(signers: Mapping[str, Identity]) -> Change:
    """Chains, numbers, and the signatures of these participants made anew; their own identities, or anybody's."""

    def change(record: Record) -> Record:
        chain: dict[str, bytes] = {}
        numbers: dict[tuple[str, str], int] = {}
        made = []
        for e in record.envelopes:
            number = numbers.get((e.sender, e.to), 0)
            new = replace(e, number=number, prev=chain.get(e.sender, START))
            if e.is_public and e.sender in signers:
                new = signed(new, signers[e.sender])
            chain[e.sender], numbers[e.sender, e.to] = new.digest, number + 1
            made.append(new)
        return replace(record, envelopes=tuple(made))

    return change


def sign(i: int, signer: Identity) -> Change:
    """Envelope i is signed by somebody, its payload as it was."""
    return lambda record: record.put(i, signed(record.envelopes[i], signer))


def signed(envelope: Envelope, signer: Identity) -> Envelope:
    """The envelope with its signature made anew."""
    payload = envelope.body[:-SIGNATURE_BYTES]
    return replace(envelope, body=payload + signer.sign(envelope.header + payload))


def swapped_after_reading(run: Path, other: Path) -> Callable[..., bytes]:
    """Return a reader of files that puts another run's file into the run's place as soon as one was read."""
    read = reading.read_file

    def reader(path: Path, *arguments: Any, **options: Any) -> bytes:
        content = read(path, *arguments, **options)
        if path.parent == run and (other / path.name).exists():
            shutil.copyfile(other / path.name, path)
        return content

    return reader
