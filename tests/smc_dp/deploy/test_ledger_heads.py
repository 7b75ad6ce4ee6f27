"""A site's ledger is witnessed before its session: an older copy is refused, and no charge is unseen."""

from __future__ import annotations

import json
import secrets
import shutil
import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import cbor2
import pytest
import tomlkit
from support import sites, studies
from support.relay_carriers import InMemoryCarrier
from support.sites import GREETINGS, LINEAR, Sites
from support.studies import IDENTITIES, study, text

from protocols.arithmetic.rng import Stream
from protocols.crypto.identity import Identity
from protocols.curator import CURATOR_NAME
from protocols.runtime.session import PUBLIC_NAME
from smc_dp.cli.main import main
from smc_dp.core.errors import InputError, UnfitError
from smc_dp.deploy import paths
from smc_dp.deploy.frame import Frame, Lane
from smc_dp.deploy.join import Part, SiteFiles, take_part
from smc_dp.deploy.ledger_heads import (
    MOST_HEAD_BYTES,
    MOST_HEADS,
    OwnHeads,
    WitnessStatement,
    encode_seen,
    may_carry,
    own_witness,
)
from smc_dp.deploy.relay_store import RelayStore
from smc_dp.deploy.store import DATABASE, read_frames
from smc_dp.deploy.study import MOST_WITNESSES, witnesses_of
from smc_dp.privacy.ledger.export import read_history
from smc_dp.privacy.ledger.head import HeadRequest, verify_head
from smc_dp.privacy.ledger.ledger import Ledger
from smc_dp.privacy.ledger.signed_note import SignedNote
from smc_dp.privacy.ledger.witness import Witness
from tests.support.guarantees import charge
from tests.support.refusals import refused

STUDY = sites.joint(LINEAR)


def seen_by(root: Path, witness: str, party: str = "P1") -> int:
    """How many entries of a party's ledger a witness has seen."""
    with own_witness(root / witness / "counters", sites.identity(witness).public, time.time) as opened:
        note = opened.last(sites.identity(party).public)
    return 0 if note is None else verify_head(note, sites.identity(party).public).size


def another(run: Sites, folder: Path, said: str = "next", **stated: Any) -> Sites:
    """The same sites in another study, with the ledgers and witnesses that they have."""
    study = sites.joint({**LINEAR, "title": said, **stated})
    for name in study.names:
        place = folder / name
        shutil.copytree(
            run.at[name].folder / "counters", place / "counters", ignore=shutil.ignore_patterns("*.counter")
        )
        if name != CURATOR_NAME:
            shutil.copy(run.at[name].ledger, place)
    return Sites(study, folder)


@pytest.fixture
def ended(curator_run: Sites, tmp_path: Path) -> Sites:
    """A study that is over, whose sites the test may use for the next."""
    return another(curator_run, tmp_path / "next")


def made(run: Sites, name: str) -> list[Frame]:
    """What a participant has committed to send."""
    return run.stores[name].outgoing() if name in run.stores else []


# Sessions.


def test_no_message_of_a_party_leaves_before_enough_witnesses_have_seen_its_charge(curator_run: Sites) -> None:
    frames = curator_run.frames()
    for name in curator_run.study.parties:
        first = next(i for i, p in enumerate(frames) if (p.sender, p.lane) == (name, "envelope"))
        assert any((p.to, p.lane) == (name, "cosigned") for p in frames[:first])
        others = [other for other in curator_run.study.names if other != name]
        assert [seen_by(curator_run.root, other, name) for other in others] == [2, 2, 2]
        assert len(read_history(curator_run.at[name].ledger).entries) == 3
    assert {p.to for p in frames if p.lane == "head"} == {*curator_run.study.names, PUBLIC_NAME}


@pytest.mark.parametrize("charged", [0, 1, 2])
def test_a_copy_from_before_a_charge_is_refused_in_the_next_study(charged: int, ended: Sites, tmp_path: Path) -> None:
    """Its last charge is not in it, and others may have been added since."""
    ledger = ended.at["P1"].ledger
    ledger.unlink()
    Ledger.create(ledger, Fraction(5), Fraction(1, 100)).close()
    charge(ledger, charged)
    code = "head.of_other_entries" if charged else "head.seen_further"
    before = ledger.read_bytes()
    with refused(code, seen=2):
        ended.run()
    assert ledger.read_bytes() == before
    assert not any((p.sender, p.lane) == ("P1", "head") for p in ended.frames())


