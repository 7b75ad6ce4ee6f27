"""The privacy statement in six lines: short, and in agreement with the statement that a release has."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from support.text_file import TextFile
from syrupy.assertion import SnapshotAssertion

from protocols.secure_sum import ideal
from smc_dp.data import tabular_datasets
from smc_dp.methods.sums.threat_model import MALICIOUS_CAVEAT, SEMI_HONEST_CAVEAT
from smc_dp.privacy.statement import PrivacyStatement, short_delta
from smc_dp.run.agreement import PROTOCOLS_BY_METHOD, Agreement
from smc_dp.run.auxiliary import AuxiliaryRows
from smc_dp.run.privacy_summary import plain_lines, summary_lines
from smc_dp.run.settings import RunSettings

MOST_WORDS = 120
NO_OLD_STATE = ideal._STRENGTH[0]
BOUNDS = tabular_datasets.load_tabular("breast_cancer").bounds
SPARSE: dict[str, Any] = {"parties": 400, "colluders": 40, "dropouts": 40, "semi_honest": True}
CLOSED: dict[str, Any] = {"parties": 400, "colluders": 100, "sparse_graph": True, "semi_honest": True}
RUNS: dict[str, dict[str, Any]] = {
    **{method: {"method": method} for method in PROTOCOLS_BY_METHOD if method not in ("soft_ss", "gd")},
    "linear": {"method": "prr_mean", "protocol": "linear"},
    "full exponents": {"method": "prr_mean", "exponents": "full"},
    "drop-outs": {"method": "newton", "parties": 9, "colluders": 2, "dropouts": 3},
    "verifiable": {"method": "newton", "verifiable": True},
    "shares": {"method": "wsum", "output": "shares"},
    "nobody corrupted": {"method": "newton", "colluders": 0},
    "sparse graph": {"method": "wsum", **SPARSE},
    "sparse graph without drop-outs": {"method": "wsum", **CLOSED},
    "hardly private": {"method": "newton", "epsilon": 20, "delta": 1e-9},
    "one record more or less": {"method": "newton", "adjacency": "addremove"},
    "each its own noise, sparse graph": {"method": "ofpa", **SPARSE},
    "each its own noise, shares": {"method": "ofpa", "output": "shares"},
    "public number of rows": {"method": "gd", "rows": 500, "adjacency": "addremove"},
    "paper": {"method": "prr_mean", "calibration": "paper"},
}
CIRCUMSTANCES = (
    *("newton", "nobody corrupted", "shares", "sparse graph", "ofpa", "each its own noise, shares", "drop-outs"),
    *("sparse graph without drop-outs", "one record more or less", "public number of rows", "verifiable", "linear"),
    *("prr_mean", "hardly private"),
)


def agreed(
    parties: int = 5, *, seeded: bool = False, public: AuxiliaryRows | None = None, **settings: Any
) -> Agreement:
    settled = RunSettings.from_options(**settings).settle(parties, seeded=seeded)
    bounds = replace(BOUNDS, clip=6.0) if settled.method.name == "logistic" else BOUNDS  # which shortens no row
    return settled.with_parties(tuple(f"site-{j}" for j in range(parties)), bounds, public)


def lines(run: str, **more: Any) -> dict[str, str]:
    return dict(summary_lines(agreed(**RUNS[run], **more)))


@pytest.mark.parametrize("run", RUNS)
def test_the_lines_are_few_and_short(run: str) -> None:
    found = lines(run)
    assert list(found) == ["Guarantee", "Holds against", "Needs", "Not covered", "Rests on"]
    assert len(" ".join([*found, *found.values()]).split()) <= MOST_WORDS - len(
        ["Details", "smc-dp", "show", "RUN", "--details"]
    )
    assert all(text.endswith(".") and not re.search("[=^]|vanish|deviat|mail", text) for text in found.values())


@pytest.mark.parametrize("run", RUNS)
def test_the_figures_are_those_of_the_statement(run: str) -> None:
    found, whole = lines(run), agreed(**RUNS[run])
    assert f"epsilon {whole.statement.epsilon:.3g}"[:12] in found["Guarantee"].replace(".0,", ",")
    assert f"delta {short_delta(whole.statement.delta)}, " in found["Guarantee"]
    limits = whole.threat_model
    if whole.protocol == "secure_sum" and whole.method.name != "ofpa":
        assert f"{limits.honest} honest parties" in found["Needs"]
        assert (f"any {limits.colluders} of" in found["Holds against"]) == (limits.colluders > 0)
    assumed = " ".join(whole.statement.caveats)
    names = r"\b(?:Paillier|DGK|X25519|Ed25519|ChaCha20-Poly1305|SHA-256|SHAKE-256|AES-256-CCM)\b"
    assert all(name in assumed for name in re.findall(names, found["Rests on"]))
    assert ("AES-256-CCM" in found["Rests on"]) == ("AES-256-CCM" in assumed)
    assert ("short Paillier exponents" in found["Rests on"]) == ("exponents of 256 bits" in assumed)
    assert ("from a backup" in found["Needs"]) == (NO_OLD_STATE in assumed)
    assert (
        not re.search("(numbers?|sizes) of (all )?(rows|the data sets).* not (covered|protected)", assumed)
        or "numbers of rows" in found["Not covered"]
    )


@pytest.mark.parametrize("run", ["prr_mean", "full exponents", "linear", "paper"])
def test_no_assumption_of_the_statement_is_left_out(run: str) -> None:
    rests, assumed = lines(run)["Rests on"], " ".join(agreed(**RUNS[run]).statement.caveats)
    names = r"\b(?:Paillier|DGK|X25519|HKDF|ChaCha20-Poly1305|[Ee]dwards25519|AES-128|SHA-\d+)\b"
    assert all(name in rests for name in re.findall(names, assumed))
    bits = re.search(r"has about (\d+) bits", assumed)
    assert f"about {bits[1]} bits" in rests if bits else "bits" not in rests


def test_each_circumstance_has_its_words(snapshot: SnapshotAssertion) -> None:
    named = {run: lines(run) for run in CIRCUMSTANCES} | {
        "two parties": lines("newton", parties=2),
        "test keys": dict(summary_lines(agreed(method="prr_mean", key_bits=512, insecure_test_keys=True))),
    }
    said = (f"{run}\n" + "".join(f"{label}: {text}\n" for label, text in found.items()) for run, found in named.items())
    assert "\n".join(said) == snapshot(extension_class=TextFile)


EVEN, ONLY = "even if", "semi-honest"
GRAPHS = {"full": {}, "sparse": SPARSE, "sparse, no drop-outs": CLOSED}


def denied(stated: PrivacyStatement, against: str) -> bool:
    """Tell whether a statement denies the coalition that it claims, or is said in one line to hold against another."""
    malicious = EVEN in stated.adversary
    other = "if all follow" in against if malicious else "even if malicious" in against
    assumed = [text for text in stated.caveats if text.startswith("It assumes")]
    if malicious:
        return other or SEMI_HONEST_CAVEAT in stated.caveats or any(ONLY in text for text in assumed)
    return other or MALICIOUS_CAVEAT in stated.caveats


@pytest.mark.parametrize("graph", GRAPHS)
@pytest.mark.parametrize(
    "method", [name for name, by in PROTOCOLS_BY_METHOD.items() if "secure_sum" in by and name != "linear"]
)
def test_no_statement_both_claims_and_denies_a_coalition(method: str, graph: str) -> None:
    public = AuxiliaryRows(np.zeros((3, BOUNDS.dimension))) if method == "soft_ss" else None
    more = {"rows": 500} if method == "gd" else {}
    found = agreed(method=method, public=public, **GRAPHS[graph], **more)
    own, sparse = method == "ofpa", graph != "full"
    assert found.threat_model.has_sparse_graph == sparse
    assert (EVEN in found.statement.adversary) == (own or not sparse)
    assert (ONLY in " ".join(found.statement.caveats)) == sparse
    assert not denied(found.statement, dict(summary_lines(found))["Holds against"])
    # A twin of the statement that says what others say of a sparse graph claims and denies the coalition.
    text = SEMI_HONEST_CAVEAT if own or not sparse else MALICIOUS_CAVEAT
    assert denied(replace(found.statement, caveats=(*found.statement.caveats, text)), "")


def test_without_a_guarantee_there_is_one_line() -> None:
    assert list(lines("newton", seeded=True)) == ["Guarantee"]
    tested = agreed(method="prr_mean", key_bits=512, insecure_test_keys=True)
    assert dict(summary_lines(tested))["Holds against"] == f"{tested.statement.adversary}."


def test_on_a_first_sheet_an_example_takes_the_place_of_the_figures() -> None:
    agreement = agreed(**RUNS["newton"])
    (label, example), *_ = plain_lines(agreement)
    assert (label, example) == ("Example", agreement.statement.example)
    assert agreement.statement.brief not in example
