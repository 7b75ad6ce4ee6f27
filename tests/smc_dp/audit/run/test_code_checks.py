"""Shipped results of the checks of the code: an audit cites those of the installed code, and they are the computed."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from support.audited import Folders
from support.sessions import PROGRAM, with_roles

import protocols
from protocols import linear, pathak2010, secure_sum
from protocols.crypto.paillier import EXPONENTS
from protocols.linear.parameters import Parameters as LinearParameters
from protocols.pathak2010.parameters import COMPARISONS, Parameters
from protocols.programs import PROTOCOLS, Protocol
from protocols.runtime.claims import Trials
from protocols.secure_sum.parameters import LONGEST_RING, SHARES, Block
from protocols.secure_sum.parameters import Parameters as SumParameters
from smc_dp import __version__
from smc_dp.audit.run import code_checks, leakage, released_results
from smc_dp.audit.run.code_checks import CODE_CHECKS
from smc_dp.audit.run.released_results import (
    CodeCheckResult,
    ReleasedResults,
    cite_result,
    load_results,
    result_differences,
    results_text,
)
from smc_dp.cli.main import main
from smc_dp.core.errors import InputError
from smc_dp.leakage import role_code
from smc_dp.privacy.output import GRID

RENEW = "run `python tests/make_code_checks.py`"
CLAIMING = code_checks.claiming_protocols()
SHIPPED = load_results()


def trials(name: str) -> Trials:
    claim = PROTOCOLS[name].claim
    return claim.trials


def stale(shipped: ReleasedResults) -> set[str]:
    """Name all that is not of this version and this code: results that are there, or should be."""
    wanted = {
        (name, json.dumps(p.as_dict(), sort_keys=True), check): role_code.code_digest(protocol)
        for name, protocol in CLAIMING.items()
        for p in trials(name).sessions
        for check in CODE_CHECKS
    }
    there = {(r.protocol, json.dumps(r.parameters, sort_keys=True), r.check): r.code for r in shipped.results}
    found = {key[0] for key in wanted.keys() | there.keys() if wanted.get(key) != there.get(key)}
    return found | ({shipped.version} - {__version__})


def test_the_shipped_results_are_of_this_version_and_this_code() -> None:
    assert stale(SHIPPED) == set(), RENEW
    assert results_text(SHIPPED) == released_results.RESULTS_FILE.read_text(encoding="utf-8"), RENEW
    assert {result.status for result in SHIPPED.results} <= {"passed", "not possible"}
    assert len(SHIPPED.by_key) == len(SHIPPED.results)
    assert stale(SHIPPED.model_copy(update={"version": "0.0.9"})) == {"0.0.9"}


def with_results(results: list[CodeCheckResult]) -> ReleasedResults:
    return SHIPPED.model_copy(update={"results": results})


def changed(**update: Any) -> ReleasedResults:
    """The results with one of the linear path changed."""
    i = next(i for i, result in enumerate(SHIPPED.results) if result.protocol == "linear")
    other = SHIPPED.results[i].model_copy(update=update)
    return with_results([*SHIPPED.results[:i], other, *SHIPPED.results[i + 1 :]])


MUTANTS = {
    "a role file changed": changed(code="00" * 32),
    "a protocol has no entry": with_results([r for r in SHIPPED.results if r.protocol != "linear"]),
    "a check has no entry": with_results(
        [r for r in SHIPPED.results if (r.protocol, r.check) != ("linear", "distribution")]
    ),
    "another session": changed(parameters={}),
}


@pytest.mark.parametrize("name", MUTANTS)
def test_results_of_other_code_are_stale(name: str) -> None:
    assert stale(MUTANTS[name]) == {"linear"}


@pytest.mark.slow
@pytest.mark.parametrize("name", CLAIMING)
def test_the_shipped_results_are_the_computed_ones(name: str) -> None:
    """In one session, which the code chooses, so that each has its turn: `make_code_checks.py` computes all alike."""
    sessions = trials(name).sessions
    chosen = sessions[int(role_code.code_digest(CLAIMING[name]), 16) % len(sessions)]
    computed = code_checks.compute_results([with_session(name, chosen)])
    assert computed.results == [
        result for result in SHIPPED.results if (result.protocol, result.parameters) == (name, chosen.as_dict())
    ], RENEW


# What an audit cites.


def test_an_audit_cites_the_result_for_its_code(small: Folders) -> None:
    evidence = small.evidence(views=False)
    for check in (leakage.distribution_of_code, leakage.limitations_of_code):
        outcome = check(evidence)
        assert outcome.status == "passed"
        assert (outcome.code, outcome.fault.fields["version"]) == ("role_code.cited", __version__)


SMALL = trials("linear").sessions[0]


@pytest.mark.parametrize("name", MUTANTS)
def test_a_result_of_other_code_is_not_cited(name: str) -> None:
    outcome = cite_result(CLAIMING["linear"], SMALL, "distribution", MUTANTS[name])
    code = "role_code.differs" if name == "a role file changed" else "role_code.no_result"
    assert (outcome.status, outcome.code, outcome.inapplicable) == ("not possible", code, False)


def test_an_outcome_is_cited_as_what_it_is() -> None:
    for status, inapplicable in (("passed", False), ("failed", False), ("not possible", True)):
        found = cite_result(CLAIMING["linear"], SMALL, "distribution", changed(status=status, detail="x"))
        assert (found.status, found.inapplicable, found.fault.fields["found"]) == (status, inapplicable, "x")


async def party(*_: Any) -> None:
    pass


def test_roles_and_simulators_from_elsewhere_are_other_code(small: Folders) -> None:
    """A twin that somebody registers under the same name."""
    protocol = PROTOCOLS[PROGRAM.name]
    twin = replace(protocol, program=with_roles(PROGRAM, party=party))
    outcome = leakage.distribution_of_code(replace(small.evidence(views=False), protocol=twin))
    assert (outcome.status, outcome.code) == ("not possible", "role_code.differs")
    assert party.__module__ in role_code.code_files(twin)
    sums, leaving = PROTOCOLS["secure_sum"], trials("secure_sum").drop_out_trials
    own = replace(trials("secure_sum"), drop_out_trials=replace(leaving, who=lambda p: {}))
    assert role_code.code_digest(replace(sums, claim=replace(sums.claim, trials=own))) != role_code.code_digest(sums)


def with_session(name: str, held: Any) -> Protocol:
    """Return the protocol, whose trials have this session alone, or something else in its place."""
    protocol = PROTOCOLS[name]
    return replace(protocol, claim=replace(protocol.claim, trials=replace(trials(name), sessions=(held,))))


@pytest.mark.parametrize("held", [(party,), {"role": party}, {party: 1}, {party}], ids=["tuple", "dict", "keys", "set"])
def test_a_function_in_any_collection_counts(held: Any) -> None:
    assert party.__module__ in role_code.code_files(with_session("secure_sum", held))


@pytest.mark.parametrize("held", [partial(party, 1), CLAIMING.get, Path, iter([party])])
def test_a_value_that_may_hide_a_function_is_refused(held: Any) -> None:
    for changed in (
        with_session("secure_sum", held),
        replace(PROTOCOLS["linear"], program=with_roles(PROGRAM, party=held)),
    ):
        with pytest.raises(TypeError, match="wanted plain functions"):
            role_code.code_digest(changed)


@pytest.mark.parametrize(
    "text", ["[]", results_text(SHIPPED)[:-9], results_text(SHIPPED).replace("version", "edition", 1)]
)
def test_a_malformed_file_is_refused(text: str, tmp_path: Path) -> None:
    (tmp_path / "code_checks.json").write_text(text, encoding="utf-8")
    with pytest.raises(InputError):
        load_results(tmp_path / "code_checks.json")


NAMES = tuple(f"P{j}" for j in range(1, 6))
BLOCKS = ((Block(3, "x"),),)
RINGS = range(8, GRID.ring_bits + 1, 8)


def settings() -> Iterator[tuple[str, Any]]:
    """The settings that a study may state: audits have a result for each of them."""
    for kind, exponents, bits in product(COMPARISONS, EXPONENTS, RINGS):
        yield pathak2010.PROGRAM.name, Parameters(NAMES, 9, 3072, bits, kind, "x", exponents)
    for degree, bits in product((2, 8, 20, 1000), RINGS):
        yield linear.PROGRAM.name, LinearParameters(NAMES, 9, bits, degree, "x")
    for dropouts, verifiable, bits in product((0, 1), (False, True), (*RINGS, LONGEST_RING)):
        yield secure_sum.PROGRAM.name, SumParameters(NAMES, 1, dropouts, BLOCKS, bits, verifiable)
    yield secure_sum.PROGRAM.name, SumParameters(NAMES, 1, 0, BLOCKS, 72, output=SHARES)
    yield secure_sum.PROGRAM.name, SumParameters(NAMES, 1, 0, BLOCKS, 72, degree=2)
    yield secure_sum.PROGRAM.name, SumParameters(tuple(f"P{j}" for j in range(300)), 1, 1, BLOCKS, 72)


def test_runs_of_all_settings_have_a_result() -> None:
    found: dict[str, set[Any]] = {}
    for name, p in settings():
        found.setdefault(name, set()).add(trials(name).small(p))
    assert found == {name: set(trials(name).sessions) for name in CLAIMING if name != "comparison"}
    for name, sessions in found.items():
        assert {cite_result(PROTOCOLS[name], small, "distribution").status for small in sessions} == {"passed"}


# The digest.


@pytest.fixture
def copy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A copy of the package, of which digests are made."""
    there = shutil.copytree(Path(protocols.__path__[0]), tmp_path / "protocols")
    monkeypatch.setattr(role_code, "files", lambda _: there)
    yield there
    role_code._closure.cache_clear()


