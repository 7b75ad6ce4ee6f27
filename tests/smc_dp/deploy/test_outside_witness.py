"""An outside witness over HTTP is asked by `approve` and `join`; the one here knows C2SP and none of our code."""

from __future__ import annotations

import base64
import hashlib
import shutil
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from fractions import Fraction
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from support.relay_carriers import InMemoryCarrier
from support.studies import IDENTITIES, SITE_POLICY, study, text

from smc_dp.core.errors import InputError, InputFault, UnfitError
from smc_dp.core.private_text import PrivateText
from smc_dp.deploy import witnesses
from smc_dp.deploy.join import take_part
from smc_dp.deploy.outside_witness import ask_witness, check_address
from smc_dp.deploy.relay_store import RelayStore
from smc_dp.deploy.site_policy import SitePolicy
from smc_dp.deploy.study import JointStudy
from smc_dp.privacy.ledger.ledger import Ledger
from smc_dp.privacy.ledger.signed_note import COSIGNATURE, SignedNote, VerifierKey
from tests.smc_dp.deploy.test_witnesses import Home
from tests.support.guarantees import charge
from tests.support.refusals import refused

NORTH, NAME, KEY = IDENTITIES["north"], "witness.example/w1", Ed25519PrivateKey.from_private_bytes(bytes(range(32)))
CONTENT = bytes([4]) + KEY.public_key().public_bytes_raw()
ID = hashlib.sha256(NAME.encode() + b"\n" + CONTENT).digest()[:4]
VKEY = f"{NAME}+{ID.hex()}+{base64.b64encode(CONTENT).decode()}"
ORIGIN = f"smc-dp.ledger/{NORTH.public.hex()}"


def node(left: bytes, right: bytes) -> bytes:
    return hashlib.sha256(b"\1" + left + right).digest()


def roots(old: int, new: int, proof: list[bytes], known: bytes, whole: bool = True) -> tuple[bytes, bytes]:
    """The old and the new root that a proof gives, by the recursion of RFC 6962, 2.1.2."""
    if old == new:
        one = known if whole else proof.pop()
        return one, one
    half, side = 1 << (new - 1).bit_length() - 1, proof.pop()
    if old <= half:
        first, second = roots(old, half, proof, known, whole)
        return first, node(second, side)
    first, second = roots(old - half, new - half, proof, known, False)
    return node(side, first), node(side, second)


def cosignature(text: str) -> bytes:
    made = (5).to_bytes(8, "big") + KEY.sign(f"cosignature/v1\ntime 5\n{text}".encode())
    return f"\N{EM DASH} {NAME} {base64.b64encode(ID + made).decode()}\n".encode()


class Handler(BaseHTTPRequestHandler):
    """A witness that knows one log."""

    seen: tuple[int, bytes] = (0, hashlib.sha256().digest())
    logs = (ORIGIN,)
    instead: tuple[int, bytes] | None = None
    asked = 0

    def do_POST(self) -> None:
        Handler.asked += 1
        status, body = Handler.instead or self.answer(self.rfile.read(int(self.headers["Content-Length"])))
        self.send_response(status if self.path == "/deep/add-checkpoint" else 405)
        if status == 409:
            self.send_header("Content-Type", "text/x.tlog.size")
        self.end_headers()
        self.wfile.write(body)

    def answer(self, content: bytes) -> tuple[int, bytes]:
        before, text, lines = content.decode().split("\n\n")
        said, *proof = before.split("\n")
        origin, size, root = text.split("\n")[:3]
        if origin not in Handler.logs:
            return 404, b""
        try:
            signature = base64.b64decode(lines.split("\n")[0].split(" ")[2])[4:]
            Ed25519PublicKey.from_public_bytes(NORTH.public).verify(signature, f"{text}\n".encode())
        except InvalidSignature:
            return 403, b""
        old, new, found = int(said.removeprefix("old ")), int(size), base64.b64decode(root)
        if old != Handler.seen[0] or (old == new and found != Handler.seen[1]):
            return 409, b"%d\n" % Handler.seen[0]
        hashes = [base64.b64decode(line) for line in proof]
        if old and (roots(old, new, hashes, Handler.seen[1]) != (Handler.seen[1], found) or hashes):
            return 422, b""
        Handler.seen = new, found
        return 200, cosignature(f"{text}\n")

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Home]:
    Handler.seen, Handler.logs, Handler.instead, Handler.asked = (0, hashlib.sha256().digest()), (ORIGIN,), None, 0
    made, server = Home(tmp_path), HTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, args=[0.01], daemon=True).start()
    says(made, f"http://127.0.0.1:{server.server_port}/deep/")
    yield made
    server.shutdown()
    server.server_close()
    for witness in made.witnesses.values():
        witness.close()


