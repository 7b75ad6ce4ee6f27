"""What releases come to together, against mechanisms whose privacy profile is known in closed form."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from flint import arb, fmpq
from scipy.stats import norm

from smc_dp.privacy.gaussian import epsilon_of, mu_for
from smc_dp.privacy.ledger import composition
from smc_dp.privacy.ledger.composition import CURVE, EXACT_SUM, RENYI, ZCDP, Total, total
from smc_dp.privacy.ledger.guarantee import Guarantee
from smc_dp.privacy.statement import PrivacyStatement, round_up
from smc_dp.privacy.target import epsilon_for
from tests.support import guarantees
from tests.support.guarantees import approx, bound, curve, pure
from tests.support.refusals import refused

DELTA = Fraction(1, 10**6)


def zcdp(rho: object, delta: Fraction = DELTA) -> Guarantee:
    exact = Fraction(str(rho))
    return Guarantee("zcdp", epsilon_for(exact, delta), delta, "record", "replace", exact)


def gauss(mu: object) -> Guarantee:
    return guarantees.gauss(mu, DELTA)


def test_pure_releases_add_exactly() -> None:
    tenths = [pure("0.1")] * 10
    assert total(tenths, Fraction(0)) == Total(Fraction(1), Fraction(0), EXACT_SUM)
    assert 0.1 + 0.2 != 0.3  # floats would not
    thirds = [pure(Fraction(1, 3)), pure(Fraction(1, 7))]
    assert total(thirds, Fraction(0)) == Total(Fraction(10, 21), Fraction(0), EXACT_SUM)
    assert total([], Fraction(0)) == Total(Fraction(0), Fraction(0), EXACT_SUM)


def test_without_a_delta_nothing_but_pure_releases_has_a_bound() -> None:
    for release in (approx(1, "1e-9"), zcdp("0.01")):
        assert total([pure(1), release], Fraction(0)) is None
    assert total([approx(1, "1e-6"), approx(1, "1e-9")], DELTA) is None


def test_approximate_releases_add_both_figures() -> None:
    found = total([approx(1, "3e-7"), approx("0.5", "7e-7")], DELTA)
    assert found == Total(Fraction(3, 2), DELTA, EXACT_SUM)


def test_rho_adds_exactly_and_is_converted_once() -> None:
    found = bound([zcdp("0.01"), zcdp("0.02")], DELTA)
    assert found.delta == DELTA
    assert found.how == RENYI
    assert found.epsilon < epsilon_for(Fraction(3, 100), DELTA)
    # Canonne, Kamath and Steinke 2020, proposition 12, at the best order among many more
    rho = 0.03
    orders = (1 + k / 1000 for k in range(100, 200_000))
    finest = min(rho * a + math.log1p(-1 / a) - math.log(float(DELTA) * a) / (a - 1) for a in orders)
    assert finest <= found.epsilon < finest + 0.001


@pytest.mark.parametrize("delta", [1e-300, 1e-12, 1e-5, 0.3, 0.99])
def test_the_conversion_by_orders_is_that_of_dp_accounting(delta: float) -> None:
    from dp_accounting.dp_event import ZCDpEvent  # a second that the collection of tests need not wait
    from dp_accounting.rdp.rdp_privacy_accountant import RdpAccountant

    for rho in np.logspace(-12, 12, 49).tolist():
        accountant = RdpAccountant()
        accountant.compose(ZCDpEvent(rho))
        assert composition._by_orders(rho, delta) == accountant.get_epsilon(delta)


@pytest.mark.parametrize("rho", ["0.000001", "0.03", "7", "1000"])
def test_the_conversion_by_orders_is_above_what_floats_can_lose(rho: str) -> None:
    slack, least = fmpq(1, 1 << 31), arb("inf")
    delta = fmpq(1, 10**6) * (1 - slack)
    for order in composition._ORDERS:
        a = fmpq(*order.as_integer_ratio())
        at_order = arb(fmpq(*Fraction(rho).as_integer_ratio())) * a + (arb(1) - 1 / arb(a)).log()
        least = least.min(at_order - (arb(delta) * a).log() / (a - 1))
    found, how = composition._converted(Fraction(rho), DELTA)
    assert how == RENYI
    assert arb(fmpq(*found.as_integer_ratio())) > least * (1 + slack) + slack


def test_the_exact_conversion_serves_where_orders_do_not_reach() -> None:
    found = bound([zcdp("1e-9")] * 2, DELTA)  # the best order lies beyond those that are tried
    assert found.how == ZCDP
    assert found.epsilon == epsilon_for(Fraction(2, 10**9), DELTA)


def test_mu_squares_add_and_are_converted_by_the_exact_curve() -> None:
    releases = [gauss("0.03"), gauss("0.04"), gauss("0.12")]
    found = bound(releases, DELTA)
    assert found.how == CURVE
    assert found.epsilon == epsilon_of(Fraction(169, 10**4), DELTA)
    assert profile(releases, float(found.epsilon)) == pytest.approx(float(DELTA), rel=1e-9)  # nothing is given away
    added = curve(Fraction(19, 100) ** 2, DELTA)  # twin: mu itself is added
    assert profile(releases, float(added)) < float(DELTA) / 100
    largest = curve(Fraction(12, 100) ** 2, DELTA)  # twin: only the largest counts
    assert profile(releases, float(largest)) > 1.3 * float(DELTA)


def test_one_gaussian_without_a_mu_and_all_are_added_as_rho() -> None:
    old = replace(gauss("0.04"), mu=None)
    found = bound([gauss("0.03"), old], DELTA)
    assert found == total([replace(gauss("0.03"), mu=None), old], DELTA)
    assert found.how == RENYI
    both = bound([gauss("0.03"), gauss("0.04")], DELTA)
    assert both.epsilon < found.epsilon


def test_beside_a_curve_what_others_spend_is_added_as_it_is() -> None:
    found = bound([pure(1), gauss("0.2"), gauss("0.1"), approx("0.5", "1e-7")], DELTA)
    alone = curve(Fraction(5, 100), DELTA - Fraction(1, 10**7))
    assert (found.epsilon, found.how) == (alone + Fraction(3, 2), CURVE)
    assert total([gauss("0.2"), approx("0.5", "1e-6")], DELTA) is None  # no delta is left for the curve


def test_curves_that_cannot_be_added_leave_the_other_bounds(monkeypatch: pytest.MonkeyPatch) -> None:
    """More releases than the theorem is used for, or more mu: rho and sums are there as before."""
    monkeypatch.setattr(composition, "MOST_RELEASES", 9)
    crowd = [gauss("0.01")] * 10
    assert (bound(crowd[1:], DELTA).how, bound(crowd, DELTA).how) == (CURVE, RENYI)
    huge = bound([gauss("4000")] * 2, DELTA)
    assert huge.how != CURVE


def test_many_small_pure_releases_add_exactly_before_a_gaussian_one_and_as_mu_squared_after_it() -> None:
    many = [pure("0.01")] * 1000
    assert total(many, DELTA) == total(many, Fraction(0)) == Total(Fraction(10), Fraction(0), EXACT_SUM)
    first = gauss("0.01")
    assert bound([first, *many], DELTA).epsilon < 3
    assert bound([*many, first], DELTA).epsilon > 10


def test_one_more_pure_release_before_gaussian_ones_never_costs_more_than_its_epsilon() -> None:
    others = [pure("0.3"), zcdp("0.02"), approx("0.1", "1e-8")]
    before = bound(others, DELTA)
    for epsilon in ("0.001", "0.02", "0.1", "0.3", "2"):
        after = bound([pure(epsilon), *others], DELTA)
        assert before.epsilon < after.epsilon <= before.epsilon + Fraction(epsilon)


# Mechanisms that have just the guarantee that is charged for them: randomised response, one that shows everything with
# probability delta and else is randomised response, and the Gaussian. `profile` is the delta at epsilon of all of them.


def profile(releases: Sequence[Guarantee], epsilon: float) -> float:
    rho = sum(float(r.rho) for r in releases if r.rho is not None)
    answers = [r for r in releases if r.kind != "zcdp"]
    kept = math.prod(1 - float(r.delta) for r in answers)
    found = 1 - kept
    for signs in product((1, -1), repeat=len(answers)):
        losses = [sign * float(r.epsilon) for sign, r in zip(signs, answers, strict=True)]
        chance = math.prod(1 / (1 + math.exp(-loss)) for loss in losses)
        found += kept * chance * gaussian(rho, epsilon - sum(losses))
    return found


def gaussian(rho: float, epsilon: float) -> float:
    """Balle and Wang 2018, theorem 5, for sensitivity 1 and rho = 1/(2 sigma^2)."""
    if rho == 0:
        return max(0.0, 1 - math.exp(epsilon))
    sigma = 1 / math.sqrt(2 * rho)
    return float(norm.cdf(0.5 / sigma - epsilon * sigma) - math.exp(epsilon) * norm.cdf(-0.5 / sigma - epsilon * sigma))


MIXTURES = {
    "pure": [pure("0.5"), pure("0.25"), pure(1)],
    "small ones": [pure("0.1")] * 10,
    "one Gaussian": [zcdp("0.05")],
    "Gaussians": [zcdp("0.001"), zcdp("0.1"), zcdp("0.02")],
    "approximate": [approx(1, "1e-7"), approx("0.5", "2e-7")],
    "pure and Gaussian": [pure("0.1"), pure("1.5"), zcdp("0.05"), zcdp("0.005")],
    "curves": [gauss("0.03"), gauss("0.2"), gauss("0.11")],
    "a curve and others": [gauss("0.2"), pure("0.5"), approx("0.3", "4e-7")],
    "all kinds": [pure("0.2")] * 4 + [approx("0.3", "4e-7"), zcdp("0.03"), zcdp("0.001")],
}


@pytest.mark.parametrize("name", MIXTURES)
def test_no_bound_is_below_what_a_mechanism_spends(name: str) -> None:
    found = bound(MIXTURES[name], DELTA)
    assert profile(MIXTURES[name], float(found.epsilon)) <= float(found.delta) * (1 + 1e-9) + 1e-12


def test_units_and_adjacencies_have_no_sum() -> None:
    of_party = Guarantee("pure", Fraction(1), Fraction(0), "party", "party")
    for other in (of_party, Guarantee("pure", Fraction(1), Fraction(0), "record", "addremove")):
        with pytest.raises(ValueError, match="no sum"):
            total([pure(1), other], Fraction(0))


def test_a_statement_is_charged_exactly_where_its_epsilon_is_known() -> None:
    tenth = Fraction(1, 10)
    stated = PrivacyStatement("pure", round_up(tenth), 0.0, "record", "replace", "everybody", ())
    assert Guarantee.of(stated, tenth).epsilon == tenth
    assert Guarantee.of(stated).epsilon == Fraction(0.1) > tenth  # the float as it is, rounded up
    with pytest.raises(ValueError, match="another epsilon"):
        Guarantee.of(stated, Fraction(1, 20))
    mu = float(mu_for(Fraction(1), DELTA))
    curve = PrivacyStatement("zcdp", 1.0, 1e-6, "record", "replace", "everybody", (), mu**2 / 2, mu)
    assert (Guarantee.of(curve).mu, Guarantee.of(replace(curve, mu=None)).mu) == (Fraction(mu), None)
    nothing = PrivacyStatement("none", None, 0.0, "record", "replace", "nobody", ())
    with refused("guarantee.not_chargeable"):
        Guarantee.of(nothing)


@pytest.mark.parametrize(
    ("fields", "code"),
    [
        (("none", 1, 0, "record", "replace", None), "guarantee.not_chargeable"),
        (("pure", 0, 0, "record", "replace", None), "guarantee.wrong_figure"),
        (("pure", 1, "1e-6", "record", "replace", None), "guarantee.wrong_figure"),
        (("approx", 1, 0, "record", "replace", None), "guarantee.wrong_figure"),
        (("approx", 1, 1, "record", "replace", None), "guarantee.wrong_figure"),
        (("zcdp", 1, "1e-6", "record", "replace", None), "guarantee.wrong_figure"),
        (("pure", 1, 0, "record", "replace", "1"), "guarantee.wrong_figure"),
        (("zcdp", 1, "1e-6", "record", "replace", "1e101"), "guarantee.wrong_figure"),
        (("pure", 1, 0, "record", "party", None), "statement.unit_of_other_adjacency"),
        (("pure", 1, 0, "planet", "replace", None), "setting.unknown_value"),
        (("pure", "1e101", 0, "record", "replace", None), "guarantee.wrong_figure"),
    ],
)
def test_fields_that_contradict_each_other_are_refused(fields: tuple[str, ...], code: str) -> None:
    kind, epsilon, delta, unit, adjacency, rho = fields
    with refused(code):
        Guarantee(kind, Fraction(epsilon), Fraction(delta), unit, adjacency, None if rho is None else Fraction(rho))


def test_hostile_denominators_are_rounded_up_and_stay_short() -> None:
    epsilons = [Fraction(1, 10**300 + k) + Fraction(1, 1000) for k in range(1, 150)]
    releases = [Guarantee("pure", e, Fraction(0), "record", "replace") for e in epsilons]
    found = bound(releases, Fraction(0))
    assert found.epsilon.denominator.bit_length() <= 4096
    assert sum(epsilons[:9]) < found.epsilon < Fraction(150, 1000)
    assert sum(epsilons, Fraction(0)) <= found.epsilon <= sum(epsilons, Fraction(0)) + Fraction(150, 1 << 2048)
    with_delta = bound(releases, DELTA)
    assert with_delta.epsilon <= found.epsilon


def test_a_mu_goes_with_zcdp_and_is_within_the_reach_of_the_curve() -> None:
    for wrong in (replace(pure(1), kind="pure"), approx(1, "1e-7")):
        with refused("guarantee.wrong_figure"):
            replace(wrong, mu=Fraction(1, 10))
    for mu in (Fraction(0), Fraction(1, 1 << 65), Fraction(4097)):
        with refused("guarantee.wrong_figure"):
            replace(zcdp("0.1"), mu=mu)
