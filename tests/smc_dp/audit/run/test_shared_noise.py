"""Audits of runs with shares of the noise, or each party's own: honest ones, and records, releases, views that lie."""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from math import isqrt
from pathlib import Path
from typing import Any

import pytest
from scipy.stats import binom
from support import forgeries as f
from support.audited import Folders, hospitals, long_term, sum_agreement
from support.audits import failed, outcome, outcomes
from support.repetitions import with_slow

from protocols.arithmetic.rng import Stream
from protocols.errors import Fault
from protocols.runtime import message as messages
from protocols.runtime.envelope import signed_payload
from protocols.secure_sum.messages import PublishedOpening
from protocols.secure_sum.values import Addends
from smc_dp.audit.run import derived_parameters
from smc_dp.audit.run.checks import CHECKS
from smc_dp.audit.run.derived_parameters import DerivedParameters, derive_parameters
from smc_dp.audit.run.evidence import Evidence, load_evidence
from smc_dp.audit.run.privacy import lengths, own_noise, shared
from smc_dp.methods.collaborative.ofpa import Ofpa
from smc_dp.methods.sums.threat_model import ThreatModel
from smc_dp.methods.sums.weighted_sum import WeightedSumAddRemove
from smc_dp.privacy.distributed import SharedNoise, share_distributions
from smc_dp.privacy.distributed.share_distributions import GammaShares, GaussianShares, WholeShares
from smc_dp.privacy.grid import Grid
from smc_dp.privacy.target import Target
from smc_dp.run.simulation import simulate_run

SIZES, DIMENSION = (30, 20, 45, 12), 12
PARTIES = tuple(f"north-{j}" for j in range(len(SIZES)))
OWN = long_term(PARTIES)
PRIVACY = ("mechanism", "statement", "insecure-markers", "noise", "models")


def recorded(folder: Path, drop_out: dict[str, int] | None = None, *, seeded: bool = True, **options: Any) -> Folders:
    """One run of four parties of whom one may vanish and one collude, with its views."""
    data, made = hospitals(SIZES, DIMENSION), Folders(folder / "run", folder / "views")
    rng = Stream.insecure_from_seed("audited sum") if seeded else Stream.from_system()
    agreed = sum_agreement(data, seeded=seeded, **{"colluders": 1, "dropouts": 1, "verifiable": True, **options})
    simulate_run(data, agreed, rng, made.run, identities=OWN, views=made.views, drop_out=drop_out or {})
    return made


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Folders:
    """With true coins: whoever knows the seed of a run is promised nothing, so that its statement says nothing."""
    return recorded(tmp_path_factory.mktemp("made"), seeded=False)


RUNS: dict[str, dict[str, Any]] = {
    "verifiable, ddg": {},
    "vg": {"target": Target(1, noise="vg"), "verifiable": False, "drop_out": {"north-1": 7}},
    "self, sizes hidden": {
        "method": WeightedSumAddRemove(0.1), "target": Target(1, noise="self"), "drop_out": {"north-2": 8},
    },
    "shares": {"verifiable": False, "dropouts": 0, "output": "shares"},
}  # fmt: skip


@pytest.mark.parametrize("name", RUNS)
def test_a_real_run_passes(name: str, tmp_path: Path) -> None:
    """Folder and views, with a party that vanished and without, with shares.json and without."""
    folders = recorded(tmp_path, **RUNS[name])
    evidence = folders.evidence()
    assert (evidence.shares is not None) == (name == "shares")
    found = outcomes(evidence, CHECKS)
    assert failed(found) == {}
    assert {found[check].status for check in (*PRIVACY, "files", "release", "agreed", "cost")} == {"passed"}
    assert failed(outcomes(folders.evidence(views=False), CHECKS)) == {}


# Records and releases that lie.


def with_release(evidence: Evidence, change: Callable[[dict[str, Any]], Any]) -> Evidence:
    document = copy.deepcopy(dict(evidence.release))
    change(document)
    return replace(evidence, release=document)


