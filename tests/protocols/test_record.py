"""A record that was made anew, chain and all, is still not one that its participants signed."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Callable
from functools import cache
from typing import Any

import pytest
from sessions import setup

from protocols.arithmetic.rng import Stream
from protocols.crypto.identity import Identity
from protocols.runtime import record, transcript
from protocols.runtime.channel import Envelope

Lines = list[dict[str, Any]]


@cache
def honest(topology: str = "mesh") -> str:
    return setup(3, 2).simulate(topology=topology).transcript.dumps()


def forged(change: Callable[[dict[str, Any], list[Envelope]], list[Envelope]]) -> str:
    """The record after a change to its head and envelopes, with all line digests made anew."""
    head, *lines = map(json.loads, honest().splitlines())
    session = bytes.fromhex(head["session"])
    envelopes = change(head, [transcript.read_envelope(session, line) for line in lines])
    del head["digest"]
    made = transcript.Transcript(setup(3, 2).session)
    made.head = head
    made._digests = [transcript.hashlib.sha256(transcript._canonical(head)).digest()]
    for envelope in envelopes:
        made.post(envelope)
    text = made.dumps()
    assert transcript.first_break(text) is None, "the hash chain alone does not see it"
    return text


def altered(envelope: Envelope, **fields: Any) -> Envelope:
    return Envelope(**{**vars(envelope), **fields})


def place(envelopes: list[Envelope], kind: str, sender: str = "P2") -> int:
    return next(i for i, e in enumerate(envelopes) if e.kind == kind and e.sender == sender)


@pytest.mark.parametrize("topology", ["mesh", "star"])
def test_honest_records_hold(topology: str) -> None:
    made = setup(3, 2)
    assert record.fault(honest(topology)) is None
    assert record.fault(honest(topology), dict(made.session.identities)) is None


def change_body(head: dict[str, Any], es: list[Envelope]) -> list[Envelope]:
    i = place(es, "Reshare")
    return [*es[:i], altered(es[i], body=es[i].body[:-1] + b"?"), *es[i + 1 :]]


def drop(head: dict[str, Any], es: list[Envelope]) -> list[Envelope]:
    i = place(es, "Relay")
    return es[:i] + es[i + 1 :]


def forge_share(head: dict[str, Any], es: list[Envelope]) -> list[Envelope]:
    i = place(es, "PublishedShare")
    return [*es[:i], altered(es[i], body=bytes(len(es[i].body))), *es[i + 1 :]]


def sign_as_another(head: dict[str, Any], es: list[Envelope]) -> list[Envelope]:
    i, other = place(es, "PublishedShare"), Identity.generate(Stream.insecure_from_seed(9))
    payload = es[i].body[:-64]
    return [*es[:i], altered(es[i], body=payload + other.sign(es[i].header + payload)), *es[i + 1 :]]


def cut_off(head: dict[str, Any], es: list[Envelope]) -> list[Envelope]:
    return es[: place(es, "Reshare") + 1]


def other_parameters(head: dict[str, Any], es: list[Envelope]) -> list[Envelope]:
    head["parameters"]["key_bits"] = 3072
    return es


def other_identity(head: dict[str, Any], es: list[Envelope]) -> list[Envelope]:
    head["identities"]["P2"] = Identity.generate(Stream.insecure_from_seed(9)).public.hex()
    return es


def renumber(head: dict[str, Any], es: list[Envelope]) -> list[Envelope]:
    i = place(es, "StageEnd")
    return [*es[:i], altered(es[i], number=7), *es[i + 1 :]]


def stranger(head: dict[str, Any], es: list[Envelope]) -> list[Envelope]:
    return [altered(es[0], sender="P9"), *es[1:]]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (change_body, "does not follow what P2 sent before"),
        (drop, "does not follow what P2 sent before"),
        (forge_share, "is not signed by P2"),
        (sign_as_another, "is not signed by P2"),
        (cut_off, "ends before .* has signed"),
        (other_parameters, "its parameters do not give"),
        (other_identity, "its parameters do not give"),
        (renumber, "has number 7 on its link, wanted 0"),
        (stranger, "line 1 is not between participants"),
    ],
)
def test_forged_records_do_not(change: Callable[..., list[Envelope]], words: str) -> None:
    assert re.search(words, record.fault(forged(change)) or "nothing found")


def test_pinned_identities_are_held_against_the_record() -> None:
    pinned = dict(setup(3, 2).session.identities)
    pinned["P1"] = pinned["P2"]
    assert record.fault(honest(), pinned) == "line 0 states other identities than those pinned"


@pytest.mark.parametrize("text", ["", "{}", "[]", "\n", "x", honest()[:-30]])
def test_what_is_no_record(text: str) -> None:
    assert record.fault(text) is not None


def test_a_changed_byte_names_its_line() -> None:
    lines = honest().splitlines()
    line = json.loads(lines[20])
    line["body"] = base64.b64encode(b"x" + base64.b64decode(line["body"])).decode()
    lines[20] = json.dumps(line, sort_keys=True, separators=(",", ":"))
    assert record.fault("\n".join(lines)) == "line 20 is not as it was recorded after the lines before"
