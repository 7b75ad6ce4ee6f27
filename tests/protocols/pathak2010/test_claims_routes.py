"""Who writes to whom: only on declared routes, and so that no header depends on the parties' permutation."""

from __future__ import annotations

from collections import defaultdict

import pytest
from support.sessions import PROGRAMS, setup

from protocols.runtime.envelope import HELLO, STAGE_END
from protocols.runtime.session import Program


@pytest.mark.parametrize("program", PROGRAMS, ids=["hardened", "printed"])
def test_every_message_goes_on_a_declared_route(program: Program) -> None:
    """And every declared route is used: a route too many would be a hole in the claim."""
    made = setup(3, 1, program=program)
    used = defaultdict(set)
    for e in made.simulate().transcript.envelopes:
        used[e.kind].add((made.session.kind(e.sender), made.session.kind(e.to)))
    declared = {kind.__name__: set(kind.route.ends) for kind in program.kinds}
    del used[HELLO], used[STAGE_END]
    assert used == declared


def test_covers_go_to_everybody_else() -> None:
    """Step 1.2: each party sends each other party exactly one relay, whichever of them is the real one."""
    run = setup(5, 1).simulate()
    edges = [(e.sender, e.to) for e in run.transcript.envelopes if e.kind == "Relay"]
    names = next(run.transcript.lines())["parameters"]["parties"]
    assert sorted(edges) == sorted((a, b) for a in names for b in names if a != b)
