"""Statements: one of a kind in a stage, signed once, and never to be taken for anything else."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import cbor2
import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from support.parties import Parties
from support.sessions import Setup, play
from support.votes import NAMES, Opinion, Outcome, Ruling, Signed, Veto, Vote, Word, alone, made, of_two, stating

from protocols.crypto.identity import SIGNATURE_BYTES, Identity
from protocols.errors import LocalError, PeerError
from protocols.runtime import attestation, view
from protocols.runtime import message as messages
from protocols.runtime.bulletin_board import BulletinBoard
from protocols.runtime.endpoint import Endpoint
from protocols.runtime.envelope import START, Envelope, is_signed
from protocols.runtime.message import Message
from protocols.runtime.session import PUBLIC_NAME, Session
from protocols.runtime.view import RecordedView, recompute
from tests.support.refusals import refused


def signed_by_hand(session: Session, name: str, kind: str, payload: bytes, signature: bytes) -> None:
    """Raises InvalidSignature unless it is the signature of this statement, as the module says it is made."""
    said = cbor2.dumps([b"smc-dp statement", session.id, name, kind, payload], canonical=True)
    Ed25519PublicKey.from_public_bytes(session.identities[name]).verify(signature, said)


def attested(session: Session, name: str, message: Message, signature: bytes) -> bool:
    """Whether the participant signed this statement."""
    said = attestation.encode_statement(session, name, message, {})
    return attestation.is_signed_attestation(
        session, attestation.Attestation(name, type(message).__name__, said, signature)
    )


# One statement of a kind in a stage.


def test_a_signature_is_that_of_the_statement() -> None:
    setup = made()
    run = setup.simulate(views=True)
    for name, recorded in run.recorded.items():
        ((stage, kind, payload, signature),) = recorded.statements
        (value,) = setup.inputs[name][1:]
        assert (stage, kind, payload) == ("stating", "Vote", messages.encode(Vote(value), {"number": 4}, {}))
        signed_by_hand(setup.session, name, kind, payload, signature)
        assert attested(setup.session, name, Vote(value), signature)


def test_the_same_bytes_have_the_same_signature_and_other_bytes_none() -> None:
    assert alone(lambda me: me.attest(Vote(1)) == me.attest(Vote(1))).simulate().results == dict.fromkeys(NAMES, True)
    with refused("statement.attested_another", error=LocalError, name="P1", kind="Vote", stage="stating"):
        alone(lambda me: (me.attest(Vote(1)), me.attest(Vote(2)))).simulate()


def test_another_kind_and_another_stage_have_statements_of_their_own() -> None:
    async def first(me: Endpoint, mine: int) -> list[bytes]:
        return [me.attest(Vote(1)), me.attest(Veto(1))]

    async def second(me: Endpoint, left: list[bytes]) -> list[bytes]:
        return [*left, me.attest(Vote(2)), me.attest(Veto(2))]

    run = made(of_two(first, second)).simulate(views=True)
    assert [s[:2] for s in run.recorded["P1"].statements] == [
        (stage, kind) for stage in ("stating", "confirming") for kind in ("Vote", "Veto")
    ]
    assert len({signature for result in run.results.values() for signature in result}) == 12


@pytest.mark.parametrize(
    ("wrong", "code"),
    [
        (Opinion(1), "statement.not_declared"),
        (Ruling(1), "statement.not_declared"),
        (Outcome(1), "statement.not_declared"),
        (Vote(1 << 32), "integer.too_large"),
    ],
    ids=lambda x: type(x).__name__,
)
def test_what_may_not_be_stated_is_a_local_error(wrong: Message, code: str) -> None:
    with refused(code, error=LocalError):
        alone(lambda me: me.attest(wrong)).simulate()
    with refused(code, error=LocalError):
        alone(lambda me: me.attested("P1", wrong, bytes(64))).simulate()


@pytest.mark.parametrize(
    "act",
    [
        lambda me: me.attest(Vote(1)),
        lambda me: me.doubt("P2", "a rule"),
        lambda me: me.send("P2", Word(1)),
        lambda me: me.rng,
        lambda me: me.once("key", lambda rng: rng.bits(1)),
    ],
)
def test_nothing_is_done_outside_a_stage(act: Callable[[Endpoint], object]) -> None:
    async def outside(me: Endpoint, p: Parties, mine: int) -> None:
        act(me)

    with refused("stage.needed", error=LocalError):
        made(outside).simulate()


# A statement is of its signer, its session, its kind and its content, and nothing else is one.


def test_the_bytes_of_a_statement_are_those_of_no_envelope() -> None:
    """An array of five begins with another byte than one of eight, whatever is in it."""
    envelope = Envelope(bytes(32), "P1", PUBLIC_NAME, "Vote", "stating", 1, 1, START, b"")
    assert (attestation.signing_input(bytes(32), "P1", "Vote", b"")[0], envelope.header[0]) == (0x85, 0x88)


def borrowed(setup: Setup) -> tuple[Session, bytes, bytes]:
    """The session, the payload of P1's vote, and its signature."""
    ((_, _, payload, signature),) = setup.simulate(views=True).recorded["P1"].statements
    return setup.session, payload, signature


