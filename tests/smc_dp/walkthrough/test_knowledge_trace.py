"""What everybody knows after each step: at the end it is the coalition matrix, and before the first message nothing."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from functools import cache
from itertools import pairwise
from typing import Any

import pytest
from broken.curator_twins import planted
from support.lectures import PARTIES, prepared
from support.repetitions import with_slow

from protocols.programs import PROTOCOLS, Protocol
from smc_dp.leakage.matrix import LEVELS, coalition_matrix
from smc_dp.leakage.symbolic.world_runs import WorldRuns
from smc_dp.leakage.symbolic.worlds import base_world, rotate_permutations
from smc_dp.walkthrough.knowledge import IN_SOME_CASES, Knowledge
from smc_dp.walkthrough.knowledge_trace import KnowledgeTrace, drop_out, trace_knowledge
from tests.support.refusals import refused

PRINTED = "pathak2010-as-printed-insecure"  # its courses go the way of the fixed steps
SYMBOLIC = [
    pytest.param(name, marks=pytest.mark.slow) if name == PRINTED else name
    for name, protocol in PROTOCOLS.items()
    if not protocol.model.matrix_file
]


@cache
def found(name: str) -> KnowledgeTrace:
    """The course with two parties, which is that of the page where everybody stays."""
    return prepared(name)[1] if PARTIES[name] == 2 else trace_knowledge(PROTOCOLS[name], 2)


def one_setting(protocol: Protocol) -> Protocol:
    """The protocol as a course looks at it: the first setting, and everybody stays."""
    nothing: Any = lambda p: ()  # noqa: E731
    model = replace(protocol.model, variants=nothing, profiles=nothing, drop_outs=nothing)
    return replace(protocol, model=model)


@pytest.mark.parametrize("name", with_slow(SYMBOLIC, "pathak2010"))
def test_after_the_last_step_knowledge_is_the_coalition_matrix(name: str) -> None:
    rows = coalition_matrix(one_setting(PROTOCOLS[name]), 2).rows
    assert found(name).knows[-1].matrix.rows == rows


@pytest.mark.parametrize("name", SYMBOLIC)
def test_before_the_first_letter_nobody_knows_anything_of_others(name: str) -> None:
    c = found(name)
    for row in c.knows[0].matrix.rows:
        known = {s for s, cell in row.cells.items() if cell.level not in ("own", "nothing")}
        # who has all sizes knows which of them is the smallest
        assert not known or (known == {"who is smallest"} and set(row.members) >= set(c.parties))


@pytest.mark.parametrize("name", SYMBOLIC)
def test_nothing_is_forgotten(name: str) -> None:
    """Levels never fall; who drew something has it as its own from then on."""
    c = found(name)
    for before, after in pairwise(c.knows):
        for members in after.coalitions:
            now = after.cells(members)
            for secret, cell in before.cells(members).items():
                assert (
                    cell.level == now[secret].level
                    or LEVELS.index(cell.level) < LEVELS.index(now[secret].level)
                    or (now[secret].level == "own")
                ), (members, secret)


@pytest.mark.parametrize("name", SYMBOLIC)
def test_every_letter_is_in_one_step(name: str) -> None:
    c = found(name)
    letters = [letter for step in c.steps for letter in step.messages]
    assert len(set(letters)) == len(letters)
    book = WorldRuns(c.protocol, c.p)
    sent = book.trace(rotate_permutations(base_world(2, len(c.protocol.model.permutations), 0))).sent
    assert Counter((x.sender, x.to, x.kind) for x in letters) == Counter(
        (s.sender, s.to, type(s.message).__name__) for s in sent
    )


def test_words_say_what_is_new_and_of_whom() -> None:
    c = found("pathak2010")
    said = {s.messages[0].kind: k.changed_from(j) for s, j, k in zip(c.steps, c.knows[:-1], c.knows[1:], strict=True)}
    assert said["PaillierKey"] == ()
    assert said["Relay"] == (
        f"The coalitions P1 + charlie and P2 + charlie each {IN_SOME_CASES} can compute the others' sizes and who is "
        "smallest (*).",
    )
    assert said["Slot"] == (
        "charlie drew pi_2.",
        "The coalitions P1 + charlie and P2 + charlie each can compute the others' sizes and who is smallest (*).",
    )
    assert c.knows[0].sentence(("charlie",)) == "charlie knows nothing of the secrets of others."


def after(c: KnowledgeTrace, kind: str) -> Knowledge:
    """What is known after the first step with a letter of this kind."""
    return next(k for s, k in zip(c.steps, c.knows[1:], strict=True) if kind in {x.kind for x in s.messages})


def always(knows: Knowledge, members: tuple[str, ...]) -> dict[str, bool]:
    """Of each size that a coalition can compute, whether it can in all worlds."""
    return {k.secret: k.always for k in knows.known(members) if k.secret.startswith("n_") and k.level == "all"}


def test_what_only_some_worlds_tell_is_said_to_be_so() -> None:
    """Whose relay comes to a party hangs on pi_1, and none does where it maps the party to itself."""
    honest = found("pathak2010")
    assert always(after(honest, "Relay"), ("P1", "charlie")) == {"n_2": False}
    assert always(after(honest, "Slot"), ("P1", "charlie")) == {"n_2": True}
    with planted("a relay for everybody") as program:
        twin = trace_knowledge(replace(PROTOCOLS["pathak2010"], program=program), 2)
    assert always(after(twin, "Relay"), ("P1", "charlie")) == {"n_2": True}
    assert not any(IN_SOME_CASES in said for k, j in pairwise(twin.knows) for said in j.changed_from(k))


def test_a_party_that_drops_out_is_in_no_later_step() -> None:
    protocol = PROTOCOLS["secure_sum"]
    gone = drop_out(protocol, protocol.model.sample(3))
    c = prepared("secure_sum")[1]
    assert c.pattern == gone
    assert gone.place == "Masked in sum0"
    masked = next(i for i, step in enumerate(c.steps) if step.messages[0].kind == "Masked")
    assert not any(x.sender == gone.name for step in c.steps[masked:] for x in step.messages)
    assert drop_out(PROTOCOLS["pathak2010"], PROTOCOLS["pathak2010"].model.sample(2)) is None


def test_the_comparison_is_looked_at_elsewhere() -> None:
    with refused("protocol.computes_with_bits", name="comparison"):
        trace_knowledge(PROTOCOLS["comparison"], 2)
