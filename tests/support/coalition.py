"""Charlie and some parties played by hand, move by move, against honest participants who run the role code.

A member seals, signs and numbers like anybody, and says what the attack wants; to each honest participant its own
greetings, if need be. What the members have read is enough for `readable`: all sums over honest parties that they can
take the masks off, found by following what is known of every mask.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from protocols.arithmetic.rng import Stream
from protocols.crypto.identity import SIGNATURE_BYTES, Identity
from protocols.curator import CURATOR_NAME
from protocols.errors import PeerError
from protocols.runtime import message as messages
from protocols.runtime.actor import Actor
from protocols.runtime.attestation import encode_statement, signing_input
from protocols.runtime.channel import GREETING_STAGE, Channel
from protocols.runtime.envelope import Envelope
from protocols.runtime.message import Message
from protocols.runtime.session import SESSION_BYTES, Session
from support.role_code import Code
from support.sessions import names

UNSIGNED = bytes(SIGNATURE_BYTES)


class DecryptedEnvelope(NamedTuple):
    """What a member has read."""

    sender: str
    to: str
    stage: str
    message: Any


@dataclass(frozen=True)
class Read:
    """A sum that the members can compute: over which honest parties, and its value."""

    of: frozenset[str]
    value: tuple[int, ...]


class Coalition:
    """One session; `members` are played by the test, the others by their actors."""

    def __init__(
        self,
        code: Code,
        p: Any,
        members: Collection[str],
        *,
        seed: int | str = 1,
        said: Callable[[str, Any], Any] = lambda name, greeting: greeting,
        charge: Callable[[str, str], None] | None = None,
    ) -> None:
        self.code, self.p, self.members = code, p, tuple(members)
        root = Stream.insecure_from_seed(f"coalition {seed}")
        everybody = code.PROGRAM.participants(p)
        self.identities = {name: Identity.generate(root.fork(f"identity {name}")) for name in everybody}
        public = {name: identity.public for name, identity in self.identities.items()}
        self.session = Session(code.PROGRAM, p, public, root.bytes(SESSION_BYTES))
        self.seeds = {name: root.fork(f"seed {name}") for name in everybody}
        self.addends = {name: _addends(code, p, root.fork(f"addends {name}")) for name in p.parties}
        self.boards: dict[str, dict[str, Envelope]] = {name: {} for name in everybody}
        self.charged: list[tuple[str, str]] = []
        self.voided: list[tuple[str, str]] = []
        self.failed: dict[str, PeerError] = {}
        self.letters: list[DecryptedEnvelope] = []
        self.wire: list[Envelope] = []  # all that the honest have sent
        self.withheld: list[Envelope] = []  # what of that was kept from its addressee
        self.withholds: Callable[[Envelope], bool] = lambda envelope: False
        self._said, self._charge = said, charge or (lambda name, label: None)
        self.honest = {name: self._actor(name) for name in everybody if name not in members}
        self.channels = {name: self._channel(name) for name in self.members}
        for channel in self.channels.values():
            channel.counters.round = 1  # that of its greeting

    # The truth, which no member knows.

    def dealt(self, name: str) -> Any:
        """A party's seeds, and the shares of them."""
        return self.code.dealing.deal_seeds(self.p, self.seeds[name].fork("greeting"))

    def mask_key(self, name: str) -> Any:
        """The mask key of a party for the first sum."""
        return self.said(name).keys[0]

    def said(self, name: str) -> Any:
        """What a party greets with."""
        dealing = self.code.dealing
        drawn = dealing.draw_greeting_secrets(self.p, self.seeds[name].fork("greeting"))
        return dealing.make_greeting(self.p, name, drawn)

    def added(self, name: str, r: int) -> tuple[int, ...]:
        """What a party adds to a sum, noise included."""
        mine = self.addends[name]
        return self.p.ring.add_vectors(mine.numbers[r], mine.noise[r])

    def total(self, members: Iterable[str], r: int) -> tuple[int, ...]:
        """What these parties add."""
        return self.p.ring.add_vectors((0,) * self.p.length(r), *(self.added(name, r) for name in members))

    # Moves.

    def greet(self) -> None:
        """Everybody greets; all boards show the same."""
        hellos: dict[str, Envelope] = {}
        for name, actor in self.honest.items():
            (hellos[name],) = actor.advance()
        for name in self.members:
            hellos[name] = self.greeting(name)
        for board in self.boards.values():
            board.update(hellos)

    def greeting(self, name: str, change: Callable[[Any], Any] = lambda greeting: greeting) -> Envelope:
        """What a member greets with; a second one, if it is changed."""
        channel = self._channel(name)
        if name not in self.p.parties:
            return channel.greet(b"")
        return channel.greet(messages.encode(change(self._said(name, self.said(name))), self.session.layout, {}))

    def seat(self) -> Coalition:
        """All greet, members deal what they should, and Charlie tells each honest party that all saw what it saw."""
        self.greet()
        self.pump()
        if self.p.D:
            for name in self.members:
                if name in self.p.parties:
                    self.deal(name)
        self.start()
        return self

    def start(self) -> None:
        """Charlie tells each honest party that all saw what it saw; an honest one is told by members that they did."""
        if CURATOR_NAME not in self.members:
            self._ready()
            return
        for name, ready in self.to_charlie("Ready").items():
            self.say(CURATOR_NAME, name, self.start_with(ready.roster))

    def deal(self, dealer: str, change: Callable[[Any, str], Any] = lambda shares, holder: shares) -> None:
        """A member sends its shares to all honest parties."""
        dealt = self.dealt(dealer)
        for holder in self.honest:
            if holder in self.p.parties:
                shares = self.code.dealing.shares_for_holder(dealt, self.p.parties.index(holder))
                self.say(dealer, holder, change(shares, holder))

    def say(self, sender: str, to: str, message: Message, stage: str | None = None) -> None:
        """A member's letter to an honest participant, in the stage that this one is in unless told."""
        stage = stage or self.honest[to].stage or GREETING_STAGE
        payload = messages.encode(message, self.session.layout_in(stage), {})
        self.raw(sender, to, type(message).__name__, payload, stage)

    def raw(self, sender: str, to: str, kind: str, payload: bytes, stage: str) -> None:
        """Any bytes, sealed as a letter of any kind."""
        self._deliver(to, self.channels[sender].seal(to, kind, stage, payload))
        self.pump()

    def unopenable(self, sender: str, to: str, kind: str, payload: bytes, stage: str) -> None:
        """The next envelope of a member's link, with the right header and length, and a broken seal."""
        envelope = self.channels[sender].seal(to, kind, stage, payload)
        self._deliver(to, replace(envelope, body=bytes(len(envelope.body))))
        self.pump()

    def pump(self) -> None:
        """Let everybody who is honest go on until all wait."""
        moved = True
        while moved:
            moved = False
            for name in self.honest:
                for envelope in self._advance(name):
                    moved = True
                    self._route(envelope)

    def release(self) -> None:
        """What was kept arrives after all."""
        kept, self.withheld, self.withholds = self.withheld, [], lambda envelope: False
        for envelope in kept:
            self._deliver(envelope.to, envelope)
        self.pump()

    def miss(self, name: str, *senders: str) -> None:
        """An honest participant is told that these are absent, or all for whom it waits."""
        actor = self.honest[name]
        actor.miss(*(senders or actor.awaited))
        self.pump()

    def settle(self) -> None:
        """Let all go on, and tell those who wait for somebody who has ended without a result that nothing will come."""
        over = True
        while over:
            self.pump()
            over = False
            for name in [name for name in self.honest if self.plays(name)]:
                gone = [other for other in self.honest[name].awaited if self._is_over(other)]
                if gone:
                    self.miss(name, *gone)
                    over = True

    def sign(self, name: str, message: Message) -> bytes:
        """A member's signature of a statement, of as many as it likes."""
        payload = encode_statement(self.session, name, message, {})
        return self.identities[name].sign(signing_input(self.session.id, name, type(message).__name__, payload))

    # One sum, as Charlie leads it.

    def to_charlie(self, kind: str, r: int | None = None) -> dict[str, Any]:
        """What honest parties have sent Charlie of a kind, in sum r: the last of each."""
        stage = None if r is None else self.code.parameters.stage(r)
        found = [x for x in self.letters if x.to == CURATOR_NAME and type(x.message).__name__ == kind]
        return {x.sender: x.message for x in found if stage in (None, x.stage)}

    def propose(self, r: int, U: Sequence[str], to: Iterable[str], listed: int | None = None, **other: bytes) -> Any:
        """3. A list of survivors, signed; what its signers agree to. `other` contexts or inputs than those of the first
        addressee.
        """
        m, to = self.code.messages, tuple(to)
        context = other.get("context") or self.to_charlie("Masked", r)[to[0]].context
        members = self.listed(U) if listed is None else listed
        inputs = other.get("inputs") or bytes(32)
        signature = self.sign(CURATOR_NAME, m.Listed(context, members, inputs))
        for name in to:
            self.say(CURATOR_NAME, name, m.Survivors(context, members, inputs, signature))
        return m.Agreed(r, context, members, inputs)

    def signatures(self, agreed: Any, r: int) -> dict[str, bytes]:
        """4. Those of this statement that honest parties sent, and those of all members."""
        found = {name: signed.signature for name, signed in self.to_charlie("Signed", r).items()}
        valid = {name: s for name, s in found.items() if self._is_signed(name, agreed, s)}
        return valid | {name: self.sign(name, agreed) for name in self.members if name in self.p.parties}

    def certify(self, signatures: Mapping[str, bytes], to: Iterable[str], **asked: int) -> None:
        """5. These signatures, to these parties that still play."""
        certificate = self.code.messages.Certificate
        wanted = {slot.name for slot in certificate.slots}
        every = tuple(signatures.get(name, UNSIGNED) for name in self.p.parties)
        for name in to:
            if self.plays(name):
                self.say(CURATOR_NAME, name, certificate(every, **{k: v for k, v in asked.items() if k in wanted}))

    def end(self, r: int, U: Sequence[str], S: tuple[int, ...], to: Iterable[str]) -> None:
        """7. Any sum, signed, in the context of each."""
        m = self.code.messages
        for name in to:
            if self.plays(name):
                context = self.to_charlie("Masked", r)[name].context
                digest = self.code.masking.digest(S, self.p.width)
                signature = self.sign(CURATOR_NAME, m.Ended(context, self.listed(U), digest))
                self.say(CURATOR_NAME, name, m.Result(S, signature))

    def lead(self, r: int, U: Sequence[str], to: Iterable[str]) -> None:
        """3. to 5. as an honest Charlie would, with this list and towards these parties."""
        to = tuple(to)
        agreed = self.propose(r, U, to)
        self.certify(self.signatures(agreed, r), to)

    def listed(self, U: Iterable[str]) -> int:
        """A list of survivors as a number."""
        return int(self.p.listed(self.p.parties.index(name) for name in U))

    def plays(self, name: str) -> bool:
        """Whether an honest participant still waits for something."""
        return name not in self.failed and self.honest[name].end is None

    # What the members know.

    def shares(self, r: int, dealer: str, kind: str) -> dict[int, bytes]:
        """The shares of a dealer's seed of this kind, b or s, that the members have seen, by holder."""
        index, dealt = self.p.parties.index(dealer), self.dealt(dealer)
        seen = {j: getattr(dealt.shares[j][r], kind) for j in self._indices(self.members)}
        for x in self.letters:
            if type(x.message).__name__ == "Unmask" and x.stage == self.code.parameters.stage(r):
                holder = self.p.parties.index(x.sender)
                share = x.message.shares[index]
                if share == getattr(dealt.shares[holder][r], kind):
                    seen[holder] = share
            if type(x.message).__name__ == "Disclosed" and x.sender == dealer:
                told = getattr(x.message, kind)[r :: self.p.R]
                seen |= {j: share for j, share in enumerate(told) if share == getattr(dealt.shares[j][r], kind)}
        return seen

    def opened(self, r: int, dealer: str, kind: str) -> bytes | None:
        """The seed of this kind that the members have: their own, or one of which they have seen shares enough."""
        if not self.p.D:
            return None  # nothing is ever opened
        every = getattr(self.dealt(dealer), kind)
        true: bytes = every[r]
        if dealer in self.members:
            return true
        same = [other for other in range(self.p.R) if every[other] == true]  # of which sum, is all one
        seen = [self.shares(other, dealer, kind) for other in same]
        return true if any(shares and self.code.dealing.seed_of_shares(shares) == true for shares in seen) else None

    def readable(self, r: int) -> list[Read]:
        """All sums over honest parties that the members can take the masks off: honest parties whose common masks are
        unknown stand together, and a party of which another mask is unknown stands for nothing.
        """
        y = {name: x for name, x in self.to_charlie("Masked", r).items() if name not in self.members}
        groups = {name: {name} for name in y}
        dangling = {name for name in y if self.p.D and self.opened(r, name, "b") is None}
        for name in y:
            for other in self.p.parties:
                if other != name and not self._knows_pair(r, name, other):
                    if other in y and y[other].context == y[name].context:
                        joined = groups[name] | groups[other]
                        groups.update(dict.fromkeys(joined, joined))
                    else:
                        dangling.add(name)
        found = {frozenset(group) for group in groups.values() if not group & dangling}
        return [Read(of, self._unmasked(r, of, y)) for of in sorted(found, key=sorted)]

    def _knows_pair(self, r: int, name: str, other: str) -> bool:
        return other in self.members or any(self.opened(r, x, "s") is not None for x in (name, other))

    def _unmasked(self, r: int, of: Collection[str], y: Mapping[str, Any]) -> tuple[int, ...]:
        total = (0,) * self.p.length(r)
        for name in of:
            total = self.p.ring.add_vectors(total, y[name].y)
            for mask, sign in self._masks(r, name, y[name].context, of):
                words = self.code.masking.combined([mask], [], len(total), self.p.width)
                op = self.p.ring.subtract_vectors if sign > 0 else self.p.ring.add_vectors
                total = op(total, words)
        return total

    def _masks(self, r: int, name: str, context: bytes, within: Collection[str]) -> list[tuple[bytes, int]]:
        """The masks of a party but those with parties within, from what the members know."""
        make, p = self.code.masking, self.p
        index, size = p.parties.index(name), (p.length(r), p.width)
        found = [(make.self_mask(context, index, self.opened(r, name, "b"), *size), 1)] if p.D else []
        for other in p.parties:
            if other not in (name, *within):
                place = p.parties.index(other)
                mask = self._pair_mask(r, name, other, context) if p.D else self._closed_mask(r, name, other, context)
                found.append((mask, 1 if index < place else -1))
        return found

    def _pair_mask(self, r: int, name: str, other: str, context: bytes) -> bytes:
        make, p = self.code.masking, self.p
        mine, theirs = (name, other) if self.opened(r, name, "s") else (other, name)
        agreed = make.agree(self.opened(r, mine, "s"), make.public_key(self.dealt(theirs).s[r]))
        places = (p.parties.index(name), p.parties.index(other))
        mask: bytes = make.pair_mask(context, *places, agreed, p.length(r), p.width)
        return mask

    def _closed_mask(self, r: int, name: str, member: str, context: bytes) -> bytes:
        """From the secret of a member, what it has in common with the party in this sum."""
        make, p = self.code.masking, self.p
        secret = self.code.dealing.closed_secret(self.seeds[member].fork("greeting"))
        pairs = make.closed_pairs(secret, p.parties.index(member), [self.mask_key(party) for party in p.parties])
        for _ in range(r):
            pairs = make.closed_after(pairs)
        mask: bytes = make.closed_mask(context, pairs, p.parties.index(name), p.length(r), p.width)
        return mask

    # The post.

    def _actor(self, name: str) -> Actor:
        inputs = (self.p,) if name == CURATOR_NAME else (self.p, self.addends[name])
        return Actor(
            *(self.session, name, self.identities[name], self.seeds[name], inputs, self.boards[name]),
            charge=lambda label: self._spent(name, label),
            refund=lambda label: self.voided.append((name, label)),
        )

    def _spent(self, name: str, label: str) -> None:
        self._charge(name, label)
        self.charged.append((name, label))

    def _channel(self, name: str) -> Channel:
        rng = self.seeds[name].fork("channel")
        return Channel(self.session, name, self.identities[name], rng, self.boards[name])

    def _advance(self, name: str) -> list[Envelope]:
        if name in self.failed:
            return []
        try:
            return self.honest[name].advance()
        except PeerError as error:
            self.failed[name] = error
            return self.honest[name].taken()

    def _deliver(self, to: str, envelope: Envelope) -> None:
        if to in self.failed:
            return
        try:
            self.honest[to].deliver(envelope)
        except PeerError as error:
            self.failed[to] = error

    def _route(self, envelope: Envelope) -> None:
        self.wire.append(envelope)
        if envelope.is_public:
            return
        if envelope.to in self.members:
            payload = self.channels[envelope.to].open(envelope)
            kind, layout = self.session.kinds[envelope.kind], self.session.layout_in(envelope.stage)
            read = messages.decode(kind, payload, layout, {})
            self.letters.append(DecryptedEnvelope(envelope.sender, envelope.to, envelope.stage, read))
        elif self.withholds(envelope):
            self.withheld.append(envelope)
        else:
            self._deliver(envelope.to, envelope)

    def _ready(self) -> None:
        """Members that are parties tell an honest Charlie that they are ready."""
        for name in self.members:
            self.say(name, CURATOR_NAME, self.ready(name, self.roster()))

    def ready(self, name: str, roster: bytes, accused: int = 0, signed: Mapping[str, Any] | None = None) -> Any:
        """A member is ready, and accuses these dealers; `signed`: what is otherwise in the complaint that it signed."""
        m = self.code.messages
        if not self.p.D:
            return m.Ready(roster, (), ())
        complaint = m.Complaint(**{"roster": roster, "accused": accused, **(signed or {})})
        return m.Ready(roster, (accused,), (self.sign(name, complaint),))

    def start_with(self, roster: bytes, accused: int = 0) -> Any:
        """What Charlie tells a party when all are ready."""
        return self.code.messages.Start(roster, (accused,) if self.p.D else ())

    def roster(self) -> bytes:
        """The digest of all greetings on Charlie's board."""
        return hashlib.sha256(b"".join(self.boards[CURATOR_NAME][name].digest for name in self.p.parties)).digest()

    def _is_over(self, name: str) -> bool:
        return name in self.members or name in self.failed or self.honest[name].end == "stopped"

    def _is_signed(self, name: str, message: Message, signature: bytes) -> bool:
        return self.honest[name].attested(name, message, signature)

    def _indices(self, members: Iterable[str]) -> list[int]:
        return [self.p.parties.index(name) for name in members if name in self.p.parties]


def session(
    code: Code,
    K: int,
    t: int,
    D: int,
    *,
    sums: Sequence[int] = (2,),
    ring_bits: int = 64,
    colluding: Sequence[int] | None = None,
    charlie: bool = True,
    parties: Sequence[str] | None = None,
    **more: Any,
) -> Coalition:
    """Charlie, unless he is honest, and the last t parties, or those of these places."""
    m = code.parameters
    parties = tuple(parties or names(K))
    p = m.Parameters(parties, t, D, tuple((m.Block(d, "none"),) for d in sums), ring_bits)
    members = [parties[j] for j in (range(K - t, K) if colluding is None else colluding)]
    return Coalition(code, p, [*members, CURATOR_NAME] if charlie else members, **more)


def _addends(code: Code, p: Any, rng: Stream) -> Any:
    numbers, noise = (
        tuple(p.ring.random_vector(p.length(r), rng.fork(f"{what} {r}")) for r in range(p.R))
        for what in ("numbers", "noise")
    )
    return code.values.Addends(numbers, noise)
