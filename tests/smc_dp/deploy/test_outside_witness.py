"""An outside witness over HTTP is asked by `approve` and `join`; the one here knows C2SP and none of our code."""

from __future__ import annotations

import base64
import hashlib
import shutil
import threading
from collections.abc import Iterator
from fractions import Fraction
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from support.relay_carriers import InMemoryCarrier
from support.studies import IDENTITIES, SITE_POLICY, study, text

from smc_dp.core.errors import InputFault, UnfitError
from smc_dp.core.private_text import PrivateText
from smc_dp.deploy.join import take_part
from smc_dp.deploy.outside_witness import check_address
from smc_dp.deploy.relay_store import RelayStore
from smc_dp.deploy.site_policy import SitePolicy
from smc_dp.privacy.ledger.ledger import Ledger
from tests.smc_dp.deploy.test_witnesses import Home
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
        made = (5).to_bytes(8, "big") + KEY.sign(f"cosignature/v1\ntime 5\n{text}\n".encode())
        return 200, f"\N{EM DASH} {NAME} {base64.b64encode(ID + made).decode()}\n".encode()

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
        home.charge()
        assert ask(home) == []
        assert Handler.seen[0] == 2 + charges


def test_an_older_ledger_is_refused_by_the_number_that_the_witness_has_seen(home: Home) -> None:
    copy = Path(shutil.copy(home.ledger, home.folder / "copy"))
    home.charge()
    assert ask(home) == []
    shutil.copy(copy, home.ledger)
    with refused("head.fewer_entries", entries=1, old=2):
        ask(home)
    shutil.rmtree(home.folder / "answers")  # put back, too: the witness remembers
    assert home.approve(f"--ledger={home.ledger}") == 2
    relay = RelayStore()
    with pytest.raises(UnfitError) as caught:
        take_part(
            home.study,
            home.site_files,
            lambda line: None,
            lambda *asked: InMemoryCarrier(relay, "north", asked[0].digest),
        )
    assert "head.fewer_entries" in [fault.code for fault in caught.value.faults]
    assert {frame.lane for _, frame in relay.since(0, "south", everything=True)} == {"refusal"}


def test_join_asks_before_and_after_so_that_the_charge_is_seen(home: Home) -> None:
    home.study.write_text(text().replace('greetings = "7d"', 'greetings = "0.1s"'))
    assert home.approve(f"--ledger={home.ledger}") == 0
    said: list[PrivateText] = []
    asked = Handler.asked
    part = take_part(
        home.study, home.site_files, said.append, lambda *given: InMemoryCarrier(RelayStore(), "north", given[0].digest)
    )
    assert part.code == "approvals.deadline"
    assert Handler.asked == asked + 4  # each time once for the number of entries that it has seen
    assert str(InputFault("witnesses.ask_again")) not in [line.on_screen() for line in said]


def test_another_ledger_under_the_same_identity_is_refused_by_its_proof(home: Home) -> None:
    assert ask(home) == []
    home.ledger.unlink()
    Ledger.create(home.ledger, Fraction(1), Fraction(1, 10**4)).close()
    for _ in range(2):  # as large as the one before, and larger
        with refused("outside.not_extended", name=NAME, seen=1):
            ask(home)
        home.charge()


@pytest.mark.parametrize(
    ("instead", "part"),
    [
        ((200, b""), "without a cosignature"),
        ((200, b"\xff\n"), "without a cosignature"),
        ((200, f"\N{EM DASH} {NAME} {base64.b64encode(ID + bytes(72)).decode()}\n".encode()), "without a cosignature"),
        ((409, b"many\n"), "HTTP status 409"),
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


def test_a_witness_that_names_ever_other_numbers_is_asked_three_times(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    numbers = iter(["1", "0", "1", "0"])
    monkeypatch.setattr(Handler, "answer", lambda *_: (409, f"{next(numbers)}\n".encode()))
    assert "HTTP status 409" in ask(home)[0]
    assert Handler.asked == 3


def test_a_witness_that_cannot_be_reached_is_missing(home: Home) -> None:
    says(home, "http://127.0.0.1:9")
    assert "cannot be reached" in ask(home)[0]
    for wrong in ("ftp://x", "https://", "witness.example", "https://x?y", "https://u@x"):
        with refused("outside.no_address", got=wrong):
            check_address(wrong)
    says(home, "ftp://x")
    assert home.faults == ["outside.no_address"]
