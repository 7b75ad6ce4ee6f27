"""One order for a record, however its mail arrived: what audits ask of it holds, and of other orders it does not."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import pytest
from support.sessions import Setup, setup
from support.summed import summing
from support.sums import Loose, made, parameters

from protocols.arithmetic.permutation import Permutation
from protocols.arithmetic.rng import Stream
from protocols.curator import CURATOR_NAME
from protocols.errors import PeerError, ProtocolError
from protocols.runtime.envelope import HELLO, Envelope
from protocols.runtime.inbox import Absent
from protocols.runtime.session import PUBLIC_NAME, Session
from protocols.runtime.simulate import DropOutAfter, Run
from protocols.runtime.transcript import Transcript
from protocols.secure_sum.parameters import SHARES
from smc_dp.audit.run.check import CheckOutcome
from smc_dp.audit.run.conformity import CONVERSATION_CHECKS, LINK_CHECKS, SESSION_CHECKS
from smc_dp.audit.run.evidence import load_evidence
from smc_dp.deploy.merge import Mark, merge
from smc_dp.deploy.site_transcript import owed_absences
from smc_dp.run.agreement import SEEDED, TEST_KEYS
from smc_dp.run.documents import RELEASE_FORMAT
from smc_dp.run.release import RELEASE, TRANSCRIPT
from tests.support.refusals import refused


class Left(NamedTuple):
    """What sites have after a session: every message, every mark, what was owed to everybody among them."""

    session: Session
    envelopes: list[Envelope]
    marks: list[Mark]
    insecure: tuple[str, ...]


def left(made: Setup, **vanish: int) -> Left:
    """A session in which each of these sends so many letters, and nothing after."""
    run = made.simulate(drop_outs={name: DropOutAfter(n) for name, n in vanish.items()})
    return of_run(made, run)


def of_run(made: Setup, run: Run) -> Left:
    """What a simulated run left, with what its keeper makes of those who gave no word at the end."""
    marks: list[Mark] = [(name, absent) for name, absents in run.absent.items() for absent in absents]
    envelopes = run.transcript.envelopes
    done = {name for name, end in run.ends.items() if end != "gone"}
    insecure = (SEEDED,) if made.session.program.name == "secure_sum" else (SEEDED, TEST_KEYS)
    return Left(made.session, envelopes, [*marks, *owed_absences(made.session, envelopes, marks, done)], insecure)


def shuffled(left: Left, seed: int) -> Left:
    """The same in another order, with some messages twice."""
    coins = Stream.insecure_from_seed(f"shuffled {seed}")

    def mixed(found: list[object]) -> list[object]:
        twice = [*found, *found[: coins.below(5)]]
        return Permutation.random(len(twice), coins)(twice)

    return left._replace(envelopes=mixed(left.envelopes), marks=mixed(left.marks))  # type: ignore[arg-type]


def written_down(left: Left, entries: Iterable[Envelope | Mark]) -> bytes:
    """A record of these, in this order."""
    made = Transcript(left.session, left.insecure)
    for entry in entries:
        if isinstance(entry, Envelope):
            made.post(entry)
        else:
            made.miss(*entry)
    return b"".join(made.chunks())


def audited(folder: Path, record: bytes) -> dict[str, CheckOutcome]:
    """What all checks of a record's lines, session and conversation say of it; the release states nothing."""
    folder.mkdir(parents=True)
    (folder / RELEASE).write_text(json.dumps({"format": RELEASE_FORMAT, "digests": {}}))
    (folder / TRANSCRIPT).write_bytes(record)
    evidence = load_evidence(folder)
    return {check.name: check.run(evidence) for check in (*LINK_CHECKS, *SESSION_CHECKS, *CONVERSATION_CHECKS)}


def failed(outcomes: dict[str, CheckOutcome]) -> set[str]:
    """The names of those that failed."""
    return {name for name, outcome in outcomes.items() if outcome.status == "failed"}


OF_THE_ORDER = ("order", "rounds", "completeness", "headers")
WHOLE: dict[str, Callable[[], Setup]] = {
    "tournament": lambda: setup(3, 1),
    "all pairs": lambda: setup(3, 1, "all-pairs"),
    "a sum": lambda: summing(D=0),
    "shares": lambda: summing(D=0, output=SHARES),
    "two sums that anybody can check": lambda: summing(K=4, lengths=(2, 3), verifiable=True),
}
# After so many letters of two sums somebody vanishes: before its greeting, in the set-up, at each step of each sum.
VANISHED = [*range(11)]


