"""Studies and approvals: what is refused and by which rule, every fault at once, and that a change is never missed."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from support import studies
from support.studies import BOUNDS, IDENTITIES, SUMS, VG, WSUM, approvals, by_curator, party, study, text, weighted

from protocols.arithmetic.rng import Stream
from protocols.crypto.identity import Identity
from smc_dp.core.documents import Document, parse_document
from smc_dp.core.errors import FaultError, InputError, UnfitError
from smc_dp.deploy.approval import Approval, nonce
from smc_dp.deploy.site_policy import SitePolicy
from smc_dp.deploy.study import STUDY_FORMAT, JointStudy
from smc_dp.run.agreement import DEFAULT_SIMULATION, SettledRun, make_method
from smc_dp.run.auxiliary import AuxiliaryRows
from smc_dp.run.protocols.registry import CuratorTerms, SumTerms
from tests.support.refusals import refused

NORTH, SOUTH, CHARLIE = (IDENTITIES[name].public.hex() for name in ("north", "south", "charlie"))

# What stands in the study -> what comes instead, and the place and code of the rule that refuses it.
MUTANTS = {
    "no title": ('title = "Readmission"\n', "", "title: document.missing"),
    "a title of two lines": ('"Readmission"', r'"a\nb"', "title: text.not_one_line"),
    "a title without end": ('"Readmission"', f'"{"a" * 501}"', "title: text.not_one_line"),
    "a blank relay": ("nats://relay.example:4222", " ", "relay: text.not_one_line"),
    "a relay that no carrier goes to": ("nats://relay", "http://relay", "relay: relay.no_address"),
    "a relay with more than an address": (":4222", ":4222/x", "relay: relay.no_address"),
    "a key that nobody reads": ("[method]", "code = 'print(1)'\n[method]", "document.unknown_key 'code'"),
    "test keys of a sum": ("[method]", "insecure_test_keys = true\n[method]", "test_keys.without_keys"),
    "rows that the method does not use": (
        "[method]",
        f"auxiliary = '{'0' * 64}'\n[method]",
        "auxiliary.not_used newton",
    ),
    "a digest that is none": ("[method]", "auxiliary = 'abc'\n[method]", "auxiliary: a digest: json.not_hexadecimal"),
    "an unknown method": ('"newton"', '"oldton"', "setting.unknown_value method"),
    "a method without a protocol": ('"newton"', '"prr_mean"', "protocol.not_of_method"),
    "a setting that the method lacks": (
        "adjacency =",
        "lambda = 0.1\nadjacency =",
        "method: study.unknown_setting 'lambda'",
    ),
    "lists that are no names": ("left_out = []", "left_out = [1]", "protocol: left_out: value.no_setting"),
    "epsilon 0": ('"1/3"', "0", "target: epsilon: number.not_positive"),
    "no delta": ('delta = "1e-5"', "", "study.delta_missing"),
    "an unknown protocol": ('"secure_sum"', '"sum"', "protocol.not_of_method"),
    "more colluders than parties": ("colluders = 1", "colluders = 3", "colluders.too_many"),
    "somebody left out": ("left_out = []", 'left_out = ["west"]', "study.party_left_out"),
    "another ring": ("left_out = []", "left_out = []\nring_bits = 63", "study.other_value ring_bits"),
    "another setting": ("left_out = []", "left_out = []\nlink = 'lan'", "protocol: study.unknown_setting 'link'"),
    "a deadline after ten years": ('"7d"', '"3660d"', "deadlines: greetings: deadline.no_duration"),
    "one party": (party("south") + party("west"), "", "parties: parties.too_few; parties.too_few_for_sum"),
    "a party twice": (
        party("south"),
        party("north"),
        "parties: party name 'north': party.same_name; secure_sum.parties_unusable",
    ),
    "two parties with one key": (SOUTH, NORTH, "study.one_key_for_two south"),
    "a party called public": ('"south"', '"public"', "parties: party name 'public': party.reserved_name"),
    "a key of order 1": (SOUTH, "01" + "00" * 31, "parties 2: key: identities.small_order"),
    "a party with an address": (
        party("south"),
        f'{party("south")}host = "a"\n',
        "parties 2: document.unknown_key 'host'",
    ),
    "no Charlie": (f'[curator]\nkey = "{CHARLIE}"\n', "", "curator: document.missing"),
    "Charlie by another name": ("[curator]\n", '[curator]\nname = "carl"\n', "curator: document.unknown_key 'name'"),
    "Charlie's key of small order": (CHARLIE, "00" * 32, "curator: key: identities.small_order"),
    "no column of classes": ('column = "outcome"\n', "", "bounds: bounds.no_label"),
    "bounds with more": ("[bounds.label]", "[bounds.extra]\n[bounds.label]", "bounds: document.unknown_key 'extra'"),
}


def told(error: FaultError) -> str:
    """Place and code of each fault, and the name or key that it is about."""
    about = (
        "".join(f" {fault.fields[field]}" for field in ("name", "key") if field in fault.fields)
        for fault in error.faults
    )
    return "; ".join(f"{fault.place}{fault.code}{what}" for fault, what in zip(error.faults, about, strict=True))


@pytest.mark.parametrize("mutant", MUTANTS)
def test_a_mutant_is_refused_by_the_rule_that_should(mutant: str) -> None:
    before, instead, rule = MUTANTS[mutant]
    said = text()
    assert said.count(before) == 1 or before in ("north", "south")
    with pytest.raises(UnfitError) as caught:
        study(said.replace(before, instead))
    assert told(caught.value) == rule
    assert str(caught.value).startswith("study: ")
    assert "pydantic" not in str(caught.value)
    assert "validation" not in str(caught.value)
    assert all(str(fault).isprintable() for fault in caught.value.faults)


def test_a_missing_list_of_sections_is_not_called_a_section() -> None:
    with pytest.raises(UnfitError) as caught:
        parse_document(JointStudy, 'format = "smc-dp study 2"\n', "study")
    wanted = {fault.place: fault.fields["wanted"] for fault in caught.value.faults}
    assert (wanted["parties: "], wanted["curator: "] != "") == ("", True)


OTHER_MUTANTS = {
    "short keys": (by_curator, "3072", "512", "key_bits.too_short"),
    "keys called test keys": (
        by_curator, "[method]", "insecure_test_keys = true\n[method]", "study.no_test_keys"
    ),
    "the steps as printed": (
        by_curator, '"pathak2010"', '"pathak2010-as-printed-insecure"', "study.protocol_as_printed"
    ),
    "a delta of pure noise": (weighted, 'noise = "vg"', 'noise = "vg"\ndelta = "1e-5"', "study.needless_delta"),
    "shares": (weighted, 'output = "curator"', 'output = "shares"', "study.without_curator"),
}  # fmt: skip


@pytest.mark.parametrize("mutant", OTHER_MUTANTS)
def test_a_mutant_of_another_protocol_or_method_is_refused_too(mutant: str) -> None:
    written, before, instead, rule = OTHER_MUTANTS[mutant]
    assert written().count(before) == 1
    with pytest.raises(UnfitError) as caught:
        study(written().replace(before, instead))
    assert told(caught.value) == rule


def test_a_study_that_no_audit_could_read_is_refused() -> None:
    """What is larger than a record may be: its release would stand there unchecked."""
    many = ", ".join(f'"c{i}"' for i in range(1000))
    gd = 'name = "gd"\nadjacency = "replace"\nrows = 100'
    large = text(gd).replace('"no", "yes"', many).replace('"f", "m"', ", ".join(f'"{i}"' for i in range(20_000)))
    with refused(
        "parameters.out_of_range",
        error=UnfitError,
        at="protocol",
        name="numbers",
        least=1,
        most=10000000,
        got="80008000",
    ):
        study(large)
    parties = "".join(party(f"p{i}", f"{i + 2**200:064x}") for i in range(1001))
    with refused("parameters.too_many_parties", error=UnfitError, at="protocol", most=1000):
        study(by_curator(parties=parties))


@pytest.mark.parametrize(
    ("changes", "codes"),
    [
        ([('"Readmission"', "1"), (SOUTH, NORTH)], {"text.not_one_line", "study.one_key_for_two"}),
        ([("[0, 120]", "0"), ("colluders = 1", "colluders = -1")], {"columns.wrong_kind", "setting.out_of_range"}),
        ([('"1/3"', "0"), ('"replace"', '"party"')], {"number.not_positive", "setting.not_one_of"}),
        ([('"1/3"', '"1e7"'), ("most_rows = 10000000", "")], {"epsilon.out_of_range", "document.missing"}),
        ([("[method]", "insecure_test_keys = 1\n[method]"), ("colluders = 1", "")],
         {"document.wrong_value", "document.missing"}),
        ([("colluders = 1", "colluders = 1.5"), ("most_rows = 10000000", "most_rows = 0\nx = 1"),
          ("verifiable = false", "")],
         {"value.no_setting", "setting.out_of_range", "study.unknown_setting", "document.missing"}),
        ([(SOUTH, "ab"), (party("south").replace(SOUTH, "ab"), party("north").replace(NORTH, "ab"))],
         {"json.not_hexadecimal", "party.same_name"}),
    ],
)  # fmt: skip
def test_a_fault_of_one_field_hides_none_that_shows_only_where_several_are_read(
    changes: list[tuple[str, str]], codes: set[str]
) -> None:
    said = text()
    for before, instead in changes:
        said = said.replace(before, instead)
    with pytest.raises(UnfitError) as caught:
        study(said)
    assert {fault.code for fault in caught.value.faults} >= codes


# Every field, changed to something else that is a study as well.
CHANGES = {
    "title": ('"Readmission"', '"Mortality"'),
    "relay": ("relay.example", "relay2.example"),
    "epsilon": ('"1/3"', '"1/4"'),
    "colluders": ("colluders = 1", "colluders = 0"),
    "messages": ('"12h"', '"13h"'),
    "a party's key": (SOUTH, Identity.generate(Stream.insecure_from_seed(9)).public.hex()),
    "Charlie's key": (CHARLIE, Identity.generate(Stream.insecure_from_seed(9)).public.hex()),
    "the order of parties": (party("north") + party("south"), party("south") + party("north")),
    "a range": ("[0, 120]", "[0, 121]"),
    "the order of columns": ('age = [0, 120]\nsex = ["f", "m"]', 'sex = ["f", "m"]\nage = [0, 120]'),
    "the clip": ("[bounds.label]", "[bounds.rows]\nclip = 3\n[bounds.label]"),
}


@pytest.mark.parametrize(
    ("line", "code", "fields"),
    [
        ("", "study.earlier_format", {"wanted": STUDY_FORMAT, "version": "0.1.0"}),
        ('format = "smc-dp study 3"\n', "study.other_format", {"wanted": STUDY_FORMAT, "got": "'smc-dp study 3'"}),
        ("format = 2\n", "study.other_format", {"wanted": STUDY_FORMAT, "got": "2"}),
    ],
)
def test_a_study_in_another_format_is_refused_for_that_alone(line: str, code: str, fields: dict[str, str]) -> None:
    said = text().replace("messages = ", "letters = ").replace(f'format = "{STUDY_FORMAT}"\n', line)
    with pytest.raises(UnfitError) as caught:
        study(said)
    (fault,) = caught.value.faults
    assert (fault.code, dict(fault.fields)) == (code, fields)
    assert all(str(value) in str(fault) for value in fields.values())


def test_a_changed_study_is_another_study() -> None:
    changed = {}
    for name, (before, instead) in CHANGES.items():
        assert before in text()
        changed[name] = study(text().replace(before, instead)).digest
    sums = [weighted(), weighted(protocol=studies.SUMS), weighted(target=studies.DDG)]
    others = [by_curator(), by_curator().replace("tournament", "all-pairs"), by_curator().replace("0.1", "0.2"), *sums]
    digests = {study().digest, *changed.values(), *(study(said).digest for said in others)}
    assert len(digests) == 1 + len(CHANGES) + len(others)
    keys = by_curator().replace("3072", "512").replace("[method]", "insecure_test_keys = true\n[method]")
    assert study(keys).agreement().marks == ("insecure test keys",)


def test_how_a_study_is_written_does_not_matter() -> None:
    ways = (("\n[method]", "\n# a remark\n[method]"), ('"7d"', "604800"), ('"12h"', '"720m"'), ('"1e-5"', "1e-05"))
    assert {study(text().replace(*way)).digest for way in ways} == {study().digest}
    assert study(text().replace('"1/3"', '"2/6"')).digest == study().digest
    assert study(text().replace("[0, 120]", "[0.0, 120]")).digest == study().digest


def test_the_agreement_is_that_of_a_run() -> None:
    agreed = study(by_curator().replace('"tournament"', '"tournament"\nexponents = "short"'))
    bounds = agreed.bounds
    target = agreed.agreement().target
    mean = make_method("prr_mean", "pathak2010", {"lam": 0.1})
    assert agreed.agreement() == SettledRun(mean, target).with_parties(studies.PARTIES, bounds)
    unsaid = study(by_curator()).agreement()  # as every study before there was a choice
    assert unsaid.terms == CuratorTerms(exponents="full")
    sums = study()
    newton = make_method("newton", "secure_sum", {})
    settled = SettledRun(newton, sums.agreement().target, "secure_sum", SumTerms(sizes="hidden"))
    wanted = settled.with_parties(studies.PARTIES, bounds)
    assert sums.agreement().digest == wanted.digest
    assert sums.names == wanted.participants == (*studies.PARTIES, "charlie")
    assert (sums.deadlines.greetings, sums.deadlines.messages) == (604_800, 43_200)


def test_public_rows_are_those_of_the_digest() -> None:
    rows = AuxiliaryRows(np.full((4, 4), 0.25))
    method = 'name = "soft_ss"\nlambda = 0.1\nlam_global = 0.1\ngamma = 0.1'
    said = text(method, studies.SUMS, studies.VG, top=f'auxiliary = "{rows.digest}"')
    agreed = study(said)
    assert agreed.agreement(rows).auxiliary == rows
    for others in (None, AuxiliaryRows(np.full((5, 4), 0.25))):
        got = "none" if others is None else others.digest
        with refused("study.other_auxiliary", got=got):
            agreed.agreement(others)
    with refused("auxiliary.missing", error=UnfitError, name="soft_ss"):
        study(said.replace(f'auxiliary = "{rows.digest}"', ""))


HOSTILE = {
    "10 MB": (text().encode() + b"#" + b"x" * 10_000_000, "file.too_large"),
    "a section twice": (text().encode() + b"[target]\n", "toml.unreadable"),
    "nothing": (b"", "study.earlier_format"),
}


@pytest.mark.parametrize("what", HOSTILE)
def test_a_hostile_file_costs_one_line(what: str, tmp_path: Path) -> None:
    content, last = HOSTILE[what]
    (tmp_path / "study.toml").write_bytes(content)
    with pytest.raises(InputError) as caught:
        JointStudy.read(tmp_path / "study.toml")
    assert caught.value.faults[-1].code == last
    assert str(caught.value).startswith(f"study {tmp_path / 'study.toml'}: ")
    assert len(str(caught.value)) < 8000


def test_all_approvals_together_make_the_session() -> None:
    agreed = study()
    given = approvals(agreed)
    session = agreed.session(given)
    assert session.names == agreed.names
    assert dict(session.identities) == dict(agreed.identities)
    bound = agreed.agreement().session_binding(DEFAULT_SIMULATION, agreed.content)
    assert session.parameters.as_dict()["agreed"] == bound != agreed.agreement().digest
    assert session.nonce == nonce([given[name] for name in agreed.names]) == agreed.session(dict(given)).nonce
    ids = {session.id}
    for name in agreed.names:  # each of them alone makes another session of it
        again = Approval.made(agreed.digest, name, IDENTITIES[name], bytes([1] * 32))
        ids.add(agreed.session({**given, name: again}).id)
    other = study(text().replace('"12h"', '"13h"'))  # which a run does not agree on, and a session is bound to
    ids.add(other.session(approvals(other)).id)
    assert len(ids) == len(agreed.names) + 2
    assert nonce([given["north"], given["south"]]) != nonce([given["south"], given["north"]])


def test_a_session_takes_everybodys_own_approval() -> None:
    agreed, given = study(), approvals(study())
    others = approvals(study(text().replace('"7d"', '"6d"')))
    mallory = given["west"].model_copy(update={"name": "mallory"})
    with refused("approvals.missing", name="west"):
        agreed.session({name: a for name, a in given.items() if name != "west"})
    for code, name, approval in (
        ("approvals.of_another", "west", given["north"]),
        ("approval.another_study", "west", others["west"]),
        ("approval.of_nobody", "mallory", mallory),
    ):
        with refused(code, name=name):
            agreed.session({**given, name: approval})


def test_nobody_approves_for_another() -> None:
    agreed = study()
    mallory = Identity.generate(Stream.insecure_from_seed(7))
    for signer in (mallory, IDENTITIES["south"]):
        with refused("approval.not_signed", name="north"):
            agreed.check_approval(Approval.made(agreed.digest, "north", signer, bytes(32)))


def test_every_changed_byte_of_an_approval_is_noticed() -> None:
    agreed = study()
    content = approvals(agreed)["north"].encode()
    agreed.check_approval(Approval.decode(content))
    for i in range(len(content)):
        changed = content[:i] + bytes([content[i] ^ 1]) + content[i + 1 :]
        with pytest.raises(InputError):
            agreed.check_approval(Approval.decode(changed))
    document = json.loads(content)
    spaced = json.dumps(document).encode()
    for other, code in (
        (spaced, "approval.not_canonical"),
        (content + b"\n", "approval.not_canonical"),
        (b"[]", "json.not_an_object"),
    ):
        with refused(code):
            Approval.decode(other)
    for field in document:
        with refused("document.missing", at=field):
            Approval.decode(json.dumps({k: v for k, v in document.items() if k != field}).encode())
    with refused("approval.too_large", most_bytes=4096):
        Approval.decode(content + b" " * 5000)


# Whatever a field may hold that no field wants.
ODD = (
    *("1", "-1", "0", "1.5", "true", "nan", "inf", '"x"', '""', "[]", "{}", "[[]]", "[1]", '["a"]', "{a = 1}"),
    *("2020-01-01", "12:00:00", "9" * 30, r'"\u0000"', '"1/3"', '"é"', r'"\ud7ff"'),
)
LIMITS = 'min_parties = 1\nmin_colluders = 1\ncolumns = ["a"]\npurposes = ["a"]\ninsecure = false\nadjacency = []\n'
FORM = '[file]\nseparator = ","\ndecimal = "."\nencoding = "utf-8"\nmissing = ["a"]\n[relay]\ncredentials = "a"\n'
TOP = "insecure_test_keys = false"
DOCUMENTS: dict[str, tuple[type[Document], str]] = {
    "policy": (SitePolicy, f'data = "a"\n{studies.SITE_POLICY}{LIMITS}{FORM}'),
    "sums": (JointStudy, text(top=TOP)),
    "mean": (JointStudy, by_curator(top=TOP)),
}


def odd_ones(said: str) -> Iterator[str]:
    """The text with one line left out, or with something odd instead of a field's value."""
    lines = said.splitlines()
    for i, line in enumerate(lines):
        field = re.match(r"\w+ *= ", line)
        for instead in [field[0] + odd for odd in ODD] if field else [""]:
            yield "\n".join([*lines[:i], instead, *lines[i + 1 :]])