RELEASES: dict[str, tuple[Callable[[dict[str, Any]], Any], set[str]]] = {
    "fewer colluders": (lambda d: d["parameters"].update(colluders=0), {"agreed", "mechanism", "statement"}),
    "fewer drop-outs": (lambda d: d["parameters"].update(dropouts=0), {"agreed", "mechanism", "statement"}),
    "another weight": (lambda d: d["weights"].__setitem__(0, d["weights"][0] + 0.5), {"release"}),
    "a smaller epsilon": (lambda d: d["privacy"].update(epsilon=0.5), {"statement"}),
    "another noise": (lambda d: d["parameters"].update(noise="self"), {"agreed", "mechanism", "statement"}),
    "fewer rows at most": (lambda d: d["parameters"].update(most_rows=100), {"agreed", "mechanism"}),
    "no claim of H": (lambda d: d["privacy"].update(adversary="anyone"), {"statement"}),
}


@pytest.mark.parametrize("name", RELEASES)
def test_an_edited_release_is_found(name: str, made: Folders) -> None:
    change, wanted = RELEASES[name]
    evidence = with_release(made.evidence(views=False), change)
    found = {name: outcome(name, evidence) for name in ("release", "agreed", "mechanism", "statement")}
    assert wanted <= set(failed(found)), found


def test_a_record_bound_to_less_noise_is_found(made: Folders, tmp_path: Path) -> None:
    """The law in the session has a larger divisor, and everybody signs that: it is not what the target asks for."""
    sums = made.evidence(views=False).session.parameters.as_dict()["sums"]
    text = sums[0][0][1]
    less = text.rpartition("variance=")[0].replace("honest=2", "honest=4") + "variance=100/1"
    assert "honest=2" in text
    assert less != text
    changed = [[[sums[0][0][0], less], *sums[0][1:]]]
    forged = f.forge(made.run, tmp_path / "forged", f.with_parameters(sums=changed), f.resigned(OWN))
    evidence = load_evidence(forged)
    for check in ("mechanism", "agreed"):
        found = outcome(check, evidence)
        assert (found.status, found.party) == ("failed", None), check
        assert found.fault.fields["name"] == "sums"


def test_members_that_were_edited_are_found(made: Folders) -> None:
    """By the opening, whoever signed it; and by Charlie's view."""
    evidence = made.evidence()
    line, e = next((n, e) for n, e in evidence.envelopes.items() if e.kind == "PublishedOpening")
    layout = evidence.session.layout
    said = messages.decode(PublishedOpening, signed_payload(e), layout, {})
    payload = messages.encode(replace(said, members=(7,)), layout, {})
    changed = replace(e, body=payload + OWN["charlie"].sign(e.header + payload))
    lying = replace(evidence, envelopes={**evidence.envelopes, line: changed})
    assert outcome("openings", replace(lying, views={})).status == "failed"
    found = outcome("messages-recomputed", lying)
    assert (found.status, found.party, found.line) == ("failed", "charlie", line)


