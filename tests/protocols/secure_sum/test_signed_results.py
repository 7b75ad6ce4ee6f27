"""Charlie who signed another list or another result of a sum than he published is named, and nobody else ever is."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from support.sums import greetings, made, parameters

from protocols.crypto import masking
from protocols.curator import CURATOR_NAME
from protocols.secure_sum import roster
from protocols.secure_sum.messages import Ended, Listed, Masked
from protocols.secure_sum.parameters import Parameters
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


@pytest.mark.parametrize("p", [parameters(6, 1, 0, (2, 1), degree=2), parameters(6, 0, 1, (2, 1), degree=4)])
def test_in_a_sparse_graph_too_a_statement_that_is_not_what_is_published_names_charlie(p: Parameters) -> None:
    """Contexts are those that Charlie read; whoever checks his statements does not know of which sum they are."""
    setup = made(p)
    run = setup.simulate(views=True)
    greeted, said = greetings(setup, run.transcript.envelopes), run.published
    first, second = dict.fromkeys(m.context for _, m in run.views[CURATOR_NAME].messages if isinstance(m, Masked))
    one, other = (masking.digest(S, p.width) for S in (said[CURATOR_NAME].S[:2], said[CURATOR_NAME].S[2:]))
    members = p.everybody
    told = [
        *(Listed(first, members, bytes(32)), Ended(first, members, one)),
        *(Listed(second, members, bytes(32)), Ended(second, members, other)),
    ]

    def found(*stated: Any, signer: str = CURATOR_NAME, published: Any = said) -> Any:
        signed = [(signer, message) for message in stated]
        violation = contradicted_statement(p, setup.session.id, greeted, published, signed)
        return violation and (violation.name, violation.fault.code)

    false = {CURATOR_NAME: replace(said[CURATOR_NAME], S=(said[CURATOR_NAME].S[0] ^ 1, *said[CURATOR_NAME].S[1:]))}
    named = (CURATOR_NAME, "sum.signed_otherwise")
    assert found(*told, *told) is None
    assert found(*told, published={}) is None
    assert found(*told, published=false) == found(told[1], published=false) == named
    assert found(*told, signer="P1", published=false) is None
    for wrong in (Ended(first, members, bytes(32)), Ended(first, 3, one), Listed(second, 3, bytes(32))):
        assert found(wrong) == named
    assert found(told[1], Ended(second, members, one)) == named  # of both sums he said the first one's result
