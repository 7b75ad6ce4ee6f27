"""The command `lab epsilon`: what it prints, its exit codes, and bad input in one sentence."""

from __future__ import annotations

import json
from fractions import Fraction
from typing import Any

import pytest

from protocols.arithmetic.rng import KEY_BYTES, Stream
from smc_dp.audit.epsilon.audit import TESTS
from smc_dp.audit.epsilon.mutants import MUTANT_FAULTS
from smc_dp.audit.epsilon.plan import FEWEST, LEAST_DRAWS_FOR_MU, Request, affordable_draws, plan_cases
from smc_dp.cli.main import main
from smc_dp.methods.method import WITH_WEIGHTS
from smc_dp.methods.registry import METHODS, STATISTICS
from smc_dp.pages.blocks import coded_prose


@pytest.fixture(autouse=True)
def at_a_fixed_seed(monkeypatch: pytest.MonkeyPatch) -> None:
    """The command draws from the system; a count of findings is one number only at a fixed seed."""
    monkeypatch.setattr(Stream, "from_system", lambda: Stream(bytes(KEY_BYTES), insecure=False))


def run(*arguments: str) -> int:
    return main(["lab", "epsilon", *arguments])


def answer(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, dict[str, Any]]:
    code = run(*arguments, "--json")
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return code, found


def test_a_mechanism_that_holds(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("laplace", "--trials", "100") == 0
    printed = capsys.readouterr().out
    assert "laplace, d = 1\n  claims pure epsilon 1.0 (one record, replace)" in printed
    assert all((test in printed) == (test not in ("renyi", "gaussian dp", "f-dp curve")) for test in TESTS)
    assert printed.count(coded_prose("epsilon.claim_not_contradicted").text) == 2
    assert "confidence 0.99" in printed


def test_a_twin_that_is_caught(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("knorm", "--mutant", "k-times-integer", "--trials", "100") == 1
    printed = capsys.readouterr().out
    assert "CONTRADICTED: last digits" in printed
    assert "broken: whole noise multiplied by the number of parties" in printed
    assert "caught in 10 of 10 audits with 100 draws: power 0.59 to 1.00 with confidence 0.99" in printed
    assert "50, 0" in printed  # in the event: always in one world, never in the other


def test_a_method_with_all_that_it_has(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("smc_dp.cli.epsilon._REPEATS", 2)
    code, found = answer(capsys, "prr_mean", "--trials", "100", "--epsilon", "0.5", "--confidence", "0.9")
    assert (code, found["refuted"], found["confidence"]) == (0, False, 0.9)
    names = [audit["name"] for audit in found["audits"]]
    assert names == [
        *("prr_mean, proven knorm", "prr_mean, proven laplace", "prr_mean, proven gauss"),
        *("prr_mean, paper knorm (nominal epsilon 0.5)", "prr_mean, paper laplace (nominal epsilon 0.5)"),
    ]
    assert all(abs(audit["alpha"] - 0.1 / 5 / len(TESTS)) < 1e-12 for audit in found["audits"])
    assert [audit["claim"]["epsilon"] for audit in found["audits"][:2]] == [0.5, 0.5]
    assert all(finding["power"]["repeats"] == 2 for finding in found["audits"][0]["findings"])
    low, high = found["audits"][0]["power"]["interval"]
    assert 0 <= low < high <= 1


def test_a_dimension_and_its_lambda_are_those_that_are_audited(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Request] = []
    monkeypatch.setattr("smc_dp.audit.epsilon.plan.plan_cases", lambda request: asked.append(request))
    assert run("central", "--noise", "gauss", "--dimension", "2", "--lambda", "0.1", "--epsilon", "8") == 2
    assert asked == [Request("central", Fraction(8), noise="gauss", dimension=2, lam=0.1)]


def test_a_method_that_claims_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("batch", "--trials", "200") == 0
    printed = capsys.readouterr().out
    assert "batch\n  claims nothing" in printed
    assert coded_prose("epsilon.nothing_claimed").text in printed


def test_without_trials_a_number_of_draws_is_found(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("smc_dp.cli.epsilon._SECONDS", 0.1)
    _, found = answer(capsys, "avg_clip", "--noise", "laplace")
    assert 60 <= found["audits"][0]["findings"][0]["draws"] <= 20_000


def test_gaussian_noise_has_the_draws_that_its_bound_needs() -> None:
    """However slow the machine is; other cases have what there is time for."""
    rng, wanted = Stream.from_system(), {"gauss": LEAST_DRAWS_FOR_MU, "laplace": (FEWEST, FEWEST)}
    for name, draws in wanted.items():
        assert affordable_draws(plan_cases(Request(name, Fraction(1))), 1e-6, 10, rng) == draws


def test_all_audits_every_method_and_law() -> None:
    """Every calibration of every method with its own noise, rows with weights, and the laws in 1 and 2 dimensions."""
    of_methods = sum(max(1, len(method.calibrations)) for method in METHODS.values())
    plans = plan_cases(Request("all", Fraction(1)))
    assert len(plans) == 6 + of_methods + len(WITH_WEIGHTS) + len(STATISTICS)


def test_the_list(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("--list") == 0
    printed = capsys.readouterr().out
    assert all(name in printed for name in (*METHODS, *STATISTICS, *MUTANT_FAULTS, "knorm"))
    code, found = answer(capsys, "--list")
    assert code == 0
    assert set(found) == {"methods", "noises", "mutants"}
