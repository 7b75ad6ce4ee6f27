"""What every carrier has to do, whatever its relay is: frames come, and a session over it is the same to the byte.

A test file has one class for each carrier, derived from `CarrierSuite`, with a method `running` that gives a
`RunningRelay`. So does the test file of a carrier that another package brings.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, closing, contextmanager
from pathlib import Path
from typing import Protocol

import pytest
from typing_extensions import override

from protocols.arithmetic.permutation import Permutation
from protocols.arithmetic.rng import Stream
from protocols.curator import CURATOR_NAME
from protocols.runtime.session import PUBLIC_NAME
from smc_dp.deploy.frame import Carrier, CarrierError, Frame, Lane
from smc_dp.deploy.study import JointStudy
from support import sites
from support.relay_carriers import PassingCarrier
from support.sites import Sites

LATE, AGAIN = 3, 8  # one frame of so many is kept back; one of so many comes once more
PIECE = 1 << 20  # bytes of a frame that no carrier takes for a small one
MOMENT = 0.005  # seconds for which a site waits for what is under way
ENDURING = {**sites.LINEAR, "deadlines": {"greetings": 24000, "messages": 24000}}  # no network is too slow for it


class RunningRelay(Protocol):
    """A running relay of a study of P1, P2, P3 and charlie."""

    @property
    def study(self) -> JointStudy: ...

    def carrier(self, name: str, patience: float = ..., most_bytes: int = ...) -> Carrier: ...

    def kill(self) -> None: ...

    def start(self) -> None: ...


class RoughCarrier(PassingCarrier):
    """Brings frames late, again and again, and in any order; sends some twice, and often cannot be reached."""

    def __init__(self, inner: Carrier, draws: Stream) -> None:
        super().__init__(inner)
        self._draws = draws
        self._there: dict[bytes, Frame] = {}
        self._old: list[Frame] = []

    @override
    def send(self, frames: Sequence[Frame]) -> None:
        self._or_fail()
        for frame in frames:
            self.inner.send([frame] * (1 + self._draws.below(2)))
            self._or_fail()

    @override
    def fetch(self, seconds: float) -> list[Frame]:
        self._or_fail()
        came = self.inner.fetch(seconds)
        self.inner.taken(came)
        self._there.update((frame.digest, frame) for frame in came)
        found = [frame for frame in self._there.values() if self._draws.below(LATE)]
        found += [frame for frame in self._old if self._draws.below(AGAIN) == 0]
        return Permutation.random(len(found), self._draws)(found)

    @override
    def taken(self, frames: Sequence[Frame]) -> None:
        for frame in frames:
            self._old += [self._there.pop(frame.digest)] if frame.digest in self._there else []

    @override
    def last(self, to: str, lane: Lane) -> Frame | None:
        self._or_fail()
        return self.inner.last(to, lane)

    def _or_fail(self) -> None:
        if self._draws.below(12) == 0:
            raise CarrierError("relay.unreachable")


class BriefCarrier(PassingCarrier):
    """Waits a moment for what is under way: time goes on only where nobody can move."""

    @override
    def fetch(self, seconds: float) -> list[Frame]:
        return self.inner.fetch(MOMENT)


def brought(carrier: Carrier, most: int, seconds: float = 20.0) -> list[Frame]:
    """What comes until so many have, each once and acknowledged, in the order in which they came."""
    found: dict[bytes, Frame] = {}
    end = time.monotonic() + seconds
    while len(found) < most and (left := end - time.monotonic()) > 0:
        came = carrier.fetch(left)
        found.update((frame.digest, frame) for frame in came)
        carrier.taken(came)
    return list(found.values())


def frame(
    relay: RunningRelay, to: str, number: int, body: bytes = b"sealed", lane: Lane = "envelope", by: str = "P1"
) -> Frame:
    return Frame(relay.study.digest, by, to, lane, number, body)


class CarrierSuite:
    """Tests of one carrier."""

    def running(self, folder: Path) -> AbstractContextManager[RunningRelay]:
        """A new relay that runs, with this folder for all that it needs."""
        raise NotImplementedError

    @pytest.fixture
    def relay(self, tmp_path: Path) -> Iterator[RunningRelay]:
        with self.running(tmp_path / "relay") as found:
            yield found

    @pytest.fixture
    def ways(self, relay: RunningRelay) -> Iterator[dict[str, Carrier]]:
        with ExitStack() as stack:
            yield {name: stack.enter_context(closing(relay.carrier(name, 2.0))) for name in relay.study.names}

    def test_each_gets_its_own_and_what_is_for_all_and_the_curator_all_envelopes(
        self, relay: RunningRelay, ways: dict[str, Carrier]
    ) -> None:
        one, two, three, four = (
            *(frame(relay, "P2", 0), frame(relay, PUBLIC_NAME, 0)),
            *(frame(relay, "P2", 0, lane="notice"), frame(relay, CURATOR_NAME, 0, bytes(3 * PIECE))),
        )
        assert ways["P1"].last("P2", "envelope") is None
        ways["P1"].send([one, two, three, four])
        ways["P1"].send([one, two, three, four])  # repeats do no harm
        assert sorted(x.key for x in brought(ways["P2"], 3)) == sorted(x.key for x in (one, two, three))
        assert brought(ways["P3"], 1) == [two]
        assert brought(ways[CURATOR_NAME], 3) == [one, two, four]
        assert [way.fetch(0) for way in ways.values()] == [[]] * 4
        assert ways["P1"].last("P2", "envelope") == one
        assert ways["P1"].last(CURATOR_NAME, "envelope") == four
        assert ways["P2"].last("P2", "envelope") is None  # what others sent is not asked for here

    def test_what_was_not_acknowledged_comes_again_also_to_a_program_that_is_started_again(
        self, relay: RunningRelay, ways: dict[str, Carrier]
    ) -> None:
        sent = [frame(relay, "P1", n, by="P2") for n in range(60)]
        ways["P2"].send(sent)
        assert ways["P1"].fetch(10)
        with closing(relay.carrier("P1")) as again:
            assert sorted(x.key for x in brought(again, 60, 60)) == sorted(x.key for x in sent)
            assert again.fetch(0) == []

    def test_two_frames_under_one_number_are_both_brought(self, relay: RunningRelay, ways: dict[str, Carrier]) -> None:
        for size in (1, PIECE + 1):
            both = [frame(relay, "P2", size, bytes([n]) * size, by="P3") for n in range(2)]
            ways["P3"].send(both)
            assert brought(ways["P2"], 2) == both

    def test_a_frame_that_is_too_long_for_the_study_is_left_out_and_the_next_is_brought(
        self, relay: RunningRelay, ways: dict[str, Carrier]
    ) -> None:
        sizes = (1, 2 * PIECE, 2 * PIECE - 1000, 1)
        short, long, fits, later = (frame(relay, "P3", n, bytes(size), by="P2") for n, size in enumerate(sizes))
        ways["P2"].send([short, long, fits])
        with closing(relay.carrier("P3", most_bytes=2 * PIECE)) as way:
            assert brought(way, 2) == [short, fits]
            ways["P2"].send([later])
            assert brought(way, 1) == [later]
            assert way.fetch(0) == []

    def test_a_site_that_waits_hears_at_once(self, relay: RunningRelay, ways: dict[str, Carrier]) -> None:
        one = frame(relay, "P3", 9, lane="notice", by=CURATOR_NAME)
        timer = threading.Timer(0.2, ways[CURATOR_NAME].send, [[one]])
        timer.start()
        began = time.monotonic()
        assert brought(ways["P3"], 1) == [one]
        assert time.monotonic() - began < 4
        timer.join()

    @pytest.mark.slow
    def test_sixty_megabytes_travel(self, relay: RunningRelay) -> None:
        large = frame(relay, "P1", 0, bytes(60_000_000), "transcript", CURATOR_NAME)
        with closing(relay.carrier(CURATOR_NAME)) as way, closing(relay.carrier("P1")) as site:  # patient ones
            way.send([large])
            assert brought(site, 1, 120) == [large]
            assert way.last("P1", "transcript") == large

    def test_a_killed_relay_is_an_error_and_keeps_what_it_had(
        self, relay: RunningRelay, ways: dict[str, Carrier]
    ) -> None:
        one, two = (frame(relay, "P2", n, lane="approval", by=CURATOR_NAME) for n in range(2))
        way, kept = ways[CURATOR_NAME], frame(relay, "P3", 0, lane="approval", by=CURATOR_NAME)
        way.send([one, kept])
        assert ways["P2"].fetch(10) == [one]
        relay.kill()
        ways["P2"].taken([one])  # which only the relay needs to know, and it will ask again
        with pytest.raises(CarrierError):
            way.send([two])
        relay.start()
        with closing(relay.carrier("P3")) as again:
            assert brought(again, 1) == [kept]
        way.send([one, two])  # the first again, over a connection that was lost
        with closing(relay.carrier("P2")) as again:
            assert two in brought(again, 2, 5)
        assert way.last("P2", "approval") == two

    def test_a_relay_that_loses_delays_repeats_and_reorders_changes_nothing(
        self, relay: RunningRelay, tmp_path: Path
    ) -> None:
        draws = Stream.insecure_from_seed("rough")
        with over(relay, tmp_path / "sites", lambda name, way: RoughCarrier(way, draws.fork(name))) as run:
            run.run()
            assert made_in(run) == undisturbed(relay.study, tmp_path)
            assert all("relay.unreachable" in said for said in run.said.values())

    def test_a_relay_that_dies_in_a_session_alone_and_with_all_sites_changes_nothing(
        self, relay: RunningRelay, tmp_path: Path
    ) -> None:
        with over(relay, tmp_path / "sites", lambda name, way: way) as run:
            for consumed, dying in ((2, ()), (6, relay.study.names)):
                run.run(until=lambda consumed=consumed: consumed_at(run, "P1") >= consumed)  # type: ignore[misc]
                relay.kill()
                relay.start()
                for name in dying:
                    run.begin(name)
            run.run()
            assert made_in(run) == undisturbed(relay.study, tmp_path)


@contextmanager
def over(
    relay: RunningRelay, folder: Path, between: Callable[[str, Carrier], Carrier], kind: type[Sites] = Sites
) -> Iterator[Sites]:
    """The sites of a study over this relay, each with something between its carrier and itself."""
    with ExitStack() as stack:

        def way(name: str, in_memory: Carrier) -> Carrier:
            return between(name, BriefCarrier(stack.enter_context(closing(relay.carrier(name)))))

        run = kind(relay.study, folder, way, options={"sleep": lambda seconds: None})
        yield run
        run.close()


def consumed_at(run: Sites, name: str) -> int:
    """How many messages the role of a site has read."""
    going = run.going.get(name)
    return 0 if going is None or going._site is None else going._site.consumed


def made_in(run: Sites) -> tuple[dict[tuple[str, str], list[bytes]], dict[str, bytes]]:
    """What has to be the same, whatever happened on the way: envelopes by link as the curator has them, releases."""
    store = run.stores[CURATOR_NAME]
    return sites.by_link((*store.received(), *store.outgoing())), run.releases()


def undisturbed(study: JointStudy, folder: Path) -> tuple[dict[tuple[str, str], list[bytes]], dict[str, bytes]]:
    """What the same sites make over nothing but memory."""
    run = Sites(study, folder / "undisturbed").run()
    found = made_in(run)
    run.close()
    assert len(found[1]) == len(study.names)
    return found
