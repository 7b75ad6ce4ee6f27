"""What the wire record alone shows: honest records pass, and each forgery is found by the check that should find it."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from support import forgeries as f
from support.audited import Folders, hospitals, long_term, sum_agreement, toy_run
from support.audits import outcome

from protocols.arithmetic.rng import Stream
from protocols.crypto.identity import Identity
from smc_dp.audit.run import conformity
from smc_dp.audit.run.check import CheckOutcome
from smc_dp.audit.run.evidence import Evidence, load_evidence
from smc_dp.privacy.target import Target
from smc_dp.run.identities import PUBLIC_FILE, create_identities, load_run_identities
from smc_dp.run.release import RELEASE
from smc_dp.run.simulation import simulate_run

SIZES, PARTIES = (12, 8, 20), ("north-0", "north-1", "north-2")
OWN = long_term(PARTIES)
STRANGER = Identity(bytes(31) + b"\x07")
# Those of what was published and agreed on have tests of their own: conformity/test_publication.py, test_approvals.py.
OF_THE_RECORD = tuple(
    c for c in conformity.CHECKS if c not in (*conformity.PUBLICATION_CHECKS, *conformity.STUDY_CHECKS)
)
NAMES = [check.name for check in OF_THE_RECORD]


@pytest.fixture(scope="module")
def star(tmp_path_factory: pytest.TempPathFactory) -> Folders:
    return toy_run(tmp_path_factory.mktemp("star"), SIZES, identities=OWN, topology="star", comparison="all-pairs")


@pytest.fixture(scope="module")
def printed(tmp_path_factory: pytest.TempPathFactory) -> Folders:
    return toy_run(tmp_path_factory.mktemp("printed"), SIZES, identities=OWN, as_printed=True)


def outcomes(evidence: Evidence) -> dict[str, CheckOutcome]:
    return {check.name: check.run(evidence) for check in OF_THE_RECORD}


def failures(evidence: Evidence) -> dict[str, CheckOutcome]:
    return {name: outcome for name, outcome in outcomes(evidence).items() if outcome.status == "failed"}


def pinned(evidence: Evidence, **changed: Identity) -> Evidence:
    return replace(evidence, pinned={name: identity.public for name, identity in {**OWN, **changed}.items()})


# Honest records.


@pytest.mark.parametrize("which", ["honest", "star"])
def test_an_honest_record_passes_every_check(which: str, request: pytest.FixtureRequest) -> None:
    evidence = request.getfixturevalue(which).evidence(views=False)
    without = outcomes(evidence)
    assert {o.status for name, o in without.items() if name != "identities"} == {"passed"}, without
    assert without["identities"].status == "not possible"
    assert {o.status for o in outcomes(pinned(evidence)).values()} == {"passed"}
    assert without["completeness"].fault.fields == {"total": len(evidence.lines), "but": ""}


def test_the_printed_protocol_passes_all_but_headers(printed: Folders) -> None:
    """Its step 1.2 shows pi_1 to whoever reads addresses: a finding about the protocol, whatever the run."""
    found = failures(printed.evidence(views=False))
    assert list(found) == ["headers"]
    fields = found["headers"].fault.fields
    assert (found["headers"].code, fields["kind"], fields["step"]) == ("headers.differ", "PrintedShare", "1.2")
    assert "pi_1" in str(fields["described"])


def test_names_are_unique_and_every_check_has_mutants() -> None:
    """Two at least, but for those with tests of their own: `identities` below, the others in `conformity`."""
    assert len(set(NAMES)) == len(NAMES)
    others = ("identities", "schema", "hash-chain", "headers")
    counts = {name: sum(name in mutant.caught for mutant in MUTANTS.values()) for name in NAMES if name not in others}
    assert min(counts.values()) >= 2, counts


# Forgeries. Each names the checks that must find it; others may.


class Mutant:
    """Changes to a record; `caught` maps the checks that must fail to the kind of the first offending message."""

    def __init__(self, *changes: Callable[[f.Record], Sequence[f.Change] | f.Change], **caught: str | int | None):
        self.changes = changes
        self.caught = {name.replace("_", "-"): where for name, where in caught.items()}

    def make(self, run: Path, target: Path) -> Path:
        record = f.read_record(run)
        return f.forge(run, target, *(change(record) for change in self.changes))


def at(make: Callable[..., f.Change], kind: str, sender: str, /, *args: Any, nth: int = 0, **fields: Any) -> Any:
    """A change of this sender's nth message of this kind."""
    return lambda record: make(record.place(kind, sender, nth), *args, **fields)


def plain(change: f.Change) -> Any:
    return lambda record: change


P1, P2, P3 = PARTIES
LINKED, RESIGNED = plain(f.linked), plain(f.resigned(OWN))
ANYBODY = plain(f.resigned({name: STRANGER for name in OWN}))


