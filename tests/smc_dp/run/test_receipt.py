"""Receipts of auditors: signed about exactly these files, asked for by whoever pins an auditor, and hard to confuse."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import cbor2
import pytest
from support import forgeries as f
from support.audited import long_term, toy_run
from support.mutants import audit, command

from protocols.arithmetic.rng import Stream
from protocols.crypto.identity import Identity
from protocols.runtime import transcript
from protocols.runtime.statement import statement
from protocols.runtime.view import RecordedView
from smc_dp import InputError, predict
from smc_dp.deploy.notice import Notice
from smc_dp.files.writing import write_file
from smc_dp.run import identities
from smc_dp.run import receipt as receipts
from smc_dp.run.approvals import to_sign as approval_to_sign
from smc_dp.run.line_zero import read_head, read_session
from smc_dp.run.receipt import Receipt
from smc_dp.run.release import RELEASE, SHARES, TIMINGS, TRANSCRIPT

PARTIES = ("north-0", "north-1")
AUDITOR, ANOTHER = (Identity.generate(Stream.insecure_from_seed(name)) for name in ("auditor", "another"))
Document = dict[str, Any]


class Desk(NamedTuple):
    """A run, views of it, another run, rows, an auditor's key, and the receipt that an audit made."""

    run: Path
    views: Path
    other: Path
    rows: Path
    key: Path
    public: Path
    receipt: Path
    said: str


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Desk:
    at = tmp_path_factory.mktemp("desk")
    own = long_term(PARTIES)
    made = toy_run(at / "one", (12, 8), key_bits=256, identities=own)
    other = toy_run(at / "two", (12, 8), key_bits=256, identities=own, seed=2).run
    rows, receipt = at / "rows.csv", at / "receipt.json"
    rows.write_text("x0,x1\n0.5,-0.5\n")
    key, public, _ = identities.create_one(at, "auditor", Stream.insecure_from_seed("auditor"))
    found = audit(str(made.run), "--receipt", str(receipt), "--key", str(key))
    assert found.code == 0, found
    return Desk(made.run, made.views, other, rows, key, public, receipt, found.err)


def used(desk: Desk, receipt: Path, run: Path | None = None, auditor: str | None = None) -> tuple[int, str]:
    """`predict` with a receipt: exit code and standard error."""
    given = ("--receipt", str(receipt), "--auditor", auditor or str(desk.public))
    found = command("predict", str(run or desk.run), "--data", str(desk.rows), *given)
    assert (found.code == 0) == bool(found.out)
    return found.code, found.err


def refused(desk: Desk, receipt: Path, words: str, run: Path | None = None) -> None:
    """One line that says this, and nothing predicted."""
    code, err = used(desk, receipt, run)
    assert (code, err.count("\n")) == (2, 1), err
    assert words in err


def test_a_receipt_is_asked_for_and_says_who_looked_and_how_far(desk: Desk) -> None:
    code, err = used(desk, desk.receipt)
    made = Receipt.read(desk.receipt)
    assert code == 0
    assert err.splitlines()[0] == f"audited {made.words}"
    assert receipts.LEVELS[made.level] in err
    assert f"signed by {made.auditor}" in desk.said
    assert set(made.files) >= {RELEASE, SHARES, TRANSCRIPT}
    found = predict(desk.run, desk.rows, receipt=desk.receipt, auditor=AUDITOR.public.hex())
    assert found.receipt == made
    assert predict(desk.run, desk.rows).receipt is None
    given = ("--receipt", str(desk.receipt), "--auditor", AUDITOR.public.hex(), "--json")
    assert json.loads(command("predict", str(desk.run), "--data", str(desk.rows), *given).out)["receipt"] == dict(made)


def test_what_is_published_has_the_receipt_of_the_run(desk: Desk, tmp_path: Path) -> None:
    """Less of the files, all of them the same; but without the release or the shares there is nothing to hold it to."""
    to = tmp_path / "published"
    assert command("publish", str(desk.run), "--to", str(to)).code == 0
    assert used(desk, desk.receipt, to)[0] == 0
    (to / TRANSCRIPT).unlink()
    assert used(desk, desk.receipt, to)[0] == 0
    (to / SHARES).unlink()
    refused(desk, desk.receipt, "shares.json: cannot be read", to)


