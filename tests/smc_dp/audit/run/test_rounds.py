"""The checks of privacy of sessions with several sums: honest runs with drop-outs, and records, releases, views and
parties that lie about one of the sums.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support import forgeries as f
from support.audited import Folders, hospitals, long_term, sum_agreement
from support.audits import failed, outcome, outcomes

from protocols.arithmetic.rng import Stream
from protocols.runtime import message as messages
from protocols.runtime.attestation import encode_statement, signing_input
from protocols.secure_sum.messages import Input
from protocols.secure_sum.parameters import stage
from protocols.secure_sum.values import Addends
from smc_dp import run_protocol
from smc_dp.audit.run.checks import CHECKS
from smc_dp.audit.run.derived_parameters import DerivedParameters, derive_parameters
from smc_dp.audit.run.evidence import Evidence, load_evidence
from smc_dp.audit.run.privacy import rounds
from smc_dp.audit.run.privacy.view_inputs import inputs_of_views
from smc_dp.data.federation import Federation, Public, Rows
from smc_dp.data.sources import PreparedData
from smc_dp.methods.gradients.gradient_descent import GradientDescent
from smc_dp.methods.gradients.newton import Newton
from smc_dp.methods.sums.threat_model import AnnouncedRows, ThreatModel
from smc_dp.privacy.distributed import RoundBound, SharedRounds
from smc_dp.privacy.grid import Grid
from smc_dp.privacy.target import Target
from smc_dp.run.simulation import simulate_run

SIZES, DIMENSION, MOST = (30, 20, 45, 12), 4, 100
PARTIES = tuple(f"north-{j}" for j in range(len(SIZES)))
OWN = long_term(PARTIES)
ONE = Target(1, noise="ddg", delta=Fraction(1, 10**5))
MET, EACH = 5, 3  # letters of a party before the first sum, and in each sum


def data_of(classes: int = 2, bias: float = 0.0) -> PreparedData:
    """The hospitals, with a constant and more classes where they are wanted."""
    data, parties = hospitals(SIZES, DIMENSION), []
    for rows in data.federation.parties:
        X = np.hstack([rows.X / 2, np.full((len(rows), 1), bias)]) if bias else rows.X
        parties.append(Rows(X, np.arange(len(rows)) % classes))
    bounds = replace(data.bounds, bias=bias, classes=tuple("abc"[:classes]))
    return replace(data, federation=Federation(tuple(parties), classes, names=PARTIES), bounds=bounds)


def recorded(
    folder: Path,
    method: Any = None,
    drop_out: dict[str, int] | None = None,
    data: PreparedData | None = None,
    target: Target | None = None,
    **options: Any,
) -> Folders:
    """One run of four parties of whom one may vanish and one collude, with its views and true coins."""
    data, made = data or data_of(), Folders(folder / "run", folder / "views")
    settings = {"colluders": 1, "dropouts": 1, "verifiable": True, "most_rows": MOST, **options}
    agreed = sum_agreement(data, method or Newton(), target or ONE, seeded=False, **settings)
    coins = Stream.from_system()
    simulate_run(data, agreed, coins, made.run, identities=OWN, views=made.views, drop_out=drop_out or {})
    return made


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Folders:
    """North-1 vanishes in sum 3, before its masked input, so that its view ends there."""
    return recorded(tmp_path_factory.mktemp("made"), drop_out={"north-1": MET + 3 * EACH + 1})


@pytest.fixture(scope="module")
def evidence(made: Folders) -> Evidence:
    return made.evidence()


# Honest runs.


def test_a_run_in_which_a_party_vanished_in_a_later_sum_passes(made: Folders, evidence: Evidence) -> None:
    """Everything that was answered replays from the views, whose inputs hold the answers."""
    assert failed(outcomes(evidence, CHECKS)) == {}
    for name in ("mechanism", "statement", "noise", "models", "result", "messages-recomputed", "canaries"):
        assert outcome(name, evidence).status == "passed", name
    assert [len(evidence.views[name].inputs) for name in PARTIES] == [2 + 8, 2 + 4, 2 + 8, 2 + 8]
    assert outcome("models", evidence).fault.fields["contributions"] == "28 contributions"
    assert failed(outcomes(made.evidence(views=False), CHECKS)) == {}
    found = derive_parameters(evidence)
    assert isinstance(found.shared, SharedRounds)
    assert found.grid == Grid(14, evidence.session.parameters.ring_bits)


@pytest.mark.slow
@pytest.mark.parametrize("options", [
    {"method": GradientDescent(rows=100), "verifiable": False},
    {"method": Newton(adjacency="addremove"), "dropouts": 0, "verifiable": False},
    {"method": GradientDescent(adjacency="addremove", rows=50), "drop_out": {"north-2": MET + EACH + 2}},
    {"drop_out": {"north-0": MET + 1, "north-3": 1}, "colluders": 0, "dropouts": 1},
    {"data": data_of(3)},
    {"data": data_of(3, 0.5), "method": GradientDescent(rows=10)},
], ids=["gd", "nobody may drop out", "gd, addremove", "left out", "three classes", "gd, three classes"])  # fmt: skip
def test_real_runs_pass(options: dict[str, Any], tmp_path: Path) -> None:
    assert failed(outcomes(recorded(tmp_path, **options).evidence(), CHECKS)) == {}


# The figures, made again.


FIVE = ThreatModel(5, 1, 1)


def stated_of(
    method: Any,
    classes: int = 2,
    d: int = 3,
    target: Target = ONE,
    threat_model: ThreatModel = FIVE,
) -> DerivedParameters:
    """What a release of such a method by five parties, or others, states."""
    public = Public(threat_model.parties, d, classes)
    spec = method.shared(public, target, threat_model, AnnouncedRows(MOST))
    return DerivedParameters(method, target, public, spec.grid, spec, spec.noise)


FORMS: dict[str, Callable[[], DerivedParameters]] = {
    "newton": lambda: stated_of(Newton()),
    "newton, addremove, d = 1": lambda: stated_of(Newton(adjacency="addremove"), d=1),
    "newton, six classes": lambda: stated_of(Newton(), classes=6),
    "gd, three classes": lambda: stated_of(GradientDescent(rows=1000), classes=3),
    "gd, addremove": lambda: stated_of(GradientDescent(adjacency="addremove", rows=10), target=replace(ONE, epsilon=9)),
}


@pytest.mark.parametrize("name", FORMS)
def test_each_form_gives_what_is_claimed_and_less_noise_does_not(name: str) -> None:
    """A tenth less of the noise in one block is too little."""
    found = FORMS[name]()
    assert rounds.check_rounds_mechanism(found).status == "passed", rounds.check_rounds_mechanism(found)
    bounds = rounds.sum_bounds(found)
    assert [bound.gradient for bound in bounds] == [step.bound for step in found.spec.noise.steps]
    spec, laws = found.spec, found.spec.noise.distributions

    def lying(noise: SharedRounds) -> str:
        other = replace(spec)  # with nothing that was computed of it
        other.__dict__["noise"] = noise
        outcome = rounds.check_rounds_mechanism(replace(found, spec=other, shared=noise))
        assert outcome.status == "failed"
        return outcome.code

    def scaled(r: int, block: int, by: Fraction) -> SharedRounds:
        some = list(map(list, laws))
        some[r][block] = replace(some[r][block], variance=some[r][block].variance * by)
        return replace(spec.noise, distributions=tuple(map(tuple, some)))

    less = Fraction(9, 10)
    for r in {0, len(laws) - 1}:
        for block in range(len(laws[r])):
            assert lying(scaled(r, block, less)) == "noise.mu_too_large", (r, block)
    small = tuple(tuple(replace(law, variance=Fraction(18)) for law in some) for some in laws)
    assert lying(replace(spec.noise, distributions=small)) == "noise.mu_too_large"
    counted = tuple(tuple(replace(law, honest=4) for law in some) for some in laws)
    assert lying(replace(spec.noise, distributions=counted)) == "noise.honest_shares"
    assert lying(replace(spec.noise, ring_bits=32)) == "ring.too_small"


def test_in_a_circle_that_can_fail_no_curve_is_stated_and_the_target_counts() -> None:
    found = stated_of(Newton(), threat_model=ThreatModel(300, 30, 15))
    stated = found.spec.statement
    assert (stated.kind, stated.mu, stated.rho, stated.epsilon) == ("approx", None, None, 1.0)
    assert rounds.check_rounds_mechanism(found).status == "passed", rounds.check_rounds_mechanism(found)
    for less in ({"epsilon": 0.99}, {"delta": 1e-9}, {"kind": "none", "epsilon": None, "delta": 0.0}):
        found.spec.__dict__["statement"] = replace(stated, **less)
        assert rounds.check_rounds_mechanism(found).code == "statement.too_small"


@pytest.mark.parametrize("wrong", ["sums that are not told from one", "a later sum charged as the first"])
def test_a_wrong_charge_in_the_code_that_made_the_run_is_found(wrong: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """sigma without the root of R, and the curvature for nothing where something was asked already."""
    if wrong == "sums that are not told from one":
        honest = RoundBound.distributions
        monkeypatch.setattr(RoundBound, "distributions", lambda step, mu2, honest_: honest(step, 8 * mu2, honest_))
        outcome = rounds.check_rounds_mechanism(stated_of(Newton()))
    else:
        found = stated_of(Newton())
        start, *later = rounds.sum_bounds(found)
        monkeypatch.setattr(rounds, "sum_bounds", lambda found: (replace(start, start=False), *later))
        outcome = rounds.check_rounds_mechanism(found)
    assert (outcome.status, outcome.code) == ("failed", "noise.mu_too_large")


def test_a_record_bound_to_less_noise_in_one_sum_is_found(made: Folders, tmp_path: Path) -> None:
    sums = made.evidence(views=False).session.parameters.as_dict()["sums"]
    length, text = sums[5][0]
    changed = [*sums[:5], [[length, text.rpartition("=")[0] + "=100/1"]], *sums[6:]]
    forged = load_evidence(f.forge(made.run, tmp_path / "forged", f.with_parameters(sums=changed), f.resigned(OWN)))
    for check in ("mechanism", "agreed"):
        found = outcome(check, forged)
        assert (found.status, found.fault.fields["name"]) == ("failed", "sums")


# Views and parties that lie.


def with_sum(evidence: Evidence, party: str, r: int, change: Callable[[Addends], Addends]) -> Evidence:
    """The evidence with another answer of a party to sum r, in a view that it signed."""
    view = evidence.views[party]
    inputs = list(view.inputs)
    inputs[2 + r] = change(inputs[2 + r])
    other = replace(view, inputs=tuple(inputs)).signed(evidence.session, OWN[party])
    return replace(evidence, views={**evidence.views, party: other})


def test_other_integers_than_its_view_says_are_found(evidence: Evidence) -> None:
    """They are as legal as those that it entered; what it sent does not follow from them."""
    moved = with_sum(evidence, "north-2", 4, lambda mine: replace(mine, numbers=((7, *mine.numbers[0][1:]),)))
    assert outcome("models", moved).status == outcome("noise", moved).status == "passed"
    found = outcome("messages-recomputed", moved)
    assert (found.status, found.party) == ("failed", "north-2")
    assert (found.code, found.fault.fields["kind"]) == ("message.other_than_view", "'Masked'")


def test_an_answer_too_many_is_found(evidence: Evidence) -> None:
    view = evidence.views["north-0"]
    more = replace(view, inputs=(*view.inputs, view.inputs[-1])).signed(evidence.session, OWN["north-0"])
    twice = replace(evidence, views={**evidence.views, "north-0": more})
    for check in ("noise", "models"):
        found = outcome(check, twice)
        assert (found.status, found.party) == ("failed", "north-0")
        assert (found.code, found.fault.fields) == ("view.too_many_answers", {"answers": 9, "sums": 8})
    fewer = replace(view, inputs=view.inputs[:-1]).signed(evidence.session, OWN["north-0"])
    short = outcome("noise", replace(evidence, views={**evidence.views, "north-0": fewer}))
    assert (short.code, short.fault.place) == ("view.no_input", "in the view of 'north-0': ")


def test_two_masked_inputs_for_one_sum_are_found(evidence: Evidence) -> None:
    """Each is signed for its context, so whoever answered a sum twice has signed a contradiction."""
    session, view = evidence.session, evidence.views["north-0"]
    first = next(x for x in view.statements if x[:2] == (stage(5), "Input"))
    said = messages.decode(Input, first[2], session.layout, {})
    payload = encode_statement(session, "north-0", replace(said, digest=bytes(32)), {})
    signature = OWN["north-0"].sign(signing_input(session.id, "north-0", "Input", payload))
    more = replace(view, statements=(*view.statements, (stage(5), "Input", payload, signature)))
    found = outcome("statements", replace(evidence, views={**evidence.views, "north-0": more}))
    assert (found.status, found.party) == ("failed", "north-0")
    assert (found.code, found.fault.fields["kind"]) == ("statement.contradicted", "Input")


def test_noise_used_again_in_another_sum_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A party draws from the same coins in every sum; all else of its run is in order."""
    share = SharedRounds.share
    monkeypatch.setattr(SharedRounds, "share", lambda noise, r, rng: share(noise, r, AGAIN.fork("again")))
    lying = recorded(tmp_path, verifiable=False, dropouts=0).evidence()
    assert set(failed(outcomes(lying, CHECKS))) == {"noise"}
    assert outcome("noise", lying).code == "share.used_again"