def test_a_statement_is_not_taken_for_an_envelope() -> None:
    session, payload, signature = borrowed(made())
    forged = Envelope(session.id, "P1", PUBLIC_NAME, "Vote", "", 1, 1, START, payload + signature)
    board = BulletinBoard(session)
    board.received["P1"] = 1  # it has greeted
    with pytest.raises(PeerError) as caught:
        board.post(forged)
    assert not is_signed(session.identities["P1"], forged)
    assert caught.value.culprit == "somebody on the way from P1"


def test_an_envelope_is_not_taken_for_a_statement() -> None:
    """Whatever P1 has signed for everybody is no vote of its own."""
    setup = made()
    public_mail = [e for e in setup.simulate().transcript.envelopes if e.is_public and e.sender == "P1"]
    assert len(public_mail) == 4
    for e in public_mail:
        for value in (1, 6):
            assert not attested(setup.session, "P1", Vote(value), e.body[-SIGNATURE_BYTES:])
    payload = messages.encode(Vote(1), {"number": 4}, {})
    blank = Envelope(setup.session.id, "P1", PUBLIC_NAME, "Vote", "", 1, 1, START, b"")
    signature = setup.identities["P1"].sign(blank.header + payload)
    assert not attested(setup.session, "P1", Vote(1), signature)


def test_a_statement_is_nothing_else() -> None:
    session, payload, signature = borrowed(made())
    assert attested(session, "P1", Vote(1), signature)
    assert payload == messages.encode(Veto(1), {"number": 4}, {})  # it is the kind alone that tells them apart
    other = replace(session, nonce=bytes(32))
    assert not attested(session, "P2", Vote(1), signature)
    assert not attested(session, "P1", Vote(2), signature)
    assert not attested(session, "P1", Veto(1), signature)
    assert not attested(other, "P1", Vote(1), signature)
    for wrong in (signature[:-1] + bytes([signature[-1] ^ 1]), b""):
        assert not attested(session, "P1", Vote(1), wrong)


def test_whoever_did_not_sign_what_it_says_is_named() -> None:
    async def lying(me: Endpoint, mine: int) -> int:
        if me.name != "P2":
            return await stating(me, mine)
        me.broadcast(me.others, Signed(mine + 1, me.attest(Vote(mine))))
        return mine

    with refused("vote.not_signed", error=PeerError) as caught:
        made(of_two(lying)).simulate()
    assert (caught.value.culprit, caught.value.evidence) == ("P2", (0,))


# Statements outlive the process that made them.


class Noting(Identity):
    """An identity that notes what it signs."""

    signed: list[bytes]

    def sign(self, said: bytes) -> bytes:
        self.signed.append(said)
        return super().sign(said)


def test_a_statement_is_signed_once_over_all_resumes() -> None:
    setup = made()
    noting = {name: Noting(identity.seed) for name, identity in setup.identities.items()}
    for identity in noting.values():
        object.__setattr__(identity, "signed", [])
    played = play(setup._replace(identities=noting), batch=1)
    assert played.results == dict.fromkeys(NAMES, (6, 6))
    assert [sum(said[0] == 0x85 for said in identity.signed) for identity in noting.values()] == [1, 1, 1]


def test_a_role_that_states_something_else_after_a_resume_is_stopped() -> None:
    def wavering() -> Setup:
        votes = iter(range(100))

        async def first(me: Endpoint, mine: int) -> int:
            me.attest(Vote(next(votes)))
            me.broadcast(me.others, Word(mine))
            await me.gather(me.others, Word)
            return mine

        return made(of_two(first))

    assert set(wavering().simulate().ends.values()) == {"done"}  # nobody is resumed there
    with refused("statement.attested_another", error=LocalError, kind="Vote", stage="stating"):
        play(wavering(), batch=1)


def test_a_view_has_the_statements_and_needs_no_identity() -> None:
    setup = made()
    run = setup.simulate(views=True)
    record = dict(enumerate(run.transcript.envelopes, start=1))
    for name, kept in run.recorded.items():
        again = RecordedView.loads(kept.dumps(setup.session), setup.session)
        assert again == kept
        assert setup.identities[name].seed not in kept.dumps(setup.session)
        found = recompute(setup.session, again, record)
        assert (found.fault, list(found.sent)) == (None, [e for e in record.values() if e.sender == name])
        without = recompute(setup.session, replace(again, statements=()), record)
        assert list(without.sent) != list(found.sent)  # the twin: a view that holds none
        made_up = tuple((*place, bytes(SIGNATURE_BYTES)) for *place, _ in again.statements)
        assert list(recompute(setup.session, replace(again, statements=made_up), record).sent) != list(found.sent)


def test_a_view_made_afterwards_has_the_same_statements() -> None:
    setup = made()
    run = setup.simulate(views=True)
    record = dict(enumerate(run.transcript.envelopes, start=1))
    for name in NAMES:
        signer, seed = setup.identities[name], setup.seeds[name]
        later = view.reconstruct_view(setup.session, name, signer, seed, setup.inputs[name], record)
        assert later.statements == run.recorded[name].statements