def says(home: Home, url: str) -> None:
    own = f'{SITE_POLICY}[witnesses]\nkeys = ["{VKEY}"]\nheads = "answers"\nurls = {{"{NAME}" = "{url}"}}\n'
    home.files["policy"].write_text(own)


def ask(home: Home) -> list[str]:
    said: list[str] = []
    policy = SitePolicy.read(home.files["policy"])
    policy.ask_witnesses(study(), home.ledger, NORTH, lambda text: said.append(text.on_screen()))
    return said


def test_approve_asks_a_witness_and_an_answer_for_this_study_is_enough(home: Home) -> None:
    assert home.faults == ["witnesses.too_few"]  # a check sends nothing
    assert Handler.asked == 0
    assert home.approve(f"--ledger={home.ledger}") == 0
    assert home.faults == []
    for charges in range(5):
        charge(home.ledger)
        assert ask(home) == []
        assert Handler.seen[0] == 2 + charges


def test_an_older_ledger_is_refused_by_the_number_that_the_witness_has_seen(home: Home) -> None:
    copy = Path(shutil.copy(home.ledger, home.folder / "copy"))
    charge(home.ledger)
    assert ask(home) == []
    shutil.copy(copy, home.ledger)
    with refused("head.fewer_entries", at=f"ledger {home.ledger}: witness {NAME} at http://", entries=1, old=2):
        ask(home)
    shutil.rmtree(home.folder / "answers")  # put back, too: the witness remembers
    assert home.approve(f"--ledger={home.ledger}") == 2
    relay = RelayStore()
    with pytest.raises(UnfitError) as caught:
        home.join(relay)
    assert "head.fewer_entries" in [fault.code for fault in caught.value.faults]
    assert {frame.lane for _, frame in relay.since(0, "south", everything=True)} == {"refusal"}


def test_join_asks_before_and_after_so_that_the_charge_is_seen(home: Home) -> None:
    home.study.write_text(text().replace('greetings = "7d"', 'greetings = "0.1s"'))
    assert home.approve(f"--ledger={home.ledger}") == 0
    said: list[PrivateText] = []
    asked = Handler.asked
    part = home.join(RelayStore(), said.append)
    assert part.code == "approvals.deadline"
    assert Handler.asked == asked + 4  # each time once for the number of entries that it has seen
    assert str(InputFault("witnesses.ask_again")) not in [line.on_screen() for line in said]
    (last,) = home.folder.glob("answers/*")
    last.unlink()  # as a later study replaces it
    assert home.join(RelayStore()).code == "approvals.deadline"  # the same command again
    assert list(home.folder.glob("answers/*")) == [last]


def spoil_data(home: Home) -> None:
    home.files["data"].write_text("age,back\nold,yes\n")


def spend(home: Home) -> None:
    home.ledger.unlink()
    Ledger.create(home.ledger, Fraction(1, 10**4), Fraction(1, 10**4)).close()


def tighten(home: Home) -> None:
    own = home.files["policy"].read_text()
    home.files["policy"].write_text(own.replace('"1/3"', '"1/1000"'))


@pytest.mark.parametrize("spoil", [spoil_data, spend, tighten])
def test_a_site_that_does_not_fit_shows_no_witness_anything(spoil: Callable[[Home], None], home: Home) -> None:
    own = home.files["policy"].read_text()
    home.files["policy"].write_text(f'data = "{home.files["data"].name}"\n{own}')
    assert home.approve(f"--ledger={home.ledger}", f"--out={home.folder / 'other'}") == 0
    asked = Handler.asked
    spoil(home)
    assert home.approve(f"--ledger={home.ledger}") == 2
    with pytest.raises(UnfitError):
        home.join(RelayStore())
    assert Handler.asked == asked


def test_a_ledger_that_heads_here_refute_is_shown_to_no_witness(home: Home) -> None:
    older = shutil.copy(home.ledger, home.folder / "older")
    charge(home.ledger)
    ask(home)
    shutil.copy(older, home.ledger)
    asked = Handler.asked
    assert home.approve(f"--ledger={home.ledger}") == 2
    assert Handler.asked == asked