def to_end(kind: str, sender: str) -> Any:
    return lambda record: f.move(record.place(kind, sender), len(record.envelopes) - 1)


def before_all(kind: str, sender: str) -> Any:
    """The message stands right after the last greeting."""
    return lambda record: f.move(record.place(kind, sender), record.place("Hello", None, -1) + 1)


def early(kind: str, sender: str) -> Any:
    """The last message of this kind stands in the middle of the record: its sender's own order changes with it."""
    return lambda record: f.move(record.place(kind, sender, -1), len(record.envelopes) // 2)


def twice_otherwise(i: int) -> f.Change:
    """The same message once more, with another first byte."""
    return lambda record: f.flip(i + 1)(f.duplicate(i)(record))


MUTANTS = {
    # What nobody made anew: the sender's own chain shows it.
    "byte of a sealed body": Mutant(at(f.flip, "Reshare", P2), sender_chain=None),
    "byte of a published share": Mutant(at(f.flip, "PublishedShare", P2), signatures="PublishedShare"),
    "byte of a greeting": Mutant(at(f.flip, "Hello", P3), signatures="Hello"),
    "last byte of a signature": Mutant(at(f.flip, "StageEnd", P3, -1), signatures="StageEnd"),
    "dropped": Mutant(at(f.drop, "Relay", P1), sender_chain=None, order=None, completeness=None),
    "duplicated": Mutant(at(f.duplicate, "Half", P2), sender_chain="Half", order=None, completeness=None),
    "sender's own order": Mutant(
        lambda r: f.swap(r.place("Commitment", P1), r.place("Opening", P1)), sender_chain=None, order=None
    ),
    "another number": Mutant(at(f.alter, "StageEnd", P2, nth=-1, number=0), sender_chain="StageEnd"),
    # A forger who makes chains and numbers anew: signatures show it.
    "body, chained anew": Mutant(at(f.flip, "Masked", P1), LINKED, signatures="StageEnd"),
    "published share signed by a stranger": Mutant(
        at(f.flip, "PublishedShare", P1), at(f.sign, "PublishedShare", P1, STRANGER), signatures="PublishedShare"
    ),
    "everything signed by a stranger": Mutant(ANYBODY, signatures="Hello"),
    "stage end taken for another's": Mutant(
        at(f.alter, "StageEnd", P2, sender=P3), LINKED, signatures=None, completeness=None
    ),
    # Lies of participants who sign them: the conversation shows it.
    "dropped and signed": Mutant(at(f.drop, "Opening", P2), RESIGNED, order=None, rounds=None, completeness=None),
    "duplicated and signed": Mutant(at(f.duplicate, "Reshare", P2), RESIGNED, order=None, completeness=None),
    "published twice and signed": Mutant(
        at(f.duplicate, "PublishedShare", P2), RESIGNED, order="PublishedShare", completeness="PublishedShare"
    ),
    "greeted twice and signed": Mutant(at(f.duplicate, "Hello", P2), RESIGNED, order=None, greetings="Hello"),
    "greeted twice, otherwise, and signed": Mutant(
        at(twice_otherwise, "Hello", P2), RESIGNED, order=None, greetings="Hello"
    ),
    "swapped and signed": Mutant(
        lambda r: f.swap(r.place("Commitment", P1), r.place("Opening", P1)),
        RESIGNED,
        order="Opening",
    ),
    "stage never signed": Mutant(at(f.drop, "StageEnd", P2, nth=1), RESIGNED, order=None, completeness=None),
    "renamed to a known kind": Mutant(at(f.alter, "Half", P2, kind="Ready"), RESIGNED, order="Ready", sizes="Ready"),
    "renamed to no kind": Mutant(at(f.alter, "Half", P2, kind="Quarter"), RESIGNED, routes="Quarter", sizes="Quarter"),
    "route that does not exist": Mutant(at(f.alter, "Slot", P2, to=P1), RESIGNED, routes="Slot", order="Slot"),
    "greeting to one": Mutant(at(f.alter, "Hello", P2, to=P1), RESIGNED, routes="Hello", order="Hello"),
    "longer": Mutant(at(f.resize, "Relay", P2, 1), RESIGNED, sizes="Relay"),
    "shorter": Mutant(at(f.resize, "PublishedShare", P2, -1), RESIGNED, sizes="PublishedShare"),
    "mark with content": Mutant(at(f.resize, "StageEnd", P2, 8), RESIGNED, sizes="StageEnd"),
    # Lines in another order: nobody signs that, but effects do not stand before causes.
    "effect before its cause": Mutant(before_all("SharedKey", P1), rounds="SharedKey"),
    "letter before its addressee's greeting": Mutant(to_end("Hello", "charlie"), rounds=None, order=None),
    # Rounds are what senders state.
    "round too late": Mutant(at(f.alter, "Slot", P2, round=40), RESIGNED, rounds="Slot"),
    "round of a greeting": Mutant(at(f.alter, "Hello", P2, round=2), RESIGNED, rounds="Hello"),
    "round of a mark": Mutant(at(f.alter, "StageEnd", P2, nth=1, round=1), RESIGNED, rounds="StageEnd"),
    # Somebody is said to have been absent.
    "absent to itself": Mutant(plain(f.miss(P1, P1, "Relay", "stage1")), participants=None),
    "absent to a stranger": Mutant(plain(f.miss("nobody", P1, "Relay", "stage1")), participants=None),
    "a kind missed that nobody sends": Mutant(plain(f.miss(P1, P2, "Pickle", "stage1")), routes=None),
    "a kind missed on no route": Mutant(plain(f.miss(P1, P2, "Slot", "stage1")), routes=None),
    "a greeting missed in a later stage": Mutant(plain(f.miss(P1, P2, "Hello", "stage1")), routes=None),
    "signed too early": Mutant(early("StageEnd", P3), RESIGNED, rounds="StageEnd", order=None),
    # Strangers.
    "swapped sender": Mutant(at(f.alter, "Reshare", P2, sender=P3), LINKED, signatures=None, order=None),
    "unknown sender": Mutant(
        at(f.alter, "Hello", P1, sender="nobody"), LINKED, participants="Hello", signatures="Hello"
    ),
    # An end that is missing.
    "cut off": Mutant(lambda r: f.cut(r.place("Ready", P3)), signatures=None, completeness=None),
    "cut off before the shares": Mutant(lambda r: f.cut(r.place("PublishedShare")), completeness=None),
    # Line 0.
    "parameters": Mutant(plain(f.with_parameters(agreed="x")), session=0),
    "nonce": Mutant(plain(f.with_head(nonce="00" * 32)), session=0),
    "identity": Mutant(plain(f.with_identity(P2, STRANGER)), session=0, signatures="Hello"),
    "identity, session made anew": Mutant(
        plain(f.with_identity(P2, STRANGER)), plain(f.with_session), LINKED, signatures="Hello"
    ),
    "one key for two": Mutant(
        plain(f.with_identity(P2, OWN[P1])), plain(f.with_session), plain(f.resigned({**OWN, P2: OWN[P1]})), session=0
    ),
    "topology": Mutant(plain(f.with_head(topology="ring")), session=0),
    "mark taken off": Mutant(plain(f.with_head(insecure=["insecure seed"])), session=0),
    "mark that nobody knows": Mutant(plain(f.with_head(insecure=["fine"])), session=0),
}


@pytest.mark.parametrize("name", MUTANTS)
def test_a_forged_record_is_caught_by_the_check_that_should(name: str, honest: Folders, tmp_path: Path) -> None:
    mutant = MUTANTS[name]
    evidence = load_evidence(mutant.make(honest.run, tmp_path / "forged"))
    found = failures(evidence)
    assert found.keys() >= mutant.caught.keys(), {k: o.code for k, o in found.items()}
    if RESIGNED not in mutant.changes:
        assert {outcome.party for outcome in found.values()} == {None}, "anybody can do that"
    for check, where in mutant.caught.items():
        line = found[check].line
        if isinstance(where, int):
            assert line == where
        elif where is not None:
            assert evidence.envelopes[line].kind == where, found[check]


# Stars, old sessions, pinned identities, blame.


def test_a_star_is_not_passed_off_as_a_mesh(honest: Folders, star: Folders, tmp_path: Path) -> None:
    """The mark of whom mail passes follows from the topology, so a changed topology is seen only in the release."""
    for run, topology in ((honest.run, "star"), (star.run, "mesh")):
        changed = f.rewritten(run, tmp_path / topology, 0, lambda head, t=topology: head.update(topology=t))
        assert {"hash-chain", "routes"} <= failures(load_evidence(changed)).keys()


def test_a_message_of_an_old_session_breaks_the_chain_and_the_signature(honest: Folders, tmp_path: Path) -> None:
    old = toy_run(tmp_path / "old", SIZES, seed=2, identities=OWN)
    for kind, check in (("Reshare", "sender-chain"), ("PublishedShare", "signatures"), ("Hello", "signatures")):
        i = f.read_record(honest.run).place(kind, P2)
        assert check in failures(load_evidence(f.forge(honest.run, tmp_path / kind, f.splice(old.run, i))))


def test_identities_known_from_elsewhere_are_held_against_the_record(honest: Folders, tmp_path: Path) -> None:
    evidence = honest.evidence(views=False)
    assert failures(pinned(evidence)) == {}
    other = failures(pinned(evidence, **{P2: STRANGER}))
    assert list(other) == ["identities"]
    assert (other["identities"].code, other["identities"].fault.fields["name"]) == ("identity.other", repr(P2))
    missing = failures(replace(evidence, pinned={P1: OWN[P1].public}))
    assert list(missing) == ["identities"]


def test_whoever_is_known_from_elsewhere_must_have_taken_part(honest: Folders) -> None:
    """The honest run beside the keys of more people than took part: each is named, as far as a sentence has room."""
    evidence = pinned(honest.evidence(views=False), south=STRANGER)
    found = failures(evidence)
    assert list(found) == ["identities"]
    assert found["identities"].fault.fields == {"names": "'south'"}
    assert found["identities"].party is None
    many = failures(pinned(evidence, **{f"south-{i}": STRANGER for i in range(9)}))["identities"].fault.fields
    assert str(many["names"]).startswith("'south-0', ")
    assert str(many["names"]).endswith("'south-4' and 4 more")


def test_a_record_made_by_strangers_passes_without_identities_and_fails_with_them(
    honest: Folders, tmp_path: Path
) -> None:
    """Whoever makes everything anew, keys included, is found out by nothing but the identities known from elsewhere."""
    names = (*PARTIES, "charlie")
    strangers = long_term(PARTIES, seed=1)
    keys = [f.with_identity(name, strangers[name]) for name in names]
    evidence = load_evidence(f.forge(honest.run, tmp_path / "forged", *keys, f.with_session, f.resigned(strangers)))
    assert failures(evidence) == {}
    assert list(failures(pinned(evidence))) == ["identities"]


def test_only_what_was_signed_is_blamed_on_its_sender(honest: Folders, tmp_path: Path) -> None:
    i = f.read_record(honest.run).place("Relay", P2)
    signed = failures(load_evidence(f.forge(honest.run, tmp_path / "signed", f.resize(i, 1), f.resigned(OWN))))
    assert (signed["sizes"].party, signed["sizes"].line) == (P2, i + 1)
    unsigned = failures(load_evidence(f.forge(honest.run, tmp_path / "unsigned", f.resize(i, 1), f.linked)))
    assert (unsigned["sizes"].party, unsigned["sizes"].line) == (None, i + 1)


# Known from elsewhere, and left out of a new session as all agreed, or Charlie, or a fault.


DATA = hospitals((12, 8, 20, 10, 14), 2)
FIVE = DATA.federation.names
GONE = FIVE[1]


def recorded(folder: Path, drop_out: dict[str, int], **terms: Any) -> Path:
    """A run by the identities of a folder, with coins of no seed as far as anybody can see; the identities."""
    agreed = sum_agreement(DATA, None, Target(Fraction("0.4"), noise="ddg"), seeded=False, **terms)
    known = load_run_identities(folder / "keys", agreed.participants)
    rng = Stream(hashlib.sha256(folder.name.encode()).digest(), insecure=False)
    simulate_run(DATA, agreed, rng, folder / "run", identities=known, drop_out=drop_out)
    return folder / "keys" / PUBLIC_FILE


@pytest.fixture
def keys(tmp_path: Path) -> Path:
    create_identities(tmp_path / "keys", FIVE, Stream.insecure_from_seed("keys"))
    return tmp_path


def found(folder: Path, identities: Path, name: str) -> CheckOutcome:
    return outcome(name, load_evidence(folder / "run", identities))


def stated(folder: Path, left_out: list[str]) -> None:
    """The broken twin: a release that names others."""
    f.change_json(folder / "run" / RELEASE, lambda document: document["parameters"].update(left_out=left_out))


def test_who_was_left_out_of_a_new_session_is_named_and_no_fault(keys: Path) -> None:
    public = recorded(keys, {GONE: 1}, dropouts=1)
    other = found(keys, public, "identities")
    assert other.status == "passed"
    assert repr(GONE) in str(other.fault.fields["said"])
    assert found(keys, public, "agreed").status == "passed"
    stated(keys, [])
    other = found(keys, public, "identities")
    assert (other.code, other.fault.fields) == ("identity.without_participant", {"names": repr(GONE)})
    assert found(keys, public, "agreed").status == "failed"


def test_nobody_is_left_out_by_an_edit(keys: Path) -> None:
    public = recorded(keys, {}, dropouts=1)
    f.change_json(public, lambda document: document.update(stranger=STRANGER.public.hex()))
    stated(keys, ["stranger"])
    assert found(keys, public, "agreed").status == "failed"


def test_charlie_has_a_key_where_he_is_not_needed(keys: Path) -> None:
    public = recorded(keys, {}, output="shares")
    assert found(keys, public, "identities").status == "passed"
    f.change_json(public, lambda document: document.update(stranger=STRANGER.public.hex()))
    other = found(keys, public, "identities")
    assert (other.code, other.fault.fields) == ("identity.without_participant", {"names": "'stranger'"})