def record(found: Left) -> bytes:
    return written_down(found, merge(found.session, found.envelopes, found.marks))


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.slow if name == "all pairs" else ()) for name in WHOLE]
)
def test_a_merged_record_passes_and_other_orders_fail(name: str, tmp_path: Path) -> None:
    """Blocks of each sender, and an interleaving of the senders' own orders that coins draw, are the broken twins.

    Where masked inputs are published at once nobody sends anybody a letter, and there is no order that could be wrong.
    """
    found = left(WHOLE[name]())
    merged = record(shuffled(found, 1))
    assert merged == record(shuffled(found, 2)) == record(found)
    outcomes = audited(tmp_path / "merged", merged)
    assert failed(outcomes) == set()
    assert {outcomes[check].status for check in OF_THE_ORDER} == {"passed"}
    if all(e.is_public for e in found.envelopes):
        assert name == "shares"
        return
    blocks = [e for sender in found.session.names for e in found.envelopes if e.sender == sender]
    assert "rounds" in failed(audited(tmp_path / "blocks", written_down(found, blocks)))
    assert "rounds" in failed(audited(tmp_path / "drawn", written_down(found, interleaved(found))))


def interleaved(found: Left) -> list[Envelope]:
    """Each sender's messages in its own order, and who is next drawn by coins."""
    coins = Stream.insecure_from_seed("interleaved")
    own = [[e for e in found.envelopes if e.sender == name] for name in found.session.names]
    order = []
    while own := [mail for mail in own if mail]:
        order.append(own[coins.below(len(own))].pop(0))
    return order


@pytest.mark.parametrize("letters", VANISHED)
def test_a_record_in_which_somebody_vanished_passes_too(letters: int, tmp_path: Path) -> None:
    found = left(summing(lengths=(2, 2)), P2=letters)
    merged = record(shuffled(found, letters))
    assert merged == record(shuffled(found, letters + 1))
    assert failed(audited(tmp_path / "merged", merged)) == set()


def test_without_its_marks_such_a_record_fails(tmp_path: Path) -> None:
    """So they are what makes the audit pass, the one of what was owed to everybody among them."""
    for n, letters in enumerate((4, 10)):
        found = left(summing(lengths=(2, 2)), P2=letters)
        assert found.marks
        assert "completeness" in failed(audited(tmp_path / str(n), record(found._replace(marks=[]))))


def late(entries: Sequence[Envelope | Mark], simulated: Sequence[Envelope | Mark]) -> list[Mark]:
    """The marks that stand behind a message which their reader sent after them."""
    return [
        mark
        for mark in (entry for entry in simulated if not isinstance(entry, Envelope))
        if not set(after(simulated, mark)) <= set(after(entries, mark))
    ]


def after(entries: Sequence[Envelope | Mark], mark: Mark) -> list[bytes]:
    following = entries[entries.index(mark) + 1 :]
    return [e.digest for e in following if isinstance(e, Envelope) and e.sender == mark[0]]


@pytest.mark.parametrize("letters", [4, 6, 9])
def test_no_mark_stands_behind_what_followed_from_it(letters: int) -> None:
    """The simulator writes a mark down when it is made; all marks at the end are the broken twin."""
    made = summing(K=5, D=2, lengths=(2, 2))
    run = made.simulate(drop_outs={"P2": DropOutAfter(letters + 2), "P4": DropOutAfter(letters + 3)})
    lines = [line for line in run.transcript.lines() if line["kind"] != "Session"]
    there = {(e.sender, e.to, e.number): e for e in run.transcript.read()}
    simulated: list[Envelope | Mark] = [
        (x["to"], Absent(x["from"], x["missing"], x["stage"], x["read"]))
        if x["kind"] == "Absent"
        else there[x["from"], x["to"], x["number"]]
        for x in lines
    ]
    marks = [entry for entry in simulated if not isinstance(entry, Envelope)]
    merged = merge(made.session, there.values(), marks)
    assert len(marks) > 1
    assert late(merged, simulated) == []
    assert late([*there.values(), *marks], simulated)


# What is no set of a session's messages.


@pytest.fixture(scope="module")
def whole() -> Left:
    return left(summing(D=0))


def merged(found: Left, envelopes: Sequence[Envelope], *marks: Mark) -> list[Envelope | Mark]:
    return merge(found.session, envelopes, marks)


def test_a_mark_stands_behind_each_message_that_it_counts_as_read() -> None:
    """Its reader may have sent others in the same round, before it read that one."""
    whole = left(summing())
    read: Counter[tuple[str, Absent]] = Counter()
    for e in (e for e in whole.envelopes if e.to != PUBLIC_NAME):
        first = e.to, Absent(e.sender, e.kind, e.stage)
        read[first] += 1
        mark = e.to, replace(first[1], read=read[first])
        found = merged(whole, whole.envelopes, mark)
        assert found.index(mark) > found.index(e)


def test_a_message_that_is_missing_between_others_is_noticed(whole: Left) -> None:
    found = whole.envelopes
    gap = next(e for e in found if e.sender == "P2" and e.kind == "Masked")
    with refused("chain.message_missing", error=ProtocolError, sender="P2"):
        merged(whole, [e for e in found if e != gap])
    last = [e for e in found if e.sender == "P2"][-1]
    assert len(merged(whole, [e for e in found if e != last])) == len(found) - 1, "an end that is missing is no gap"


