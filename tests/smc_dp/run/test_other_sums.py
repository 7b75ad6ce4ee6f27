"""Runs of `avg_clip`, `ofaa` and `ofpa`: a bias of a model's own, ledgers of a guarantee for parties, refusals."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.audited import hospitals, sum_agreement

from protocols.arithmetic.rng import Stream
from smc_dp import predict, run_protocol
from smc_dp.core.arrays import with_bias
from smc_dp.data.federation import Federation, Rows
from smc_dp.data.sources import PreparedData
from smc_dp.methods.collaborative.ofaa import Ofaa
from smc_dp.methods.collaborative.ofpa import Ofpa
from smc_dp.methods.gradients.gradient_descent import MOST_SUMS, GradientDescent
from smc_dp.methods.sums.clipped_average import ClippedAverage
from smc_dp.privacy.ledger.history import Limit
from smc_dp.privacy.ledger.ledger import Ledger
from smc_dp.privacy.target import Target
from smc_dp.run.ledgers import Ledgers
from smc_dp.run.party import LocalParty
from smc_dp.run.simulation import simulate_run
from smc_dp.run.verify_release import verify_release
from tests.support.refusals import refused

PLAIN = hospitals((12, 8, 20), 2)


def with_constant(data: PreparedData) -> PreparedData:
    """The same rows with a constant, as their bounds say."""
    bounds = replace(data.bounds, bias=0.5)
    parties = tuple(Rows(with_bias(rows.X, 0.5), rows.y) for rows in data.federation.parties)
    return PreparedData(Federation(parties, 2, names=data.federation.names), None, bounds)


@pytest.mark.parametrize("method", [Ofaa(), Ofpa(lam=0.1)], ids=lambda method: method.name)
def test_a_bias_of_its_own_goes_to_the_constant_of_the_rows(method: Any, tmp_path: Path) -> None:
    """What a release predicts is what the model of its sum predicts; a run on rows without a constant is refused."""
    data, target = with_constant(PLAIN), Target(Fraction(9), noise=method.secure_noises[0])
    agreed = sum_agreement(data, method, target)
    simulate_run(data, agreed, Stream.insecure_from_seed("bias"), tmp_path / "run")
    released = verify_release(tmp_path / "run").release
    parts = [
        LocalParty(who, rows, agreed, Stream.insecure_from_seed("bias").fork(f"party {who}")).contribution
        for who, rows in data.federation.by_name.items()
    ]
    model: Any = agreed.spec.model(sum_of(parts))
    X = data.federation.pooled().X
    scores = model.scores(X)[:, 1] - model.scores(X)[:, 0]
    assert np.allclose(X @ np.array(released.weights), scores, rtol=1e-9, atol=1e-9)
    assert not np.allclose(X @ model.theta[:-1], scores)  # twin: without its bias
    assert predict(tmp_path / "run", X).missing_files_text is None
    with refused("bounds.no_constant", name=method.name):
        sum_agreement(PLAIN, method, target)


def sum_of(parts: list[Any]) -> tuple[int, ...]:
    return tuple(map(sum, zip(*(vector for part in parts for vector in (part.numbers, part.noise)), strict=True)))


def test_a_guarantee_for_a_party_is_charged_to_its_account_and_to_that_of_records(tmp_path: Path) -> None:
    books = Ledgers(tmp_path / "books", Limit(Fraction(6, 5), Fraction(1, 10**5)))
    for name, method in (("of a record", "wsum"), ("of a party", ClippedAverage(0.1))):
        target = Target(Fraction("0.75"), noise="ddg")
        report = run_protocol(PLAIN.federation, method=method, target=target, out=tmp_path / name, ledgers=books)
        assert report.privacy.unit == name.split()[-1]
    assert "all records of one party were replaced" in report.privacy.plain_words()
    with Ledger.open(books.path(PLAIN.federation.names[0])) as ledger:
        charged = [(e.unit, e.adjacency, e.kind) for e in ledger.history().entries if e.state == "reserved"]
    assert charged == [("record", "replace", "zcdp"), ("party", "party", "zcdp")]
    with refused("budget.passed"):  # twin: 3/4 more of the same unit is beyond the limit
        run_protocol(PLAIN.federation, method=method, target=target, out=tmp_path / "more", ledgers=books)


def test_a_hundred_sums_can_be_predicted_with(tmp_path: Path) -> None:
    data = hospitals((12, 8, 20), 2)
    agreed = sum_agreement(data, GradientDescent(rows=10**6), Target(Fraction(100), noise="ddg"))
    assert len(agreed.spec.functionality.each) == MOST_SUMS
    simulate_run(data, agreed, Stream.insecure_from_seed(1), tmp_path / "run")
    assert len(predict(tmp_path / "run", np.zeros((2, data.bounds.dimension))).labels) == 2
