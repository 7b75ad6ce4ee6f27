"""Who pays for a session of several sums: one entry, which stands as soon as one of the sums does."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from support.audited import hospitals, sum_agreement
from support.clear import striking

from protocols.arithmetic.rng import Stream
from protocols.errors import StoppedError
from protocols.runtime.envelope import Envelope
from protocols.secure_sum import steps
from protocols.secure_sum.messages import Masked
from smc_dp.methods.gradients.newton import Newton
from smc_dp.privacy.ledger import export
from smc_dp.privacy.ledger.history import Limit
from smc_dp.privacy.target import Target
from smc_dp.run.ledgers import Ledgers
from smc_dp.run.protocols import execution
from smc_dp.run.report import Report
from smc_dp.run.simulation import simulate_run
from tests.support.refusals import refused

CASE = hospitals((12, 8, 20, 9), 2)
A, B, C, D = CASE.federation.names
SUMS = 8
MET, EACH = 5, 3  # letters of a party before the first sum, and in each sum
PAID, UNKNOWN, REFUND = ["reserved", "released"], ["reserved"], ["reserved", "refunded"]


def run(folder: Path, books: Ledgers, data: Any = CASE, **options: Any) -> Report:
    """With coins of no seed, as far as anybody can see, so that the statement claims an epsilon."""
    drop_out = options.pop("drop_out", {})
    target = Target(Fraction("0.4"), noise="ddg", delta=Fraction(1, 10**5))
    settings = {"colluders": 1, "dropouts": 1, "most_rows": 100, **options}
    agreed = sum_agreement(data, Newton(), target, seeded=False, **settings)
    rng = Stream(hashlib.sha256(folder.name.encode()).digest(), insecure=False)
    return simulate_run(data, agreed, rng, folder, ledgers=books, drop_out=drop_out)


def states(books: Ledgers, party: str) -> list[str]:
    return [entry.state for entry in export.read_history(books.path(party)).entries][1:]


def of_all(books: Ledgers) -> dict[str, list[str]]:
    return {name: states(books, name) for name in (A, B, C, D)}


@pytest.fixture
def books(tmp_path: Path) -> Ledgers:
    return Ledgers(tmp_path / "books", Limit(Fraction(1), Fraction(1, 1000)))


def unsigned_by(party: str, in_sums: Callable[[int], bool], monkeypatch: pytest.MonkeyPatch) -> None:
    """What this party enters to these sums is not signed, so that they are certified without it."""
    send, count = steps.send_masked, [0]

    def sending(me: Any, p: Any, at: bytes, y: Any) -> None:
        if me.name != party:
            send(me, p, at, y)
            return
        r, count[0] = count[0], count[0] + 1
        if in_sums(r):
            me.send(me.curator, Masked(at, y, bytes(64)))
        else:
            send(me, p, at, y)

    monkeypatch.setattr(steps, "send_masked", sending)


def test_eight_sums_are_charged_once(tmp_path: Path, books: Ledgers) -> None:
    run(tmp_path / "run", books)
    assert of_all(books) == dict.fromkeys((A, B, C, D), PAID)
    (_, reserved, _) = export.read_history(books.path(A)).entries
    assert reserved.epsilon == Fraction(2, 5)  # and not eight times that


def test_who_vanishes_in_a_later_sum_has_paid_for_all(tmp_path: Path, books: Ledgers) -> None:
    """B is in sums 0 to 2, and gone before its fourth masked input: which is safe, and more than it lost."""
    report = run(tmp_path / "run", books, drop_out={B: MET + 3 * EACH + 1})
    assert report.present is not None
    assert (report.present.took_part, report.present.dropped_out) == ((A, B, C, D), (B,))
    assert of_all(books) == dict.fromkeys((A, B, C, D), PAID)


@pytest.mark.parametrize(
    ("left_out", "paid"),
    [(range(1), PAID), (range(7, 8), PAID), (range(SUMS), REFUND)],
    ids=["of the first", "of the last", "of all"],
)
def test_a_party_that_is_left_out_of_some_sums_pays_and_out_of_all_does_not(
    tmp_path: Path, books: Ledgers, monkeypatch: pytest.MonkeyPatch, left_out: range, paid: list[str]
) -> None:
    unsigned_by(B, lambda r: r in left_out, monkeypatch)
    report = run(tmp_path / "run", books, drop_out={B: 10**6})
    assert report.present is not None
    assert (B in report.present.took_part) == (paid == PAID)
    assert "run.stayed_to_the_end" in [remark.code for remark in report.remarks]
    assert of_all(books) == {B: paid} | dict.fromkeys((A, C, D), PAID)


def test_a_proof_about_one_sum_says_nothing_of_another(
    tmp_path: Path, books: Ledgers, monkeypatch: pytest.MonkeyPatch
) -> None:
    """B is in sum 0 and not in sum 1, and nothing comes of sum 2: its first masked input was of use to somebody."""
    unsigned_by(B, lambda r: r == 1, monkeypatch)
    gone = MET + 2 * EACH + 1  # before sum 2; B sends two letters less, for it signs and opens nothing in sum 1
    with refused("session.others_could_not_go_on", error=StoppedError, dropped_out=[B, C]) as caught:
        run(tmp_path / "run", books, drop_out={B: gone - 2, C: gone})
    assert "sum 2" in str(caught.value)
    assert states(books, B) == UNKNOWN
    assert {name: states(books, name) for name in (A, C, D)} == dict.fromkeys((A, C, D), UNKNOWN)


def test_who_was_in_no_sum_when_it_vanished_pays_nothing(
    tmp_path: Path, books: Ledgers, monkeypatch: pytest.MonkeyPatch
) -> None:
    unsigned_by(B, lambda r: r == 0, monkeypatch)
    report = run(tmp_path / "run", books, drop_out={B: MET + 2})  # after its masked input to sum 0, which is of no use
    assert report.present is not None
    assert report.present.took_part == (A, C, D)
    assert of_all(books) == {B: REFUND} | dict.fromkeys((A, C, D), PAID)


def test_a_sum_that_is_given_up_takes_back_no_sum_before_it(tmp_path: Path, books: Ledgers) -> None:
    """Two of five vanish where one may: all who are left hold the proof that sum 3 is nobody's, and sum 2 stands."""
    five = hospitals((12, 8, 20, 9, 7), 2)
    names = five.federation.names
    met = MET + 1
    gone = met + 3 * EACH + 1
    with refused("session.others_could_not_go_on", error=StoppedError, dropped_out=list(names[1:3])) as caught:
        run(tmp_path / "run", books, five, colluders=0, drop_out={names[1]: gone, names[2]: gone})
    assert {name: states(books, name) for name in names} == dict.fromkeys(names, UNKNOWN)
    assert "counts as spent" in caught.value.__notes__[0]


@pytest.mark.parametrize(("kind", "number", "paid"), [("Ready", 1, REFUND), ("Result", 4, UNKNOWN)])
def test_an_abort_between_sums_leaves_all_charged(
    tmp_path: Path, books: Ledgers, monkeypatch: pytest.MonkeyPatch, kind: str, number: int, paid: list[str]
) -> None:
    """Ctrl-C after the result of the first sum: it is out; before anything was masked: nobody pays."""
    seen = [0]

    def strike(n: int, envelope: Envelope) -> list[tuple[str, Envelope]]:
        seen[0] += envelope.kind == kind
        if seen[0] == number:
            raise KeyboardInterrupt
        return [(envelope.to, envelope)]

    monkeypatch.setattr(execution, "simulate", striking(strike, []))
    with pytest.raises(KeyboardInterrupt):
        run(tmp_path / "run", books)
    assert of_all(books) == dict.fromkeys((A, B, C, D), paid)
