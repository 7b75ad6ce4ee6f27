"""Audits of a run in which each party's noise is its own: an honest one, and releases and views that lie about it."""

from __future__ import annotations

import copy
from dataclasses import replace
from typing import Any

import pytest
from support.audited import Folders, hospitals, sum_agreement
from support.audits import outcome

from protocols.arithmetic.rng import Stream
from protocols.secure_sum.values import Addends
from smc_dp.audit.run.derived_parameters import derive_parameters
from smc_dp.audit.run.evidence import Evidence
from smc_dp.audit.run.privacy import own_noise
from smc_dp.methods.collaborative.ofpa import Ofpa
from smc_dp.privacy.grid import Grid
from smc_dp.privacy.target import Target
from smc_dp.run.simulation import simulate_run

PRIVACY = ("mechanism", "statement", "insecure-markers", "noise", "models")


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Evidence:
    folder = tmp_path_factory.mktemp("own")
    data, folders = hospitals((30, 20, 45), 3), Folders(folder / "run", folder / "views")
    biased = replace(data, bounds=replace(data.bounds, columns=data.bounds.columns[:2], bias=0.5))
    agreed = sum_agreement(biased, Ofpa(lam=0.1), Target(1), most_rows=100, seeded=False)  # type: ignore[arg-type]
    simulate_run(biased, agreed, Stream.from_system(), folders.run, views=folders.views)
    return folders.evidence()


def with_view(made: Evidence, change: Any) -> Evidence:
    """The first party's view says that it entered something else."""
    name = made.session.parties[0]
    view = copy.copy(made.views[name])
    p, mine = view.inputs
    lied = replace(view, inputs=(p, Addends(*(tuple(map(p.ring.vector, x)) for x in change(p, mine)))))
    return replace(made, views={**made.views, name: lied})


def test_an_honest_run_passes_and_says_what_cannot_be_seen(made: Evidence) -> None:
    found = {name: outcome(name, made) for name in PRIVACY}
    status = {name: x.status for name, x in found.items()}
    assert status == {**dict.fromkeys(PRIVACY, "passed"), "noise": "not possible"}
    assert (found["mechanism"].code, f"{found['mechanism'].fault.fields['epsilon']:.6g}") == (
        "mechanism.own_noise_holds",
        "1",
    )
    assert found["noise"].code == "noise.in_model"
    assert outcome("models", replace(made, views={})).status == "not possible"


def test_too_little_noise_and_too_short_a_ring_are_noticed(made: Evidence, monkeypatch: pytest.MonkeyPatch) -> None:
    honest = Ofpa.perturbation

    def half(self: Ofpa, target: Target, n: int, dimension: int) -> Any:
        law = honest(self, target, n, dimension)
        return replace(law, noise=replace(law.noise, scale=law.noise.scale / 2))

    monkeypatch.setattr(Ofpa, "perturbation", half)
    assert outcome("mechanism", made).code == "noise.own_epsilon_too_large"
    assert outcome("mechanism", made).status == "failed"
    monkeypatch.undo()
    found = own_noise.check_own_mechanism(made, replace(derive_parameters(made), grid=Grid(40, 64)))
    assert found.code == "ring.too_small"


def test_views_that_lie_are_noticed(made: Evidence) -> None:
    """Noise beside the model, more rows than announced, a weight that was not cut off."""
    for change, code in (
        (lambda p, mine: (mine.numbers, ((1, *mine.noise[0][1:]),)), "view.no_numbers"),
        (lambda p, mine: (((*mine.numbers[0][:-1], 101),), mine.noise), "view.number_of_rows"),
        (lambda p, mine: (((31 << 62, *mine.numbers[0][1:]),), mine.noise), "view.weight_too_large"),
    ):
        found = outcome("models", with_view(made, change))
        assert (found.status, found.code) == ("failed", code)
