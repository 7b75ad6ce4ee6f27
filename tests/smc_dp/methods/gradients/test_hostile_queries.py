"""What Charlie can ask in a session of `newton`: other sums than there were, of one party alone, of one twice.

Whatever he says, a party answers with what any rows could have contributed; and where he says different things to two
of them, the next sum is not one. That it answers each sum once is in `test_contributor`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from support.sessions import Setup, start, with_roles

from protocols.arithmetic.ring import Vector
from protocols.arithmetic.rng import Stream
from protocols.crypto import masking
from protocols.curator import CURATOR_NAME
from protocols.runtime.attestation import encode_statement, signing_input
from protocols.runtime.endpoint import Endpoint
from protocols.runtime.simulate import Run, Setting, simulate
from protocols.secure_sum import PROGRAM, masks, roster, setup, steps
from protocols.secure_sum.messages import Ended, Masked, Result
from protocols.secure_sum.parameters import Block, Parameters, stage
from protocols.secure_sum.values import Addends, CuratorState, join_addends
from smc_dp.data.federation import Public, Rows
from smc_dp.methods.functionality import Addend
from smc_dp.methods.gradients.gradient_sums import GradientSums
from smc_dp.methods.gradients.newton import Newton
from smc_dp.methods.sums.threat_model import AnnouncedRows, ThreatModel
from smc_dp.methods.training.integer_rows import RowBounds
from smc_dp.privacy.target import Target
from smc_dp.run.protocols.bindings import BINDINGS

K, D = 3, 2
P1, P2, P3 = (f"P{j + 1}" for j in range(K))
RECORDS = 4
SaidTo = Callable[[str, int, Vector], Vector]
"""What Charlie says to a party that a sum is."""


@pytest.fixture(scope="module")
def spec() -> GradientSums:
    target = Target(1, noise="ddg", delta=Fraction(1, 10**5))
    return Newton().shared(Public(K, D, 2), target, ThreatModel(K, 1, 0), AnnouncedRows(RECORDS))


def rows(seed: int, first: tuple[float, ...] = (0.6, -0.8), label: int = 0) -> Rows:
    X = np.random.default_rng(seed).uniform(-0.7, 0.7, (RECORDS, D))
    X[0] = first
    return Rows(X, np.array([label, 1, 0, 1]))


class Session:
    """Three parties and a Charlie who says to each what he likes; he adds up whatever he gets."""

    def __init__(self, spec: GradientSums, said: SaidTo) -> None:
        blocks = tuple(tuple(Block(length, law) for length, law in blocks) for blocks in spec.sums)
        self.p = Parameters((P1, P2, P3), 1, 0, blocks, spec.grid.ring_bits)
        self.spec, self.said = spec, said
        inputs: dict[str, tuple[Any, ...]] = {name: (self.p, Addends((), ())) for name in self.p.parties}
        program = replace(with_roles(PROGRAM, curator=self._curator), broken_commitment=None)  # he says what he likes
        self.setup: Setup = start(program, self.p, {**inputs, CURATOR_NAME: (self.p,)})

    def parts(self) -> dict[str, Any]:
        """Everybody's own program, which has answered nothing yet."""
        return {name: self.spec.part(rows(j), Stream.insecure_from_seed(name)) for j, name in enumerate(self.p.parties)}

    def home(self, part: Any) -> Any:
        return BINDINGS[PROGRAM.name].answers(self.p, part)

    def run(self, **parts: Any) -> Run:
        home = {name: self.home(part) for name, part in {**self.parts(), **parts}.items()}
        return simulate(*self.setup, Setting(views=True), home)

    def addend(self, run: Run, name: str) -> Addends:
        return join_addends(self.p, *run.views[name].inputs[1:])

    async def _curator(self, me: Endpoint, p: Parameters) -> list[Vector]:
        state = await me.stage(setup.curator, p)
        sums: list[Vector] = []
        for r in range(p.R):
            state, S = await me.stage(self._summing, state, r, name=stage(r), replaces=True)
            sums.append(S)
        return sums

    async def _summing(self, me: Endpoint, state: CuratorState, r: int) -> tuple[CuratorState, Vector]:
        got = dict(zip(self.p.parties, await me.gather(self.p.parties, Masked), strict=True))
        y = {i: got[name].y for i, name in enumerate(self.p.parties)}
        S = masks.unmask_sum(self.p, steps.own_context(me, state.vault, r), y, {}, state.vault.keys[r])
        for name in self.p.parties:
            said = self.said(name, r, S)
            me.send(name, Result(said, self._signed(me, got[name].context, said)))
        return CuratorState(steps.vault_after(me, self.p, state.vault, r, self.p.everybody, S), (), ()), S

    def _signed(self, me: Endpoint, at: bytes, S: Vector) -> bytes:
        """Nothing keeps him from signing two ends of one sum."""
        ended = Ended(at, self.p.everybody, masking.digest(S, self.p.width))
        payload = encode_statement(self.setup.session, CURATOR_NAME, ended, {})
        return self.setup.identities[CURATOR_NAME].sign(signing_input(me.session_id, CURATOR_NAME, "Ended", payload))


