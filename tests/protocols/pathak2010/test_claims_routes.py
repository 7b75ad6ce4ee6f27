"""Who writes to whom: only on declared routes, and so that no header depends on the parties' permutation."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from functools import cache
from typing import Any

import pytest
from support.sessions import PROGRAMS, setup

from protocols.runtime.envelope import HELLO, STAGE_END
from protocols.runtime.session import Program
from protocols.runtime.simulate import Run

SEEDS = range(8)
Headers = tuple[Any, ...]


def per_link(run: Run) -> Headers:
    """Headers but for digests, link by link: what a reader of the record sees, whatever the schedule."""
    links: dict[tuple[str, str], list[tuple[Any, ...]]] = defaultdict(list)
    for e in run.transcript.envelopes:
        links[e.sender, e.to].append((e.kind, e.stage, e.number, e.size))
    return tuple(sorted((link, tuple(headers)) for link, headers in links.items()))


def in_order(run: Run) -> Headers:
    """The same in the order of the record of an unshuffled run."""
    return tuple((e.sender, e.to, e.kind, e.stage, e.number, e.size) for e in run.transcript.envelopes)


@cache
def recorded() -> list[tuple[tuple[int, ...], Run]]:
    """pi_1 as P_1 holds it, and the run, for several seeds; sizes and weights vary with them."""
    made = [setup(3, 1, seed=f"route {seed}").simulate(views=True) for seed in SEEDS]
    return [(run.views["P1"].results[0].pi1.images, run) for run in made]


@pytest.mark.parametrize("seen", [per_link, in_order])
def test_headers_do_not_depend_on_the_permutation(seen: Callable[[Run], Headers]) -> None:
    found = recorded()
    assert len({pi1 for pi1, _ in found}) >= 4
    assert len({seen(run) for _, run in found}) == 1


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
