"""Flower's carrier and relay without Flower: a site's socket is called as the ClientApp calls it."""

from __future__ import annotations

import errno
import os
import re
import socket
import stat
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from support import sites
from support.carrier_suite import ENDURING, CarrierSuite, RunningRelay, made_in, over
from support.sites import AtHand, Sites

from protocols.curator import CURATOR_NAME
from protocols.runtime.envelope import Envelope
from protocols.runtime.session import PUBLIC_NAME
from smc_dp.deploy.flower import provision
from smc_dp.deploy.flower.app.smc_dp_flower import turns
from smc_dp.deploy.flower.app.smc_dp_flower.turns import TurnRelay, decode_turn, encode_turn
from smc_dp.deploy.flower.carrier import SOCKET, FlowerCarrier
from smc_dp.deploy.frame import MOST_FRAME_BYTES, CarrierError, Frame
from smc_dp.deploy.join import open_carrier
from smc_dp.deploy.study import JointStudy
from tests.smc_dp.deploy.test_described_study import DESCRIBED, numbers
from tests.smc_dp.deploy.test_kills import COMMITTED, DyingStore, Fate, Killed, Mortal, called
from tests.support.refusals import refused

PAUSE = 0.02
PAGE = Path(provision.__file__).parents[1] / "HOWTO_FLOWER.md"


def passed(socket_file: Path, question: bytes) -> bytes:
    """The answer to a turn; none where nobody listens."""
    with suppress(OSError), socket.socket(socket.AF_UNIX) as line:
        line.connect(str(socket_file))
        line.sendall(question)
        line.shutdown(socket.SHUT_WR)
        return b"".join(iter(lambda: line.recv(1 << 20), b""))
    return b""


def give_turns(relay: TurnRelay, lines: Mapping[str, Path], stopped: Callable[[], bool]) -> int:
    """Give turns to the sites, each in a thread, until it is stopped, and return their number, as the ServerApp does.

    `lines`: folders of their sockets.
    """
    answers: dict[str, bytes] = {}
    count = 0

    def ask(name: str, question: bytes) -> None:
        answers[name] = passed(lines[name] / SOCKET, question)

    while not stopped():
        for name in relay.due(list(lines)):
            count += 1
            threading.Thread(target=ask, args=[name, relay.question(name)], daemon=True).start()
        for name in list(answers):
            relay.take(name, answers.pop(name))
        time.sleep(0.001)
    return count


@dataclass
class FlowerRelay:
    """The ServerApp's relay in a thread, which calls the sites' sockets in threads, as Flower does in processes."""

    folder: Path
    study: JointStudy = field(default_factory=lambda: sites.joint(ENDURING))
    open: dict[str, FlowerCarrier] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name in self.study.names:
            (self.folder / name).mkdir(mode=0o700, parents=True)
        self.start()

    def carrier(self, name: str, patience: float = 60.0, most_bytes: int = MOST_FRAME_BYTES) -> FlowerCarrier:
        if name in self.open:
            self.open[name].close()
        self.open[name] = FlowerCarrier(self.folder / name, most_bytes, 2 * patience, longest=0.01)
        return self.open[name]

    def start(self) -> None:
        self.stopped = threading.Event()
        self.thread = threading.Thread(target=self._run, args=[self.stopped], daemon=True)
        self.thread.start()

    def kill(self) -> None:
        self.stopped.set()
        self.thread.join()

    def _run(self, stopped: threading.Event) -> None:
        with closing(TurnRelay(str(self.folder / "frames"), self.study.names, PAUSE)) as relay:
            relay.lost = 10.0
            give_turns(relay, {name: self.folder / name for name in self.study.names}, stopped.is_set)


@contextmanager
def flower(folder: Path) -> Iterator[RunningRelay]:
    found = FlowerRelay(folder)
    try:
        yield found
    finally:
        found.kill()
        for carrier in found.open.values():
            carrier.close()


