"""Charlie who signed another list or another result of a sum than he published is named, and nobody else ever is."""

from __future__ import annotations

from typing import Any

import pytest
from support.sums import greetings, made, parameters

from protocols.crypto import masking
from protocols.curator import CURATOR_NAME
from protocols.secure_sum import roster
from protocols.secure_sum.messages import Ended, Listed
from protocols.secure_sum.public_verification import contradicted_statement

P = parameters(3, 0, 1, verifiable=True)


@pytest.fixture(scope="module")
def published() -> tuple[Any, ...]:
    """A session, its greetings, and what Charlie published in it."""
    setup = made(P)
    run = setup.simulate()
    return setup.session.id, greetings(setup, run.transcript.envelopes), run.published


@pytest.mark.parametrize("signer", [CURATOR_NAME, "P1"])
@pytest.mark.parametrize(("kind", "members", "changed"), [(Ended, 7, 1), (Ended, 3, 0), (Listed, 3, 0)])
def test_a_statement_that_is_not_what_is_published_names_charlie(
    published: tuple[Any, ...], signer: str, kind: Any, members: int, changed: int
) -> None:
    session, greeted, said = published
    at = roster.sum_context(session, roster.greetings_digest(P, greeted), 0, roster.first_query(session))
    digest = masking.digest(said[CURATOR_NAME].S, P.width)

    def found(context: bytes, members: int, changed: int) -> Any:
        stated = Ended(context, members, bytes([digest[0] ^ changed]) + digest[1:])
        message = stated if kind is Ended else Listed(context, members, digest)
        return contradicted_statement(P, session, greeted, said, [(signer, message)])

    assert found(at, 7, 0) is None
    assert contradicted_statement(P, session, greeted, {}, [(signer, Listed(at, members, digest))]) is None
    assert found(bytes(len(at)), members, changed) is None  # of another sum
    violation = found(at, members, changed)
    if signer != CURATOR_NAME:
        assert violation is None
    else:
        assert (violation.name, violation.fault.code) == (CURATOR_NAME, "sum.not_as_signed")
