"""A first text of a study, with comments for whoever edits it: all of it stands there, nothing is left to a default."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import tomlkit
from tomlkit.items import Table

from protocols.curator import CURATOR_NAME
from smc_dp.core.errors import InputError
from smc_dp.run.agreement import TEST_KEYS, Agreement, settings_of

_TOP = (
    "A study: what all of its participants agree on. Whoever takes part signs exactly this (smc-dp study approve);",
    "a changed study is another study. `smc-dp study show` says in plain words what taking part means.",
)
_FOLLOWING = ("ring_bits", "fraction_bits")


@dataclass(frozen=True)
class Around:
    """What a study says besides its agreement; `bounds` as in a file of bounds, deadlines as a person writes them."""

    title: str
    purpose: str
    relay: str
    greetings: str
    letters: str
    identities: Mapping[str, bytes]
    bounds: Mapping[str, Any]


def draft(agreement: Agreement, around: Around) -> str:
    """The text of `study.toml`; InputError where the identity of a participant is missing, or one is of nobody."""
    missing = [name for name in agreement.participants if name not in around.identities]
    if missing:
        raise InputError(
            "study.no_public_key", value="curator" if CURATOR_NAME in missing else "party", missing=missing[0]
        )
    document = tomlkit.document()
    for line in _TOP:
        document.add(tomlkit.comment(line))
    document.add("title", tomlkit.item(around.title))
    document.add("purpose", _said(around.purpose, "a site's own terms may list the purposes that it takes part for"))
    document.add("relay", _said(around.relay, "where the mail goes; nats://, tls:// or flare://"))
    if TEST_KEYS in agreement.marks:
        document.add("insecure_test_keys", _said(True, "the keys of the protocol protect nothing"))
    if agreement.auxiliary is not None:
        document.add("auxiliary", _said(agreement.auxiliary.digest, "SHA-256 of the public rows that all have"))
    for name, section in _sections(agreement, around).items():
        document.add(name, section)
    return tomlkit.dumps(document)


def _sections(agreement: Agreement, around: Around) -> dict[str, object]:
    target = agreement.target
    has_delta = "delta" in agreement.parameters
    sections: dict[str, object] = {
        "method": _section("What is learned.", {"name": agreement.method.name, **settings_of(agreement.method)}),
        "target": _section(
            "What the release guarantees; a site's ledger is charged what the statement says (study show).",
            {"epsilon": str(target.epsilon), **({"delta": str(target.delta)} if has_delta else {})}
            | {"noise": target.noise, "calibration": target.calibration},
        ),
        "protocol": _section("How it is computed.", {"name": agreement.protocol, **_terms(agreement)}),
        "deadlines": _section(
            "How long all wait for all greetings, and for any letter after them: s, m, h or d.",
            {"greetings": around.greetings, "letters": around.letters},
        ),
        "parties": _parties(agreement, around.identities),
    }
    if CURATOR_NAME in agreement.participants:
        key = around.identities[CURATOR_NAME].hex()
        sections["curator"] = _section("Charlie: he learns the release, and nobody need trust him.", {"key": key})
    return sections | {"bounds": _bounds(around.bounds)}


def _terms(agreement: Agreement) -> dict[str, Any]:
    return {
        name: value
        for name, value in agreement.terms.as_dict(agreement.form).items()
        if name not in _FOLLOWING or hasattr(agreement.terms, name)
    }


def _parties(agreement: Agreement, identities: Mapping[str, bytes]) -> object:
    found = tomlkit.aot()
    for name in agreement.parties:
        found.append(tomlkit.item({"name": name, "key": identities[name].hex()}))
    return found


def _bounds(stated: Mapping[str, Any]) -> Table:
    made = tomlkit.table()
    for name, section in stated.items():
        made.add(name, tomlkit.item(section) if name != "columns" else _columns(section))
    return made


def _columns(stated: Mapping[str, Any]) -> Table:
    """Each on a line of its own, in their order: sections of their own would go behind all others."""
    made = tomlkit.table()
    for name, value in stated.items():
        said = tomlkit.inline_table() if isinstance(value, dict) else tomlkit.item(value)
        if isinstance(value, dict):
            said.update(value)
        made.add(name, said)
    return made


def _section(comment: str, values: Mapping[str, Any]) -> Table:
    made = tomlkit.table()
    made.comment(comment)
    for name, value in values.items():
        made.add(name, tomlkit.item(value))
    return made


def _said(value: Any, comment: str) -> Any:
    return tomlkit.item(value).comment(comment)
