"""Sessions of secure sums with made-up numbers, what may come of them, and a driver that gives up on letters."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from protocols.arithmetic.rng import Stream
from protocols.curator import CURATOR_NAME
from protocols.errors import PeerError
from protocols.runtime import message as messages
from protocols.runtime.actor import Actor, actors
from protocols.runtime.bulletin_board import BulletinBoard
from protocols.runtime.endpoint import Greeted
from protocols.runtime.envelope import HELLO, Envelope, signed_payload
from protocols.runtime.session import Program
from protocols.runtime.simulate import DropOutAfter, Run, overdue
from protocols.secure_sum import PROGRAM, ideal
from protocols.secure_sum.messages import MaskKeys, PublishedOpening, PublishedSum
from protocols.secure_sum.parameters import CURATOR, SHARES, Block, Parameters, stage
from support.sessions import Setup, names, start

Charge = tuple[str, str]


def parameters(K: int, t: int, D: int, lengths: Sequence[int] = (2,), ring_bits: int = 16, **more: Any) -> Parameters:
    return Parameters(names(K), t, D, tuple((Block(d, "none"),) for d in lengths), ring_bits, **more)


def made(p: Parameters, seed: int | str = 1, program: Program = PROGRAM) -> Setup:
    """A session in which everybody adds uniform numbers and noise."""
    rng = Stream.insecure_from_seed(f"addends {seed}")
    inputs = ideal.inputs(p, lambda name, bits: rng.fork(name).bits(bits))
    return start(program, p, inputs, seed)


@dataclass
class Ledger:
    """What was charged, and what of it turned out void, in their order."""

    charged: list[Charge] = field(default_factory=list)
    void: list[Charge] = field(default_factory=list)

    def spend(self, name: str, label: str) -> None:
        self.charged.append((name, label))

    def voided(self, name: str, label: str) -> None:
        self.void.append((name, label))


class Outcome(NamedTuple):
    """What a driver left: ends, results, publications, and every envelope that left, in that order."""

    ends: Mapping[str, str | None]
    results: Mapping[str, Any]
    published: Mapping[str, Any]
    sent: Sequence[Envelope]


def simulated(setup: Setup, ledger: Ledger, vanish: Mapping[str, int | DropOutAfter] | None = None, **more: Any) -> Run:
    return setup.simulate(drop_outs=vanish or {}, charge=ledger.spend, refund=ledger.voided, **more)


def outcome(run: Run) -> Outcome:
    return Outcome(run.ends, run.results, run.published, run.transcript.envelopes)


def wrong(setup: Setup, left: Outcome, ledger: Ledger) -> list[str]:
    """Everything that no run may leave, whoever vanished: nothing if it was the exact sums, or a clean stop."""
    p: Parameters = setup.session.parameters
    return [*_wrong_values(p, setup, left), *_wrong_charges(p, left, ledger)]


def _wrong_values(p: Parameters, setup: Setup, left: Outcome) -> list[str]:
    addends = {name: setup.inputs[name][1] for name in p.parties}
    said = [(x.values, x.members) for x in left.results.values() if x is not None and p.output != SHARES]
    for published in left.published.values():
        if isinstance(published, PublishedSum | PublishedOpening):
            cut, start_ = [], 0
            for r in range(p.R):
                cut.append(published.S[start_ : start_ + p.length(r)])
                start_ += p.length(r)
            said.append((tuple(cut), published.members))
    found = []
    for values, members in said:
        for r, listed in enumerate(members):
            U = p.members(listed)
            if len(U) < p.K - p.D:
                found.append(f"sum {r} over {len(U)} parties")
            if values[r] != ideal.functionality(p, addends, r, U):
                found.append(f"sum {r} is not that of its members")
    if len({members for _, members in said}) > 1:
        found.append("two lists of members")
    done = [name for name, end in left.ends.items() if end == "done"]
    if p.output != SHARES and any(left.results[name] is None for name in done):
        found.append("done without a result")
    return found


def _wrong_charges(p: Parameters, left: Outcome, ledger: Ledger) -> list[str]:
    found = []
    labels = {stage(r): f"sum {r}" for r in range(p.R)}
    due = {(e.sender, labels[e.stage]) for e in left.sent if e.kind in ("Masked", "PublishedShare")}
    if missing := due - set(ledger.charged):
        found.append(f"left without a charge: {missing}")
    if len(set(ledger.charged)) != len(ledger.charged):
        found.append("charged twice")
    start = "Start" if not p.degree else "Passed" if p.D else "Circle"
    if ledger.charged and p.output == CURATOR and not any(e.kind == start for e in left.sent):
        found.append("charged before the start")
    certified = {(e.to, labels[e.stage]) for e in left.sent if e.kind == "Certificate"}
    if unproven := set(ledger.void) - (certified & set(ledger.charged)):
        found.append(f"void without a certificate: {unproven}")
    if not p.D and ledger.void:
        found.append("void where nobody may vanish")
    for name, result in left.results.items():
        if result is None or p.output == SHARES or name == CURATOR_NAME:
            continue
        out = {(name, f"sum {r}") for r, listed in enumerate(result.members) if not listed >> p.parties.index(name) & 1}
        if out != {charge for charge in ledger.void if charge[0] == name}:
            found.append(f"{name} was not in {sorted(out)}, and {ledger.void} is void")
    for published in left.published.values():
        if isinstance(published, PublishedSum | PublishedOpening):
            inside = {(p.parties[i], f"sum {r}") for r, U in enumerate(published.members) for i in p.members(U)}
            if inside & set(ledger.void):
                found.append("void, and in the sum")
    return found


def greetings(setup: Setup, envelopes: Iterable[Envelope]) -> dict[str, Greeted[MaskKeys]]:
    """What the parties greeted with."""
    found = {}
    for e in envelopes:
        if e.kind == HELLO and e.sender != CURATOR_NAME:
            said = messages.decode(MaskKeys, signed_payload(e)[32:], setup.session.layout, {})
            found[e.sender] = Greeted(said, e.digest)
    return found


class Loose:
    """A session by its actors alone: any letter may come next, and any reader may give up on whom it waits for.

    `patience`: of so many turns of a reader that waits, one ends with a mark; Charlie's only, unless `all_readers`.
    `held`: letters that come when their reader has given up on their sender, and not before. What an actor raises is
    kept in `raised`, and it does nothing after that.
    """

    def __init__(
        self,
        setup: Setup,
        coins: Stream,
        patience: int = 0,
        *,
        all_readers: bool = False,
        held: Callable[[Envelope], bool] = lambda envelope: False,
    ) -> None:
        self.setup, self.coins, self.patience, self.all_readers = setup, coins, patience, all_readers
        self.ledger, self.board, self.held = Ledger(), BulletinBoard(setup.session), held
        self.roles = actors(*setup, self.board.greetings, charge=self.ledger.spend, refund=self.ledger.voided)
        self.links: dict[tuple[str, str], deque[Envelope]] = {}
        self.late: set[tuple[str, str]] = set()
        self.sent: list[Envelope] = []
        self.raised: dict[str, PeerError] = {}

    def run(self) -> Outcome:
        """To the end, with every letter delivered, the latest after its reader has finished; then publication."""
        for role in self.roles.values():
            self.advance(role)
        while self._turn():
            pass
        for role in self.roles.values():
            if role.done:
                self._carry(role.release())
        return Outcome(
            {name: role.end for name, role in self.roles.items()},
            {name: role.result for name, role in self.roles.items()},
            self.board.published,
            self.sent,
        )

    def advance(self, role: Actor) -> None:
        if role.name in self.raised:
            return
        try:
            self._carry(role.advance())
        except PeerError as error:
            self.raised[role.name] = error
            self._carry(role.taken())

    def _turn(self) -> bool:
        self._give_up()
        waiting = [link for ends, link in self.links.items() if link and (ends in self.late or not self.held(link[0]))]
        if waiting:
            envelope = waiting[self.coins.below(len(waiting))].popleft()
            role = self.roles[envelope.to]
            if role.name not in self.raised:
                role.deliver(envelope)
                self.advance(role)
            return True
        return self._stalled()

    def _stalled(self) -> bool:
        """Nothing is under way but what is held: give up on those of whom nothing comes, or nothing in time."""
        live = {name: role for name, role in self.roles.items() if name not in self.raised}
        late = overdue(live)
        for name, role in live.items():
            slow = [x for x in role.awaited if x in self.raised or self.links.get((x, name))]
            if slow:
                late[name] = [*late.get(name, ()), *slow]
        for name, senders in late.items():
            self._miss(self.roles[name], *senders)
        return bool(late)

    def _give_up(self) -> None:
        for role in self.roles.values():
            awaited = role.awaited if role.name not in self.raised else ()
            may = awaited and (self.all_readers or role.name == CURATOR_NAME)
            if may and self.patience and self.coins.below(self.patience) == 0:
                self._miss(role, awaited[self.coins.below(len(awaited))])

    def _miss(self, role: Actor, *senders: str) -> None:
        role.miss(*senders)
        self.late |= {(sender, role.name) for sender in senders}
        self.advance(role)

    def _carry(self, envelopes: Iterable[Envelope]) -> None:
        for e in envelopes:
            self.sent.append(e)
            if e.is_public:
                self.board.post(e)
                for role in self.roles.values() if e.kind == HELLO else ():
                    self.advance(role)
            else:
                self.links.setdefault((e.sender, e.to), deque()).append(e)