AGAIN = Stream.insecure_from_seed("used again")


def test_noise_of_one_sum_that_was_not_drawn_is_found(evidence: Evidence) -> None:
    """No noise, or much more, in the first sum or in a later one."""
    ring = evidence.session.parameters.ring
    for r, change in ((0, lambda x: 0), (6, lambda x: 0), (3, lambda x: 64 * x)):
        other = with_sum(
            evidence, "north-3", r,
            lambda mine, change=change: replace(
                mine, noise=(tuple(ring.reduce(change(ring.nearest((x,))[0])) for x in mine.noise[0]),)
            ),
        )  # fmt: skip
        found = outcome("noise", other)
        assert (found.status, found.party) == ("failed", "north-3")
        assert (found.code, found.fault.fields["where"]) == ("share.length", f" in sum {r}")


CONTRIBUTIONS: dict[str, tuple[int, Callable[[tuple[int, ...]], tuple[int, ...]], str, dict[str, Any]]] = {
    "a later gradient": (
        5,
        lambda x: (MOST << 25, *x[1:]),
        "view.sum_too_long",
        {"what": "gradient", "sum": 5, "rows": 100},
    ),
    "the first": (0, lambda x: (MOST << 14, *x[1:]), "view.sum_too_long", {"what": "gradient", "sum": 0, "rows": 100}),
    "the curvature": (
        0,
        lambda x: (*x[:4], MOST << 29, *x[5:]),
        "view.sum_too_long",
        {"what": "curvature", "sum": 0, "rows": 100},
    ),
    "a negative square": (0, lambda x: (*x[:4], -1, *x[5:]), "curvature.negative", {}),
    "no square": (0, lambda x: (*x[:-1], MOST << 26), "curvature.no_square", {}),
}