def test_neither_is_taken_without_the_other(desk: Desk, tmp_path: Path) -> None:
    run, data = str(desk.run), ("--data", str(desk.rows))
    for arguments, words in (
        (("predict", run, *data, "--auditor", str(desk.public)), "error: --receipt: wanted a receipt"),
        (("predict", run, *data, "--receipt", str(desk.receipt)), "error: --auditor: wanted the public key"),
        (("audit", run, "--key", str(desk.key)), "error: --key: goes with --receipt"),
        (("audit", run, "--receipt", str(tmp_path / "r")), "error: --key: is missing"),
        (("audit", run, "--receipt", str(desk.receipt), "--key", str(desk.key)), "exists already, wanted a new file"),
    ):
        found = command(*arguments)
        assert (found.code, found.out, found.err.count("\n")) == (2, "", 1), found
        assert words in found.err
    with pytest.raises(InputError, match="receipt: wanted a receipt"):
        predict(desk.run, desk.rows, auditor=AUDITOR.public.hex())


def signed(said: Document, signer: Identity = AUDITOR) -> Document:
    """What a receipt says, signed anew, as only its auditor can."""
    rest = {**{k: v for k, v in said.items() if k != "signature"}, "auditor": signer.public.hex()}
    return {**rest, "signature": signer.sign(receipts.to_sign(rest)).hex()}


def labelled(label: bytes) -> Callable[[Document], Document]:
    """Signed by the auditor over another label."""

    def change(said: Document) -> Document:
        rest = {k: v for k, v in said.items() if k != "signature"}
        return {**rest, "signature": AUDITOR.sign(cbor2.dumps([label, rest], canonical=True)).hex()}

    return change


def files(**digests: str) -> Callable[[Document], Document]:
    return lambda said: signed(said | {"files": said["files"] | digests})


BROKEN: dict[str, tuple[Callable[[Document], Document], str]] = {
    "another auditor's": (lambda said: signed(said, ANOTHER), "is that of the auditor"),
    "another auditor's, as if it were this one's": (
        lambda said: signed(said, ANOTHER) | {"auditor": said["auditor"]}, "is not signed by the auditor",
    ),
    "of a failed audit, by hand": (lambda said: signed(said | {"passed": False}), "says that the audit did not pass"),
    "of a failed audit, changed": (lambda said: signed(said | {"passed": False}) | {"passed": True}, "is not signed"),
    "another level": (lambda said: said | {"level": 3}, "is not signed"),
    "another date": (lambda said: said | {"date": "2020-01-01"}, "is not signed"),
    "another version": (lambda said: said | {"version": "9"}, "is not signed"),
    "another digest": (lambda said: said | {"files": {**said["files"], RELEASE: "0" * 64}}, "is not signed"),
    "one file less": (lambda said: said | {"files": {RELEASE: said["files"][RELEASE]}}, "is not signed"),
    "another session": (lambda said: signed(said | {"session": "0" * 64}), "is the record of another session"),
    "about no release": (lambda said: signed(said | {"files": {}}), "release.json is not the file that was audited"),
    "another record": (files(**{TRANSCRIPT: "0" * 64}), "transcript.jsonl is not the file that was audited"),
    "signed as a statement": (labelled(b"smc-dp statement"), "is not signed"),
    "signed as a view": (labelled(b"smc-dp view"), "is not signed"),
    "a file of no run": (files(**{"other.json": "0" * 64}), "files: "),
    "a level that is none": (lambda said: signed(said | {"level": 4}), "level: wanted a number of at most 3"),
    "a date that is none": (lambda said: signed(said | {"date": "today"}), "date: wanted a date"),
    "a field more": (lambda said: signed(said | {"note": "x"}), "unknown key 'note'"),
}  # fmt: skip


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_receipt_is_refused(name: str, desk: Desk, tmp_path: Path) -> None:
    change, words = BROKEN[name]
    made = tmp_path / "receipt.json"
    made.write_text(json.dumps(change(json.loads(desk.receipt.read_text()))))
    refused(desk, made, words)


def test_a_receipt_signed_anew_by_hand_holds(desk: Desk, tmp_path: Path) -> None:
    """The control: what makes the others fall is what they changed."""
    made = tmp_path / "receipt.json"
    made.write_text(json.dumps(signed(json.loads(desk.receipt.read_text()))))
    assert used(desk, made)[0] == 0


def one_byte(name: str) -> Callable[[Path], object]:
    """A space at the end, which no reader of JSON sees."""
    return lambda run: (run / name).write_bytes((run / name).read_bytes() + b" ")


@pytest.mark.parametrize("name", [RELEASE, SHARES, TRANSCRIPT, TIMINGS])
def test_one_byte_of_any_file_is_noticed(name: str, desk: Desk, tmp_path: Path) -> None:
    run = tmp_path / "run"
    shutil.copytree(desk.run, run)
    one_byte(name)(run)
    refused(desk, desk.receipt, f"{name} is not the file that was audited", run)


