"""The log of a session: every envelope, every absence and every end that is no return; nothing where nobody listens."""

from __future__ import annotations

import logging
from collections import Counter

import pytest
from support.sums import made, parameters

from protocols.runtime.events import Events

EVENTS = "protocols.runtime.events"


def logged(caplog: pytest.LogCaptureFixture, level: int) -> list[str]:
    return [record.getMessage() for record in caplog.records if (record.name, record.levelno) == (EVENTS, level)]


@pytest.mark.parametrize(
    ("level", "sends", "others"),
    [(logging.INFO, 3, "stopped"), (logging.DEBUG, 3, "stopped"), (logging.INFO, 6, "done")],
)
def test_what_a_session_of_which_one_drops_out_leaves_in_the_log(
    level: int, sends: int, others: str, caplog: pytest.LogCaptureFixture
) -> None:
    setup = made(parameters(4, 0, 1))
    with caplog.at_level(level, "protocols"):
        run = setup.simulate(drop_outs={"P2": sends})
    sent, counts, sizes = list(run.transcript.read()), Counter[tuple[str, str]](), Counter[tuple[str, str]]()
    for e in sent:
        counts[e.stage, e.kind] += 1
        sizes[e.stage, e.kind] += e.size
    without = [
        f"{name} goes on without {x.kind} of {x.sender} in {x.stage}" for name in run.absent for x in run.absent[name]
    ]
    lines = logged(caplog, logging.INFO)
    assert lines[0] == f"session {setup.session.id.hex()[:16]}: secure_sum, 5 participants"
    assert sorted(lines[1 : 1 + len(without)]) == sorted(without) != []
    assert lines[1 + len(without) :] == [
        *(f"{stage}: {n:,} {kind}, {sizes[stage, kind]:,} bytes" for (stage, kind), n in counts.items()),
        *(f"{name} is {end}" for name, end in run.ends.items() if end != "done"),
    ]
    assert run.ends == {name: "gone" if name == "P2" else others for name in setup.session.names}
    said = logged(caplog, logging.DEBUG)
    entered = {f"{name} enters {stage}" for name in setup.session.parties for stage in ("keys", "setup")}
    each = {f"{e.sender} to {e.to}: {e.kind} of {e.stage}, {e.size} bytes, round {e.round}" for e in sent}
    assert set(said) == (entered | each | {"charlie enters setup"} if level == logging.DEBUG else set())


def test_where_nobody_listens_nothing_is_counted_and_no_text_is_made(monkeypatch: pytest.MonkeyPatch) -> None:
    def no_record(*_: object, **__: object) -> None:
        raise AssertionError("a record was made")

    monkeypatch.setattr(logging.Logger, "makeRecord", no_record)
    told_of: list[Events] = []
    monkeypatch.setattr(Events, "over", lambda self, ends: told_of.append(self))
    setup = made(parameters(3, 0, 0))
    setup.simulate()
    assert told_of[0]._kinds == {}