@pytest.mark.slow
class TestFlower(CarrierSuite):
    running = staticmethod(flower)  # type: ignore[assignment]

    def test_a_site_that_dies_at_each_of_its_commits_and_the_relay_with_it_change_nothing(
        self, relay: FlowerRelay, tmp_path: Path
    ) -> None:
        class Shared(Fate):
            def meet(self, where: str, what: Iterable[str]) -> None:
                try:
                    super().meet(where, what)
                except Killed:
                    relay.kill()
                    relay.start()
                    raise

        whole = Sites(relay.study, tmp_path / "whole").run()
        fate = Shared(f"{COMMITTED}: {called(frame)}" for frame in whole.frames())
        with over(relay, tmp_path / "sites", lambda name, way: way, Mortal) as run:
            run.kind = partial(DyingStore, fate)
            run.run()
            assert not fate.left
            assert made_in(run) == made_in(whole)
            assert [run.at[name].entries() for name in run.study.parties] == [["released"]] * 3
        whole.close()


def test_the_relay_has_the_names_of_the_curator_and_of_all() -> None:
    assert (turns.CURATOR, turns.EVERYBODY) == (CURATOR_NAME, PUBLIC_NAME)


# The messages of a study, which are the turns of its sites.

COUNTED = re.findall(r"^\| (.+) \| (\d+) \| (\d+) \| (\d+) \|$", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
STATED = {
    "`wsum`, no drop-outs": sites.one_sum(dropouts=0),
    "`describe`, no drop-outs": {**DESCRIBED, "protocol": sites.one_sum(dropouts=0)["protocol"]},
    "`newton`, no drop-outs": sites.newton(),
    "`newton --colluders 0 --dropouts 1`": sites.newton(colluders=0, dropouts=1),
}


def turns_of(stated: Mapping[str, Any], folder: Path) -> tuple[int, int, int]:
    """Sums of a study of four sites, exchanges in each, and turns in all. No turn is given because time passes."""
    study, lasting = sites.joint({**ENDURING, **stated}), 600.0
    given, ends, lines, programs = sites.approvals(study), dict[str, str](), dict[str, Path](), list[threading.Thread]()

    def take_part(here: AtHand, way: FlowerCarrier) -> None:
        with closing(here.store()) as store, closing(way):
            ends[here.name] = here.participation(store, way, clock=time.time).run()

    for name in study.names:
        here, line = AtHand(study, name, folder / name, given[name]).prepared(), folder / name / "line"
        line.mkdir(mode=0o700)
        lines[name] = line
        programs.append(in_background(partial(take_part, here, FlowerCarrier(line, patience=lasting, longest=lasting))))
    with closing(TurnRelay(str(folder / "frames"), study.names, lasting)) as relay:
        count = give_turns(relay, lines, lambda: relay.over or not any(map(threading.Thread.is_alive, programs)))
    for program in programs:
        program.join()
    assert ends == dict.fromkeys(study.names, "released")
    with closing(AtHand(study, "P1", folder / "P1", given["P1"]).store()) as store:
        sent = [Envelope.decode(p.body).stage for p in store.outgoing() if (p.lane, p.to) == ("envelope", CURATOR_NAME)]
    exchanges = Counter(stage for stage in sent if stage.startswith("sum"))
    (each,) = set(exchanges.values())
    return len(exchanges), each, count


@pytest.mark.parametrize("study", STATED)
def test_the_page_says_how_many_messages_a_study_takes(
    study: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if "describe" in study:
        monkeypatch.setattr(sites, "rows", numbers)
    assert {name: tuple(map(int, figures)) for name, *figures in COUNTED}[study] == turns_of(STATED[study], tmp_path)


def test_the_page_says_how_many_messages_are_those_of_sums() -> None:
    said = re.search(r"Of the (\d+) messages (\d+) are those of (\d+) sums", PAGE.read_text(encoding="utf-8"))
    assert said
    assert [name for name, *_ in COUNTED] == list(STATED)
    sums, exchanges, count = map(int, COUNTED[-1][1:])
    assert tuple(map(int, said.groups())) == (count, len(STUDY.names) * sums * exchanges, sums)


# One site, and a relay whose turns are taken by hand.

STUDY = sites.joint({**ENDURING, "relay": "flower://relay.example"})
ANSWER = {"program": str, "turn": int, "at": int, "over": bool, "places": list}


def frame(number: int, to: str = "P2") -> Frame:
    return Frame(STUDY.digest, "P1", to, "envelope", number, b"sealed")


@pytest.fixture
def tmp_path() -> Iterator[Path]:
    """A folder of a short name, in place of pytest's: the path of a socket has at most 108 bytes."""
    with tempfile.TemporaryDirectory(dir=os.environ.get("PYTEST_DEBUG_TEMPROOT", "/tmp")) as folder:
        yield Path(folder)


@pytest.fixture
def relay(tmp_path: Path) -> Iterator[TurnRelay]:
    with closing(TurnRelay(str(tmp_path / "frames"), STUDY.names, 0.0)) as found:
        yield found


@pytest.fixture
def site(tmp_path: Path) -> Iterator[FlowerCarrier]:
    (tmp_path / "P1").mkdir(mode=0o700)
    with closing(FlowerCarrier(tmp_path / "P1", patience=5.0, longest=0.05)) as found:
        yield found


def in_background(act: Callable[[], object]) -> threading.Thread:
    thread = threading.Thread(target=act, daemon=True)
    thread.start()
    return thread


def test_a_turn_whose_answer_is_lost_is_repeated_and_nothing_counts_as_stored_before(
    relay: TurnRelay, site: FlowerCarrier, tmp_path: Path
) -> None:
    sending = in_background(lambda: site.send([frame(0), frame(1)]))
    for _ in range(2):  # the relay takes neither answer
        _, lost = decode_turn(passed(tmp_path / "P1" / SOCKET, relay.question("P1")), **ANSWER)
        assert lost == [frame(0).encode(), frame(1).encode()]
    assert sending.is_alive()
    relay.take("P1", passed(tmp_path / "P1" / SOCKET, relay.question("P1")))
    assert sending.is_alive(), "the site cannot know yet that they are stored"
    relay.take("P1", passed(tmp_path / "P1" / SOCKET, relay.question("P1")))
    sending.join(5)
    assert not sending.is_alive()
    assert site.last("P2", "envelope") == frame(1)
    assert decode_turn(relay.question("P2"))[1] == [frame(0).encode(), frame(1).encode()]


def test_a_question_for_an_earlier_program_says_nothing_of_what_this_one_sent(
    relay: TurnRelay, site: FlowerCarrier, tmp_path: Path
) -> None:
    sending = in_background(lambda: site.send([frame(0)]))
    assert passed(tmp_path / "P1" / SOCKET, relay.question("P1"))
    relay.take("P1", encode_turn({"program": "dead", "turn": 1, "at": 0, "over": True, "places": []}, []))
    relay.take("P1", passed(tmp_path / "P1" / SOCKET, relay.question("P1")))
    sending.join(0.1)
    assert sending.is_alive()
    assert not relay.over, "the program that ended is not the one that answers"
    for _ in range(2):
        relay.take("P1", passed(tmp_path / "P1" / SOCKET, relay.question("P1")))
    sending.join(5)
    assert not sending.is_alive()


def test_the_curator_has_a_turn_alone_and_parties_have_theirs_together(relay: TurnRelay) -> None:
    said = {"turn": 1, "at": 0, "over": False}
    assert relay.due(STUDY.names) == [*STUDY.names], "all are asked who they are"
    for name in STUDY.names:
        own = [["public", "approval", 0]] if name == "P1" else []
        relay.take(name, encode_turn({**said, "program": name, "places": own}, [b"approval"] * len(own)))
    assert relay.due(STUDY.names) == [CURATOR_NAME]
    assert relay.due(["P1", "P2"]) == ["P2"], "what is not there is not asked"
    relay._pause = 60.0
    relay.question(CURATOR_NAME)
    assert relay.due(STUDY.names) == [], "the others wait for the curator"
    relay.take(CURATOR_NAME, encode_turn({**said, "program": CURATOR_NAME, "at": 1, "places": []}, []))
    assert relay.due(STUDY.names) == ["P2", "P3"]
    for name in ("P2", "P3"):
        relay.take(name, encode_turn({**said, "program": name, "at": 1, "places": []}, []))
    assert relay.due(STUDY.names) == ["P1"], "its frame is stored, and it does not know"


JUNK = {
    "nothing": b"",
    "no line": b"{}",
    "no head": b"[]\n",
    "no JSON": b"x\n",
    "other types": b'{"program": "", "turn": "0", "own": 0, "at": 0, "sizes": []}\n',
    "true for a number": b'{"program": "", "turn": true, "own": 0, "at": 0, "sizes": []}\n',
    "a size below 0": b'{"program": "", "turn": 0, "own": 0, "at": 0, "sizes": [1, -1]}\n',
    "too few bytes": b'{"program": "", "turn": 0, "own": 0, "at": 0, "sizes": [2]}\nx',
    "too deep": b"[" * 100_000,
}


@pytest.mark.parametrize("name", JUNK)
def test_bytes_that_are_no_turn_have_no_answer_and_no_effect(
    name: str, relay: TurnRelay, site: FlowerCarrier, tmp_path: Path
) -> None:
    assert passed(tmp_path / "P1" / SOCKET, JUNK[name]) == b""
    relay.take("P1", JUNK[name])
    assert relay.due(["P1"]) == ["P1"]
    assert passed(tmp_path / "P1" / SOCKET, relay.question("P1"))


def test_frames_that_are_none_are_left_out_and_the_next_is_brought(site: FlowerCarrier, tmp_path: Path) -> None:
    head = {"program": "", "turn": 0, "own": 1, "at": 3}
    question = encode_turn(head, [b"none", b"none either", Frame(STUDY.digest, "P2", "P1", "notice", 0, b"").encode()])
    assert passed(tmp_path / "P1" / SOCKET, question)
    assert [found.lane for found in site.fetch(1)] == ["notice"]
    assert site.last("P2", "envelope") is None


def test_a_site_without_turns_does_not_take_silence_for_an_answer(tmp_path: Path) -> None:
    with closing(FlowerCarrier(tmp_path, patience=0.1)) as alone:
        assert alone.fetch(0.01) == []
        for ask in (lambda: alone.fetch(0.2), lambda: alone.send([frame(0)]), lambda: alone.last("P2", "notice")):
            with pytest.raises(CarrierError) as found:
                ask()
            assert found.value.code == "relay.no_turn"


@pytest.mark.parametrize(("folder", "mode"), [(0o700, 0o600), (0o2750, 0o660)])
def test_the_folder_says_who_may_call_the_socket(folder: int, mode: int, tmp_path: Path) -> None:
    (tmp_path / "own").mkdir()
    (tmp_path / "own").chmod(folder)
    with closing(FlowerCarrier(tmp_path / "own")):
        found = (tmp_path / "own" / SOCKET).stat()
        assert stat.S_IMODE(found.st_mode) == mode
        assert found.st_gid == (tmp_path / "own").stat().st_gid


def test_a_second_program_does_not_take_the_socket(site: FlowerCarrier, tmp_path: Path) -> None:
    with refused("relay.socket_in_use"):
        FlowerCarrier(tmp_path / "P1")
    site.close()
    FlowerCarrier(tmp_path / "P1").close()
    assert not (tmp_path / "P1" / SOCKET).exists()


def test_a_socket_that_cannot_be_made_is_refused(tmp_path: Path) -> None:
    (tmp_path / ("long" * 30)).mkdir()
    for folder in (tmp_path / "none", tmp_path / ("long" * 30)):
        with refused("relay.no_socket"):
            FlowerCarrier(folder)


def test_the_address_of_a_study_opens_the_socket_in_the_folder_of_credentials(tmp_path: Path) -> None:
    with closing(open_carrier(STUDY, "P1", tmp_path)):
        assert (tmp_path / SOCKET).is_socket()
    with refused("relay.no_credentials"):
        open_carrier(STUDY, "P1", None)


def as_user(user: int, groups: list[int], act: Callable[[], object]) -> int:
    """The error number of what this user does, 0 for none."""
    child = os.fork()
    if child == 0:
        try:
            os.setgroups(groups)
            os.setgid(user)
            os.setuid(user)
            act()
            os._exit(0)
        except OSError as error:
            os._exit(error.errno or 255)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can act as another user")
def test_the_supernode_s_user_can_call_the_socket_and_read_no_key() -> None:
    supernode, stranger, group = 65_534, 65_533, 65_532
    with tempfile.TemporaryDirectory(dir="/tmp") as named:  # other users may not look into the folders of tests
        folder = Path(named)
        (folder / "north.key").write_text("key")
        (folder / "north.key").chmod(0o600)
        os.chown(folder, 0, group)
        folder.chmod(0o2755)
        with closing(FlowerCarrier(folder)):

            def call() -> None:
                with socket.socket(socket.AF_UNIX) as line:
                    line.connect(str(folder / SOCKET))

            assert as_user(supernode, [group], call) == 0
            assert as_user(stranger, [], call) == errno.EACCES
            assert as_user(supernode, [group], (folder / "north.key").read_bytes) == errno.EACCES
