"""Conversation of a protocol, declared in advance: who sends which messages to whom, as counts, and their cost.

A program declares beside its roles who sends which kind of message to whom in which stage, and how often. Participants
that do the same form a group, so a few lines suffice for any number of them. From these, and the sizes of messages and
envelopes, follow messages, bytes and rounds, exactly as the transcript of a run without drop-outs shows them. It also
declares how many costly operations all participants carry out together.

A participant reads a message in the stage in which it was sent, before it sends anything there that is declared later,
and signs the end of a stage when it enters the next one, or when it is done. The messages of one turn are all sent
before any of them is read.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import cbor2

from protocols.crypto.identity import PUBLIC_BYTES
from protocols.errors import LocalError
from protocols.runtime import envelope
from protocols.runtime.body_bytes import body_bytes
from protocols.runtime.channel import GREETING_STAGE
from protocols.runtime.envelope import HELLO, STAGE_END, START, Envelope
from protocols.runtime.message import Message
from protocols.runtime.network import Traffic
from protocols.runtime.session import PUBLIC_NAME, SESSION_BYTES, Program, Session

Groups = Mapping[str, tuple[str, ...]]
Operations = Mapping[str, int]
"""Number of operations by kind."""
Arcs = Mapping[str, Sequence[str]]
POWER, ENCRYPTION, BIT, GATE = "power", "encryption", "bit", "gate"
AGREEMENT, MASK_BYTE = "agreement", "mask byte"
"""Kinds of operations that programs declare; work that is cheap beside them is not declared.

