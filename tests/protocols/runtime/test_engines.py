"""One role, two drivers: the same bytes on every link, whatever the schedule; and what `replay` refuses."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

import pytest
from broken import runtime_roles
from support import byte_steps
from support.sessions import PRINTED, Setup, by_link, play, setup, with_roles

from protocols.arithmetic.permutation import Permutation
from protocols.arithmetic.rng import Stream
from protocols.crypto import dgk, paillier
from protocols.errors import LocalError, ReplayError
from protocols.pathak2010 import PROGRAM
from protocols.runtime import message as messages
from protocols.runtime import replay
from protocols.runtime import state as states
from protocols.runtime.actor import Actor
from protocols.runtime.channel import Channel
from protocols.runtime.envelope import HELLO, STAGE_END, Envelope
from protocols.runtime.role_stepper import Progress
from protocols.runtime.session import FORMAT, PUBLIC_NAME, Program, Session
from tests.support.refusals import refused

SCHEDULES = 3


def shuffler(seed: int) -> Callable[[list[str]], list[str]]:
    stream = Stream.insecure_from_seed(f"order {seed}")
    return lambda xs: Permutation.random(len(xs), stream)(xs)


@pytest.mark.parametrize(
    ("program", "comparison", "K"),
    [
        *((PROGRAM, *of) for of in (("tournament", 2), ("all-pairs", 3))),
        (PRINTED, "tournament", 3),
        *(
            pytest.param(program, *of, marks=pytest.mark.slow)
            for program, *of in (
                *((PROGRAM, "all-pairs", 2), (PROGRAM, "tournament", 3), (PROGRAM, "tournament", 5)),
                (PRINTED, "all-pairs", 2),
            )
        ),
    ],
    ids=lambda value: value.name if isinstance(value, Program) else None,
)
def test_both_drivers_same_bytes(program: Program, comparison: str, K: int) -> None:
    made = setup(K, 3, comparison, program=program)
    run = made.simulate()
    wanted = by_link(run.transcript.envelopes)
    played = play(made)
    assert by_link(played.envelopes) == wanted
    assert played.results == run.results
    shares = {name: announced.y for name, announced in run.results.items()}
    assert {name: share.y for name, share in run.published.items()} == shares


@pytest.mark.parametrize(
    ("program", "comparison"),
    [
        (PROGRAM, "tournament"),
        pytest.param(PROGRAM, "all-pairs", marks=pytest.mark.slow),
        pytest.param(PRINTED, "tournament", marks=pytest.mark.slow),
    ],
    ids=lambda value: value.name if isinstance(value, Program) else None,
)
def test_shuffled_schedules_same_bytes(program: Program, comparison: str) -> None:
    made = setup(3, 2, comparison, program=program)
    wanted = by_link(made.simulate().transcript.envelopes)
    orders = set()
    for seed in range(SCHEDULES):
        run = made.simulate(schedule=Stream.insecure_from_seed(f"schedule {seed}"))
        assert by_link(run.transcript.envelopes) == wanted
        orders.add(tuple((e.sender, e.to, e.number) for e in run.transcript.envelopes))
    assert len(orders) == SCHEDULES  # the schedules did differ
    for seed, batch in enumerate((1, 3)):
        assert by_link(play(made, shuffler(seed), batch=batch).envelopes) == wanted


def board_of(sent: Iterable[Envelope]) -> dict[str, Envelope]:
    """The greetings of a run."""
    return {e.sender: e for e in sent if e.kind == HELLO}


class Steps:
    """One role of an honest run, call by call: its mail one at a time, and the state before and after each."""

    def __init__(self, made: Setup, name: str, count: int | None = None) -> None:
        session, identities, seeds, inputs = made
        sent = made.simulate().transcript.envelopes
        self.session, self.signer, self.board = session, identities[name], board_of(sent)
        self.mails = [[e] for e in sent if e.to == name][:count]
        self.steps = [byte_steps.begin(session, name, self.signer, seeds[name], inputs[name], self.board)]
        for mail in self.mails:
            self.steps.append(self.step(len(self.steps) - 1, mail))
        self.states = [step.state for step in self.steps]

    def step(self, n: int, mail: Sequence[Envelope], session: Session | None = None) -> byte_steps.Step:
        """The call after the one of this number, with this mail."""
        last = self.steps[n]
        return byte_steps.step(session or self.session, last.state, mail, self.signer, last.counter, self.board)

    def on(self, state: bytes, counter: int) -> byte_steps.Step:
        """A call without mail, on any bytes."""
        return byte_steps.step(self.session, state, [], self.signer, counter, self.board)


def test_state_of_another_session_or_version_is_refused() -> None:
    made = setup()
    one = Steps(made, "P1", 1)
    session = made.session
    others = {
        "nonce": replace(session, nonce=bytes(32)),
        "version": replace(session, program=replace(PROGRAM, version=PROGRAM.version + 1)),
        "name": replace(session, program=replace(PROGRAM, name="another")),
        "program": replace(session, program=PRINTED),
    }
    assert one.step(0, one.mails[0]).state != one.states[0]
    for other in others.values():
        with refused("state.of_another_session", error=ReplayError):
            one.step(0, [], other)


def kept_in(state: bytes, session: Session) -> dict[str, Any]:
    """What a state holds."""
    kept: dict[str, Any] = states.load_state(state, records_of(session))
    return kept


def records_of(session: Session) -> tuple[type[Any], ...]:
    return (*session.program.records, type(session.parameters))


def test_state_of_another_format_is_refused() -> None:
    made = setup(2, 1)
    one = Steps(made, "P1", 0)
    kept = kept_in(one.states[0], made.session)
    assert states.dump_state(kept, records_of(made.session)) == one.states[0]
    older = kept | {"program": (FORMAT - 1, *kept["program"][1:])}
    with refused("state.of_another_session", error=ReplayError):
        one.on(states.dump_state(older, records_of(made.session)), 1)


def test_truncated_and_garbled_states_are_refused() -> None:
    made = setup(2, 1)
    one = Steps(made, "P1", 4)
    state, counter = one.states[-1], one.steps[-1].counter
    for length in (0, 1, 2, len(state) // 2, len(state) - 1):
        with refused("state.not_plain", error=ReplayError):
            one.on(state[:length], counter)
    with refused("state.not_plain", error=ReplayError):
        one.on(state + b"\x00", counter)
    values: tuple[Any, ...] = (None, 7, b"", [], {}, {"program": ("pathak2010", 1, b"")})
    for value in values:
        with refused("state.of_another_session", error=ReplayError):
            one.on(states.dump_state(value, ()), counter)
    kept = kept_in(state, made.session)
    for key in kept:
        for wrong in ({k: v for k, v in kept.items() if k != key}, kept | {key: None}):
            with pytest.raises(ReplayError):
                one.on(states.dump_state(wrong, records_of(made.session)), counter)
    assert one.on(state, counter).counter == counter + 1


def test_states_are_numbered_and_an_old_one_is_refused() -> None:
    one = Steps(setup(2, 1), "P1")
    assert [step.counter for step in one.steps] == list(range(1, len(one.steps) + 1))
    assert [kept_in(state, one.session)["counter"] for state in one.states] == [step.counter for step in one.steps]
    newest = one.steps[-1].counter
    for step in one.steps[:-1]:
        with refused("state.not_the_newest", error=ReplayError, number=step.counter, wanted=newest):
            one.on(step.state, newest)
        with refused("state.not_the_newest", error=ReplayError):
            one.on(step.state, step.counter + 1)
    with refused("state.not_the_newest", error=ReplayError):
        byte_steps.release(one.session, one.states[-2], one.signer, newest, one.board)
    assert one.on(one.states[-1], newest).counter == newest + 1


def test_whoever_forgets_the_number_seals_two_plaintexts_under_one_nonce() -> None:
    """What the number is for: the same state, asked again with other mail of P2, answers with other letters."""
    made = setup(2, 1)
    p, mine = made.inputs["P2"]
    other = made._replace(inputs=dict(made.inputs) | {"P2": (p, replace(mine, n=mine.n + 1))})
    one, two = Steps(made, "charlie"), Steps(other, "charlie")
    at = next(n for n, mails in enumerate(zip(one.mails, two.mails, strict=True)) if mails[0] != mails[1])
    assert one.states[at] == two.states[at]
    sent = [{(e.to, e.number): e for n in range(at, len(s.mails)) for e in s.steps[n + 1].mail} for s in (one, two)]
    assert any(e.body[:-16] != sent[1][place].body[:-16] for place, e in sent[0].items() if place[0] != PUBLIC_NAME)
    with refused("state.not_the_newest", error=ReplayError):  # with the number, the second answer is not given
        byte_steps.step(made.session, two.states[at], two.mails[at], one.signer, one.steps[at + 1].counter, one.board)


def test_nondeterministic_role_stops_before_sealing_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    """A role that draws outside its stream makes another message at replay: nothing is sealed under a used nonce."""
    made = setup(program=with_roles(PROGRAM, party=runtime_roles.drawing_from(Stream.insecure_from_seed("outside"))))
    nonces: list[tuple[str, str, int]] = []
    seal = Channel.seal

    def noting(channel: Any, to: str, kind: str, stage: str, payload: bytes) -> Envelope:
        envelope: Envelope = seal(channel, to, kind, stage, payload)
        nonces.append((envelope.sender, envelope.to, envelope.number))
        return envelope

    monkeypatch.setattr(Channel, "seal", noting)
    with refused("replay.sends_another", error=ReplayError):
        play(made)
    assert len(nonces) == len(set(nonces))
    assert nonces


def test_fewer_messages_at_replay_is_refused() -> None:
    made = setup(program=with_roles(PROGRAM, party=runtime_roles.forgetting()))
    with refused("replay.sends_fewer", error=ReplayError):
        play(made)


def test_finished_stages_leave_neither_mail_nor_secrets(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a role drew or read in a stage is in no state once the stage has ended: coins, masks, shares, mail."""
    made = setup(3, 2)
    secrets: dict[str, set[bytes]] = {}
    now = {"stage": ""}
    begin_stage, take, draw, decode = Actor.begin_stage, Stream.bytes, Stream.bits, messages.decode

    def entering(actor: Actor, name: str, replaces: bool) -> Any:
        now["stage"] = f"{actor.name} {name.split('.')[0]}"
        return begin_stage(actor, name, replaces)

    def drawing(stream: Stream, n: int) -> bytes:
        out = take(stream, n)
        secrets.setdefault(now["stage"], set()).add(out)
        return out

    def drawing_bits(stream: Stream, k: int) -> int:
        out = draw(stream, k)
        secrets.setdefault(now["stage"], set()).add(out.to_bytes((out.bit_length() + 7) // 8, "big"))
        return out

    def reading(kind: Any, data: bytes, *args: Any) -> Any:
        secrets.setdefault(now["stage"], set()).add(data)
        return decode(kind, data, *args)

    monkeypatch.setattr(Actor, "begin_stage", entering)
    monkeypatch.setattr(Stream, "bytes", drawing)
    monkeypatch.setattr(Stream, "bits", drawing_bits)
    monkeypatch.setattr(messages, "decode", reading)
    played = play(made, batch=1)
    monkeypatch.undo()
    seen_open = 0
    for name in ("P1", "P2", "charlie"):
        *before, last = played.states[name]
        for stage in ("setup", "stage1", "stage2", "stage3"):
            long = {s for s in secrets.get(f"{name} {stage}", ()) if len(s) >= 8}  # short ones occur by chance
            assert not any(secret in last for secret in long), stage
            seen_open += sum(any(secret in state for state in before) for secret in long)
    assert seen_open > 10  # the search does find mail in the states of open stages


def test_no_identity_key_is_in_a_state() -> None:
    """Nobody can sign with a state; the twin that is handed the identity as an input shows that the search finds it."""
    made = setup(2, 1)
    actor = Actor(made.session, "P1", made.identities["P1"], made.seeds["P1"], made.inputs["P1"], {})
    actor.advance()
    secret = made.identities["P1"].seed
    assert secret not in replay.save(actor)
    leaky = Actor(made.session, "P1", made.identities["P1"], made.seeds["P1"], (secret,), {})
    assert secret in replay.save(leaky)


def test_no_coin_of_a_finished_stage_can_be_drawn_again() -> None:
    """The stream that a state keeps moves on one way at the end of each stage."""
    made = setup(2, 1)
    played = play(made)
    keys = [kept_in(state, made.session)["role"][1] for state in played.states["P1"]]
    distinct = list(dict.fromkeys(keys))
    assert len(distinct) == 1 + sum(e.sender == "P1" and e.kind == STAGE_END for e in played.envelopes)
    assert distinct[0] == made.seeds["P1"].key
    for before, after in pairwise(distinct):
        assert Stream(before, insecure=True).fork("next stage").key == after
    final = kept_in(played.states["P1"][-1], made.session)
    progress = Progress(*final["progress"])
    assert (final["mail"], progress.sent, progress.once_values) == ([], [], {})
    assert made.seeds["P1"].key not in played.states["P1"][-1]


def test_expensive_values_are_made_once(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[str] = []
    for module in (paillier, dgk):
        monkeypatch.setattr(module, "generate", counting(module.generate, module.__name__, calls))
    made = setup(3, 1)
    play(made, batch=1)
    assert sorted(calls) == ["protocols.crypto.dgk", "protocols.crypto.paillier", "protocols.crypto.paillier"]


def counting(function: Callable[..., Any], name: str, calls: list[str]) -> Callable[..., Any]:
    def counted(*args: Any) -> Any:
        calls.append(name)
        return function(*args)

    return counted


def test_session_refuses_names_and_nonces() -> None:
    made = setup(2, 1)
    session = made.session
    with refused("session.nonce_of_another_length", error=LocalError):
        replace(session, nonce=b"short")
    with refused("session.identities_of_others", error=LocalError):
        replace(session, identities={"P1": bytes(32)})
    for name, code in (("charlie", "party.has_the_curators_name"), ("public", "participant.name_taken")):
        parameters = replace(session.parameters, parties=("P1", name))
        identities = {n: bytes(32) for n in ("P1", name, "charlie")}
        with refused(code, error=LocalError):
            Session(PROGRAM, parameters, identities, bytes(32))