@pytest.mark.parametrize(
    "name", ["policy", *(pytest.param(name, marks=pytest.mark.slow) for name in DOCUMENTS if name != "policy")]
)
def test_whatever_a_field_holds_is_read_or_refused_in_words(name: str) -> None:
    kind, said = DOCUMENTS[name]
    refused: list[InputError] = []
    for odd in odd_ones(said):
        try:
            parse_document(kind, odd, "document")
        except InputError as error:
            refused.append(error)
    assert len(refused) > 200
    for error in refused:
        assert "pydantic" not in str(error)
        assert "wanted something else" not in str(error)
        assert all(str(fault).isprintable() for fault in getattr(error, "faults", ()))


def test_with_many_parties_and_drop_outs_a_study_has_to_accept_that_all_follow_the_protocol() -> None:
    """201 parties of whom one may drop out share masks with neighbours alone."""
    keys = (Identity.generate(Stream.insecure_from_seed(1000 + j)).public.hex() for j in range(201))
    many = [party(f"p{j}", key) for j, key in enumerate(keys)]
    one, asked = studies.SUMS.replace("dropouts = 0", "dropouts = 1"), "\nsemi_honest = true"
    with pytest.raises(UnfitError) as caught:
        study(text(protocol=one, parties="".join(many)))
    assert [(fault.code, fault.fields) for fault in caught.value.faults] == [
        ("study.semi_honest_only", {"parties": 201})
    ]
    agreed = study(text(protocol=one + asked, parties="".join(many)))
    assert "semi-honest" in agreed.agreement().statement.adversary
    assert agreed.agreement().parameters["semi_honest"] is True
    few = study(text(protocol=one.replace("colluders = 1", "colluders = 0")))  # three parties need not say so
    assert "semi_honest" not in few.agreement().parameters


