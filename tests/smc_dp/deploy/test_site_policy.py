"""A site policy: each limit with a study just at it and one beyond, and policies that nobody could keep to."""

from __future__ import annotations

import re
from fractions import Fraction
from pathlib import Path

import pytest
from support import studies
from support.studies import by_curator, study, text

from protocols.arithmetic.rng import Stream
from protocols.crypto.identity import Identity
from smc_dp.core.documents import parse_document
from smc_dp.core.errors import Fault, UnfitError
from smc_dp.data.file_format import FileFormat
from smc_dp.deploy.site_policy import SiteLimits, SitePolicy
from smc_dp.deploy.study import JointStudy
from smc_dp.run.budget_charge import charge_of_run


def policy(limits: str = "", rest: str = "", *, epsilon: str = "1", delta: str = "1e-5") -> SitePolicy:
    said = f"[limits]\nmax_epsilon = {epsilon}\nmax_delta = {delta}\n{limits}\n{rest}"
    return parse_document(SitePolicy, said, "policy")


def faults(own: SitePolicy, at: JointStudy) -> list[Fault]:
    return own.faults(at, at.agreement())


TESTS_KEYS = by_curator(top="insecure_test_keys = true").replace("3072", "512")
ONE_LOST = text().replace("colluders = 1\ndropouts = 0", "colluders = 0\ndropouts = 1")

# The rule -> the policy, a study at the limit, and one beyond it; the fields of the refusal.
LIMITS = {
    "max_epsilon": (policy(epsilon='"1/3"'), text(), text().replace("1/3", "1/2"), {"most": "1/3", "got": "0.5"}),
    "max_delta": (policy(), text(), text().replace("1e-5", "1.1e-5"), {"most": "1/100000", "got": "0.000011"}),
    "min_parties": (policy("min_parties = 3"), text(), ONE_LOST, {"wanted": 3, "got": 2}),
    "min_colluders": (
        policy("min_colluders = 1"),
        text(),
        text().replace("colluders = 1", "colluders = 0"),
        {"wanted": 1, "protocol": "secure_sum", "held": "tolerates 0"},
    ),
    "adjacency": (
        policy('adjacency = ["replace", "party"]'),
        text(),
        text().replace('"replace"', '"addremove"'),
        {"wanted": "replace or party", "got": "addremove"},
    ),
    "columns": (
        policy('columns = ["age", "sex", "outcome"]'),
        text(),
        text().replace("age =", "postcode ="),
        {"column": "postcode"},
    ),
    "purposes": (
        policy('purposes = ["care", "research"]'),
        text(),
        text().replace('"research"', '"marketing"'),
        {"purpose": "marketing"},
    ),
    "insecure": (policy(), by_curator(), TESTS_KEYS, {"marks": ("insecure test keys",)}),
}


@pytest.mark.parametrize("rule", LIMITS)
def test_each_limit_allows_a_study_at_it_and_refuses_one_beyond(rule: str) -> None:
    own, at, beyond, fields = LIMITS[rule]
    assert faults(own, study(at)) == []
    (fault,) = faults(own, study(beyond))
    assert (fault.code, fault.fields, fault.place) == (f"terms.{rule}", fields, "site policy: ")


def test_a_study_may_pass_every_limit_and_hears_of_each() -> None:
    limits = "min_parties = 9\nmin_colluders = 9\ncolumns = []\npurposes = []"
    found = faults(policy(limits, epsilon="0.1", delta="0"), study())
    rules = [fault.code.removeprefix("terms.") for fault in found]
    assert rules == ["max_epsilon", "max_delta", "min_parties", "min_colluders", *["columns"] * 3, "purposes"]


def test_decimals_that_no_float_is_are_limits_all_the_same() -> None:
    for figure in ("0.1", '"1/3"', "0.3", "1e-3"):
        said = text().replace('"1/3"', figure)
        assert faults(policy(epsilon=figure), study(said)) == []
        less = Fraction(study(said).target.epsilon) * Fraction(999, 1000)
        assert len(faults(policy(epsilon=f'"{less}"'), study(said))) == 1
    for figure in ("1e-7", "3e-6", '"1/70000"'):
        assert faults(policy(delta=figure), study(text().replace('"1e-5"', figure))) == []


def test_the_epsilon_that_counts_is_the_true_one() -> None:
    """With noise as printed the figure that a hub names is not what its release has."""
    printed = study(by_curator(target='epsilon = 1\nnoise = "laplace"\ncalibration = "paper"'))
    true = charge_of_run(printed.agreement()).epsilon
    assert true < Fraction(1, 5)
    assert faults(policy(epsilon=f'"{true}"'), printed) == []  # by the figure named, 1, it would be refused
    (fault,) = faults(policy(epsilon=f'"{true * Fraction(999, 1000)}"'), printed)
    assert fault.code == "terms.max_epsilon"


