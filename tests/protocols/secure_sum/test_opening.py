"""What anybody can check of `verifiable` sums: honest ones pass, and each single change of a publication is found."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, replace
from functools import cache, partial
from typing import Any, NamedTuple

import pytest
from support.sessions import Setup
from support.sums import Loose, greetings, made, parameters

from protocols.arithmetic.rng import Stream
from protocols.curator import CURATOR_NAME
from protocols.errors import Fault, LocalError
from protocols.runtime.attestation import Attestation, encode_statement, is_signed_attestation
from protocols.runtime.claims import Violation
from protocols.runtime.endpoint import Greeted
from protocols.runtime.message import Message
from protocols.runtime.simulate import DropOutAfter
from protocols.secure_sum import masks, opening
from protocols.secure_sum.messages import MaskKeys, PublishedOpening
from protocols.secure_sum.parameters import Parameters
from protocols.secure_sum.public_verification import PUBLIC_VERIFICATION
from tests.support.refusals import refused


class Case(NamedTuple):
    """A session, what was said in it, and what was published in the end."""

    setup: Setup
    greetings: Mapping[str, Greeted[MaskKeys]]
    published: PublishedOpening

    def fault(self, published: PublishedOpening | None = None, session: bytes | None = None) -> str | None:
        """What anybody finds wrong, with this publication in place of the true one."""
        found = self.violation(published, session)
        return str(found.fault) if found else None

    def violation(self, published: PublishedOpening | None = None, session: bytes | None = None) -> Violation | None:
        """The same, with whom it convicts."""
        at = self.setup.session

        def attested(name: str, message: Message, signature: bytes) -> bool:
            said = encode_statement(at, name, message, {})
            return is_signed_attestation(at, Attestation(name, type(message).__name__, said, signature))

        said = {CURATOR_NAME: published or self.published}
        return PUBLIC_VERIFICATION.verify_publication(at.parameters, session or at.id, self.greetings, said, attested)


SHAPES: dict[str, tuple[Parameters, dict[str, int | DropOutAfter]]] = {
    "all are there": (parameters(3, 0, 1, verifiable=True), {}),
    "two sums, one drop-out each": (
        parameters(5, 0, 2, (2, 1), verifiable=True),
        {"P2": DropOutAfter(6), "P4": DropOutAfter(9)},
    ),
    "two sums, nobody may vanish": (parameters(3, 2, 0, (1, 2), verifiable=True), {}),
}


@cache
def case(name: str) -> Case:
    p, vanish = SHAPES[name]
    setup = made(p)
    run = setup.simulate(drop_outs=vanish)
    return Case(setup, greetings(setup, run.transcript.envelopes), run.published[CURATOR_NAME])


@pytest.mark.parametrize("name", SHAPES)
def test_an_honest_publication_passes(name: str) -> None:
    assert case(name).fault() is None


def test_the_case_with_drop_outs_is_one() -> None:
    assert case("two sums, one drop-out each").published.members == (0b11101, 0b10101)


@pytest.mark.parametrize("seed", range(3))
def test_what_is_published_after_late_mail_passes(seed: int) -> None:
    setup = made(parameters(4, 0, 1, (2, 1), verifiable=True), seed)
    left = Loose(setup, Stream.insecure_from_seed(f"opening {seed}"), 60).run()
    for published in left.published.values():
        assert Case(setup, greetings(setup, left.sent), published).fault() is None


def all_places(published: PublishedOpening) -> list[tuple[str, int]]:
    return [(f.name, i) for f in fields(published) for i in range(len(getattr(published, f.name)))]


def with_(published: PublishedOpening, field: str, i: int, value: Any) -> PublishedOpening:
    old = getattr(published, field)
    return replace(published, **{field: (*old[:i], value, *old[i + 1 :])})


@pytest.mark.parametrize("name", SHAPES)
def test_each_place_matters(name: str) -> None:
    of = case(name)
    for field, i in all_places(of.published):
        old = getattr(of.published, field)[i]
        new = bytes([old[0] ^ 8, *old[1:]]) if isinstance(old, bytes) else old ^ 1  # a bit that X25519 does not set
        assert of.fault(with_(of.published, field, i, new)) is not None, (field, i)


def test_bits_that_a_mask_key_does_not_depend_on_make_no_difference() -> None:
    """Of an opened secret mask key, and not of a seed: a fact about X25519 that `unmasking` relies on."""
    of = case("two sums, one drop-out each")
    gone, there = of.published.seeds[1], of.published.seeds[0]
    for old, i, harmless in ((gone, 1, True), (there, 0, False)):
        new = bytes([old[0] ^ 7, *old[1:31], old[31] ^ 0xC0])
        assert (of.fault(with_(of.published, "seeds", i, new)) is None) is harmless


def test_two_publications_in_one_are_found() -> None:
    """Everything of P1 and P2 exchanged; the sums exchanged; the session or a greeting of another session."""
    of = case("all are there")
    p, said = of.setup.session.parameters, of.published
    d = p.length(0)
    y = (*said.y[d : 2 * d], *said.y[:d], *said.y[2 * d :])
    swapped = {f: (x := getattr(said, f))[1:2] + x[:1] + x[2:] for f in ("inputs", "agreed", "seeds")}
    found = of.violation(replace(said, y=y, **swapped))
    assert found == Violation(Fault("sum.member_without_input", {"name": "P1"}).within("sum 0"))
    assert of.fault(session=bytes(32)) is not None
    other = made(p, 2)
    run = other.simulate()
    foreign = greetings(other, run.transcript.envelopes)
    assert of._replace(greetings={**of.greetings, "P2": foreign["P2"]}).fault() is not None
    assert of._replace(published=run.published[CURATOR_NAME]).fault() is not None
    equal = replace(foreign["P2"], message=of.greetings["P1"].message)
    found = of._replace(greetings={**of.greetings, "P2": equal}).violation()
    assert found == Violation(Fault("mask_key.of_two_parties", {"first": "P1", "second": "P2"}))


FAULTS = {
    "spare bit": ("members", 0, 0b1111, Fault("survivors.no_party", {"party": 4, "parties": 3}), CURATOR_NAME),
    "too few": ("members", 0, 0b001, Fault("sum.too_few_members", {"got": 1, "parties": 3, "wanted": 2}), CURATOR_NAME),
    "sum": ("S", 0, None, Fault("sum.other_value"), CURATOR_NAME),
    "input": ("inputs", 2, bytes(64), Fault("sum.member_without_input", {"name": "P3"}), None),
    "not in it": ("members", 0, 0b011, Fault("sum.input_without_member", {"name": "P3"}), CURATOR_NAME),
    "signature": ("agreed", 2, bytes(63) + b"\1", Fault("sum.false_signature", {"name": "P3"}), None),
    "seed": ("seeds", 1, bytes(32), Fault("sum.other_seed", {"name": "P2"}), CURATOR_NAME),
}


@pytest.mark.parametrize("what", FAULTS)
def test_the_reason_names_the_sum_and_what_is_wrong(what: str) -> None:
    field, i, value, said, convicted = FAULTS[what]
    of = case("all are there")
    wrong = with_(of.published, field, i, of.published.S[0] ^ 1 if value is None else value)
    assert of.violation(wrong) == Violation(said.within("sum 0"), convicted)


@pytest.mark.parametrize("name", SHAPES)
def test_what_must_have_been_sent_is_the_masked_input_of_each_member_of_each_sum(name: str) -> None:
    of, p = case(name), SHAPES[name][0]
    members = {"two sums, one drop-out each": [(0, 2, 3, 4), (0, 2, 4)]}.get(name, [range(3)] * p.R)
    needed = [(p.parties[i], CURATOR_NAME, "Masked", f"sum{r}") for r in range(p.R) for i in members[r]]
    assert list(PUBLIC_VERIFICATION.needs(p, {CURATOR_NAME: of.published})) == needed
    assert list(PUBLIC_VERIFICATION.needs(p, {})) == []
    with refused("survivors.no_party", error=LocalError):
        list(PUBLIC_VERIFICATION.needs(p, {CURATOR_NAME: with_(of.published, "members", 0, 1 << p.K)}))
    assert PUBLIC_VERIFICATION.opens(p)
    assert not PUBLIC_VERIFICATION.opens(replace(p, verifiable=False))


def test_too_few_signatures_are_found() -> None:
    of = case("all are there")
    published = with_(with_(of.published, "agreed", 0, bytes(64)), "agreed", 1, bytes(64))
    assert of.violation(published) == Violation(Fault("sum.too_few_signers", {"got": 1, "wanted": 2}, "sum 0: "))


def test_a_checker_that_adds_up_without_looking_is_told_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    """The twins: sums that are always right, and signatures that are."""
    of = case("all are there")
    p = of.setup.session.parameters
    wrong_sum = with_(of.published, "S", 0, of.published.S[0] ^ 1)
    wrong_signature = with_(of.published, "inputs", 0, bytes(64))
    believing = partial(opening.opening_fault, p, of.setup.session.id, of.greetings)
    assert believing(wrong_signature, lambda name, message, signature: True) is None
    monkeypatch.setattr(masks, "unmask_sum", lambda *given: wrong_sum.S)
    assert of.fault(wrong_sum) is None