def test_a_study_that_asks_for_a_sparse_graph_has_to_accept_that_all_follow_the_protocol() -> None:
    """Three parties of whom none may drop out, each with two neighbours."""
    asked = SUMS + "\nsparse_graph = true"
    with refused("study.sparse_graph_only"):
        study(text(protocol=asked))
    agreed = study(text(protocol=asked + "\nsemi_honest = true")).agreement()
    assert "semi-honest" in agreed.statement.adversary
    assert agreed.parameters["sparse_graph"] is True
    assert agreed.program_parameters("").degree == 2
    assert agreed.mechanism == "secure_sum (against semi-honest participants)"
    for few in (text(protocol=SUMS), text(protocol=SUMS + "\nsemi_honest = true\nsparse_graph = false")):
        unasked = study(few).agreement()
        assert "sparse_graph" not in unasked.parameters
        assert unasked.program_parameters("").degree == 0
        assert "semi-honest" not in unasked.statement.adversary


THRESHOLDS = {
    "0": ("number.not_positive", BOUNDS),
    "1": ("study.threshold_not_inside", BOUNDS),
    "'a'": ("number.not_a_ratio", BOUNDS),
    "0.2": ("study.threshold_of_two_classes", BOUNDS.replace('["no", "yes"]', '["no", "yes", "maybe"]')),
}


@pytest.mark.parametrize("threshold", THRESHOLDS)
def test_a_threshold_is_of_two_classes_and_inside(threshold: str) -> None:
    code, bounds = THRESHOLDS[threshold]
    with refused(code):
        parse_document(JointStudy, text(top=f"threshold = {threshold}\n", bounds=bounds), "study")


def test_a_threshold_needs_probabilities() -> None:
    hidden = SUMS.replace('sizes = "released"', 'sizes = "hidden"')
    given = {"method": WSUM, "protocol": hidden, "target": VG}
    with refused("study.threshold_without_probabilities"):
        parse_document(JointStudy, text(top="threshold = 0.2\n", **given), "study")
    released = {**given, "protocol": hidden.replace('"hidden"', '"released"')}
    assert parse_document(JointStudy, text(top="threshold = 0.2\n", **released), "study").threshold == "1/5"


def test_a_study_without_a_threshold_has_the_digest_that_it_had_before_there_were_any() -> None:
    with_one = parse_document(JointStudy, text(top="threshold = 0.5\n"), "study")
    assert "threshold" not in study().as_dict()
    assert b"threshold" not in study().content
    assert with_one.digest != study().digest