def lying_to_one(name: str, r: int, S: Vector) -> Vector:
    return tuple(x ^ 1 for x in S) if (name, r) == (P1, 2) else S


def total(session: Session, run: Run, r: int) -> Vector:
    """What all entered to sum r."""
    mine = [session.addend(run, name) for name in session.p.parties]
    return session.p.ring.add_vectors(*(x.numbers[r] for x in mine), *(x.noise[r] for x in mine))


@pytest.mark.parametrize("bound_to_the_query", [True, False])
def test_queries_that_differ_give_no_sum(
    spec: GradientSums, monkeypatch: pytest.MonkeyPatch, bound_to_the_query: bool
) -> None:
    """P1 hears sum 2 with one bit changed, so all sums from there on are noise to Charlie, who has all masked inputs.

    In the twin masks do not depend on what was asked, and he reads them.
    """
    honest = roster.sum_context
    if not bound_to_the_query:
        monkeypatch.setattr(roster, "sum_context", lambda session, g, r, query: honest(session, g, r, bytes(32)))
    session = Session(spec, lying_to_one)
    run = session.run()
    came = [total(session, run, r) == S for r, S in enumerate(run.results[CURATOR_NAME])]
    assert came == [True] * 3 + [not bound_to_the_query] * 5
    if bound_to_the_query:  # far from it, in every number: masks are uniform in a ring of 64 bits
        ring = session.p.ring
        for r in range(3, 8):
            off = ring.nearest(ring.subtract_vectors(run.results[CURATOR_NAME][r], total(session, run, r)))
            assert min(map(abs, off)) > 1 << 44


HOSTILE: dict[str, Callable[[int, int], int]] = {
    "zeros": lambda i, bits: 0,
    "the largest": lambda i, bits: (1 << (bits - 1)) - 1,
    "the smallest": lambda i, bits: 1 << (bits - 1),
    "alternating": lambda i, bits: ((1 << (bits - 1)) - 1) if i % 2 else 1 << (bits - 1),
    "minus one": lambda i, bits: (1 << bits) - 1,
}


def asking(numbers: Callable[[int, int], int]) -> SaidTo:
    def said(name: str, r: int, S: Vector) -> Vector:
        return tuple(numbers(i + r, 64) for i in range(len(S))) if name == P1 else S

    return said


def legal(session: Session, mine: Addends) -> list[int]:
    """The sums in which somebody entered more than so many records ever contribute."""
    bounds, ring = RowBounds.of(2), session.p.ring
    found = []
    for r, numbers in enumerate(mine.numbers):
        gradient = ring.nearest(numbers)[:D]
        most = RECORDS * (bounds.gradient if r else bounds.start_gradient)
        if sum(x * x for x in gradient) > most**2:
            found.append(r)
    return found


def apart(session: Session, one: Addends, other: Addends) -> list[float]:
    """How far two neighbours are from each other in each later sum, in lengths of one record's contribution."""
    ring = session.p.ring
    moved = [ring.nearest(ring.subtract_vectors(x, y)) for x, y in zip(one.numbers, other.numbers, strict=True)]
    return [float(np.linalg.norm(np.array(x, float))) / RowBounds.of(2).gradient for x in moved[1:]]


@pytest.mark.parametrize("name", HOSTILE)
def test_whatever_one_party_is_asked_its_contribution_is_legal(name: str, spec: GradientSums) -> None:
    """Charlie lies to P1 about every sum; its neighbour, who has another record, answers the same lies."""
    session = Session(spec, asking(HOSTILE[name]))
    other = spec.part(rows(0, (-0.6, 0.8), 1), Stream.insecure_from_seed("P1"))
    one, neighbour = (session.addend(session.run(**part), P1) for part in ({}, {P1: other}))
    assert legal(session, one) == legal(session, neighbour) == []
    assert max(apart(session, one, neighbour)) <= 2
    # Twin: a contribution that follows what was asked, and not the record alone.
    fresh = spec.part(rows(0), Stream.insecure_from_seed("P1"))

    def following(values: tuple[Vector, ...]) -> Addend:
        answer = fresh(values)
        return Addend(tuple(x + (values[-1][0] if values else 0) for x in answer.numbers), answer.noise)

    broken = session.addend(session.run(**{P1: following}), P1)
    assert bool(legal(session, broken)) == (name not in ("zeros", "minus one"))