def test_two_messages_in_one_place_end_it_with_both(whole: Left) -> None:
    one = next(e for e in whole.envelopes if e.sender == "P2" and e.kind == "Masked")
    same_number = one.holding(one.body[:-1] + bytes([one.body[-1] ^ 1]))
    same_place = replace(one, number=one.number + 7)
    for other in (same_number, same_place):
        for envelopes in ([*whole.envelopes, other], [other, *whole.envelopes]):
            with refused("chain.two_messages", error=ProtocolError) as raised:
                merged(whole, envelopes)
            assert set(raised.value.fault.fields["digests"]) == {one.digest.hex(), other.digest.hex()}
            assert not isinstance(raised.value, PeerError), "nobody is blamed"


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"session": bytes(32)}, "message.of_another_session"),
        ({"sender": "nobody"}, "message.of_another_session"),
        ({"to": "nobody"}, "message.to_a_stranger"),
        ({"to": "P2"}, "message.to_a_stranger"),
        ({"number": 5}, "message.number_out_of_chain"),
    ],
)
def test_what_is_not_of_the_session_is_refused(whole: Left, change: dict[str, object], code: str) -> None:
    last = [e for e in whole.envelopes if e.sender == "P2"][-1]
    other = replace(last, **change)  # type: ignore[arg-type]
    with refused(code, error=PeerError) as raised:
        merged(whole, [*(e for e in whole.envelopes if e != last), other])
    assert raised.value.culprit.startswith("somebody")


@pytest.mark.parametrize("mark", [("nobody", Absent("P1", "Masked", "sum0")), ("P1", Absent(PUBLIC_NAME, "x", "y"))])
def test_marks_of_strangers_are_refused(whole: Left, mark: Mark) -> None:
    assert len(merged(whole, whole.envelopes, ("charlie", Absent("P1", HELLO, "setup")))) == len(whole.envelopes) + 1
    if mark[1].sender != PUBLIC_NAME:
        with refused("absence.of_strangers", error=PeerError):
            merged(whole, whole.envelopes, mark)


def test_who_states_an_early_round_goes_by_its_chain(whole: Left) -> None:
    """Its own order stays what it signed; that the round is wrong, the audit says."""
    mine = [e for e in whole.envelopes if e.sender == "P2"]
    head, *_, last = mine
    lying = [e for e in merged(whole, [*(e for e in whole.envelopes if e != last), replace(last, round=1)])]
    own = [e for e in lying if isinstance(e, Envelope) and e.sender == "P2"]
    assert own[0] == head
    assert own[-1].round == 1


SETTINGS = [(3, 0, 1, (2,)), (5, 1, 1, (2, 2)), (5, 0, 2, (1,))]


def given_up(seed: int, settings: tuple[int, int, int, tuple[int, ...]], *, all_readers: bool) -> tuple[Left, Loose]:
    """Letters come in any order, some too late; with `all_readers` parties give up on Charlie, and he goes on."""
    setup = made(parameters(*settings, verifiable=True), seed)
    loose = Loose(setup, Stream.insecure_from_seed(f"loose {seed}"), patience=12, all_readers=all_readers)
    sent = loose.run().sent
    marks: list[Mark] = [(name, absent) for name, role in loose.roles.items() for absent in role.marks]
    done = {name for name, role in loose.roles.items() if role.done and name not in loose.raised}
    return Left(setup.session, list(sent), [*marks, *owed_absences(setup.session, sent, marks, done)], (SEEDED,)), loose


def test_charlie_may_publish_where_a_party_gave_him_up(tmp_path: Path) -> None:
    """Each publishes when its own role is done. Without that party's own mark nobody could know why it stopped."""
    found, loose = next(
        (found, loose)
        for found, loose in (given_up(seed, SETTINGS[0], all_readers=True) for seed in range(100))
        if loose.roles[CURATOR_NAME].done and any(role.end == "stopped" for role in loose.roles.values())
    )
    assert CURATOR_NAME in loose.board.published
    assert failed(audited(tmp_path / "merged", record(found))) == set()
    his = [mark for mark in found.marks if mark[0] == CURATOR_NAME]
    assert failed(audited(tmp_path / "his own marks", record(found._replace(marks=his))))
    hidden = [e for e in found.envelopes if (e.sender, e.kind) != (CURATOR_NAME, "PublishedOpening")]
    assert failed(audited(tmp_path / "not published", record(found._replace(envelopes=hidden)))) == set()


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("settings", SETTINGS)
@pytest.mark.parametrize("all_readers", [False, True])
def test_whoever_gives_up_on_whom_the_merged_record_passes(
    seed: int, settings: tuple[int, int, int, tuple[int, ...]], all_readers: bool, tmp_path: Path
) -> None:
    found, _ = given_up(seed, settings, all_readers=all_readers)
    merged = record(shuffled(found, 1))
    assert merged == record(shuffled(found, 2))
    assert failed(audited(tmp_path / "merged", merged)) == set()
