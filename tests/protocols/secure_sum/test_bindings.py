"""Every digest, mask and statement depends on each argument, and T - 1 shares of a dealt secret open nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from fractions import Fraction
from itertools import combinations
from math import comb
from typing import Any

import pytest
from support.sums import made, parameters

from protocols.arithmetic import permutation
from protocols.arithmetic.rng import Stream
from protocols.crypto import masking
from protocols.curator import CURATOR_NAME
from protocols.errors import DecodeError
from protocols.runtime.attestation import encode_statement, signing_input
from protocols.runtime.message import PARTY, PUBLIC
from protocols.runtime.session import SESSION_BYTES
from protocols.secure_sum import complaints, dealing, graph, roster, unmasking
from protocols.secure_sum.messages import STATEMENTS
from protocols.secure_sum.parameters import Parameters
from protocols.secure_sum.values import CuratorState, Held, Vault

P = parameters(5, 1, 1, (2, 1, 2))
A, B = bytes(range(32)), bytes(range(1, 33))
HELD, OTHER = (Held(A, B), Held(B, A)), (Held(A, B), Held(B, B))
PAIRS = masking.ClosedPairs(1, (A, B, A, B))
SIZE = (4, 8)  # numbers of a mask, and bytes of each

# A function, its arguments, and for each argument another value.
DIGESTS: dict[str, tuple[Callable[..., Any], tuple[Any, ...], tuple[Any, ...]]] = {
    "context": (roster.sum_context, (A, A, 0, A), (B, B, 1, B)),
    "under": (roster.shares_context, (A, A), (B, B)),
    "first query": (roster.first_query, (A,), (B,)),
    "next query": (lambda *given: roster.next_query(P, *given), (A, 0, A, 3, (1, 2)), (B, 1, B, 5, (1, 3))),
    "inputs": (
        lambda i, digest, signature: roster.inputs_digest({i: (digest, signature), 4: (A, A)}),
        (0, A, A),
        (1, B, B),
    ),
    "commitment": (dealing.seed_commitment, (0, 0, A), (1, 1, B)),
    "coin": (dealing.coin_commitment, (0, A), (1, B)),
    "share": (dealing.share_digest, (A,), (B,)),
    "leaf": (dealing.share_leaf, (0, 0, 0, A, A), (1, 1, 1, B, B)),
    "tree": (lambda *given: dealing.merkle_root(dealing.share_tree(*given)), (0, 0, HELD), (1, 1, OTHER)),
    "coin leaf": (graph.greeting_leaf, (0, A, A), (1, B, B)),
    "circle": (graph.draw_order, (A, A, 50), (B, B, 51)),
    "complaints": (lambda *every: complaints.complaints_digest(P, every), (0, 1, 2), (4, 5, 6)),
    "disclosure": (lambda *held: complaints.shares_digest(held), HELD, (Held(B, B), Held(A, A))),
    "self mask": (lambda *given: masking.self_mask(*given, *SIZE), (A, 0, A), (B, 1, B)),
    "pair mask": (lambda *given: masking.pair_mask(*given, *SIZE), (A, 0, 1, A), (B, 2, 3, B)),
    "closed mask": (lambda *given: masking.closed_mask(*given, *SIZE), (A, PAIRS, 0), (B, replace(PAIRS, index=3), 2)),
    "closed key": (
        lambda *agreed: masking.closed_mask(A, masking.ClosedPairs(1, (*agreed, A)), 0, *SIZE),
        (A,),
        (B,),
    ),
    "cover": (lambda *given: masking.covered(*given, (A, B)), (A, 0, 1, A), (B, 2, 3, B)),
}


@pytest.mark.parametrize("name", DIGESTS)
def test_a_digest_depends_on_each_of_its_arguments(name: str) -> None:
    make, given, others = DIGESTS[name]
    assert len(given) == len(others)
    found = [make(*given), *(make(*given[:i], other, *given[i + 1 :]) for i, other in enumerate(others))]
    assert make(*given) == found[0]
    assert len(set(found)) == len(found)


def test_what_is_covered_opens_for_its_dealer_and_holder_alone() -> None:
    given, others = (A, 0, 1, A), (B, 1, 2, B)
    body = masking.covered(*given, (A, B))
    assert masking.uncovered(*given, body) == (A, B)
    for i, other in enumerate(others):
        with pytest.raises(DecodeError):
            masking.uncovered(*given[:i], other, *given[i + 1 :], body)  # type: ignore[arg-type]
    for place in range(len(body)):
        with pytest.raises(DecodeError):
            masking.uncovered(*given, bytes(x ^ (at == place) for at, x in enumerate(body)))


@pytest.mark.parametrize("kind", STATEMENTS)
def test_a_statement_is_of_its_session_its_sender_its_kind_and_every_field(kind: type[Any]) -> None:
    setup, other = made(P), made(P, "another")
    assert len(setup.session.id) == SESSION_BYTES

    sender = "P1" if kind.route.allows(PARTY, PUBLIC) else CURATOR_NAME

    def signed(session: Any, message: Any, name: str = sender, said: str = kind.__name__) -> bytes:
        return signing_input(session.id, name, said, encode_statement(session, sender, message, {}))

    fields = {
        slot.name: 0 if slot.type is int else bytes(setup.session.layout[slot.protection.width]) for slot in kind.slots
    }
    plain = kind(**fields)
    found = [
        signed(setup.session, plain),
        signed(other.session, plain),
        signed(setup.session, plain, "P2"),
        signed(setup.session, plain, said="Another"),
    ]
    for name, value in fields.items():
        changed = value + 1 if isinstance(value, int) else b"\1" + value[1:]
        found.append(signed(setup.session, replace(plain, **{name: changed})))
    assert len(set(found)) == len(found)


# Shares.

SECRETS = ("b", "s")


@pytest.mark.parametrize("p", [P, parameters(7, 2, 1), parameters(12, 1, 1, degree=6)], ids=lambda p: f"K={p.K}")
@pytest.mark.parametrize("kind", SECRETS)
def test_t_shares_of_a_dealt_secret_open_it_and_one_less_opens_nothing(p: Parameters, kind: str) -> None:
    dealt = dealing.deal_seeds(p, Stream.insecure_from_seed("dealer"))
    for r, secret in enumerate(getattr(dealt, kind)):
        shares = {j: getattr(held[r], kind) for j, held in enumerate(dealt.shares)}
        assert len(shares) == p.holders
        for some in list(combinations(shares, p.T))[:20]:
            assert dealing.seed_of_shares({j: shares[j] for j in some}) == secret
        for few in list(combinations(shares, p.T - 1))[:20]:
            assert dealing.seed_of_shares({j: shares[j] for j in few}) != secret
        assert secret not in shares.values()


def shown(r: int) -> tuple[Parameters, Any, tuple[tuple[bytes, ...], ...]]:
    """What P2 shows of sum r, and everybody's leaves: three sums, so there is a path."""
    everybody = [dealing.deal_seeds(P, Stream.insecure_from_seed(f"dealer {i}")) for i in range(P.K)]
    leaves = tuple(
        tuple(dealing.merkle_root(dealing.share_tree(i, j, h)) for j, h in enumerate(d.shares))
        for i, d in enumerate(everybody)
    )
    secrets = tuple(SecretsOf(d.shares[1][r] for d in everybody) for r in range(P.R))
    trees = tuple(dealing.share_tree(i, 1, d.shares[1]) for i, d in enumerate(everybody))
    vault = Vault(A, A, (), secrets, trees)  # type: ignore[arg-type]
    return P, unmasking.shares_to_unmask(P, vault, r, (0, 1, 2)), leaves