def test_noise_for_more_honest_parties_than_there_are_is_found(tmp_path: Path) -> None:
    """H too large, in the code that made the run; and even where the audit's own code has the same mistake."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(ThreatModel, "honest", property(lambda among: among.parties - among.dropouts))
        evidence = recorded(tmp_path).evidence(views=False)
        assert outcome("agreed", evidence).status == "passed"
        found = outcome("mechanism", evidence)
        assert (found.status, found.code) == ("failed", "noise.honest_shares")
        assert found.fault.fields == {"honest": 3, "wanted": 2}
    evidence = replace(evidence)  # which has not been looked at yet
    assert outcome("mechanism", evidence).status == "failed"
    assert outcome("agreed", evidence).status == "failed"


# The figures, made again.


def target(noise: str) -> Target:
    return Target(1, noise=noise)  # type: ignore[arg-type]


def stated_with(noise: str) -> DerivedParameters:
    """What a release of the four parties states for noise of this law."""
    agreed = sum_agreement(hospitals(SIZES, DIMENSION), target=target(noise), colluders=1, dropouts=1)
    spec: Any = agreed.spec
    return DerivedParameters(agreed.method, agreed.target, agreed.public, spec.grid, spec, spec.noise)


@pytest.fixture(scope="module", params=["ddg", "vg", "self"])
def of_each(request: pytest.FixtureRequest, made: Folders) -> tuple[Evidence, DerivedParameters, SharedNoise]:
    """The same evidence, as if the session had been bound to noise of each law."""
    found = stated_with(request.param)
    return made.evidence(), found, found.spec.noise


def scaled(law: Any, by: Fraction) -> Any:
    return replace(law, variance=law.variance * by) if law.name == "ddg" else replace(law, scale=law.scale * by)


def test_each_law_gives_what_is_claimed_and_less_noise_does_not(
    of_each: tuple[Evidence, DerivedParameters, SharedNoise], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shared, "_other_session", lambda evidence, found: None)
    evidence, found, noise = of_each
    assert shared.check_shared_mechanism(evidence, found, noise).status == "passed"
    wrong = {
        "shares.": replace(noise, distribution=scaled(noise.distribution, Fraction(99, 100))),
        "noise.honest_shares": replace(noise, distribution=replace(noise.distribution, honest=3)),
        "noise.sensitivity": replace(noise, sensitivity=noise.sensitivity - 1),
        "ring.too_small": replace(noise, grid=Grid(noise.grid.fraction_bits, 64)),
    }
    for code, lying in wrong.items():
        outcome = shared.check_shared_mechanism(evidence, found, lying)
        assert outcome.status == "failed", code
        assert outcome.code.startswith(code)


@pytest.mark.parametrize(
    ("law", "less", "code"),
    [
        (GaussianShares(12, 100, Fraction(18)), {"variance": Fraction(17)}, "share.little_variance"),
        (GammaShares(124, 1, Fraction(16)), {"scale": Fraction(15)}, "shares.delta_too_large"),
    ],
    ids=["ddg", "vg"],
)
def test_shares_too_small_for_the_lemmas_are_refused(
    law: Any, less: dict[str, Fraction], code: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Even where the laws themselves allow them: all together would give enough by formulas that do not hold there."""
    monkeypatch.setattr(share_distributions, "LEAST_VARIANCE", 1)
    monkeypatch.setattr(share_distributions, "LEAST_SCALE", 1)
    found = stated_with(law.name)
    assert isinstance(shared._guaranteed(found, law, law.honest, 1), str)
    wrong = shared._guaranteed(found, replace(law, **less), law.honest, 1)
    assert isinstance(wrong, Fault)
    assert wrong.code == code


def test_the_delta_of_gamma_shares_is_that_of_the_law() -> None:
    for d, H, scale in ((1, 1, 2**40), (12, 3, 2**30), (124, 50, 2**90)):
        law = GammaShares(d, H, Fraction(scale))
        bits = shared._log2_delta(law, H, float(law.epsilon(1000)))
        exact = law.delta(1000)
        if exact < Fraction(1, 1 << 250):
            assert bits < -249
        else:
            assert abs(2.0 ** (bits + 60) / float(exact * 2**60) - 1) < 1e-6


# Shares in views.


def with_input(evidence: Evidence, change: Callable[[Addends], Addends]) -> Evidence:
    """The evidence with another input of every party."""
    views = dict(evidence.views)
    for name, view in views.items():
        if len(view.inputs) == 2:
            views[name] = replace(view, inputs=(view.inputs[0], change(view.inputs[1])))
    return replace(evidence, views=views)


def lifted(evidence: Evidence, change: Callable[[int], int]) -> Callable[[Any], Any]:
    ring = evidence.session.parameters.ring
    half = ring.modulus // 2
    return lambda vector: tuple(ring.reduce(change(ring.reduce(x + half) - half)) for x in vector)


