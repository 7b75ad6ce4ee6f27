"""Witnesses of ledgers: an older copy is refused, two heads that contradict each other are evidence, races lose."""

from __future__ import annotations

import secrets
import shutil
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import ExitStack, closing
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest

from protocols.arithmetic.rng import Stream
from protocols.crypto.identity import Identity
from smc_dp.core.errors import InputError
from smc_dp.privacy.ledger import export, witness
from smc_dp.privacy.ledger.head import HeadRequest, check_cosigned, origin_of, relate, verify_head
from smc_dp.privacy.ledger.history import History, Limit
from smc_dp.privacy.ledger.ledger import Ledger
from smc_dp.privacy.ledger.merkle import EMPTY_ROOT, leaf_hash, tree_root
from smc_dp.privacy.ledger.signed_note import Checkpoint, NoteSignature, SignedNote, cosigned_at, sign_note
from smc_dp.privacy.ledger.witness import Witness
from smc_dp.run.cosigned_transcript import CosignedTranscript, transcript_key
from tests.support.guarantees import charge, pure
from tests.support.refusals import refused

OWNER, OTHER = Identity(b"n" * 32), Identity(b"o" * 32)
LIMIT = Limit(Fraction(1), Fraction(0))


def head(history: History, old: int = 0) -> HeadRequest:
    return HeadRequest.make(history, OWNER, old)


@pytest.fixture
def ledger(tmp_path: Path) -> Path:
    """A ledger with three entries: its limit and two charges."""
    path = tmp_path / "north.ledger"
    Ledger.create(path, Fraction(1)).close()
    charge(path, 2)
    return path


@pytest.fixture
def south(tmp_path: Path) -> Iterator[Witness]:
    with Witness.create(tmp_path / "south.witness", "south") as made:
        yield made


def test_a_witness_cosigns_what_extends_the_head_before(ledger: Path, south: Witness) -> None:
    first = south.cosign(head(export.read_history(ledger)), OWNER.public)
    second = south.cosign(head(charge(ledger, 3), old=3), OWNER.public)
    assert south.last(OWNER.public) == second
    assert [verify_head(note, OWNER.public).size for note in (first, second)] == [3, 6]
    history = charge(ledger)
    seen = check_cosigned(history, [second, first], OWNER.public, south.key)
    assert seen == (6, cosigned_at(second.signatures[-1]))
    third = south.cosign(head(history, old=6), OWNER.public)
    assert south.cosign(head(history, old=7), OWNER.public).text == third.text  # the same head again


def test_a_head_says_the_number_of_entries_and_no_request_is_read_otherwise(ledger: Path) -> None:
    request = head(charge(ledger, 4), old=3)
    assert HeadRequest.read(request.encode()) == request
    assert HeadRequest.read(request.note.encode()) == HeadRequest(0, (), request.note)
    assert request.encode().startswith(b"old 3\n")
    assert request.note.text.startswith(f"smc-dp.ledger/{OWNER.public.hex()}\n7\n")
    with refused("head.proof_too_long", most=63):
        HeadRequest.read(replace(request, proof=(bytes(32),) * 64).encode())
    for content in (b"", b"old 3\n", b"old x\n\n" + request.note.encode(), b"old 3\nAAAA\n\n" + request.note.encode()):
        with pytest.raises(InputError):
            HeadRequest.read(content)


def grown(history: History, times: int) -> History:
    """Return a history with so many charges more."""
    for _ in range(times):
        made = history.reserved("a" * 64, "newton", pure("1/1000"), secrets.token_hex(32), "2026-01-31T12:00:00Z")
        history = replace(history, entries=(*history.entries, made))
    return history


def test_an_older_copy_is_refused_by_any_one_witness_however_it_has_grown(tmp_path: Path) -> None:
    """A ledger grows and is put back at random. One of three witnesses has seen it; the others know nothing."""
    draw, refusals = Stream.insecure_from_seed(1), 0
    with ExitStack() as stack:
        names = ("south", "west", "east")
        witnesses = [stack.enter_context(Witness.create(tmp_path / name, name)) for name in names]
        for trial in range(25):
            owner = Identity(trial.to_bytes(32, "big"))
            honest = witnesses[draw.below(3)]
            before = grown(History.begin(draw.bytes(32).hex(), LIMIT, "2026-01-31T12:00:00Z"), draw.below(4))
            old = len(before.entries)
            honest.cosign(HeadRequest.make(before, owner), owner.public)
            later = grown(before, 1 + draw.below(4))
            cosigned = honest.cosign(HeadRequest.make(later, owner, old), owner.public)
            restored, size = grown(before, draw.below(6)), len(later.entries)
            with refused("witness.other_size", seen=size):
                honest.cosign(HeadRequest.make(restored, owner, old), owner.public)
            is_longer = len(restored.entries) >= size
            with refused("witness.not_extended" if is_longer else "head.fewer_entries"):
                honest.cosign(HeadRequest.make(restored, owner, size), owner.public)
            with refused("head.of_other_entries" if is_longer else "head.seen_further", name=honest.key.name):
                check_cosigned(restored, [cosigned], owner.public, honest.key)
            refusals += honest.last(owner.public) == cosigned
    assert refusals == 25