A power is one by the owner of a Paillier key, as in a decryption. A bit is a DGK encryption. A gate is an AND gate,
garbled and evaluated. An agreement is one on X25519; an Ed25519 signature and its check count as one each.
"""
TRANSFER_AGREEMENTS = 4 * 128
"""Agreements that the 128 base transfers of an oblivious-transfer extension cost both sides."""
_LONGER = ((24, 1), (1 << 8, 1), (1 << 16, 2), (1 << 32, 4))  # from these numbers on they have so many bytes more


@dataclass(frozen=True)
class Flow:
    """`times` messages of one kind from each member of the sending groups to each other member of the groups `to`.

    `arcs`: the addressees of each sender, by name, where these are not all; any graph with as many arcs at each name
    has the same cost. Such messages are among the first 24 of their links, where every number has one byte. `read`: the
    stage in which it is read, where that has another name than the one in which it is sent.
    """

    kind: type[Message]
    stage: str
    senders: tuple[str, ...]
    to: tuple[str, ...]
    times: int = 1
    arcs: Arcs | None = None
    read: str = ""


@dataclass(frozen=True)
class Turn:
    """Messages that are sent before any of them is read."""

    flows: tuple[Flow, ...]


@dataclass(frozen=True)
class Published:
    """Message that each member of these groups publishes in the end, with the stage in which it was decided."""

    kind: type[Message]
    stage: str
    by: tuple[str, ...]


@dataclass(frozen=True)
class Conversation:
    """Whole conversation: groups, their stages, turns in order, publications.

    Turns that do not need each other are declared in the order in which a simulation starts them. `operations`: those
    of all participants together, over the whole run; keys of links are not among them. `detours`: further messages
    where somebody broke a rule; they are no part of the cost.
    """

    groups: Groups
    stages: Mapping[str, tuple[str, ...]]
    turns: tuple[Turn, ...]
    published: tuple[Published, ...] = ()
    operations: Operations = field(default_factory=dict)
    detours: tuple[Turn, ...] = ()


Converse = Callable[[Any], Conversation]
"""Function of a program that returns the conversation under its parameters."""


@dataclass
class GroupTraffic:
    """Traffic of a group, all members together; a public envelope counts for its sender alone."""

    messages: int = 0
    bytes: int = 0
    received: int = 0
    received_bytes: int = 0


@dataclass
class PredictedTraffic:
    """Predicted traffic of a conversation: messages, bytes and rounds by stage, and messages by group.

    `links`: the number of ends of links in use; each end derives the keys of its link. `signed`: the number of signed
    envelopes.
    """

    groups: Groups
    by_stage: dict[str, Traffic] = field(default_factory=dict)
    by_group: dict[str, GroupTraffic] = field(default_factory=dict)
    links: int = 0
    signed: int = 0


def predict_traffic(program: Program, p: Any, conversation: Conversation) -> PredictedTraffic:
    """Return the traffic of this conversation.

    Raise `LocalError` for a conversation that cannot be one of this program.
    """
    return _Course(program, p, conversation).run()


@dataclass
class _Stand:
    """Progress of a group: its stage, the latest round that it has read, its unread messages."""

    stage: int = -1
    round: int = 1
    posted: int = 0
    unread: list[tuple[str, int]] = field(default_factory=list)


class _Course:
    """One pass over a conversation."""

    def __init__(self, program: Program, p: Any, conversation: Conversation) -> None:
        self._program, self._talk = program, conversation
        everybody = [name for names in conversation.groups.values() for name in names]
        pinned = dict.fromkeys(program.participants(p), bytes(PUBLIC_BYTES))
        self._size = body_bytes(Session(program, p, pinned, bytes(SESSION_BYTES)))
        if sorted(everybody) != sorted(pinned):
            raise LocalError("conversation.groups_do_not_fit", name=program.name)
        self._names = {group: sum(map(_text, names)) for group, names in conversation.groups.items()}
        self._at = {group: _Stand() for group in conversation.groups}
        self._links: dict[tuple[str, str], int] = {}  # messages so far from each of one group to each of another
        self._deepest = 0
        self._found = PredictedTraffic(
            conversation.groups, by_group={group: GroupTraffic() for group in conversation.groups}
        )

    def run(self) -> PredictedTraffic:
        """Count greetings, turns, ends of stages and publications."""
        for group in self._talk.groups:
            self._public(group, HELLO, GREETING_STAGE, 1)
        for turn in self._talk.turns:
            for to, stage, depth in [sent for flow in turn.flows for sent in self._flow(flow)]:
                self._at[to].unread.append((stage, depth))
        for group in self._talk.groups:
            self._enter(group, None)
        for published in self._talk.published:
            for group in published.by:
                self._public(group, published.kind.__name__, published.stage, self._at[group].round + 1)
        return self._found

    def _enter(self, group: str, stage: str | None) -> None:
        """Advance a group to this stage, or to the end, and read what it has to read until then."""
        stand, stages = self._at[group], self._talk.stages[group]
        if stage is not None and stage not in stages[max(stand.stage, 0) :]:
            raise LocalError("conversation.group_past_stage", name=self._program.name, group=group, stage=stage)
        while True:
            if stand.stage >= 0:
                self._read(group, stages[stand.stage])
                if stages[stand.stage] == stage:
                    return
                self._public(group, STAGE_END, stages[stand.stage], stand.round + 1)
            if stand.stage + 1 == len(stages):
                return
            stand.stage += 1

    def _read(self, group: str, stage: str) -> None:
        stand = self._at[group]
        stand.round = max([stand.round, *(depth for read, depth in stand.unread if read == stage)])
        stand.unread = [entry for entry in stand.unread if entry[0] != stage]

    def _flow(self, flow: Flow) -> Iterator[tuple[str, str, int]]:
        """Count the messages of a flow; yield each group that reads them, the stage in which it does, their round."""
        for sender in flow.senders:
            self._enter(sender, flow.stage)
        for sender in flow.senders:
            depth = self._at[sender].round + 1
            for to, pairs, names in self._ends(flow, sender):
                before = self._links.get((sender, to), 0)
                self._found.links += 0 if before else pairs
                self._links[sender, to] = before + flow.times
                each = self._once(sender, to, flow.kind.__name__, flow.stage, depth)
                size = flow.times * each + _of_numbers(before, flow.times)
                if flow.arcs is not None and before + flow.times > _LONGER[0][0]:
                    raise LocalError("conversation.message_too_late", name=self._program.name, kind=flow.kind.__name__)
                self._deepen(flow.stage, depth)
                self._count(flow.stage, sender, to, flow.times * pairs, size * pairs + flow.times * names)
                yield to, flow.read or flow.stage, depth

    def _ends(self, flow: Flow, sender: str) -> Iterator[tuple[str, int, int]]:
        """Yield each addressed group, with the number of pairs of ends and the bytes of their names."""
        groups = self._talk.groups
        if flow.arcs is None:
            for to in flow.to:
                mine, theirs = len(groups[sender]), len(groups[to])
                more, less = (theirs - 1, mine - 1) if sender == to else (theirs, mine)
                if mine * more:
                    yield to, mine * more, self._names[sender] * more + self._names[to] * less
            return
        of = {name: to for to in flow.to for name in groups[to]}
        pairs, names = Counter[str](), Counter[str]()
        for name in groups[sender]:
            for other in flow.arcs.get(name, ()):
                pairs[of[other]] += 1
                names[of[other]] += _text(name) + _text(other)
        yield from ((to, pairs[to], names[to]) for to in flow.to if pairs[to])

    def _count(self, stage: str, sender: str, to: str, number: int, size: int) -> None:
        sent, got = self._found.by_group[sender], self._found.by_group[to]
        self._add(stage, number, size)
        sent.messages, sent.bytes = sent.messages + number, sent.bytes + size
        got.received, got.received_bytes = got.received + number, got.received_bytes + size

    def _public(self, group: str, kind: str, stage: str, depth: int) -> None:
        """Count one signed envelope of each member of this group."""
        stand, tally, number = self._at[group], self._found.by_group[group], len(self._talk.groups[group])
        each = self._once(group, PUBLIC_NAME, kind, stage, depth) + _text(PUBLIC_NAME) + _of_numbers(stand.posted, 1)
        stand.posted += 1
        size = each * number + self._names[group]
        if kind == HELLO:
            self._deepen(stage, depth)
        self._add(stage, number, size)
        self._found.signed += number
        tally.messages, tally.bytes = tally.messages + number, tally.bytes + size

    def _once(self, group: str, to: str, kind: str, stage: str, depth: int) -> int:
        """Return the bytes of an envelope of a member, with number 0 on its link, without the names of its ends."""
        blank = Envelope(bytes(SESSION_BYTES), "", "", kind, stage, 0, depth, START, b"")
        body = self._size(self._talk.groups[group][0], to, kind, stage)
        if body is None:
            raise LocalError("conversation.message_unknown", name=self._program.name, kind=kind)
        return envelope.wire_size(len(blank.header) - 2 * _text(""), body)

    def _add(self, stage: str, number: int, size: int) -> None:
        stages = self._found.by_stage
        traffic = stages[stage] = stages.pop(stage, Traffic())  # in the order in which they end
        traffic.messages, traffic.bytes = traffic.messages + number, traffic.bytes + size

    def _deepen(self, stage: str, depth: int) -> None:
        """Count a round for the stage that reaches it first."""
        traffic = self._found.by_stage.setdefault(stage, Traffic())
        traffic.rounds += max(0, depth - self._deepest)
        self._deepest = max(self._deepest, depth)


def _text(name: str) -> int:
    """Return the bytes of a text in a header."""
    return len(cbor2.dumps(name))


def _of_numbers(first: int, count: int) -> int:
    """Return by how many bytes `count` consecutive numbers from `first` are longer than as many zeros."""
    return sum(more * max(0, first + count - max(first, least)) for least, more in _LONGER)
