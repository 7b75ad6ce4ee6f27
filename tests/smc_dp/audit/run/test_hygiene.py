"""Hygiene of views: honest runs pass, and each check rejects runs in which just that was done badly."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache
from math import comb, log2
from typing import Any

import pytest
from broken.curator_twins import planted
from broken.liars import LIES, P1, P2, C, Lie, swapped
from broken.paillier_twins import admit_any_unit
from support.audited import toy_run
from support.liars_views import evidence_of, only, outcomes, played, statuses
from support.pathak import trial
from support.sessions import setup
from support.toy import paillier_key

from protocols.comparison.messages import Bits
from protocols.crypto.paillier import Fresh, PublicKey, Uniform
from protocols.crypto.sealing import seal
from protocols.pathak2010.messages import Blinded, Half, Indicator, Reshare, SharedKey
from protocols.runtime import message as messages
from protocols.runtime.claims import Mask
from protocols.runtime.envelope import HELLO
from protocols.runtime.link_decryption import LinkDecryption
from smc_dp.audit.run.evidence import Evidence
from smc_dp.audit.run.hygiene import CHECKS, secrecy
from smc_dp.audit.run.report import audit_evidence

NAMES = [check.name for check in CHECKS]


@cache
def honest() -> Evidence:
    return evidence_of(trial([10, 20, 30], 2).setup)


# Honest runs; hundreds of all kinds are in test_honest_runs.py.


@pytest.mark.parametrize("options", [{}, {"topology": "star", "comparison": "all-pairs"}], ids=str)
def test_honest_runs_pass(options: dict[str, Any], tmp_path: Any) -> None:
    found = audit_evidence(toy_run(tmp_path, (12, 8, 8, 20), **options).evidence(), CHECKS).findings
    assert {f.check.name: f.outcome.status for f in found} == dict.fromkeys(NAMES, "passed")


@pytest.mark.parametrize("topology", ["mesh", "star"])
def test_the_printed_protocol_fails_where_it_is_flawed(topology: str, tmp_path: Any) -> None:
    """Its noise is sent as a bare power [N5], and its integers are masked by integers of their own length [N2]."""
    evidence = toy_run(tmp_path, as_printed=True, topology=topology).evidence()
    found = {f.check.name: f.outcome for f in audit_evidence(evidence, CHECKS).findings}
    assert {name for name, outcome in found.items() if outcome.status == "failed"} == {"freshness", "masks"}
    assert (found["freshness"].code, found["freshness"].fault.fields) == (
        "ciphertext.not_refreshed",
        {"place": "PrintedSelected.psi"},
    )
    assert evidence.envelopes[found["freshness"].line or 0].kind == "PrintedSelected"
    assert (found["masks"].code, found["masks"].fault.fields["hidden"]) == ("masks.too_little_slack", 32)


@pytest.mark.parametrize("names", [(P1,), ("P3",), (C,), ()])
def test_one_view_passes_what_one_view_can_show_and_none_what_is_public(names: tuple[str, ...]) -> None:
    found = statuses(only(honest(), *names))
    shown, other = ("passed", {"canaries": "not possible"}) if names else ("not possible", {"nonces": "passed"})
    assert {n: found[n] for n in NAMES} == {**dict.fromkeys(NAMES, shown), **other}


# Twins: who does what badly, which check says so, in which words.


# Each makes its evidence of its name.


def lie(who: str, kind: type[Any], twist: Any) -> Callable[[str], Evidence]:
    return lambda _: evidence_of(setup(3, 2, program=Lie(who, kind, twist, "").programmed()))


def known_lie(name: str) -> Evidence:
    return evidence_of(setup(3, 2, program=LIES[name].programmed()))


def twin(name: str, noise: Sequence[Sequence[int]]) -> Evidence:
    """What this twin of the role code makes of parties with such noise."""
    session = trial([10, 20, 30], len(noise[0]), noise=noise).setup
    with planted(name):
        envelopes = played(session)
    return evidence_of(session, envelopes)


def mutant(name: str) -> Evidence:
    """Two weights, and noise of eta = 2**60 or so."""
    return twin(name, [[(1 << 60) + 12345 + j, -(1 << 59) - 777 * j] for j in range(3)])


def again(name: str) -> Evidence:
    """Four weights, their noise of 2**60 or so in two packs, and coins that are used again."""
    return twin(name, [[((1 << 56) + 12345 + j) * (i * i + i + 1) for i in range(4)] for j in range(3)])


def unmarked(name: str) -> Evidence:
    return replace(honest(), head={**honest().head, "insecure": []})


def another_secret(me: Any, to: str, m: Any) -> Any:
    key = paillier_key("another")
    return replace(m, p=key.p, q=key.q)


def always_the_same(field: str) -> Callable[[Any, str, Any], Any]:
    """What was sent first, again and again; messages without ciphertext are left."""
    first: list[Any] = []

    def twist(me: Any, to: str, m: Any) -> Any:
        value = getattr(m, field)
        if value is None:
            return m
        first.append(value)
        me.told = -1  # the liar goes on
        return replace(m, **{field: first[0]})

    return twist


def twice_within(me: Any, to: str, m: Any) -> Any:
    """The first ciphertext of a vector in the place of the second as well."""
    return replace(m, u=(m.u[0], m.u[0], *m.u[2:]))


def plain(me: Any, to: str, m: Any) -> Any:
    """An encryption of five without randomness."""
    return replace(m, a=Uniform(m.a.n, 1 + 5 * m.a.n))


def plain_bits(me: Any, to: str, m: Any) -> Any:
    key = me._engine.keys["dgk"]
    return replace(m, y=(*m.y[:-1], type(m.y[0])(key.n, key.g)))


def shifted_copy(me: Any, to: str, m: Any) -> Any:
    """The second ciphertext is the first one with a known plaintext added."""
    key = me._engine.keys["charlie's key"]
    return replace(m, u=(m.u[0], Fresh(key.n, m.u[0].value * (1 + key.n) % key.n_square), *m.u[2:]))


def too_long(me: Any, to: str, m: Any) -> Any:
    return replace(m, a_tilde=(1 << 77) + 5)


def one_session_key(name: str) -> Evidence:
    """P2 greets with the key of P1."""
    evidence = honest()
    key = next(e.body[:32] for e in evidence.envelopes.values() if e.kind == HELLO and e.sender == P1)
    taken = {
        n: replace(e, body=key + e.body[32:]) if e.kind == HELLO and e.sender == P2 else e
        for n, e in evidence.envelopes.items()
    }
    return replace(evidence, envelopes=taken)


def two_for_one(name: str) -> Evidence:
    """P2's message to P1 holds two numbers that add up to its first weight."""
    w = setup(3, 2).inputs[P2][1].w[0]
    halves = swapped("x", lambda m: (m.x[0], (w - m.x[0]) % (1 << 64)))
    return evidence_of(setup(3, 2, program=Lie(P2, Reshare, halves, "").programmed()))