@pytest.mark.parametrize("name", CONTRIBUTIONS)
def test_what_no_rows_contribute_is_found(name: str, evidence: Evidence) -> None:
    r, change, code, fields = CONTRIBUTIONS[name]
    ring = evidence.session.parameters.ring

    def entered(mine: Addends) -> Addends:
        return replace(mine, numbers=(ring.vector(change(ring.nearest(mine.numbers[0]))),))

    found = outcome("models", with_sum(evidence, "north-0", r, entered))
    assert (found.status, found.party) == ("failed", "north-0")
    assert (found.code, found.fault.fields) == (code, fields)


# The sums of both regressions, derived again, and what parties entered to them.


COLUMNS = '[columns]\nage = [18, 98]\nward = ["a", "b", "c"]\n'
LABELS = {
    "logistic": '[label]\ncolumn = "label"\nclasses = ["0", "1"]\n',
    "linear": '[label]\ncolumn = "label"\nrange = [0, 60]\n',
}
P = 4  # age, two wards, the constant
MATRIX = [P, P * (P - 1) // 2]
LENGTHS = {  # of the blocks of each sum
    "logistic": [[P, *MATRIX, *MATRIX, 1]] * 3,
    "linear": [[*MATRIX, P, 1, 1], [*MATRIX, P, 1, 1], [P, *MATRIX, 1, 1]],
}
EACH_BLOCK = [("logistic", 2, i) for i in range(6)] + [("linear", r, i) for r in range(3) for i in range(5)]

Regression = Callable[[str], tuple[Evidence, DerivedParameters]]


@pytest.fixture(scope="module", params=["replace", "addremove"])
def regression(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Regression:
    """Return a function of a method that gives the evidence of a run of it, and what an audit derives from that."""

    @cache
    def run(method: str) -> tuple[Evidence, DerivedParameters]:
        folder, rng = tmp_path_factory.mktemp(method), np.random.default_rng(1)
        (folder / "bounds.toml").write_text(COLUMNS + LABELS[method])
        parties = {name: folder / f"{name}.csv" for name in ("north", "south", "west")}
        for path in parties.values():
            labels = rng.integers(2 if method == "logistic" else 61, size=40)
            lines = [f"{rng.integers(18, 99)},{rng.choice(list('abc'))},{label}" for label in labels]
            path.write_text("\n".join(["age,ward,label", *lines]) + "\n")
        run_protocol(
            parties,
            method=method,
            epsilon=2,
            adjacency=request.param,
            bounds=folder / "bounds.toml",
            most_rows=50,
            out=folder / "run",
            views=folder / "views",
        )
        evidence = Folders(folder / "run", folder / "views").evidence()
        return evidence, derive_parameters(evidence)

    return run


@pytest.mark.parametrize("method", LABELS)
def test_a_run_passes_with_its_views(regression: Regression, method: str) -> None:
    """And is of the columns that are no reference."""
    evidence, found = regression(method)
    report = outcomes(evidence, CHECKS)
    assert failed(report) == {}
    for name in ("mechanism", "statement", "noise", "models", "messages-recomputed", "result"):
        assert report[name].status == "passed", name
    assert found.public.box.references == (1,)
    assert [[length for length, _ in blocks] for blocks in found.sums[:3]] == LENGTHS[method]


@pytest.mark.parametrize(("method", "number", "block"), EACH_BLOCK)
def test_less_noise_in_any_block_of_a_sum_is_noticed(
    regression: Regression, method: str, number: int, block: int
) -> None:
    _, found = regression(method)
    shared: Any = found.shared
    each = list(shared.distributions)
    each[number] = tuple(
        replace(of, variance=of.variance * (Fraction(1, 2) if i == block else 1)) for i, of in enumerate(each[number])
    )
    less = replace(found, shared=replace(shared, distributions=tuple(each)))
    assert rounds.check_rounds_mechanism(found).status == "passed"
    assert rounds.check_rounds_mechanism(less).code == "noise.mu_too_large"


@pytest.mark.parametrize("method", LABELS)
def test_blocks_of_other_lengths_are_no_sums_of_the_method(regression: Regression, method: str) -> None:
    _, found = regression(method)

    class Other(type(found)):  # type: ignore[misc]
        sums = tuple(blocks[:-1] for blocks in found.sums)

    other = Other(found.method, found.target, found.public, found.grid, found.spec, found.shared)
    assert rounds.check_rounds_mechanism(other).code == "sums.other_blocks"


@pytest.mark.parametrize(
    ("method", "number", "blocks"),
    [
        ("logistic", 2, {0: (50 * 2**26 + 1,)}),
        ("logistic", 2, {1: (50 * 2**50 + 1,), 2: ()}),
        ("logistic", 2, {3: (50 * 2**52 + 1,), 4: ()}),
        ("logistic", 2, {3: (2**53,) * 4, 4: (2**54,)}),  # the square of no matrix
        ("logistic", 2, {5: (51 << 16,)}),
        ("linear", 1, {0: (50 * 2**28 + 1,)}),
        ("linear", 1, {1: (50 * 2**28,)}),
        ("linear", 1, {2: (50 * 2**34 + 1,)}),
        ("linear", 1, {3: (50 * 2**40 + 1,)}),
        ("linear", 1, {4: (51 << 16,)}),
        ("linear", 2, {0: (50 * 2**26 + 1,)}),
        ("linear", 2, {1: (50 * 2**52 + 1,)}),
        ("linear", 2, {3: (50 * 2**24 + 1,)}),
        ("linear", 2, {4: (51 << 16,)}),
    ],
)
def test_an_input_that_no_rows_make_is_noticed(
    regression: Regression, method: str, number: int, blocks: dict[int, tuple[int, ...]]
) -> None:
    evidence, found = regression(method)
    read: Any = inputs_of_views(evidence, found)
    assert rounds.check_contributions(evidence, found, read).status == "passed"
    sums = [list(of_sum) for of_sum in read["south"]]
    for block, numbers in blocks.items():
        padded = (*numbers, *(0,) * (len(sums[number][block].without_noise) - len(numbers)))
        sums[number][block] = replace(sums[number][block], without_noise=padded)
    assert rounds.check_contributions(evidence, found, {**read, "south": tuple(map(tuple, sums))}).status == "failed"