def test_the_refusal_of_one_witness_keeps_no_other_from_being_asked(home: Home) -> None:
    url = SitePolicy.read(home.files["policy"]).witnesses.urls[NAME]  # type: ignore[union-attr]
    first, second = "9.example", NAME
    key = Ed25519PrivateKey.from_private_bytes(bytes(32)).public_key().public_bytes_raw()
    other = VerifierKey(first, COSIGNATURE, key)
    urls = f'{{"{first}" = "http://127.0.0.1:9", "{second}" = "{url}"}}'
    own = f'{SITE_POLICY}[witnesses]\nkeys = ["{other.text}", "{VKEY}"]\nheads = "answers"\nurls = {urls}\n'
    home.files["policy"].write_text(own)

    def refuse(url: str, *given: object) -> SignedNote:
        if url.endswith(":9"):
            raise InputError("outside.not_extended", seen=1)
        return ask_witness(url, *given)  # type: ignore[arg-type]

    with pytest.MonkeyPatch.context() as patch, refused("outside.not_extended", seen=1):
        patch.setattr(witnesses, "ask_witness", refuse)
        ask(home)
    assert len(list(home.folder.glob("answers/*"))) == Handler.asked == 1


def test_the_folder_of_heads_has_one_of_each_study_that_goes_on_and_the_last_one(home: Home) -> None:
    policy = SitePolicy.read(home.files["policy"])
    for number, over in enumerate((False, False, True, False, True)):
        charge(home.ledger)
        policy.ask_witnesses(study(), home.ledger, NORTH, lambda text: None, over=over)
        assert len(list(home.folder.glob("answers/*"))) == (2 if number == 3 else 1)
    copy = shutil.copy(home.ledger, home.folder / "copy")
    charge(home.ledger)
    policy.ask_witnesses(study(), home.ledger, NORTH, lambda text: None, over=True)
    shutil.copy(copy, home.ledger)
    with refused("head.seen_further", entries=6, seen=7):  # also by a program that goes on
        policy.check_witnesses(study(), "north", home.ledger, begun=True)


