"""Statements that can be taken for something else, and engines that forget."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from protocols.runtime.actor import Actor
from protocols.runtime.envelope import START, Envelope
from protocols.runtime.session import PUBLIC_NAME


def statement_like_an_envelope(session_id: bytes, name: str, kind: str, payload: bytes) -> bytes:
    """What its signer would sign for a public envelope: a statement can be posted as one."""
    return Envelope(session_id, name, PUBLIC_NAME, kind, "", 1, 1, START, b"").header + payload


def statement_without_its_kind(session_id: bytes, name: str, kind: str, payload: bytes) -> bytes:
    """A statement serves every kind whose fields look like its own."""
    return b"smc-dp statement" + session_id + name.encode() + payload


def statement_without_its_session(session_id: bytes, name: str, kind: str, payload: bytes) -> bytes:
    """A statement serves every session."""
    return b"smc-dp statement" + name.encode() + kind.encode() + payload


ATTEST, SPEND = Actor.attest, Actor.spend


def attest_and_forget(actor: Actor, message: Any) -> bytes:
    """Signs whatever it is asked for, as often as it is asked."""
    actor.progress.statements.clear()
    return ATTEST(actor, message)


def spender_with_a_memory() -> Callable[[Actor, str], None]:
    """Asks the ledger for each label once, however often the role is run again."""
    known: set[str] = set()

    def spend(actor: Actor, label: str) -> None:
        if label not in known:
            SPEND(actor, label)
        known.add(label)

    return spend
