"""A first text of a study, with comments for its editor: all of it stands there, nothing is left to a default."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import tomlkit
from tomlkit.items import Table

from protocols.curator import CURATOR_NAME
from smc_dp.core.errors import InputError
from smc_dp.deploy.study import STUDY_FORMAT
from smc_dp.run.agreement import TEST_KEYS, Agreement

_TOP = (
    "A study: what all of its participants agree on. Each participant signs exactly this text (smc-dp study approve).",
    "A changed study is another study. `smc-dp study show` says in plain words what taking part means.",
)
_COMMENTS = MappingProxyType(
    {
        "purpose": "a site policy may list the purposes that it takes part for",
        "relay": "address of the relay; nats://, tls://, flare:// or flower://",
        "insecure_test_keys": "the keys of the protocol protect nothing",
        "auxiliary": "SHA-256 of the public rows that all have",
        "threshold": "a row with a probability above it is taken for the second class",
        "method": "What is learned.",
        "target": "What the release guarantees; a site's ledger is charged what the statement says (study show).",
        "protocol": "How it is computed.",
        "deadlines": "How long all wait for all greetings, and for any message after them: s, m, h or d.",
        "curator": "The curator learns the release. It is not trusted.",
    }
)


def draft_study(
    agreement: Agreement, around: Mapping[str, Any], identities: Mapping[str, bytes], bounds: Mapping[str, Any]
) -> str:
    """Return the text of `study.toml`; InputError where the identity of a participant is missing, or one is of nobody.

    `around`: title, purpose, relay and deadlines, and a threshold if there is one; `bounds` as in a file of bounds.
    """
    missing = [name for name in agreement.participants if name not in identities]
    if missing:
        value = "curator" if CURATOR_NAME in missing else "party"
        raise InputError("study.no_public_key", value=value, missing=missing[0])
    made = agreement.bounds
    rows = {"clip": made.clip, **({"bias": made.bias, "center": made.center} if agreement.describes else {})}
    whole = {**bounds, "rows": {**bounds.get("rows", {}), **rows}}
    keys = {name: identities[name].hex() for name in agreement.participants}
    stated = {
        "format": STUDY_FORMAT,
        **{name: around[name] for name in ("title", "purpose", "relay")},
        "insecure_test_keys": TEST_KEYS in agreement.marks or None,
        "auxiliary": agreement.auxiliary and agreement.auxiliary.digest,
        "threshold": around.get("threshold"),
        **agreement.sections,
        "deadlines": around["deadlines"],
        "parties": [{"name": name, "key": keys[name]} for name in agreement.parties],
        "curator": {"key": keys[CURATOR_NAME]} if CURATOR_NAME in keys else None,
        "bounds": {name: _columns(said) if name == "columns" else said for name, said in whole.items()},
    }
    document = tomlkit.document()
    for line in _TOP:
        document.add(tomlkit.comment(line))
    for name, value in stated.items():
        if value is not None:
            item = tomlkit.item(value)
            document.add(name, item.comment(_COMMENTS[name]) if name in _COMMENTS else item)
    return tomlkit.dumps(document)


def _columns(stated: Mapping[str, Any]) -> Table:
    """Return each on a line of its own, in their order: sections of their own would go behind all others."""
    made = tomlkit.table()
    for name, value in stated.items():
        said = tomlkit.inline_table() if isinstance(value, dict) else tomlkit.item(value)
        if isinstance(value, dict):
            said.update(value)
        made.add(name, said)
    return made