def test_noise_that_was_not_drawn_is_found(made: Folders) -> None:
    evidence = made.evidence()
    assert outcome("noise", evidence).status == "passed"
    for change in (lambda x: 0, lambda x: x // 16, lambda x: 16 * x):
        other = lifted(evidence, change)
        lying = with_input(evidence, lambda mine, other=other: replace(mine, noise=(other(mine.noise[0]),)))
        found = outcome("noise", lying)
        assert found.status == "failed"
        assert found.why_nobody


def with_noise(evidence: Evidence, change: Callable[[int, int], int]) -> Evidence:
    """The evidence with a share of a seed for every party, each number changed: given it and the law's deviation."""
    law: Any = derived_parameters.derive_parameters(evidence).shared.distribution  # type: ignore[union-attr]
    ring, rng = evidence.session.parameters.ring, Stream.insecure_from_seed("only together")
    drawn = iter([law.share(rng) for _ in PARTIES])

    def changed(mine: Addends) -> Addends:
        share = (ring.reduce(change(x, isqrt(int(law.variance)))) for x in next(drawn))
        return replace(mine, noise=((*share, 0),))

    return with_input(evidence, changed)


@pytest.mark.parametrize(
    ("change", "code"),
    [
        (lambda x, deviation: x // 4, "shares.length"),
        (lambda x, deviation: x // 2 + deviation, "shares.direction"),
    ],
    ids=["short", "pointing"],
)
def test_shares_that_are_none_of_the_law_only_together_are_found(
    change: Callable[[int, int], int], code: str, made: Folders
) -> None:
    """A fourth of the noise everywhere, and all numbers moved the same way: each share alone could be one by chance."""
    evidence = made.evidence()
    assert outcome("noise", with_noise(evidence, lambda x, deviation: x)).status == "passed"
    assert outcome("noise", with_noise(evidence, change)).code == code


def test_noise_on_the_number_of_rows_is_found(made: Folders) -> None:
    """The sizes are released as they are: whoever adds to its own there changes the weights of all."""
    evidence = made.evidence()
    lying = with_input(evidence, lambda mine: replace(mine, noise=((*mine.noise[0][:-1], 1),)))
    assert outcome("noise", lying).code == "view.no_input"


@pytest.mark.parametrize("law", ["ddg", "vg", "self"])
def test_noise_along_the_model_is_found(law: str, made: Folders) -> None:
    """As long as it should be, and all of it in one direction."""
    drawn = {"ddg": LAWS[0], "vg": LAWS[1], "self": LAWS[2]}[law]
    rng = Stream.insecure_from_seed(f"pointing {law}")
    beside = [tuple(range(1, DIMENSION + 1))] * 4
    honest = [tuple(drawn.share(rng)) for _ in beside]
    assert not any(lengths.share_has_direction(mine, model, drawn) for mine, model in zip(honest, beside, strict=True))
    assert not lengths.shares_have_direction(honest, beside, drawn)
    along = [tuple(x << 20 for x in model) for model in beside]
    assert all(lengths.share_has_direction(mine, model, drawn) for mine, model in zip(along, beside, strict=True))
    assert lengths.shares_have_direction(along, beside, drawn) == (law != "vg")


def test_a_model_longer_than_any_is_found(made: Folders) -> None:
    evidence = made.evidence()
    for change in (lambda x: 1000 * x, lambda x: x + (1 << 50)):
        other = lifted(evidence, change)

        def entered(mine: Addends, other: Any = other) -> Addends:
            return replace(mine, numbers=((*other(mine.numbers[0][:-1]), mine.numbers[0][-1]),))

        assert outcome("models", with_input(evidence, entered)).status == "failed"
    none = with_input(evidence, lambda mine: replace(mine, numbers=((*mine.numbers[0][:-1], 0),)))
    found = outcome("models", none)
    assert (found.code, found.fault.fields["got"]) == ("view.number_of_rows", 0)


LAWS = (
    GaussianShares(DIMENSION, 3, Fraction(1 << 40)),
    GammaShares(DIMENSION, 3, Fraction(1 << 30)),
    WholeShares(DIMENSION, 3, Fraction(1 << 30)),
)


@pytest.mark.parametrize("law", with_slow(LAWS, *(law for law in LAWS if law.name == "vg")), ids=lambda law: law.name)
def test_half_of_all_honest_shares_lie_between_the_quartiles(law: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """The law of lengths is exact: of one share, and of three together."""
    monkeypatch.setattr(lengths, "NOISE_FALSE_ALARM", 0.5)
    lengths.squared_limits.cache_clear()
    rng, tries = Stream.insecure_from_seed(f"lengths {law.name}"), 200
    for count in (1, 3):
        drawn = [[law.share(rng) for _ in range(count)] for _ in range(tries)]
        inside = sum(lengths.is_plausible_length(lengths.squared_length(x, law), law, count) for x in drawn)
        assert min(binom.cdf(inside, tries, 0.5), binom.sf(inside - 1, tries, 0.5)) > 1e-6, inside
    lengths.squared_limits.cache_clear()


# Each party has noise of its own.


@pytest.fixture(scope="module")
def own_noise_run(tmp_path_factory: pytest.TempPathFactory) -> Evidence:
    folder = tmp_path_factory.mktemp("own")
    data, folders = hospitals((30, 20, 45), 3), Folders(folder / "run", folder / "views")
    biased = replace(data, bounds=replace(data.bounds, columns=data.bounds.columns[:2], bias=0.5))
    agreed = sum_agreement(biased, Ofpa(lam=0.1), Target(1), most_rows=100, seeded=False)  # type: ignore[arg-type]
    simulate_run(biased, agreed, Stream.from_system(), folders.run, views=folders.views)
    return folders.evidence()


def with_view(own_noise_run: Evidence, change: Any) -> Evidence:
    """The first party's view says that it entered something else."""
    name = own_noise_run.session.parties[0]
    view = copy.copy(own_noise_run.views[name])
    p, mine = view.inputs
    lied = replace(view, inputs=(p, Addends(*(tuple(map(p.ring.vector, x)) for x in change(p, mine)))))
    return replace(own_noise_run, views={**own_noise_run.views, name: lied})


def test_an_honest_run_passes_and_says_what_cannot_be_seen(own_noise_run: Evidence) -> None:
    found = {name: outcome(name, own_noise_run) for name in PRIVACY}
    status = {name: x.status for name, x in found.items()}
    assert status == {**dict.fromkeys(PRIVACY, "passed"), "noise": "not possible"}
    assert (found["mechanism"].code, f"{found['mechanism'].fault.fields['epsilon']:.6g}") == (
        "mechanism.own_noise_holds",
        "1",
    )
    assert found["noise"].code == "noise.in_model"
    assert outcome("models", replace(own_noise_run, views={})).status == "not possible"


def test_too_little_noise_and_too_short_a_ring_are_noticed(
    own_noise_run: Evidence, monkeypatch: pytest.MonkeyPatch
) -> None:
    honest = Ofpa.perturbation

    def half(self: Ofpa, target: Target, n: int, dimension: int) -> Any:
        law = honest(self, target, n, dimension)
        return replace(law, noise=replace(law.noise, scale=law.noise.scale / 2))

    monkeypatch.setattr(Ofpa, "perturbation", half)
    assert outcome("mechanism", own_noise_run).code == "noise.own_epsilon_too_large"
    assert outcome("mechanism", own_noise_run).status == "failed"
    monkeypatch.undo()
    found = own_noise.check_own_mechanism(own_noise_run, replace(derive_parameters(own_noise_run), grid=Grid(40, 64)))
    assert found.code == "ring.too_small"


def test_views_that_lie_are_noticed(own_noise_run: Evidence) -> None:
    """Noise beside the model, more rows than announced, a weight that was not cut off."""
    for change, code in (
        (lambda p, mine: (mine.numbers, ((1, *mine.noise[0][1:]),)), "view.no_numbers"),
        (lambda p, mine: (((*mine.numbers[0][:-1], 101),), mine.noise), "view.number_of_rows"),
        (lambda p, mine: (((31 << 62, *mine.numbers[0][1:]),), mine.noise), "view.weight_too_large"),
    ):
        found = outcome("models", with_view(own_noise_run, change))
        assert (found.status, found.code) == ("failed", code)