def digests() -> dict[str, str]:
    role_code._closure.cache_clear()
    return {name: role_code.code_digest(protocol) for name, protocol in CLAIMING.items()}


@pytest.mark.usefixtures("copy")
def test_the_folder_does_not_count() -> None:
    assert digests() == {result.protocol: result.code for result in SHIPPED.results}


CONCERNED = {
    "linear/selection.py": {"linear"},
    "linear/limitations.py": {"linear"},
    "secure_sum/ideal.py": {"secure_sum"},
    "crypto/masking.py": {"linear", "secure_sum"},
    "comparison/steps.py": {"pathak2010", "comparison", "linear"},
    "runtime/simulate.py": set(CLAIMING),
    "arithmetic/rng.py": set(CLAIMING),
    "linear/matrix.txt": set(),
    "programs.py": set(),
}


def test_a_changed_file_changes_the_digests_of_those_that_use_it(copy: Path) -> None:
    before = {result.protocol: result.code for result in SHIPPED.results}
    for file, concerned in CONCERNED.items():
        text = (copy / file).read_text(encoding="utf-8")
        (copy / file).write_text(text + "\n# changed\n", encoding="utf-8")
        after = digests()
        (copy / file).write_text(text, encoding="utf-8")
        assert {name for name in after if after[name] != before[name]} == concerned, file