def test_the_owner_alone_signs_heads(ledger: Path, south: Witness) -> None:
    history = export.read_history(ledger)
    request = head(history)
    with refused("head.of_another_ledger", wanted=origin_of(OTHER.public)):
        south.cosign(request, OTHER.public)
    forged = sign_note(SignedNote(request.note.text), origin_of(OWNER.public), OTHER)
    with refused("head.not_signed"):
        south.cosign(replace(request, note=forged), OWNER.public)
    line = request.note.signatures[0]
    false = SignedNote(request.note.text, (replace(line, signature=bytes(64)),))
    with refused("note.false_signature"):
        south.cosign(replace(request, note=false), OWNER.public)
    with refused("head.of_another_ledger"):
        south.cosign(
            replace(
                request, note=sign_note(SignedNote("log\n0\n" + f"{request.note.text.splitlines()[2]}\n"), "log", OWNER)
            ),
            OWNER.public,
        )
    assert south.last(OWNER.public) is None


def test_other_requests_are_refused_as_tlog_witness_says(ledger: Path, south: Witness) -> None:
    three = export.read_history(ledger)
    with refused("witness.other_size", seen=0, old=3):
        south.cosign(head(three, old=3), OWNER.public)
    with refused("witness.not_extended"):  # a proof where none is needed
        south.cosign(replace(head(three), proof=(bytes(32),)), OWNER.public)
    cosigned = south.cosign(head(three), OWNER.public)
    six = charge(ledger, 3)
    with refused("witness.other_size", seen=3, old=0, entries=6):
        south.cosign(head(six), OWNER.public)
    with refused("witness.old_beyond_head", old=7, entries=6):
        south.cosign(replace(head(six), old=7), OWNER.public)
    good = head(six, old=3)
    for place in range(len(good.proof)):
        wrong = (*good.proof[:place], bytes(32), *good.proof[place + 1 :])
        with refused("witness.not_extended", seen=3, entries=6):
            south.cosign(replace(good, proof=wrong), OWNER.public)
    empty = Checkpoint(origin_of(OTHER.public), 0, bytes(32))
    with refused("witness.not_extended"):
        south.cosign(HeadRequest(0, (), sign_note(SignedNote(empty.text), empty.origin, OTHER)), OTHER.public)
    assert south.last(OWNER.public) == cosigned
    south.cosign(good, OWNER.public)
    zero = replace(empty, root=EMPTY_ROOT)
    south.cosign(HeadRequest(0, (), sign_note(SignedNote(zero.text), zero.origin, OTHER)), OTHER.public)


def test_lines_of_others_are_not_handed_on(ledger: Path, south: Witness) -> None:
    request = head(export.read_history(ledger))
    false = replace(south.cosign(request, OWNER.public).signatures[-1], signature=bytes(72))
    again = south.cosign(replace(request, old=3, note=request.note.signed(false)), OWNER.public)
    assert check_cosigned(export.read_history(ledger), [again], OWNER.public, south.key).entries == 3


def test_lines_that_somebody_added_on_the_way_do_no_harm(ledger: Path, south: Witness) -> None:
    """Under the owner's name and another ID nobody verifies them; kept, they would make the head too long."""
    request = head(charge(ledger, 0))
    more = NoteSignature(origin_of(OWNER.public), b"abcd", bytes(45_000))
    found = south.cosign(replace(request, note=request.note.signed(more)), OWNER.public)
    assert [s.name for s in found.signatures] == [origin_of(OWNER.public), "south"]
    assert south.last(OWNER.public) == found


@pytest.mark.parametrize("time", [0, -1, 253_402_300_800])
def test_a_time_that_no_calendar_has_is_refused(time: int, ledger: Path, south: Witness) -> None:
    with Witness.open(south.path, lambda: time) as late, refused("witness.wrong_clock", got=time):
        late.cosign(head(charge(ledger, 0)), OWNER.public)
    assert south.last(OWNER.public) is None


def test_two_heads_of_one_size_are_evidence_and_other_pairs_ask_for_a_proof(ledger: Path, tmp_path: Path) -> None:
    copy = Path(shutil.copy(ledger, tmp_path / "copy"))
    three, four, fork = head(export.read_history(ledger)), head(charge(ledger), old=3), head(charge(copy), old=3)
    for pair in ((four, fork), (fork, four)):
        assert relate(*pair, OWNER.public) == "head.contradicted"
    for pair in ((three, four), (four, three), (three, fork)):
        assert relate(*pair, OWNER.public) == "head.extended"
    assert relate(three, three, OWNER.public) == "head.same"
    for wrong in (replace(four, proof=fork.proof), replace(four, old=0), replace(four, proof=())):
        assert relate(three, wrong, OWNER.public) == "head.unproved"
    with refused("head.of_another_ledger"):
        relate(three, four, OTHER.public)