# The check, its code, some of its fields, and the evidence.
TWINS: dict[str, tuple[str, str, set[str], Callable[[str], Evidence]]] = {
    "small key of P1": ("keys", "paillier_key.of_another_length", set(), known_lie),
    "wrong proof": ("keys", "paillier_key.proof_fails", set(), known_lie),
    "modulus 3 mod 4": ("keys", "key.unusable_public", set(), known_lie),
    "small factor": ("keys", "paillier_key.small_factor", set(), known_lie),
    "comparison key small": ("keys", "key.no_units", set(), known_lie),
    "shared key composite": ("keys", "key.unusable_secret", set(), known_lie),
    "another secret key": ("keys", "keys.differ_between_views", {"parties' key"}, lie(P1, SharedKey, another_secret)),
    "test keys that are not marked": ("keys", "keys.unmarked_test_keys", {"512"}, unmarked),
    "slot zero": ("units", "ciphertext.undecodable", {"Slot"}, known_lie),
    "bits non-unit": ("units", "ciphertext.undecodable", {"Bits"}, known_lie),
    "repeated": ("repeats", "ciphertext.repeated", {"Blinded.a"}, lambda _: lie(C, Blinded, always_the_same("a"))("")),
    "twice in a vector": ("repeats", "ciphertext.repeated", {"Indicator.u"}, lie(C, Indicator, twice_within)),
    "r is added without new randomness": ("freshness", "ciphertext.randomiser_reused", {"Blinded.a"}, mutant),
    "plus one": ("freshness", "ciphertext.randomiser_reused", {"Indicator.u"}, lie(C, Indicator, shifted_copy)),
    "no randomness": ("freshness", "ciphertext.no_randomness", {"Blinded.a"}, lie(C, Blinded, plain)),
    "a bit without randomness": ("freshness", "ciphertext.no_randomness", {"Bits.y"}, lie(C, Bits, plain_bits)),
    "one session key for two": ("nonces", "greeting.shared_key", set(), one_session_key),
    "r is too short": ("masks", "masks.too_short", {"Blinded.a"}, mutant),
    "s is missing": ("masks", "masks.too_short", {"Masked.psi"}, mutant),
    "weights are not shared": ("masks", "masks.too_short", {"Reshare.x"}, mutant),
    "longer than a mask": ("masks", "masks.number_too_long", {"Half.a_tilde", "77"}, lie(P2, Half, too_long)),
    "sizes are not shared": ("canaries", "canaries.read", {"'charlie'"}, mutant),
    "unmasked": ("canaries", "canaries.read", {"eta_1(1)", "'P1'", "'charlie'"}, lambda _: mutant("s is missing")),
    "one share for all coordinates": ("canaries", "canaries.read", {"w_2(1) - w_2(2)", "'P2'", "'charlie'"}, again),
    "one mask for all coordinates": ("canaries", "canaries.read", {"eta_1(1) - eta_1(2)", "'P1'", "'charlie'"}, again),
    "a mask for one pack only": ("canaries", "canaries.read", {"eta_1(4)", "'P1'", "'charlie'"}, again),
    "weights in two shares for one": ("canaries", "canaries.read", {"w_2(1)", "'P2'", "'P1'"}, two_for_one),
}