def many(dropouts: int) -> str:
    """A study of 201 parties in a sum of weights."""
    names = [f"p{i:03d}" for i in range(201)]
    parties = "".join(studies.party(n, Identity.generate(Stream.insecure_from_seed(n)).public.hex()) for n in names)
    protocol = studies.SUMS.replace("dropouts = 0", f"dropouts = {dropouts}") + "\nsemi_honest = true"
    return text(protocol=protocol, parties=parties)


SPARSE = studies.SUMS + "\nsparse_graph = true\nsemi_honest = true"


SEMI_HONEST = {
    "the curator's protocol": ("pathak2010", by_curator()),
    "asked for": ("secure_sum", text(protocol=SPARSE)),
    "of many parties with drop-outs": ("secure_sum", many(1)),
}


@pytest.mark.parametrize(("protocol", "said"), SEMI_HONEST.values(), ids=SEMI_HONEST)
def test_a_sparse_graph_withstands_nobody_who_deviates(protocol: str, said: str) -> None:
    (fault,) = faults(policy("min_colluders = 1"), study(said))
    assert fault.code == "terms.min_colluders"
    assert (fault.fields["wanted"], fault.fields["protocol"]) == (1, protocol)
    assert not any(map(str.isdigit, str(fault.fields["held"])))  # no number that it tolerates
    assert faults(policy("min_colluders = 0"), study(said)) == []


def test_who_accepts_semi_honest_participants_without_need_has_all_of_the_claim() -> None:
    for said in (text(protocol=studies.SUMS + "\nsemi_honest = true"), many(0)):
        assert faults(policy("min_colluders = 1"), study(said)) == []


def test_paths_begin_where_the_policy_lies(tmp_path: Path) -> None:
    path = tmp_path / "own.toml"
    path.write_text(
        f'data = "rows.csv"\n{studies.SITE_POLICY}[relay]\ncredentials = "relay"\n[file]\nseparator = ";"\n'
    )
    own = SitePolicy.read(path)
    assert (own.data_path, own.credentials_path) == (tmp_path / "rows.csv", tmp_path / "relay")
    assert own.form == FileFormat(";")
    path.write_text(studies.SITE_POLICY.replace("[limits]", 'data = "/there/rows.csv"\n[limits]'))
    assert SitePolicy.read(path).data_path == Path("/there/rows.csv")
    path.write_text(studies.SITE_POLICY)
    own = SitePolicy.read(path)
    assert (own.data_path, own.credentials_path, own.form) == (None, None, FileFormat())


BOTH = "[limits]\nmax_epsilon = 1\nmax_delta = 0\n"
WRONG = {
    "": ("limits: ", "document.missing"),
    "[limits]\nmax_delta = 0": ("limits: max_epsilon: ", "document.missing"),
    "[limits]\nmax_epsilon = 0\nmax_delta = 0": ("limits: max_epsilon: ", "number.not_positive"),
    "[limits]\nmax_epsilon = 1\nmax_delta = -1": ("limits: max_delta: ", "number.not_a_ratio"),
    f"{BOTH}max_epsilom = 1": ("limits: ", "document.unknown_key"),
    f"{BOTH}min_colluders = -1": ("limits: min_colluders: ", "document.wrong_value"),
    f"{BOTH}adjacency = ['any']": ("limits: adjacency 1: ", "document.wrong_value"),
    f"{BOTH}[file]\nseparator = ''": ("file: separator: ", "form.wrong_separator"),
    f"{BOTH}[file]\ndecimal = ';'": ("file: decimal: ", "form.wrong_decimal"),
}


@pytest.mark.parametrize("said", WRONG)
def test_policies_that_say_something_else_are_refused(said: str) -> None:
    with pytest.raises(UnfitError) as caught:
        parse_document(SitePolicy, said, "policy")
    assert [(fault.place, fault.code) for fault in caught.value.faults] == [WRONG[said]]


@pytest.mark.parametrize(("said", "keys"), [("", {"max_epsilon", "max_delta"}), ("[limits]\nmax_delta = 0", set())])
def test_what_a_missing_section_needs_is_said(said: str, keys: set[str]) -> None:
    with pytest.raises(UnfitError) as caught:
        parse_document(SitePolicy, said, "policy")
    named = re.findall(r"\w+", str(caught.value.faults[0].fields["wanted"]))
    assert keys == {field for field in SiteLimits.model_fields if field in named}
