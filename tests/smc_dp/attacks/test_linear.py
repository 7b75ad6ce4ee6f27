"""The attacks on the linear protocol: what each deviation changes, that nobody else notices, and what is reckoned."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from protocols import linear
from protocols.arithmetic.rng import Stream
from protocols.crypto import garbling, oblivious
from smc_dp.attacks import inconsistent_extension as extension
from smc_dp.attacks import known_noise, selective_failure
from smc_dp.attacks.charlie_and_first import true_secrets
from smc_dp.attacks.inconsistent_extension import LABEL_BYTES, WIRE, Loot
from smc_dp.attacks.sessions import FinishedRun, PartySecret, draw_secrets, run_program


def seeded(label: object) -> Stream:
    return Stream.insecure_from_seed(f"linear attacks {label}")


def rows(labels: bytes) -> list[int]:
    return [int.from_bytes(labels[i : i + LABEL_BYTES], "little") for i in range(0, len(labels), LABEL_BYTES)]


@pytest.mark.parametrize("columns", [(), (5,), tuple(extension.FLIPPED_COLUMNS)])
def test_a_flip_shifts_one_wire_by_delta_in_these_columns_alone(columns: tuple[int, ...]) -> None:
    rng, session, count = seeded(columns), bytes(32), 70
    offer = oblivious.offer(rng)
    choice = oblivious.choose(session, offer.A, rng)
    bits = bytes(rng.bits(1) for _ in range(count))
    honest = oblivious.extend(session, offer, choice.points, bits)
    zeros = rows(oblivious.zero_labels(choice, extension.flip_columns(honest.u, columns), count))
    delta = int.from_bytes(choice.delta, "little")
    inside = delta & sum(1 << column for column in columns)
    for j, (q, t, b) in enumerate(zip(zeros, rows(honest.labels), bits, strict=True)):
        assert q == t ^ b * delta ^ (inside if j == WIRE else 0)


@pytest.fixture(scope="module")
def deviated() -> tuple[FinishedRun, list[PartySecret], Loot, int]:
    """A session with a Charlie who deviates, what the parties brought, what he kept, and Delta."""
    rng = seeded("session")
    drawn = draw_secrets(extension.PARTIES, extension.DIMENSION, rng)
    seen = run_program(extension.flipping_program(tuple(extension.FLIPPED_COLUMNS)), drawn, 512, rng)
    loot = next(result for result in seen.charlie.results if isinstance(result, Loot))
    return seen, drawn, loot, int.from_bytes(seen.party(0).results[1][1].choice.delta, "little")


def test_charlie_has_his_bits_of_delta_and_nobody_notices(
    deviated: tuple[FinishedRun, list[PartySecret], Loot, int],
) -> None:
    seen, drawn, loot, delta = deviated
    assert loot.inside == delta & sum(1 << bit for bit in extension.FLIPPED_COLUMNS)
    smallest = min(drawn, key=lambda secret: secret.n)
    assert seen.lifted == [sum(column) for column in zip(*(s.w for s in drawn), smallest.eta, strict=True)]


def test_with_delta_everything_opens_and_with_another_one_nothing(
    deviated: tuple[FinishedRun, list[PartySecret], Loot, int],
) -> None:
    seen, drawn, loot, delta = deviated
    p, noise = seen.parameters, seen.ring.vector(drawn[extension.KNOWN_NOISE_PARTY].eta)
    assert extension.read_everything_with(p, loot, delta, noise, seen.released) == true_secrets(seen, drawn)
    for bit in (1, 77, 127):
        found = extension.read_everything_with(p, loot, delta ^ 1 << bit, noise, seen.released)
        assert found is None or found != true_secrets(seen, drawn)


def test_each_half_of_delta_opens_a_row_and_nothing_else_does(
    deviated: tuple[FinishedRun, list[PartySecret], Loot, int],
) -> None:
    seen, _, loot, delta = deviated
    outside = delta & ~sum(1 << bit for bit in extension.FLIPPED_COLUMNS)
    for shift, opens in ((loot.inside, True), (outside, True), (delta, False), (loot.inside ^ 1 << 90, False)):
        assert (loot.opened(seen.parameters, loot.with_wire(shift)) is not None) == opens


def test_what_is_reckoned_follows_from_the_circuit() -> None:
    two, many = extension.search_costs(2), extension.search_costs(1000)
    assert two["guesses"] == many["guesses"] == pytest.approx(np.log2(2.0**63 + 2.0**64))
    assert two["hashes"] == pytest.approx(two["guesses"] + np.log2(2 * 34))  # one comparison's gate, and a choice of 33
    assert two["hashes"] < many["hashes"] < many["guesses"] + np.log2(2 * garbling.and_count(1000, 32))
    assert many["consistent"] == 127


def test_charlie_refuses_exactly_where_the_smallest_stands_at_a_spoilt_place() -> None:
    parties = selective_failure._PARTIES
    drawn = draw_secrets(parties, 1, seeded("places"))
    sizes = sorted(secret.n for secret in drawn)
    for place in range(1, parties):
        here = [replace(s, n=sizes[0] if j == place else sizes[1] + j) for j, s in enumerate(drawn)]
        for bit in range(selective_failure._SESSIONS):
            refused = selective_failure.is_refused(selective_failure.spoil_locks(bit), here, 512, seeded((place, bit)))
            assert refused == bool(place >> bit & 1)


def test_the_noise_of_a_p1_that_locks_its_own_row_is_what_all_get() -> None:
    drawn = known_noise.make_first_largest(draw_secrets(3, 2, seeded("known")))
    assert max(drawn, key=lambda secret: secret.n) is drawn[0]
    honest, deviating = (
        run_program(program, drawn, 512, seeded(program.version)).lifted
        for program in (linear.PROGRAM, known_noise.MALICIOUS_PROGRAM)
    )
    exact = [sum(column) for column in zip(*(s.w for s in drawn), strict=True)]
    assert [s - x for s, x in zip(deviating, exact, strict=True)] == list(drawn[0].eta)
    smallest = min(drawn, key=lambda secret: secret.n)
    assert [s - x for s, x in zip(honest, exact, strict=True)] == list(smallest.eta)
