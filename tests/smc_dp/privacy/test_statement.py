"""Statements that contradict themselves cannot be made; figures are rounded up; words are plain."""

from __future__ import annotations

import json
import math
import re
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.text_file import TextFile
from syrupy.assertion import SnapshotAssertion

from smc_dp.privacy.gaussian import mu_for
from smc_dp.privacy.statement import PrivacyStatement, round_up, short_delta, short_figure
from tests.support.refusals import refused

PURE = PrivacyStatement("pure", 0.5, 0.0, "record", "replace", "anyone but Charlie", ("Charlie is outside.",))


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"kind": "perfect"}, "setting.unknown_value"),
        ({"unit": "row"}, "setting.unknown_value"),
        ({"adjacency": "swap"}, "setting.unknown_value"),
        ({"unit": "party"}, "statement.unit_of_other_adjacency"),
        ({"adjacency": "party"}, "statement.unit_of_other_adjacency"),
        ({"epsilon": None}, "statement.wrong_figure"),
        ({"epsilon": 0.0}, "statement.wrong_figure"),
        ({"epsilon": math.inf}, "statement.wrong_figure"),
        ({"epsilon": math.nan}, "statement.wrong_figure"),
        ({"delta": 1e-9}, "statement.wrong_figure"),
        ({"kind": "approx"}, "statement.wrong_figure"),
        ({"kind": "approx", "delta": 1.0}, "statement.wrong_figure"),
        ({"kind": "none"}, "statement.wrong_figure"),
        ({"kind": "none", "epsilon": None, "delta": 0.1}, "statement.wrong_figure"),
        ({"kind": "zcdp", "rho": 0.5}, "statement.wrong_figure"),
        ({"kind": "zcdp", "delta": 0.1}, "statement.wrong_figure"),
        ({"rho": 0.5}, "statement.wrong_figure"),
        ({"kind": "zcdp", "delta": 0.1, "rho": 0.0}, "statement.wrong_figure"),
        ({"kind": "zcdp", "delta": 0.1, "rho": math.nan}, "statement.wrong_figure"),
        ({"mu": 0.1}, "statement.wrong_figure"),
        ({"kind": "zcdp", "delta": 0.1, "rho": 0.5, "mu": 0.0}, "statement.wrong_figure"),
        ({"kind": "zcdp", "delta": 0.1, "rho": 0.5, "mu": math.nan}, "statement.wrong_figure"),
        ({"kind": "zcdp", "delta": 0.1, "rho": 0.5, "mu": 1e9}, "statement.wrong_figure"),
        ({"kind": "zcdp", "delta": 1e-6, "rho": 0.5, "mu": 0.5}, "statement.mu_too_large"),
        ({"adversary": " "}, "statement.no_adversary"),
    ],
)
def test_contradictions_are_refused(changes: dict[str, Any], code: str) -> None:
    with refused(code):
        replace(PURE, **changes)


def test_as_dict_survives_json() -> None:
    fields = json.loads(json.dumps(PURE.as_dict()))
    assert fields.pop("caveats") == ["Charlie is outside."]
    assert (fields["mu"], "rho" in fields) == (None, False)
    assert PrivacyStatement(**fields, caveats=PURE.caveats) == PURE
    mu = float(mu_for(Fraction(1, 2), Fraction(1, 10**6)))
    gauss = replace(PURE, kind="zcdp", delta=1e-6, rho=mu**2 / 2, mu=mu)
    assert PrivacyStatement(**gauss.as_dict() | {"caveats": gauss.caveats}) == gauss
    with refused("statement.mu_too_large"):  # one float further, and the curve says more
        replace(gauss, mu=math.nextafter(mu, 1.0))


@given(st.fractions(min_value=Fraction(1, 10**6), max_value=10**6))
def test_round_up_is_the_least_float_above(value: Fraction) -> None:
    up = round_up(value)
    assert Fraction(up) >= value
    assert Fraction(math.nextafter(up, 0.0)) < value


def test_rounding_to_nearest_would_flatter() -> None:
    value = Fraction(1, 3)
    assert Fraction(float(value)) < value < Fraction(round_up(value))
    assert short_figure(0.1) == "0.1"
    assert short_figure(0.12345649) == "0.123457"
    assert f"{0.12345649:.6g}" == "0.123456"  # the broken twin


@given(st.floats(min_value=1e-100, max_value=1.0, exclude_max=True))
def test_a_printed_delta_is_never_below_the_true_one(delta: float) -> None:
    shown = Decimal(short_delta(delta))
    assert Decimal(repr(delta)) <= shown <= Decimal(repr(delta)) * Decimal("1.01")
    stated = replace(PURE, kind="approx", delta=delta)
    assert f"delta {short_delta(delta)}, " in stated.brief
    assert f"delta = {short_delta(delta)})" in stated.promise


def test_a_delta_of_few_digits_is_printed_as_it_is() -> None:
    assert [short_delta(delta) for delta in (0.0, 1e-5, 0.25, 1e-100)] == ["0", "1e-05", "0.25", "1e-100"]
    assert short_delta(1.0000001e-05) == "1.01e-05"
    assert f"{1.0000001e-05:g}" == "1e-05"  # a mutant


KINDS: dict[str, dict[str, Any]] = {
    "pure": {},
    "none": {"kind": "none", "epsilon": None, "caveats": ()},
    "approx": {"kind": "approx", "delta": 1e-6},
    "approx, small cases": {"kind": "approx", "epsilon": 1.0, "delta": 1e-5},
    "approx, no small cases": {"kind": "approx", "epsilon": 1.0, "delta": 1e-30},
    "zcdp": {"kind": "zcdp", "rho": 0.5, "delta": 1e-6, "mu": 0.1},
    "large": {"epsilon": 8.0},
    "party": {"unit": "party", "adjacency": "party"},
    "addremove": {"adjacency": "addremove"},
}


def test_the_words_of_each_kind_are_those_of_the_snapshot(snapshot: SnapshotAssertion) -> None:
    stated = {name: replace(PURE, **changes) for name, changes in KINDS.items()}
    said = "".join(f"{name}\n{one.plain_words()}\n{one.example}\n\n" for name, one in stated.items())
    assert said == snapshot(extension_class=TextFile)
    approx = stated["approx"].plain_words()
    assert "73.2 % sure of either (epsilon = 0.5, delta = 1e-06)" in approx  # twice epsilon
    assert " at most 3.48e-06." in approx  # 1e-6 (1 + e^-1)/(1 - e^-.5) = 3.4766e-6


@given(st.floats(1e-3, 12), st.sampled_from([0.0, 1e-9, 1e-3, 0.3]))
def test_the_example_is_the_best_guess_against_the_worst_mechanism(epsilon: float, delta: float) -> None:
    """Output the record openly with probability delta, else a randomised response: nothing keeps less."""
    kept = math.exp(epsilon) / (1 + math.exp(epsilon))
    one = [delta, 0.0, (1 - delta) * kept, (1 - delta) * (1 - kept)]
    other = [0.0, delta, one[3], one[2]]
    assert sum(max(0.0, p - math.exp(epsilon) * q) for p, q in zip(one, other, strict=True)) <= delta + 1e-9
    best = sum(max(p, q) for p, q in zip(one, other, strict=True)) / 2
    stated = replace(PURE, kind="approx" if delta else "pure", epsilon=epsilon, delta=delta).example
    right = re.search(r"With this release the attacker is right in at most (\d+) of 1,000\.(.*)$", stated)
    assert right or best > 0.999
    assert not right or best <= int(right[1]) / 1000 < best + 0.001 + 1e-9