def test_a_ledger_that_goes_on_is_witnessed_in_the_next_study(ended: Sites) -> None:
    ended.run()
    assert sites.ends(ended) == ["released"] * 4
    assert [seen_by(ended.root, name) for name in ("P2", "P3", CURATOR_NAME)] == [4, 4, 4]


def test_a_lost_ledger_goes_on_once_it_counts_what_others_have_seen(
    ended: Sites, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """By the commands of the owner and of P2. Without P2's heads the whole budget is charged, and no study fits."""
    ledger, study, seen = ended.at["P1"].ledger, tmp_path / "study.toml", tmp_path / "seen"
    given = ["--party", f"P1={sites.identity('P1').public.hex()}"]
    ledger.unlink()
    Ledger.create(ledger, Fraction(5), Fraction(1, 100)).close()
    study.write_text(tomlkit.dumps(sites.document(LINEAR)))
    with own_witness(ended.root / "P2" / "counters", sites.identity("P2").public, time.time) as witness:
        assert main(["ledger", "witness", str(witness.path), *given, "--all"]) == 0
    seen.write_text(capsys.readouterr().out)
    alone = shutil.copy(ledger, tmp_path / "alone")
    assert main(["ledger", "recover", str(alone), *given]) == 0
    assert main(["ledger", "check", str(alone), "--epsilon", "0.001"]) == 1
    assert main(["ledger", "recover", str(ledger), *given, "--seen", str(seen)]) == 2
    assert main(["ledger", "recover", str(ledger), *given, "--seen", str(seen), "--study", str(study)]) == 0
    ended.run()
    assert sites.ends(ended) == ["released"] * 4
    assert ended.at["P1"].entries() == ["open", "released"]
    assert [seen_by(ended.root, name) for name in ("P2", "P3", CURATOR_NAME)] == [3, 3, 3]


def test_one_that_has_seen_more_is_enough_whoever_is_silent(ended: Sites) -> None:
    ended.at["P1"].ledger.unlink()
    Ledger.create(ended.at["P1"].ledger, Fraction(5), Fraction(1, 100)).close()
    for name in ("P3", CURATOR_NAME):  # approve, and answer nothing
        ended.begin(name)
        ended.turn(name)
        ended.away.add(name)
    with refused("head.seen_further", seen=2, entries=1):
        ended.run()
    assert ended.clock.now < sites.NOON + GREETINGS


def silent(folder: Path, **stated: Any) -> Sites:
    """P3 approves, and does not answer the others."""
    run = Sites(sites.joint({**LINEAR, **stated}), folder)
    run.begin("P3")
    run.turn("P3")
    run.away.add("P3")
    return run


def test_too_few_witnesses_end_the_study_without_a_charge_and_are_named(tmp_path: Path) -> None:
    run = silent(tmp_path, witnesses_needed=3).run()
    for name in ("P1", "P2"):
        assert run.facts(name)["code"] == "witnesses.silent"
        assert "P3" in run.facts(name)["why"]
        assert "waiting for the witnesses P3" in run.said[name]
        assert run.at[name].entries() == []
    assert not any(p.lane == "envelope" and p.sender in ("P1", "P2") for p in run.frames())


def test_with_enough_witnesses_the_others_are_waited_for_so_long_that_no_greeting_is_late(tmp_path: Path) -> None:
    run = silent(tmp_path)
    run.run(until=lambda: any(p.lane == "envelope" and p.sender == "P1" for p in run.frames()))
    assert GREETINGS / 2 <= run.clock.now - sites.NOON <= GREETINGS / 2 + 15
    run.away.clear()
    assert sites.ends(run.run()) == ["released"] * 4  # it is back before the others give up


def test_a_party_whose_charge_no_witness_cosigns_is_refunded(tmp_path: Path) -> None:
    run = Sites(STUDY, tmp_path)
    run.run(until=lambda: any(p.lane == "head" for p in made(run, "P1")))
    run.away.update({"P2", "P3", CURATOR_NAME})
    run.run()
    assert (run.ends["P1"], run.facts("P1")["code"]) == ("deadline", "witnesses.silent")
    assert run.at["P1"].entries() == ["refunded"]
    assert not any((p.sender, p.lane) == ("P1", "envelope") for p in run.frames())


def test_a_witness_that_another_study_has_moved_is_asked_again(tmp_path: Path) -> None:
    run = Sites(sites.joint({**LINEAR, "witnesses_needed": 3}), tmp_path)
    run.run(until=lambda: any((p.to, p.lane) == ("P1", "seen") for p in made(run, "P2")))
    request = HeadRequest.make(read_history(run.at["P1"].ledger), sites.identity("P1"))
    with own_witness(tmp_path / "P2" / "counters", sites.identity("P2").public, time.time) as witness:
        witness.cosign(request, sites.identity("P1").public)
    run.run()
    assert sites.ends(run) == ["released"] * 4
    asked = [p.number for p in run.frames() if (p.sender, p.to, p.lane) == ("P1", "P2", "head")]
    assert asked == [0, 1]
    assert any("the ledger of P1" in line for line in run.said["P2"])


def checked(run: Sites, ledger: Path, **stated: Any) -> int:
    """The exit code of `ledger check` with the heads that P1 has of this study."""
    file = run.root / "study.toml"
    file.write_text(tomlkit.dumps(sites.document({**LINEAR, **stated})))
    return main(["ledger", "check", str(ledger), "--study", str(file), "--state", str(run.root / "P1" / "state")])


def test_a_ledger_is_checked_against_the_heads_of_a_study(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """P3 is silent. A later entry does no harm, and a copy from before the charge lacks what others have seen."""
    run = silent(tmp_path)
    ledger, before = run.at["P1"].ledger, Path(shutil.copy(run.at["P1"].ledger, tmp_path / "before"))
    run.run(until=lambda: any(p.lane == "envelope" and p.sender == "P1" for p in run.frames()))
    charge(ledger)
    own = OwnHeads.read(run.study, "P1", run.root / "P1" / "state")
    assert sorted(own.cosigned) == ["P2", CURATOR_NAME]
    own.check(read_history(ledger))
    with refused("head.seen_further", seen=2, entries=1):
        own.check(read_history(before))
    assert (checked(run, ledger), checked(run, before)) == (0, 1)
    assert "FAILED" in capsys.readouterr().out


def test_a_study_that_too_few_have_cosigned_fails_the_check(tmp_path: Path) -> None:
    run = silent(tmp_path, witnesses_needed=3).run()
    assert checked(run, run.at["P1"].ledger, witnesses_needed=3) == 1


# What others can send.


def put(run: Sites, sender: str, to: str, lane: Lane, body: bytes) -> None:
    run.relay.put(Frame(run.study.digest, sender, to, lane, 0, body))


def head_of(owner: Identity, ledger: Path, old: int = 0, **named: str) -> HeadRequest:
    return HeadRequest.make(read_history(ledger), owner, old, **named)


def longer(run: Sites, name: str) -> Path:
    """A ledger with more entries than this party's."""
    ledger = Path(shutil.copy(run.at[name].ledger, run.root / f"longer.{name}"))
    charge(ledger, 3)
    return ledger


def test_no_word_of_a_witness_refuses_a_ledger(tmp_path: Path) -> None:
    """P2 says that P1 has signed more: without P1's signature that is silence."""
    run = Sites(sites.joint({**LINEAR, "witnesses_needed": 3}), tmp_path)
    mallory, p1 = sites.identity("P2"), sites.identity("P1")
    note = head_of(mallory, longer(run, "P1")).note
    renamed = note.text.replace(mallory.public.hex(), p1.public.hex())
    with Witness.create(tmp_path / "made.witness", "made") as witness:
        for forged in (note, replace(note, text=renamed)):
            witness._connection.execute(
                "REPLACE INTO heads VALUES (1, ?, ?)", (f"smc-dp.ledger/{p1.public.hex()}", b"")
            )
            witness._connection.execute("UPDATE heads SET note = ?", (forged.encode(),))
            body = encode_seen(witness, run.at["P1"].approval, p1.public, mallory)
            with pytest.raises(InputError):
                WitnessStatement.read(body, mallory.public, run.at["P1"].approval, p1.public)
    put(run, "P2", "P1", "seen", body)
    run.begin("P2")
    run.turn("P2")
    run.away.add("P2")
    run.run()
    assert (run.ends["P1"], run.facts("P1")["code"]) == ("deadline", "witnesses.silent")


def test_a_witness_moves_by_the_owners_signature_alone(tmp_path: Path) -> None:
    run = Sites(STUDY, tmp_path)
    request = head_of(sites.identity("P2"), longer(run, "P1"), study=STUDY.digest)
    owner = sites.identity("P1").public.hex()
    forged = replace(request, note=replace(request.note, text=request.note.text.replace(
        sites.identity("P2").public.hex(), owner)))  # fmt: skip
    put(run, "P1", "P3", "head", forged.encode())
    for name in ("P3", CURATOR_NAME):
        run.begin(name)
        run.turn(name)
        run.turn(name)
    assert seen_by(tmp_path, "P3") == 0
    (answer,) = (p for p in run.frames() if (p.sender, p.to, p.lane) == ("P3", "P1", "cosigned"))
    assert answer.body == b""


def test_a_head_for_another_study_is_not_cosigned(tmp_path: Path) -> None:
    run = Sites(STUDY, tmp_path)
    put(run, "P1", "P3", "head", head_of(sites.identity("P1"), run.at["P1"].ledger, study="a" * 64).encode())
    run.begin("P3")
    for _ in range(3):
        run.turn("P3")
    assert seen_by(tmp_path, "P3") == 0


def test_what_a_witness_has_said_is_for_one_approval_of_one_party(tmp_path: Path) -> None:
    own, p1, p2 = sites.approval(STUDY, "P1"), sites.identity("P1"), sites.identity("P2")
    ledger = tmp_path / "ledger"
    Ledger.create(ledger, Fraction(1)).close()
    with Witness.create(tmp_path / "w", "w") as witness:
        witness.cosign(head_of(p1, ledger), p1.public)
        body = encode_seen(witness, own, p1.public, p2)
        assert WitnessStatement.read(body, p2.public, own, p1.public).last.size == 1
        assert WitnessStatement.read(body, p2.public, own, p1.public).key == witness.key
        said, kept = cbor2.loads(body)
        note = SignedNote.read(said)
        unsigned = SignedNote(note.text, (replace(note.signatures[0], name="another"),)).encode()
        changed = [
            (cbor2.dumps([unsigned, kept]), p2.public, own),
            (body, p2.public, sites.approval(STUDY, "P1", "again")),
            (body, sites.identity("P3").public, own),
            (cbor2.dumps([said, b""]), p2.public, own),  # without what it has seen
            (cbor2.dumps([said.replace(b"w+", b"v+"), kept]), p2.public, own),
            (cbor2.dumps([said, kept, kept]), p2.public, own),
            (b"", p2.public, own),
            (cbor2.dumps([1, kept]), p2.public, own),
        ]
        for content, identity, approval in changed:
            with pytest.raises(InputError):
                WitnessStatement.read(content, identity, approval, p1.public)
        by_identity = Witness.create(tmp_path / "x", "x")
        by_identity._connection.execute("UPDATE witness SET seed = ?", (p2.seed,))
        with by_identity, refused("witnesses.no_statement"):  # its identity key is no witness's key
            WitnessStatement.read(encode_seen(by_identity, own, p1.public, p2), p2.public, own, p1.public)


def test_a_cosignature_of_an_earlier_session_does_not_count(ended: Sites) -> None:
    """Whoever carries frames answers P1's head with what P2 cosigned in the study before."""
    with own_witness(ended.root / "P2" / "counters", sites.identity("P2").public, time.time) as witness:
        old = witness.last(sites.identity("P1").public)
    put(ended, "P2", "P1", "cosigned", old.encode())
    ended.run(until=lambda: any((p.sender, p.lane) == ("P1", "head") for p in ended.frames()))
    heads = ended.going["P1"]._heads
    ended.away.update({"P2", "P3", CURATOR_NAME})
    ended.turn("P1")
    assert heads.own.cosigned == []


def test_a_head_without_the_cosignature_of_its_witness_does_not_count(tmp_path: Path) -> None:
    """Whoever carries frames hands P1's head back as it was."""
    run = Sites(STUDY, tmp_path)
    run.run(until=lambda: any(p.lane == "head" for p in made(run, "P1")))
    run.away.update({"P2", "P3", CURATOR_NAME})
    (request,) = (HeadRequest.read(p.body) for p in made(run, "P1") if (p.to, p.lane) == ("P2", "head"))
    put(run, "P2", "P1", "cosigned", request.note.encode())
    run.turn("P1")
    assert any(p.lane == "cosigned" for p in run.stores["P1"].received())
    assert run.going["P1"]._heads.own.cosigned == []


def test_frames_of_heads_go_between_a_party_and_its_witnesses_alone() -> None:
    names = (*(f"P{j}" for j in range(1, 41)), CURATOR_NAME)
    assert witnesses_of(names, "P30") == (
        *(f"P{j}" for j in range(31, 41)),
        CURATOR_NAME,
        *(f"P{j}" for j in range(1, 6)),
    )
    assert len(witnesses_of(names, "P1")) == MOST_WITNESSES

    def fits(sender: str, to: str, lane: Lane, number: int = 0, size: int = 1) -> bool:
        return may_carry(names, Frame("a" * 64, sender, to, lane, number, bytes(size)))

    assert [fits("P1", "P2", "head"), fits("P2", "P1", "seen"), fits("P2", "P1", "cosigned")] == [True] * 3
    assert [fits("P1", "P40", "head"), fits("P1", "P2", "seen"), fits("P1", "P2", "cosigned")] == [False] * 3
    assert [fits("P1", "P2", "notice"), fits("P2", "P1", "seen", 1), fits("P1", "P2", "head", MOST_HEADS)] == [
        False
    ] * 3
    assert not fits("P1", "P2", "head", size=MOST_HEAD_BYTES + 1)
    assert fits("P1", "P2", "head", MOST_HEADS - 1, MOST_HEAD_BYTES)


def test_a_study_says_how_many_witnesses_it_needs() -> None:
    assert STUDY.as_dict() == sites.joint({**LINEAR, "witnesses_needed": 1}).as_dict()
    assert "witnesses_needed" not in STUDY.as_dict()
    assert sites.joint({**LINEAR, "witnesses_needed": 3}).as_dict()["witnesses_needed"] == 3
    for wrong in (0, 4):
        with pytest.raises(UnfitError) as caught:
            study(text(top=f"witnesses_needed = {wrong}\n"))
        assert [fault.code for fault in caught.value.faults] == ["study.witnesses_needed"]


# Through `join`.

NORTH, OTHERS = IDENTITIES["north"], ("south", "west", CURATOR_NAME)


class Home:
    """North at home, at the start of a study that all have approved."""

    def __init__(self, folder: Path) -> None:
        files = studies.site(folder)
        self.folder, self.study, self.ledger = folder, folder / "study.toml", folder / "north.ledger"
        self.study.write_text(text())
        approval = folder / "approval"
        approval.write_bytes(studies.approvals(study())["north"].encode())
        self.files = SiteFiles(**files, ledger=self.ledger, approval=approval)  # type: ignore[arg-type]

    def relay(self, witness: Witness, name: str) -> RelayStore:
        """All have approved, and one witness has said what it has seen of north."""
        made, agreed = RelayStore(), study()
        approvals = studies.approvals(agreed)
        for other in OTHERS:
            made.put(Frame(agreed.digest, other, PUBLIC_NAME, "approval", 0, approvals[other].encode()))
        body = encode_seen(witness, approvals["north"], NORTH.public, IDENTITIES[name])
        made.put(Frame(agreed.digest, name, "north", "seen", 0, body))
        return made

    def join(self, relay: RelayStore, state: str = "", study: Path | None = None) -> Part:
        draw = secrets.token_hex(4)
        files = replace(self.files, state=self.folder / (state or draw), counters=self.folder / f"{draw}.counters")
        at = self.study if study is None else study
        return take_part(at, files, lambda line: None, lambda *a: InMemoryCarrier(relay, "north", a[0].digest))


@dataclass(frozen=True)
class Following:
    """North before its next study: beside it lies the state of one in which south has shown a charge of the ledger."""

    home: Home
    study: Path
    older: Path
    newest: Path
    capsys: pytest.CaptureFixture[str]

    @property
    def options(self) -> list[str]:
        return [str(self.study), f"--key={self.home.files.key}", f"--policy={self.home.files.policy}"]

    @property
    def state(self) -> Path:
        return self.home.folder / "study.north.state"

    def codes(self, ledger: Path) -> list[str]:
        """What `study check` finds."""
        self.capsys.readouterr()
        main(["study", "check", *self.options, f"--ledger={ledger}", f"--data={self.home.files.data}", "--json"])
        return [fault["code"] for fault in json.loads(self.capsys.readouterr().out)["faults"]]


@pytest.fixture
def following(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Following:
    home = Home(tmp_path)
    Ledger.create(home.ledger, Fraction(1), Fraction(1, 10**4)).close()
    older = Path(shutil.copy(home.ledger, tmp_path / "older"))
    charge(home.ledger)
    newest = Path(shutil.copy(home.ledger, tmp_path / "newest"))
    with Witness.create(tmp_path / "south.witness", "south") as witness:
        witness.cosign(head_of(NORTH, home.ledger), NORTH.public)
        relay = home.relay(witness, "south")
    shutil.copy(older, home.ledger)
    with refused("head.seen_further", name="south"):
        home.join(relay, "study.north.state")
    study = tmp_path / "following.toml"
    study.write_text(text().replace("Readmission", "Mortality"))
    return Following(home, study, older, newest, capsys)


def test_what_witnesses_have_shown_in_a_study_refuses_an_older_ledger_for_the_next_one(following: Following) -> None:
    home, older, newest = following.home, following.older, following.newest
    assert (following.codes(older), following.codes(newest)) == (["head.seen_further"], [])
    assert main(["study", "approve", *following.options, f"--ledger={older}"]) == 2
    assert not list(home.folder.glob("following.*.approval"))
    with refused("head.seen_further", at=str(following.state), name="south"):
        home.join(RelayStore(), "other", following.study)
    assert main(["study", "approve", *following.options, f"--ledger={newest}"]) == 0
    home.study.unlink()
    assert following.codes(older) == []


def in_the_state(statement: str) -> Callable[[Following], None]:
    def change(following: Following) -> None:
        with closing(sqlite3.connect(following.state / DATABASE)) as connection, connection:
            assert connection.execute(statement).rowcount != 0

    return change


DAMAGES: dict[str, Callable[[Following], object]] = {
    "junk": lambda at: (at.state / DATABASE).write_bytes(b"junk" * 4096),
    "a changed answer": in_the_state("UPDATE inbox SET frame = zeroblob(length(frame)) WHERE lane = 'seen'"),
    "an answer on another lane": in_the_state("UPDATE inbox SET lane = 'envelope' WHERE lane = 'seen'"),
    "another name of a column": in_the_state("ALTER TABLE inbox RENAME COLUMN frame TO letter"),
    "no approval": in_the_state("DELETE FROM outbox"),
    "a folder that cannot be entered": lambda at: (shutil.rmtree(at.state), at.state.symlink_to(at.state)),
    "a changed fact": in_the_state("UPDATE facts SET value = '' WHERE name = 'study'"),
    "another participant": in_the_state("UPDATE facts SET value = '\"south\"' WHERE name = 'participant'"),
    "no participant": in_the_state("DELETE FROM facts WHERE name = 'participant'"),
    "another study": lambda at: at.home.study.write_text(text().replace("south", "harbour")),
    "no study": lambda at: at.home.study.write_text("title = 1\n"),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_state_or_study_that_was_changed_refuses_every_ledger(damage: str, following: Following) -> None:
    DAMAGES[damage](following)
    assert following.codes(following.newest) == following.codes(following.older) == ["witnesses.unread_state"]
    with refused("witnesses.unread_state", state=str(following.state), study=str(following.home.study)):
        following.home.join(RelayStore(), "other", following.study)


@pytest.mark.parametrize("fact", ["waiting", "since"])
def test_a_fact_that_the_check_does_not_need_ends_no_command(fact: str, following: Following) -> None:
    in_the_state(f"UPDATE facts SET value = '5e300' WHERE name = '{fact}'")(following)
    assert (following.codes(following.older), following.codes(following.newest)) == (["head.seen_further"], [])


def test_a_stored_answer_counts_only_as_it_came(following: Following) -> None:
    """A frame that its witness did not sign says nothing, so a changed one must not be taken for one."""
    came = next(frame for frame in read_frames(following.state, ["seen"]))
    changed = replace(came, body=came.body[:-1] + b"\0").encode()
    in_the_state(f"UPDATE inbox SET frame = x'{changed.hex()}' WHERE lane = 'seen'")(following)
    assert following.codes(following.older) == ["witnesses.unread_state"]


EARLY: dict[str, Callable[[Following], object]] = {
    "no frame": lambda at: [in_the_state(f"DELETE FROM {table}")(at) for table in ("inbox", "outbox")],
    "no table": lambda at: (at.state / DATABASE).write_bytes(b""),
    "no database": lambda at: (at.state / DATABASE).unlink(),
}


@pytest.mark.parametrize("kept", EARLY)
def test_a_state_from_before_the_relay_was_reached_stops_no_study(kept: str, following: Following) -> None:
    """A program that was killed leaves it."""
    EARLY[kept](following)
    assert following.codes(following.newest) == []
    with (
        Witness.open(following.home.folder / "south.witness", time.time) as witness,
        refused("head.seen_further", name="south"),
    ):
        following.home.join(following.home.relay(witness, "south"), following.state.name)


def test_an_earlier_study_without_heads_is_not_read(following: Following) -> None:
    """Its file may be another study's by now, or one of version 0.1.0, whose tables had no such column."""
    in_the_state("DELETE FROM inbox WHERE lane = 'seen'")(following)
    following.home.study.write_text("title = 1\n")
    assert following.codes(following.newest) == []
    with closing(sqlite3.connect(following.state / DATABASE)) as connection, connection:
        for table in ("inbox", "outbox"):
            connection.execute(f"ALTER TABLE {table} RENAME COLUMN frame TO parcel")
    assert following.codes(following.newest) == []


def test_a_state_is_found_beside_a_study_whose_file_ends_otherwise(following: Following) -> None:
    at = replace(following, study=following.study.rename(following.study.with_suffix(".study")))
    assert (at.codes(at.older), at.codes(at.newest)) == (["head.seen_further"], [])


def test_a_ledger_that_another_study_charges_meanwhile_is_not_refused(
    following: Following, monkeypatch: pytest.MonkeyPatch
) -> None:
    def charged_meanwhile(study: Path, name: str) -> Iterator[tuple[Path, Path]]:
        shutil.copy(following.newest, following.home.ledger)
        return states_of(study, name)

    states_of = paths.states_of
    monkeypatch.setattr(paths, "states_of", charged_meanwhile)
    assert following.codes(following.home.ledger) == []


def test_frames_are_read_by_lane(following: Following) -> None:
    assert {frame.lane for frame in read_frames(following.state, ["seen"])} == {"seen"}
    in_the_state("UPDATE inbox SET frame = x'' WHERE lane = 'approval' AND sender = 'west'")(following)
    assert {frame.lane for frame in read_frames(following.state, ["seen"])} == {"seen"}


@pytest.mark.slow
def test_an_older_ledger_is_refused_in_100_of_100_trials_by_any_one_witness_through_join(tmp_path: Path) -> None:
    """One of three witnesses has seen the ledger at one of nine sizes; all others are silent. The ledger that is put
    back has fewer entries, or as many of which the last are others.
    """
    draw, home, refusals = Stream.insecure_from_seed(1), Home(tmp_path), 0
    Ledger.create(home.ledger, Fraction(1), Fraction(1, 10**4)).close()
    copies: dict[int, Path] = {}
    seen: dict[tuple[str, int], Path] = {}
    witnesses = {name: Witness.create(tmp_path / f"{name}.witness", name) for name in OTHERS}
    for size in range(1, 10):
        copies[size] = Path(shutil.copy(home.ledger, tmp_path / f"{size}.ledger"))
        for name, witness in witnesses.items():
            witness.cosign(head_of(NORTH, home.ledger, size - 1), NORTH.public)
            seen[name, size] = Path(shutil.copy(witness.path, tmp_path / f"{name}.{size}.witness"))
        charge(home.ledger)
    for trial in range(100):
        name, size = OTHERS[draw.below(3)], 2 + draw.below(8)
        older = 1 + draw.below(size - 1)
        shutil.copy(copies[older], home.ledger)
        charge(home.ledger, size - older if trial % 2 else 0)
        code = "head.of_other_entries" if trial % 2 else "head.seen_further"
        before = home.ledger.read_bytes()
        with Witness.open(seen[name, size]) as opened:
            relay = home.relay(opened, name)
        with refused(code, seen=size, name=name):
            home.join(relay)
        assert home.ledger.read_bytes() == before
        own = {frame.lane for _, frame in relay.since(0, "south", everything=True) if frame.sender == "north"}
        assert own == {"approval", "refusal"}
        refusals += 1
    assert refusals == 100
