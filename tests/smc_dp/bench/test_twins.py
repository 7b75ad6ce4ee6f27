"""Whoever skips work is refused: both sides are held against each other, or against what is right, before any ratio."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.util import find_spec
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey

from protocols.arithmetic.ring import Vector
from protocols.arithmetic.rng import Stream
from protocols.crypto import masking, paillier
from protocols.linear import masks as linear_masks
from protocols.secure_sum import masks
from smc_dp.bench import argmin, encryption, linear_kernels, mpyc_argmin, public_key, sums, whole, whole_run
from smc_dp.bench.apart import alone
from smc_dp.bench.goals import DisagreeError, MissingError


def silent(what: str) -> None:
    pass


# The search for the smallest.


def test_a_search_that_does_not_look_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    sizes = argmin.distinct(9, Stream.insecure_from_seed("sizes"))
    assert argmin.garbled_argmin(sizes, Stream.insecure_from_seed("search")) == sizes.index(min(sizes))
    assert argmin.garbled_seconds(sizes) > 0
    wrong = (sizes.index(min(sizes)) + 1) % len(sizes)
    monkeypatch.setattr(argmin, "garbled_argmin", lambda sizes, rng: wrong)
    with pytest.raises(DisagreeError):
        argmin.garbled_seconds(sizes)


def test_a_peer_with_another_place_is_refused_and_a_missing_one_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(argmin, "_TRIES", 1)
    monkeypatch.setattr(argmin, "mpyc_argmin", lambda sizes: (2.0, sizes.index(min(sizes))))
    (row,) = argmin.rows(True, silent)
    assert row.measured == pytest.approx(2.0 / row.parts["ours_seconds"])
    monkeypatch.setattr(argmin, "mpyc_argmin", lambda sizes: (2.0, sizes.index(max(sizes))))
    with pytest.raises(DisagreeError):
        list(argmin.rows(True, silent))
    monkeypatch.setattr(argmin, "mpyc_argmin", mpyc_argmin.mpyc_argmin)
    monkeypatch.setattr(mpyc_argmin, "find_spec", lambda name: None)
    (row,) = argmin.rows(True, silent)
    assert (row.measured, row.passed) == (None, None)
    assert row.why == "MPyC is not installed; pip install 'smc-dp[peers]' has it"


@pytest.mark.slow
@pytest.mark.skipif(find_spec("mpyc") is None, reason="MPyC is not installed: it is in the extra peers")
def test_three_parties_of_mpyc_find_the_place() -> None:
    sizes = argmin.distinct(7, Stream.from_system())
    seconds, place = mpyc_argmin.mpyc_argmin(sizes)
    assert seconds > 0
    assert place == sizes.index(min(sizes))


def test_a_peer_that_does_not_run_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mpyc_argmin, "find_spec", lambda name: name)
    monkeypatch.setattr(mpyc_argmin, "environment", lambda: {"PYTHONPATH": "/nowhere"})
    with pytest.raises(MissingError, match=r"MPyC did not run: .*No module named"):
        mpyc_argmin.mpyc_argmin([2, 1])


# Encryption.


def constant(key: paillier.PrivateKey, rng: Stream) -> Iterator[Any]:
    """Encrypting functions that skip the work: no randomness, the same one each time, and no message."""
    public = key.public
    yield lambda m: paillier.Fresh(public.n, 1)
    once = public.randomiser(rng)
    yield lambda m: paillier.Fresh(public.n, once)
    yield lambda m: public.encrypt(0, rng)


def test_an_encryption_that_skips_its_work_is_refused() -> None:
    rng = Stream.insecure_from_seed("encryption")
    key = paillier.generate(512, rng)
    ours, theirs = encryption.encryption_seconds(key, lambda m: key.public.encrypt(m, rng), rng, 3)
    assert ours > 0
    assert theirs > 0
    for skipping in constant(key, rng):
        with pytest.raises(DisagreeError, match="our encryption"):
            encryption.encryption_seconds(key, skipping, rng, 3)
    with pytest.raises(DisagreeError, match="twice the same"):
        encryption.encryption_seconds(key, lambda m: paillier.Fresh(key.public.n, 1), AlwaysZero(bytes(32)), 3)


class AlwaysZero(Stream):
    """Draws no number but zero."""

    def __init__(self, key: bytes) -> None:
        super().__init__(key, insecure=True)

    def below(self, n: int) -> int:
        return 0


# The cryptography of the linear protocol, and whole runs.


def test_cryptography_without_masks_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    measured = linear_kernels.cryptography(4, 3)
    assert measured["seconds"] == pytest.approx(
        sum(value for part, value in measured.items() if part not in ("seconds", "megabytes"))
    )
    monkeypatch.setattr(linear_masks, "share", lambda p, summand, edges: summand)
    with pytest.raises(DisagreeError, match="hide nothing"):
        linear_kernels.cryptography(4, 3)


def test_cryptography_that_selects_another_row_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    real = linear_kernels.garbling.garble

    def blind(session: bytes, choice: Any, u: bytes, a: list[int], ranks: Any, bits: int) -> Any:
        return real(
            session, choice, u, [~x & 0xFFFFFFFF for x in a], ranks, bits
        )  # the largest in place of the smallest

    monkeypatch.setattr(linear_kernels.garbling, "garble", blind)
    with pytest.raises(DisagreeError, match="cryptography"):
        linear_kernels.cryptography(4, 3)


@pytest.mark.parametrize("protocol", [whole_run.LINEAR, whole_run.SECURE_SUM])
def test_a_run_with_another_result_is_refused(protocol: str, monkeypatch: pytest.MonkeyPatch) -> None:
    measured = whole_run.whole_run(protocol, 3, 2)
    assert measured["messages"] > 10
    assert measured["seconds"] > measured["keys"] >= 0
    monkeypatch.setattr(whole_run.Ring, "vector", lambda ring, x: object())  # no two of them are equal
    with pytest.raises((DisagreeError, TypeError)):
        whole_run.whole_run(protocol, 3, 2)


def test_what_fails_apart_is_told() -> None:
    with pytest.raises(RuntimeError, match=r"whole_run ended with exit code 1: .*wanted at least two"):
        alone(whole.RUN, protocol=whole_run.LINEAR, parties=1, dimension=1)


# Public-key operations, and the masks of a sum.


def test_operations_are_counted_in_whatever_runs() -> None:
    def work() -> str:
        one, other = X25519PrivateKey.from_private_bytes(bytes(range(32))), X25519PrivateKey.generate()
        for _ in range(3):
            one.exchange(other.public_key())
        signer = Ed25519PrivateKey.generate()
        signer.public_key().verify(signer.sign(b""), b"")
        return "done"

    counts, result = public_key.counted(work)
    assert result == "done"
    assert counts == {"x25519": 3, "x25519_key": 2, "sign": 1, "verify": 1, "ed25519_key": 1}
    assert public_key.priced(counts, {"x25519": 100, "x25519_key": 10, "sign": 1, "verify": 2, "ed25519_key": 3}) == 326
    prices = public_key.operation_prices(3)
    assert prices.keys() == counts.keys()
    assert all(value > 0 for value in prices.values())


@pytest.mark.parametrize("D", [0, 1])
def test_masks_are_counted_and_one_that_hides_nothing_is_refused(D: int, monkeypatch: pytest.MonkeyPatch) -> None:
    seconds, counts = sums.mask_seconds(10, 4, D)
    assert seconds > 0
    assert counts["x25519"] in (9, 10)  # in one sitting a party may agree with itself as well
    sums.check_masks(D)

    def nothing(*given: Any, **rest: Any) -> Vector:
        return given[1]

    monkeypatch.setattr(masks, "blind" if D else "cover", nothing)
    with pytest.raises(DisagreeError, match="alike"):
        sums.check_masks(D)


def test_masks_that_do_not_cancel_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(masking, "closed_mask", lambda at, pairs, other, *rest: bytes([3 * pairs.index + other]) * 32)
    with pytest.raises(DisagreeError, match="sum of all masks"):
        sums.check_masks(0)