def test_a_receipt_is_about_one_run(desk: Desk, tmp_path: Path) -> None:
    refused(desk, desk.receipt, "release.json is not the file that was audited", desk.other)
    resealed = tmp_path / "resealed"
    f.altered_share(desk.run, resealed, PARTIES[0])  # release.json has its digest anew
    refused(desk, desk.receipt, "release.json is not the file that was audited", resealed)


def test_an_audit_that_does_not_pass_gets_none(desk: Desk, tmp_path: Path) -> None:
    receipt = tmp_path / "receipt.json"
    given = ("--receipt", str(receipt), "--key", str(desk.key))
    found = audit(str(f.altered_weight(desk.run, tmp_path / "run")), *given)
    assert found.code == 1
    assert found.err == "no receipt: there is none, for the check release failed\n"
    found = audit(str(desk.run), *given, "--seconds", "0.001", "--json")
    if found.code == 1:  # where all of it takes longer than that
        assert "was not finished" in found.err
    assert not receipt.exists()


def test_the_secret_key_stays_secret(desk: Desk, tmp_path: Path) -> None:
    """In no output, no receipt and no error; and a key that others may read is told of."""
    seed = AUDITOR.seed.hex()
    assert seed in desk.key.read_text()
    assert seed not in desk.receipt.read_text() + desk.said
    key = tmp_path / "auditor.key"
    for content in (f"{seed}{seed}\n", f"{seed.upper()}\n", seed[:-2]):
        key.write_text(content)
        found = audit(str(desk.run), "--receipt", str(tmp_path / "r"), "--key", str(key))
        assert (found.code, found.err.count("\n")) == (2, 1)
        assert seed[:-2].lower() not in (found.out + found.err).lower()
    key.unlink()
    write_file(key, f"{seed}\n".encode(), 0o644)
    found = audit(str(desk.run), "--receipt", str(tmp_path / "r"), "--key", str(key), of=())
    assert found.code == 0
    assert f"warning: {key}: others than its owner may read this secret key" in found.err


def test_an_auditor_is_a_key_or_the_file_that_was_handed_over(desk: Desk, tmp_path: Path) -> None:
    assert identities.pinned_auditor(str(desk.public)) == identities.pinned_auditor(AUDITOR.public.hex())
    for text in ("auditor.pub", "0" * 63 + "x", str(desk.receipt)):
        with pytest.raises(InputError):
            identities.pinned_auditor(text)
    refused_key = (1).to_bytes(32, "little").hex()  # of small order: anybody can sign for it
    made = tmp_path / "receipt.json"
    made.write_text(json.dumps(json.loads(desk.receipt.read_text()) | {"auditor": refused_key}))
    code, err = used(desk, made, auditor=refused_key)
    assert code == 2
    assert "for which anybody can sign" in err


def parts(signed_bytes: bytes) -> object:
    """What an array of CBOR that was signed begins with, and how many parts it has; None for what is no array."""
    try:
        found = cbor2.loads(signed_bytes)
    except (cbor2.CBORError, ValueError):
        return None
    return (len(found), found[0]) if isinstance(found, list) else None


def test_nothing_else_that_is_signed_can_be_taken_for_a_receipt(desk: Desk) -> None:
    """The bytes under every signature of this program begin in ways of their own."""
    line = (desk.run / TRANSCRIPT).read_bytes().partition(b"\n")[0]
    _, session = read_session(read_head(line, TRANSCRIPT), TRANSCRIPT)
    envelope = f.read_record(desk.run).envelopes[0]
    view = RecordedView.loads(next(desk.views.iterdir()).read_bytes(), session)
    said = Receipt.read(desk.receipt).model_dump(exclude={"signature"})
    notice = Notice("0" * 64, "", "north", "done", "0" * 64, "")
    found = {
        "receipt": parts(receipts.to_sign(said)),
        "envelope": parts(envelope.header),
        "statement": parts(statement(session.id, "north", "Kind", b"")),
        "view": parts(view.to_sign(session)),
        "notice": parts(notice._to_sign()),
        "approval": parts(approval_to_sign("0" * 64, "north", "0" * 64)),
        "line": parts(transcript.canonical({})),
    }
    assert found["receipt"] == (2, b"smc-dp receipt")
    assert len({repr(shape) for shape in found.values() if shape is not None}) == 5
    assert found["approval"] is None
    stolen = Identity.generate(Stream.insecure_from_seed("stolen"))
    lie = Receipt.model_validate({**said, "auditor": stolen.public.hex(), "signature": "0" * 128})
    for signed_bytes in (envelope.header, statement(session.id, "north", "Kind", b""), view.to_sign(session)):
        assert not lie.model_copy(update={"signature": stolen.sign(signed_bytes).hex()}).is_signed
    said["auditor"] = stolen.public.hex()
    assert lie.model_copy(update={"signature": stolen.sign(receipts.to_sign(said)).hex()}).is_signed