class SecretsOf:
    """Of a party's secrets of one sum what is held alone."""

    def __init__(self, held: Iterator[Held]) -> None:
        self.held = tuple(held)


def test_a_shown_share_passes_as_it_was_dealt_and_not_with_any_part_of_it_changed() -> None:
    for r in range(P.R):
        p, got, leaves = shown(r)
        depth = len(got.paths) // p.K
        assert depth == 2
        for dealer in range(p.K):
            survived = dealer in (0, 1, 2)
            assert unmasking.is_committed_share(p, leaves, r, dealer, 1, survived, got, dealer)
            changed = [
                replace(got, shares=_other(got.shares, dealer)),
                replace(got, siblings=_other(got.siblings, dealer)),
                *(replace(got, paths=_other(got.paths, dealer * depth + step)) for step in range(depth)),
            ]
            for other in changed:
                assert not unmasking.is_committed_share(p, leaves, r, dealer, 1, survived, other, dealer)
            assert not unmasking.is_committed_share(p, leaves, r, dealer, 1, not survived, got, dealer)
            assert not unmasking.is_committed_share(p, leaves, (r + 1) % p.R, dealer, 1, survived, got, dealer)
            assert not unmasking.is_committed_share(p, leaves, r, (dealer + 1) % p.K, 1, survived, got, dealer)
            assert not unmasking.is_committed_share(p, leaves, r, dealer, 2, survived, got, dealer)


def _other(values: tuple[bytes, ...], at: int) -> tuple[bytes, ...]:
    return (*values[:at], bytes(32), *values[at + 1 :])


def test_a_recovered_secret_is_held_against_what_the_dealer_greeted_with() -> None:
    dealt = dealing.deal_seeds(P, Stream.insecure_from_seed("dealer"))
    keys = tuple((masking.public_key(s),) for s in dealt.s)
    commitments = tuple((dealing.seed_commitment(0, r, b),) for r, b in enumerate(dealt.b))
    state, rng = CuratorState(Vault(A, A, keys), commitments, ()), Stream.insecure_from_seed("tries")
    for r in range(P.R):
        for survived, kind in ((True, "b"), (False, "s")):
            shares = {j: getattr(held[r], kind) for j, held in enumerate(dealt.shares)}
            assert unmasking.open_secret(P, state, r, 0, survived, shares, rng) == (getattr(dealt, kind)[r], True)
            assert unmasking.open_secret(P, state, r, 0, not survived, shares, rng) == (None, False)


# The bound of the circle, written again.


def failure(K: int, t: int, D: int, R: int, k: int) -> Fraction:
    """As NOTES derives it, by hypergeometric tails."""

    def tail(marked: int, least: int) -> Fraction:
        ways = sum(comb(marked, j) * comb(K - 1 - marked, k - j) for j in range(least, k + 1))
        return Fraction(ways, comb(K - 1, k))

    each = [(K - t) * tail(t, T) + R * K * tail(D, k - T + 1) for T in range(2, k + 1)]
    apart = R * Fraction(K * (K - 1), 2) * Fraction(comb(t + D, k), comb(K, k))
    found = min(each) + apart
    return found + permutation.bias(K) if found else found


@pytest.mark.parametrize("R", [1, 2, 8, 100])
@pytest.mark.parametrize(("K", "t", "D", "k"), [(300, 30, 15, 36), (250, 20, 10, 30), (1000, 333, 50, 94)])
def test_the_failure_of_a_circle_is_counted_for_each_sum(K: int, t: int, D: int, k: int, R: int) -> None:
    assert graph.best_neighbourhood(K, t, D, R, k).failure == failure(K, t, D, R, k)