IMPORTS = (
    "from protocols.linear import extra",
    "def f():\n    import protocols.linear.extra",
    "from . import extra",
    "from .extra import x",
    "from ..linear.extra import x",
)


def test_what_is_imported_in_any_way_counts(copy: Path) -> None:
    role = copy / "linear/selection.py"
    text = role.read_text(encoding="utf-8")
    for line in IMPORTS:
        (copy / "linear/extra.py").write_text("x = 1\n")
        role.write_text(text + f"\n\n{line}\n", encoding="utf-8")
        before = digests()
        assert "protocols.linear.extra" in role_code.code_files(PROTOCOLS["linear"])
        (copy / "linear/extra.py").write_text("x = 2\n")
        assert digests()["linear"] != before["linear"], line


# The command.


def test_the_command_computes_and_compares(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """What is computed is the subject of a slow test."""

    def computed(protocols: Iterable[Protocol], *_: object) -> ReleasedResults:
        names = {protocol.program.name for protocol in protocols}
        return with_results([result for result in SHIPPED.results if result.protocol in names])

    monkeypatch.setattr(code_checks, "compute_results", computed)
    out = tmp_path / "results.json"
    assert main(["lab", "check", "comparison", "--out", str(out)]) == 0
    assert capsys.readouterr().out.count(f"passed; equal to the result that smc-dp {__version__} ships") == 2
    assert load_results(out).results == [result for result in SHIPPED.results if result.protocol == "comparison"]
    assert main(["lab", "check", "comparison", "--out", str(out)]) == 2
    assert str(out) in capsys.readouterr().err


FORGED: tuple[dict[str, str], ...] = (
    {"detail": "p = 0.3"},
    {"status": "failed"},
    {"code": "00" * 32},
    {"check": "luck"},
    {"protocol": "other"},
)


def test_the_command_finds_each_forged_result(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    honest = [result for result in SHIPPED.results if result.protocol == "secure_sum"]
    forged = [result.model_copy(update=change) for result, change in zip(honest, FORGED, strict=False)]
    assert len(forged) == len(FORGED)
    computed, shipped = with_results(honest), with_results([*forged, *honest[len(forged) :]])
    monkeypatch.setattr(released_results, "load_results", lambda: shipped)
    monkeypatch.setattr(code_checks, "compute_results", lambda *_: computed)
    assert main(["lab", "check", "secure_sum"]) == 1
    out = capsys.readouterr().out
    assert [value for value in ("p = 0.3", __version__, "other, ") if value not in out] == []
    for result, other in zip(honest, forged, strict=False):
        alone = with_results([other if x is result else x for x in honest])
        assert set(result_differences(computed, alone)) == {result.key, other.key}


def test_a_protocol_without_a_claim_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["lab", "check", "pathak2010-as-printed-insecure"]) == 2
    assert capsys.readouterr().err.count("\n") == 1
