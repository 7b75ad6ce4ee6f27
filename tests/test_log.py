"""The log of sessions, runs, ledgers and sites: what it tells, and that it tells no secret.

Two ways to look for secrets: everything large that anybody's view holds is searched for, and two sessions that differ
in nothing but secrets must have the same log, which finds the small ones too, such as a size.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import cbor2
import pytest
from support import sites
from support.hospitals import federation
from support.sums import made, parameters
from support.told import told

from protocols.arithmetic.rng import Stream
from protocols.crypto.identity import Identity
from protocols.programs import PROTOCOLS
from protocols.runtime.message import PARTY
from protocols.runtime.session import SESSION_BYTES, Program, Session
from protocols.runtime.simulate import Run, Setting, simulate
from smc_dp import run_protocol
from smc_dp.privacy.ledger.history import Limit
from smc_dp.run.ledgers import Ledgers

PACKAGES = ("protocols", "smc_dp")


class Heard(logging.Handler):
    """Keeps every line."""

    def __init__(self) -> None:
        super().__init__(logging.DEBUG)
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.lines.append(f"{record.levelname} {record.name}: {record.getMessage()}")

    @property
    def text(self) -> str:
        return "\n".join(self.lines)


@pytest.fixture
def heard() -> Iterator[Heard]:
    """What both packages log, every message of it."""
    handler, loggers = Heard(), [logging.getLogger(name) for name in PACKAGES]
    for logger in loggers:
        logger.addHandler(handler)
        logger.setLevel(logging.DEBUG)
    yield handler
    for logger in loggers:
        logger.removeHandler(handler)
        logger.setLevel(logging.NOTSET)


# Sessions of every program.


def session_of(program: Program, p: Any, inputs: Mapping[str, Any], coins: Stream) -> tuple[Run, list[object]]:
    """A run, and all that is secret in it. The identities and the nonce are always the same."""
    fixed = Stream.insecure_from_seed("public")
    identities = {name: Identity.generate(fixed.fork(name)) for name in inputs}
    known = {name: identity.public for name, identity in identities.items()}
    session = Session(program, p, known, fixed.bytes(SESSION_BYTES))
    seeds = {name: coins.fork(name) for name in inputs}
    run = simulate(session, identities, seeds, inputs, Setting(views=True))
    own = [one for given in inputs.values() for one in given if one is not p]
    seen = [(view.results, view.messages) for view in run.views.values()]
    return run, [own, seen, [view.messages for view in run.recorded.values()], seeds, identities]


def played(name: str, seed: str) -> tuple[Run, list[object]]:
    protocol, coins = PROTOCOLS[name], Stream.insecure_from_seed(seed)
    p = protocol.model.sample(3)
    drawn = coins.fork("inputs")
    return session_of(protocol.program, p, protocol.model.inputs(p, lambda _, bits: drawn.bits(bits)), coins)


@pytest.mark.parametrize("name", PROTOCOLS)
def test_the_log_of_a_session_holds_nothing_that_anybody_s_view_holds(name: str, heard: Heard) -> None:
    texts = []
    for seed in ("one", "another"):
        heard.lines.clear()
        run, secret = played(name, seed)
        assert told(heard.text, *secret) == []
        texts.append(heard.text)
        for stage, kind, size in {(e.stage, e.kind, e.size) for e in run.transcript.read()}:
            assert f"{kind} of {stage}, {size} bytes" in heard.text
    # As printed, one protocol shows already on the wire which party is which.
    assert (texts[0] == texts[1]) == (PROTOCOLS[name].claim is not None)


LEAKS: dict[str, Callable[[Any], object]] = {
    "numbers": lambda mine: mine.numbers,
    "a small thing": lambda mine: sum(mine.numbers[0]) % 11,
    "bytes": lambda mine: mine.numbers[0][0].to_bytes(8, "big"),
}


@pytest.mark.parametrize("leak", LEAKS)
def test_a_role_that_logs_what_it_should_not_is_caught(leak: str, heard: Heard) -> None:
    program = PROTOCOLS["secure_sum"].program

    async def party(me: Any, p: Any, mine: Any) -> Any:
        logging.getLogger("protocols.secure_sum").debug("%s enters with %s", me.name, LEAKS[leak](mine))
        return await program.roles[PARTY](me, p, mine)

    broken = replace(program, roles={**program.roles, PARTY: party})
    texts, found = [], []
    for seed in (1, 2):
        heard.lines.clear()
        setup = made(parameters(3, 0, 0, ring_bits=64), seed, program)
        _, secret = session_of(broken, setup.session.parameters, setup.inputs, Stream.insecure_from_seed(seed))
        texts.append(heard.text)
        found += told(heard.text, *secret)
    assert texts[0] != texts[1]
    assert (found != []) == (leak != "a small thing")


# Whole runs, ledgers, sites.


def run_of(method: str, n: int, folder: Path, heard: Heard) -> tuple[str, object]:
    """The log of a run of rows that n decides, and what is secret in it."""
    heard.lines.clear()
    data = federation(n)
    folder.mkdir()
    keys: dict[str, Any] = {"key_bits": 256, "insecure_test_keys": True} if method == "prr_mean" else {}
    books = Ledgers(folder / "books", Limit(Fraction(9), Fraction(1, 1000)))
    # The usual lambda follows from sizes, which a simulation knows.
    keys |= {} if method == "newton" else {"lam": 0.1}
    run_protocol(data, method=method, out=folder / "run", views=folder / "views", ledgers=books, **keys)
    views = [cbor2.loads(path.read_bytes()) for path in (folder / "views").rglob("*") if path.is_file()]
    assert len(views) == 4
    log = re.sub(r"session [0-9a-f]{16}", "session", heard.text.replace(str(folder), ""))
    return log, [[rows.X for rows in data.parties], views]


SLOW = [pytest.param(method, marks=pytest.mark.slow) for method in ("prr_mean", "newton")]


@pytest.mark.parametrize("method", ["wsum", *SLOW])
def test_the_log_of_a_run_says_its_course_and_no_secret(method: str, tmp_path: Path, heard: Heard) -> None:
    logs = []
    for n in (64, 96):
        log, secret = run_of(method, n, tmp_path / str(n), heard)
        assert told(log, secret) == []
        logs.append(log)
    assert logs[0] == logs[1]  # neither sizes nor rows have a say in it
    for line in (f"method {method} by", "entry 2 charged:", "entry 2 is settled: released", "the release is in /run"):
        assert line in log
    assert log.count("charged:") == 3


@pytest.mark.slow
def test_the_log_of_a_site_says_who_is_waited_for_and_no_secret(tmp_path: Path, heard: Heard) -> None:
    study = sites.joint({**sites.newton(colluders=0), "method": {"name": "wsum", "lambda": "1/10"}})
    ended = sites.Sites(study, tmp_path).run()
    ended.close()
    assert set(ended.ends.values()) == {"released"}
    own = [(sites.rows(name).X, sites.identity(name), sites.coins(name)) for name in study.names]
    assert told(heard.text, own) == []
    assert told(heard.text + repr(sites.rows("P1").X[0, 0].item()), own) != []  # the twin
    for line in ("P1: waiting for the approvals of", "P1 begins session", "P1 has sent", "P2 has the release"):
        assert line in heard.text


def test_both_packages_are_silent_unless_somebody_listens() -> None:
    for name in PACKAGES:
        assert any(isinstance(handler, logging.NullHandler) for handler in logging.getLogger(name).handlers)