def test_a_request_waits_for_one_under_way_before_it_looks(ledger: Path, south: Witness) -> None:
    south.cosign(head(export.read_history(ledger)), OWNER.public)
    request, later, answers = head(charge(ledger), old=3), head(charge(ledger), old=3), []
    with closing(sqlite3.connect(south.path, isolation_level=None)) as under_way:
        under_way.execute("BEGIN IMMEDIATE")
        under_way.execute("UPDATE heads SET note = ?", (later.note.encode(),))

        def ask() -> None:
            with refused("witness.other_size", seen=5):
                south.cosign(request, OWNER.public)
            answers.append(True)

        thread = threading.Thread(target=ask)
        thread.start()
        thread.join(0.3)
        under_way.execute("COMMIT")
        thread.join()
    assert answers == [True]


def test_nothing_is_answered_that_is_not_stored(ledger: Path, south: Witness, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(witness, "_WAIT", 0.01)
    reader = sqlite3.connect(south.path)
    reader.execute("BEGIN")
    reader.execute("SELECT * FROM heads").fetchall()
    request = head(export.read_history(ledger))
    with Witness.open(south.path) as own, refused("witness.not_usable"):
        own.cosign(request, OWNER.public)
    reader.close()
    assert south.last(OWNER.public) is None
    found = south.cosign(request, OWNER.public)
    with Witness.open(Path(shutil.copy(south.path, ledger.with_name("seen.witness")))) as copy:
        assert copy.last(OWNER.public) == found


def test_a_guess_of_an_entry_cannot_be_tested_without_the_start_of_the_chain(ledger: Path) -> None:
    """The leaf of an entry is a hash of its digest, which covers the one before it, back to the secret key."""
    history = export.read_history(ledger)
    leaves = [leaf_hash(bytes.fromhex(entry.digest)) for entry in history.entries]
    assert verify_head(head(history).note, OWNER.public).root == tree_root(leaves)
    guessed = History.read("0" * 64, [history.entries[0].after("0" * 64).values()])
    assert leaf_hash(bytes.fromhex(guessed.head)) != leaves[0]


def test_files_that_are_no_witness_are_refused(tmp_path: Path, south: Witness) -> None:
    with refused("file.exists"):
        Witness.create(south.path, "south")
    for name in ("", "a b", "a+b", "a\n"):
        with refused("witness.bad_name"):
            Witness.create(tmp_path / "another", name)
    with refused("witness.not_usable"):
        Witness.open(tmp_path / "none")
    (tmp_path / "text").write_text("text" * 1000)
    with refused("witness.not_usable"):
        Witness.open(tmp_path / "text")
    with refused("file.not_written"):
        Witness.create(tmp_path / "none" / "x", "south")
    assert south.path.stat().st_mode & 0o777 == 0o600
    assert Witness.open(south.path).key == south.key


def test_a_cosignature_of_another_key_or_head_does_not_count(ledger: Path, south: Witness, tmp_path: Path) -> None:
    history = export.read_history(ledger)
    cosigned = south.cosign(head(history), OWNER.public)
    with Witness.create(tmp_path / "west.witness", "south") as west:
        for notes in ([cosigned], []):
            assert check_cosigned(history, notes, OWNER.public, west.key) is None
    assert check_cosigned(history, [cosigned], OWNER.public, replace(south.key, kind=1)) is None
    assert check_cosigned(history, [cosigned], OWNER.public, south.key, "a" * 64) is None


def test_a_witness_cosigns_one_transcript_of_a_session_and_that_one_again_with_the_same_answer(tmp_path: Path) -> None:
    first, other = (CosignedTranscript.sign(bytes(range(32)), content, OWNER).head for content in (b"a\n", b"b\n"))
    log, clock = transcript_key(bytes(range(32)), OWNER.public), iter((5.0, 6.0, 7.0, 8.0, 9.0))
    Witness.create(tmp_path / "witness", "south").close()
    with Witness.open(tmp_path / "witness", lambda: next(clock)) as witness:
        answer = witness.cosign_closed(first, log)
        assert witness.cosign_closed(first, log) == answer
        with refused("witness.closed_before"):
            witness.cosign_closed(other, log)
        for unsigned in (SignedNote(other.text), sign_note(SignedNote(other.text), log.name, OTHER)):
            with refused("head.not_signed"):
                witness.cosign_closed(unsigned, log)
        with refused("head.not_signed"):
            witness.cosign_closed(first, transcript_key(bytes(32), OWNER.public))
        assert witness.last(OWNER.public) is None  # the head of no ledger
