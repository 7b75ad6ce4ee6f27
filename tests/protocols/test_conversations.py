"""What a program says beforehand of its conversation is what the record of a run shows: messages, bytes, rounds."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from typing import Annotated, Any

import pytest
from support.draws import DRAWS, Ran, ran

from protocols.arithmetic.ring import Vector
from protocols.arithmetic.rng import Stream
from protocols.comparison.parameters import Comparisons
from protocols.errors import LocalError
from protocols.linear.parameters import Parameters as LinearParameters
from protocols.pathak2010.messages import Half, Ready, Reshare
from protocols.pathak2010.parameters import COMPARISONS, Parameters
from protocols.programs import PROTOCOLS
from protocols.runtime.conversation import Conversation, Flow, PredictedTraffic, Turn, predict_traffic
from protocols.runtime.message import PARTY, Message, Times, masked, message
from protocols.runtime.network import LINK_MODELS, traffic
from protocols.secure_sum.parameters import Block
from protocols.secure_sum.parameters import Parameters as SumParameters
from tests.support.refusals import refused

NAMES = sorted(PROTOCOLS)
DRAWN = range(2, 22)


def foreseen(name: str, done: Ran) -> PredictedTraffic:
    return predict_traffic(PROTOCOLS[name].program, done.session.parameters, done.conversation)


def differences(found: PredictedTraffic, done: Ran) -> list[str]:
    """Where the declared and the recorded traffic differ: by stage, and by who sent and got."""
    by_stage = traffic(done.envelopes, done.session, LINK_MODELS["none"], "mesh")
    wrong = [name for name in {**by_stage, **found.by_stage} if by_stage.get(name) != found.by_stage.get(name)]
    sent, got = Counter[str](), Counter[str]()
    for e in done.envelopes:
        sent[e.sender] += e.size
        got[e.to] += e.size
    for group, names in found.groups.items():
        tally = found.by_group[group]
        if tally.bytes != sum(sent[name] for name in names):
            wrong.append(f"sent by {group}")
        if tally.received_bytes != sum(got[name] for name in names):
            wrong.append(f"got by {group}")
        if tally.messages != sum(e.sender in names for e in done.envelopes):
            wrong.append(f"letters of {group}")
    return wrong


def check(name: str, number: int, profile: Any = None) -> None:
    p = profile or DRAWS[name](Stream.insecure_from_seed(f"{name} {number}"))
    done = ran(name, p, f"{name} {number}")
    assert differences(foreseen(name, done), done) == [], p


def test_every_protocol_declares_its_conversation() -> None:
    assert [name for name, protocol in PROTOCOLS.items() if protocol.conversation is None] == []
    assert set(DRAWS) == set(PROTOCOLS)


@pytest.mark.parametrize("name", NAMES)
def test_what_is_declared_is_what_the_record_shows(name: str) -> None:
    """Of a session at random, and of one of each kind that the model knows."""
    model = PROTOCOLS[name].model
    for number, profile in enumerate((None, *model.profiles(model.sample(7)))):
        check(name, number, profile)


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_twenty_times_at_random(name: str) -> None:
    for number in DRAWN:
        check(name, number)


LARGE: dict[str, Any] = {
    "pathak2010": Parameters(("a", "b", "c"), 300),
    "pathak2010-as-printed-insecure": Parameters(("a", "b", "c"), 20),
    "comparison": Comparisons(9, 32),
    "linear": LinearParameters(("a", "b", "c"), 100_000, 256),
    "secure_sum": SumParameters(("a", "b", "c"), 0, 1, ((Block(9000, "x"), Block(1, "y")), (Block(50, "x"),))),
}


@pytest.mark.parametrize("name", NAMES)
def test_a_dry_run_has_the_messages_and_rounds_of_a_large_session_and_fewer_bytes(name: str) -> None:
    protocol, p = PROTOCOLS[name], LARGE[name]
    declared: Any = protocol.conversation
    dry = protocol.model.dry_run_parameters(p)
    whole, small = (predict_traffic(protocol.program, q, declared(q)).by_stage for q in (p, dry))
    assert {at: (x.messages, x.rounds) for at, x in small.items()} == {
        at: (x.messages, x.rounds) for at, x in whole.items()
    }
    assert 3 * sum(x.bytes for x in small.values()) < 2 * sum(x.bytes for x in whole.values())
    assert protocol.model.dry_run_parameters(dry) == dry


def test_every_kind_of_session_is_among_the_twenty() -> None:
    drawn = {name: [DRAWS[name](Stream.insecure_from_seed(f"{name} {n}")) for n in DRAWN] for name in NAMES}
    assert {p.comparison for p in drawn["pathak2010"]} == set(COMPARISONS)
    sums = {(p.D > 0, p.degree > 0, p.verifiable, p.output) for p in drawn["secure_sum"]}
    assert sums == {
        *((some, False, opened, "curator") for some in (False, True) for opened in (False, True)),
        *((some, True, False, "curator") for some in (False, True)),
        (False, False, False, "shares"),
    }


# Broken twins: what would make a planned cost another one.


@message("1.6", PARTY >> PARTY)
class WideHalf(Message):
    """Broken: as `Half`, in a wider field."""

    a_tilde: Annotated[int, masked("wide")]


@message("3.3", Reshare.route)
class LongReshare(Message):
    """Broken: as `Reshare`, with as many numbers as a wider protocol would have."""

    x: Annotated[Vector, masked("weights"), Times("proof_points")]


Change = Callable[[Flow], Flow]


def _with(done: Ran, change: Change) -> Ran:
    talk = done.conversation
    turns = tuple(replace(turn, flows=tuple(change(flow) for flow in turn.flows)) for turn in talk.turns)
    return done._replace(conversation=replace(talk, turns=turns))


def _of(of: type[Message], **fields: Any) -> Change:
    return lambda flow: replace(flow, **fields) if flow.kind is of else flow


TWINS: dict[str, tuple[Change, str]] = {
    "a letter sent once more": (_of(Half, times=2), "stage1"),
    "a letter that is not sent": (_of(Ready, times=0), "stage3"),
    "a wider field": (_of(Half, kind=WideHalf), "stage1"),
    "another number of numbers": (_of(Reshare, kind=LongReshare), "stage3"),
    "a letter in another stage": (_of(Half, stage="stage2"), "stage2"),
    "a letter to everybody": (_of(Half, to=("P_1", "other parties")), "got by other parties"),
}


@pytest.fixture(scope="module")
def curator_run() -> Ran:
    return ran("pathak2010", Parameters(("a", "bb", "c"), 2, 512), "twins")


@pytest.mark.parametrize("twin", TWINS)
def test_a_twin_is_told_apart(twin: str, curator_run: Ran) -> None:
    change, where = TWINS[twin]
    program, p = PROTOCOLS["pathak2010"].program, curator_run.session.parameters
    wider = replace(program, kinds=(*program.kinds, WideHalf, LongReshare))
    assert differences(predict_traffic(wider, p, curator_run.conversation), curator_run) == []
    assert where in differences(predict_traffic(wider, p, _with(curator_run, change).conversation), curator_run)


def _talk(**fields: Any) -> Conversation:
    groups = {"P_1": ("a",), "other parties": ("b",), "charlie": ("charlie",)}
    stages = dict.fromkeys(groups, ("setup", "stage1"))
    flow = Flow(Half, "stage1", ("other parties",), ("P_1",))
    return replace(Conversation(groups, stages, (Turn((flow,)),)), **fields)


@pytest.mark.parametrize(
    ("fields", "code"),
    [
        ({"groups": {"P_1": ("a",), "charlie": ("charlie",)}}, "conversation.groups_do_not_fit"),
        ({"stages": dict.fromkeys(("P_1", "other parties", "charlie"), ("setup",))}, "conversation.group_past_stage"),
        ({"turns": (Turn((Flow(WideHalf, "stage1", ("P_1",), ("charlie",)),)),)}, "conversation.message_unknown"),
        (
            {"turns": (Turn((Flow(Half, "stage1", ("P_1",), ("other parties",), 25, {"a": ("b",)}),)),)},
            "conversation.message_too_late",
        ),
    ],
)
def test_what_cannot_be_a_conversation_of_the_program_is_refused(fields: dict[str, Any], code: str) -> None:
    program, p = PROTOCOLS["pathak2010"].program, Parameters(("a", "b"), 1, 512)
    with refused(code, error=LocalError):
        predict_traffic(program, p, _talk(**fields))
    assert predict_traffic(program, p, _talk()).by_stage["stage1"].rounds == 1


def test_a_thousand_parties_cost_no_more_than_a_few() -> None:
    names = tuple(f"hospital-{j}" for j in range(1, 1001))
    many: dict[str, Any] = {
        "pathak2010": Parameters(names, 1000, comparison="all-pairs"),
        "linear": LinearParameters(names, 1000),
        "secure_sum": SumParameters(names[:200], 1, 60, ((Block(1000, "none"),),) * 9),
    }
    for name, p in many.items():
        declared: Any = PROTOCOLS[name].conversation
        begun = time.process_time()
        found = predict_traffic(PROTOCOLS[name].program, p, declared(p))
        assert time.process_time() - begun < 0.5
        assert sum(stage.messages for stage in found.by_stage.values()) > 4000