def test_what_a_witness_says_after_the_study_is_heard_and_its_result_stands(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    home.study.write_text(text().replace('greetings = "7d"', 'greetings = "0.1s"'))
    assert home.approve(f"--ledger={home.ledger}") == 0
    relay = RelayStore()

    def carrier(*given: JointStudy) -> InMemoryCarrier:  # opened between the two questions
        monkeypatch.setattr(Handler, "instead", (409, b"9\n"))
        return InMemoryCarrier(relay, "north", given[0].digest)

    said: list[PrivateText] = []
    part = take_part(home.study, home.site_files, said.append, lambda study, *_: carrier(study))
    assert part.code == "approvals.deadline"
    assert any(f"witness {NAME} at http://" in line.on_screen() for line in said)


def test_another_ledger_under_the_same_identity_is_refused_by_its_proof(home: Home) -> None:
    assert ask(home) == []
    home.ledger.unlink()
    Ledger.create(home.ledger, Fraction(1), Fraction(1, 10**4)).close()
    for _ in range(2):  # as large as the one before, and larger
        with refused("outside.not_extended", at=f"witness {NAME} at http://127.0.0.1:", seen=1):
            ask(home)
        charge(home.ledger)


@pytest.mark.parametrize(
    ("instead", "part"),
    [
        ((200, b""), "without a cosignature"),
        ((200, b"\xff\n"), "without a cosignature"),
        ((200, f"\N{EM DASH} {NAME} {base64.b64encode(ID + bytes(72)).decode()}\n".encode()), "without a cosignature"),
        ((409, b"many\n"), "HTTP status 409"),
        ((409, b"0\n"), "HTTP status 409"),
        ((422, b""), "HTTP status 422"),
        ((403, b""), "HTTP status 403"),
        ((500, b"x" * 100_000), "HTTP status 500"),
        (None, "HTTP status 404"),
    ],
)
def test_any_other_answer_is_silence(instead: tuple[int, bytes] | None, part: str, home: Home) -> None:
    Handler.instead, Handler.logs = instead, ()
    (said,) = ask(home)
    assert part in said
    assert home.faults == ["witnesses.too_few"]
    assert not list(home.folder.glob("answers/*"))


def test_a_cosignature_of_another_text_does_not_count(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    def answer(_: Handler, content: bytes) -> tuple[int, bytes]:
        note = content.decode().partition("\n\n")[2]  # with the line of the log, and the empty line before it
        return 200, b"x\n\n" + cosignature(f"{note}x\n")

    monkeypatch.setattr(Handler, "answer", answer)
    assert "without a cosignature" in ask(home)[0]
    assert not list(home.folder.glob("answers/*"))


@pytest.mark.parametrize(("numbers", "asked"), [((1, 0), 2), ((1, 1), 2), ((1, 2, 3, 4), 3)])
def test_a_witness_that_repeats_a_number_or_ever_names_others_is_silent(
    numbers: tuple[int, ...], asked: int, home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    charge(home.ledger, 4)
    said = iter(numbers)
    monkeypatch.setattr(Handler, "answer", lambda *_: (409, f"{next(said)}\n".encode()))
    assert "HTTP status 409" in ask(home)[0]
    assert Handler.asked == asked


def test_a_ledger_that_another_study_charges_meanwhile_is_read_again(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    answer = Handler.answer

    def busy(self: Handler, content: bytes) -> tuple[int, bytes]:
        if Handler.asked > 1:
            return answer(self, content)
        charge(home.ledger)
        with Ledger.open(home.ledger) as ledger:
            first, second = (bytes.fromhex(entry.digest) for entry in ledger.history().entries)
        Handler.seen = 2, node(hashlib.sha256(b"\0" + first).digest(), hashlib.sha256(b"\0" + second).digest())
        return 409, b"2\n"

    monkeypatch.setattr(Handler, "answer", busy)
    assert ask(home) == []
    assert Handler.seen[0] == 2


@pytest.mark.parametrize(
    ("first", "again"),
    [
        (b"", b"HTTP/1.1 100 Continue\r\n\r\n"),
        (b"HTTP/1.1 200 OK\r\n", b"x"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 9000\r\n\r\n", b"x"),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n", b"a: b\r\n"),
        (b"HTTP/1.0 409 Conflict\r\n\r\n1", b"2"),
    ],
)
def test_an_answer_without_an_end_ends_at_the_deadline(first: bytes, again: bytes, home: Home) -> None:
    ended = threading.Event()

    def drip(listening: socket.socket) -> None:
        line, _ = listening.accept()
        with line, suppress(OSError):  # the other end has hung up
            line.sendall(first)
            for _ in range(500):
                line.sendall(again)
                time.sleep(0.01)
            ended.set()

    with socket.create_server(("127.0.0.1", 0)) as listening:
        threading.Thread(target=drip, args=[listening], daemon=True).start()
        url = f"http://127.0.0.1:{listening.getsockname()[1]}"
        began = time.monotonic()
        with refused("outside.unreachable", url=url):
            ask_witness(url, VerifierKey.read(VKEY), home.ledger, NORTH, study().digest, 0.3)
        assert time.monotonic() - began >= 0.3
        assert not ended.is_set()  # the server goes on


def test_a_witness_that_cannot_be_reached_is_missing(home: Home) -> None:
    says(home, "http://127.0.0.1:9")
    assert "cannot be reached" in ask(home)[0]
    says(home, "ftp://x")
    assert home.faults == ["outside.no_address"]


@pytest.mark.parametrize(
    "wrong",
    [
        *("ftp://x", "https://", "witness.example", "https://x?y", "https://x?", "https://x#y", "https://x/a b"),
        *("https://u@x", "https://@x", "https://:p@x", "https://x:port", "https://x:65536", "https://x:0"),
        *("https://[::1", "https://x/\n", "https://w\xeftness"),
    ],
)
def test_what_is_no_address_is_refused(wrong: str) -> None:
    with refused("outside.no_address", got=repr(wrong)):
        check_address(wrong)


def test_http_without_encryption_is_for_this_machine_alone() -> None:
    for url in ("http://127.0.0.1:80/a", "http://localhost", "http://[::1]:8080", "https://witness.example:443/a"):
        assert check_address(f"{url}/") == url
    for url in ("http://witness.example", "http://10.0.0.1", "http://127.0.0.1.example", "http://localhost.example"):
        with refused("outside.not_encrypted", got=repr(url)):
            check_address(url)


def test_an_address_of_no_key_is_refused(home: Home) -> None:
    says(home, "https://witness.example")
    policy = home.files["policy"]
    policy.write_text(policy.read_text().replace(f'{{"{NAME}"', '{"witness.example/w2"'))
    assert home.faults == ["witnesses.url_without_key"]


def test_a_folder_that_cannot_be_made_is_refused(home: Home) -> None:
    (home.folder / "answers").write_text("")
    with refused("folder.not_written", at=str(home.folder / "answers")):
        ask(home)