@pytest.mark.parametrize("name", TWINS)
def test_a_twin_is_caught_by_its_check(name: str) -> None:
    check, code, fields, made = TWINS[name]
    evidence = made(name)
    found = outcomes(evidence, check)[check]
    assert (found.status, found.code) == ("failed", code)
    assert fields <= set(map(str, found.fault.fields.values()))
    if found.line:
        assert found.party in (evidence.envelopes[found.line].sender, None)


def test_keys_of_links_that_are_alike_or_not_the_same_at_both_ends_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    honest().recomputed  # noqa: B018  with the keys that there are
    for code, made in (("link.shared_key", lambda *given: b""), ("link.different_keys", lambda at, *link: at.name)):
        monkeypatch.setattr(LinkDecryption, "key", made)
        assert outcomes(honest(), "nonces")["nonces"].code == code


def test_nobody_is_blamed_for_what_the_other_end_of_a_link_sealed() -> None:
    """P1 has the key of the link from P2 as well, and puts a line of its own making into the record."""
    evidence = lie(P2, Half, too_long)("")
    found = outcomes(evidence, "masks")["masks"]
    assert (found.status, found.party) == ("failed", P2)  # whose next signature stands over it
    links, record = honest().recomputed[P1].links, honest().envelopes
    n, e = next((n, e) for n, e in record.items() if (e.sender, e.to, e.kind) == (P2, P1, "Half"))
    payload = messages.encode(Half((1 << 77) + 5), honest().session.layout, {})
    forged = replace(e, body=seal(links.key(P2, P1), e.number, e.header, payload))
    framed = replace(honest(), envelopes={**record, n: forged})
    found = outcomes(framed, "masks")["masks"]
    assert (found.status, found.line, found.party) == ("failed", n, None)


# The parts.


def test_units_does_not_rely_on_the_codec(monkeypatch: pytest.MonkeyPatch) -> None:
    """With a codec that admits any unit, a ciphertext of symbol -1 is decoded, and rejected by the check itself."""
    evidence = known_lie("relay Jacobi -1")
    monkeypatch.setattr(PublicKey, "admit", admit_any_unit)
    found = outcomes(replace(evidence, views=dict(evidence.views)), "units")["units"]
    assert (found.code, found.fault.fields) == ("ciphertext.no_unit", {"place": "Relay.b"})


@pytest.mark.parametrize(
    ("N", "zeros", "rejected"), [(1, 40, False), (1, 52, True), (4, 12, False), (4, 13, True), (1000, 50, False)]
)
def test_short_masks_by_the_binomial_bound(N: int, zeros: int, rejected: bool) -> None:
    """N numbers of which all, or the first of many, have that many leading zeros; the bound by hand."""
    bits, many = 128, N > 100
    values = [1 << (bits - 1 - zeros)] + [1 << (bits - 1 - (0 if many else zeros))] * (N - 1)
    found = [secrecy._Reading(1, value) for value in values]
    m = 1 if many else N
    bound = log2(comb(N, m)) - zeros * m + log2(N) + log2(bits)
    assert (bound < -40) == rejected
    assert bool(secrecy._too_short(Mask("x.y", bits), found, 0.0)) == rejected


def test_canaries_are_found_in_sums_and_differences() -> None:
    secret = secrecy._Secret("P1", "w", 64, 0x1234_5678_9ABC_DEF0)
    s, M = secret.value, 1 << 64
    for numbers in ([s], [M - s], [5, s - 5], [s + 9, 9], [M - s - 4, 4], [5, 6, 7, (s - 7) % M], [s + M]):
        assert [hit for hit, _ in secrecy._hits(dict.fromkeys(numbers, 3), [secret])]
    for numbers in ([s + 1], [5, s - 6], [s >> 2], [2 * s % M], []):
        assert not list(secrecy._hits(dict.fromkeys(numbers, 3), [secret]))


def test_small_secrets_are_not_looked_for() -> None:
    t = trial([10, 20], 1, weights=[[5], [6]], noise=[[1], [2]])
    found = outcomes(evidence_of(t.setup), "canaries")["canaries"]
    assert found.status == "passed"
    assert (found.fault.fields["count"], found.fault.fields["views"]) == (0, 3)
    assert str(found.fault.fields["sizes"]).startswith("looked for")


def test_masks_are_checked_against_the_parameters_without_views() -> None:
    p = honest().session.parameters
    declared = honest().protocol.model.hygiene
    assert declared
    assert {mask.slack for mask in declared.masks(p)} == {None, 64}
    assert Mask("x.y", 104, 40, 3).slack == 62
    assert outcomes(only(honest()), "masks")["masks"].status == "not possible"
    short = replace(declared, masks=lambda p: (Mask("Blinded.a", 100, 77, 3),))
    model = replace(honest().protocol.model, hygiene=short)
    evidence = replace(only(honest()), protocol=replace(honest().protocol, model=model))
    assert outcomes(evidence, "masks")["masks"].status == "failed"
