"""A role in motion over symbols: what `Endpoint` calls its engine. It reads, misses and stops as `Actor` does."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

from protocols.errors import LocalError, StoppedError
from protocols.runtime.actor import End
from protocols.runtime.endpoint import Greeted, Want
from protocols.runtime.mailbox import Absent, Mail, Mailbox
from protocols.runtime.message import Message
from protocols.runtime.session import PUBLIC_NAME
from smc_dp.leakage.symbolic.box import Box, Secret
from smc_dp.leakage.symbolic.coins import Coins, Tape
from smc_dp.leakage.symbolic.form import Form
from smc_dp.leakage.symbolic.trace import GREETING, Sent, values
from smc_dp.leakage.symbolic.undecidable import UndecidedError


class VanishedError(Exception):
    """A participant vanishes with the letter that it was about to send."""


class PostOffice(Protocol):
    """Where a role hands its letters in."""

    def post(self, sent: Sent) -> None:
        """Take a letter; raises `VanishedError` when its sender sends no more."""
        ...


@dataclass(repr=False)
class SymbolicRole:
    """One role. `end` is None as long as it goes on; `unpublished` waits until everybody has ended; `left` says how
    many of its stages are over.
    """

    name: str
    tape: Tape
    office: PostOffice
    greetings: Mapping[str, Greeted[Any]]
    coroutine: Coroutine[Any, Any, Any] | None = None
    want: Want | None = None
    end: End | None = None
    stages: list[str] = field(default_factory=list)
    left: int = 0
    made: dict[str, Any] = field(default_factory=dict)
    mailbox: Mailbox = field(default_factory=Mailbox)
    unpublished: list[Sent] = field(default_factory=list)
    answers: tuple[Any, ...] = ()  # what it is told at home, when it asks
    _letters: dict[tuple[str, int], Message] = field(default_factory=dict)

    # What the endpoint asks for.

    def post(self, to: str, message: Message) -> None:
        """Hand a letter in."""
        self._check(message)
        self.office.post(self._sent(to, message))

    def publish(self, message: Message) -> None:
        """Keep for publication."""
        self._check(message)
        self.unpublished.append(self._sent(PUBLIC_NAME, message))

    def _sent(self, to: str, message: Message) -> Sent:
        return Sent(self.name, to, message, self.stages[-1], entered=len(self.stages))

    def _check(self, message: Message) -> None:
        """Refuse what no message can hold, such as the length of an unknown number."""
        for value in values(message):
            if not isinstance(value, int | bytes | Form | Box | Secret | None):
                what = f"what is no number: {type(value).__name__}"
                raise LocalError(
                    "role.sends_no_number",
                    "{name} sends in {kind} {what}",
                    name=self.name,
                    kind=type(message).__name__,
                    what=what,
                )

    def enter(self, name: str, replaces: bool) -> tuple[bool, Any, Any]:
        """Begin a stage: none was done before."""
        self.stages.append(name.partition(".")[0])
        return False, None, Coins(self.tape, self.name, f"stage {len(self.stages)}")

    def leave(self, result: Any) -> None:
        """End the stage."""
        self.mailbox.end_stage(self.stages[-1])
        self.left = len(self.stages)
        self.made = {}

    def once(self, label: str, make: Callable[[Any], Any]) -> Any:
        """Make once."""
        if label not in self.made:
            self.made[label] = make(Coins(self.tape, self.name, f"stage {len(self.stages)} {label}"))
        return self.made[label]

    def admit(self, name: str, key: Any) -> None:
        """Every key is as good as another."""

    def evidence(self, sender: str) -> list[int]:
        """Nobody is blamed here."""
        return []

    def greeting_rng(self) -> Any:
        """The coins of the own greeting."""
        return Coins(self.tape, self.name, GREETING)

    def attest(self, message: Message) -> bytes:
        """A string that stands for the signature."""
        return self._signature(self.name, message)

    def attested(self, name: str, message: Message, signature: bytes) -> bool:
        """Whether it is the one of this statement."""
        return signature == self._signature(name, message)

    def _signature(self, name: str, message: Message) -> bytes:
        strings = self.tape.strings
        said = [v if isinstance(v, bytes) else strings.digest_of([v]) for v in values(message)]
        return strings.signature(name, [type(message).__name__.encode(), *said])

    def spend(self, label: str) -> None:
        """A charge tells nobody anything."""

    def void(self, label: str) -> None:
        """Nor does taking one back."""

    def ask(self, said: tuple[Any, ...]) -> Any:
        """The next of its own inputs that it does not start with, whatever it has learned: any answer is possible."""
        if not self.answers:
            raise LocalError(
                "model.answers_too_few", "{name} asks at home for more than its model answers", name=self.name
            )
        answer, self.answers = self.answers[0], self.answers[1:]
        return answer

    def doubt(self, sender: str, rule: str) -> None:
        """Everybody follows the protocol, so there is nothing to doubt."""
        raise LocalError(
            "role.doubts_the_honest",
            "{name} doubts {sender}: {rule}; everybody follows the protocol here",
            name=self.name,
            sender=sender,
            rule=rule,
        )

    # What the driver does with it.

    def deliver(self, sent: Sent) -> None:
        """Keep a letter for the role."""
        number = 1 + sum(sender == sent.sender for sender, _ in self._letters)
        self._letters[sent.sender, number] = sent.message
        self.mailbox.put(Mail(sent.sender, number, type(sent.message).__name__, sent.stage, 1, b""))

    @property
    def awaited(self) -> tuple[str, ...]:
        """Those without whom the role cannot go on, as long as nothing of them is there and no mark."""
        if self.want is None or self.want.greetings:
            return ()
        found = {sender: self._found(self.want, sender) for sender in self.want.senders}
        return () if self._is_given_up(found) else tuple(s for s, answer in found.items() if answer is None)

    def miss(self, sender: str) -> None:
        """The driver has waited long enough for this sender."""
        if self.want is not None:
            self.mailbox.marks.add(self._due(self.want, sender))

    def run(self) -> None:
        """Until it waits for mail that is not there, or ends."""
        self.tape.role = self.name
        try:
            while self.end is None and self.coroutine is not None and (found := self._answer()) is not None:
                self.want = self._gone_on(self.coroutine, found)
        except StopIteration:
            self._ends("done")
        except StoppedError:
            self._ends("stopped")
        except VanishedError:
            self._ends("gone")
        except UndecidedError as error:
            raise UndecidedError(replace(error.fault, place=f"{self.name} ")) from None
        except (TypeError, AttributeError) as error:
            raise LocalError(
                "role.needs_a_number",
                "{name} does with a symbol what only numbers can: {error}",
                name=self.name,
                error=str(error),
            ) from error
        except LocalError:
            raise
        except Exception as error:
            what = f"{type(error).__name__}: {error}"
            raise LocalError(
                "role.does_not_end",
                "{name} does not reach its end when it is run over symbols: {what}",
                name=self.name,
                what=what,
            ) from error

    def close(self) -> None:
        """Give up the role where it stands."""
        if self.coroutine is not None:
            self.coroutine.close()

    def _ends(self, how: End) -> None:
        self.close()
        self.end, self.coroutine, self.want = how, None, None

    def _answer(self) -> dict[str, Mail | Greeted[Any] | Absent] | None:
        """What there is of each sender that the role waits for; None as long as somebody's is missing."""
        if self.want is None:
            return {}
        found = {sender: self._found(self.want, sender) for sender in self.want.senders}
        there = {sender: answer for sender, answer in found.items() if answer is not None}
        return there if len(there) == len(found) or self._is_given_up(there) else None

    def _is_given_up(self, found: Mapping[str, Any]) -> bool:
        """Whether a mark ends the waiting: of those who are all needed one is absent."""
        return bool(self.want and self.want.all and any(isinstance(x, Absent) for x in found.values()))

    def _found(self, want: Want, sender: str) -> Mail | Greeted[Any] | Absent | None:
        if want.greetings:
            return self.greetings[sender]
        return self.mailbox.look(sender, want.kind.__name__, self._stage)

    def _due(self, want: Want, sender: str) -> Absent:
        return self.mailbox.due(sender, want.kind.__name__, self._stage)

    @property
    def _stage(self) -> str:
        return self.stages[-1] if self.stages else ""

    def _gone_on(self, role: Coroutine[Any, Any, Any], found: Mapping[str, Mail | Greeted[Any] | Absent]) -> Want:
        """Give the role what it waited for, or tell it that this will not come; what it wants next."""
        want = self.want
        if want is None:
            first: Want = role.send(None)
            return first
        absent = [sender for sender, answer in found.items() if isinstance(answer, Absent)]
        if absent and want.all:
            role.throw(
                StoppedError(
                    "model.message_will_not_come",
                    "{kind} of {absent} will not come",
                    kind=want.kind.__name__,
                    absent=absent,
                )
            )
            raise LocalError(
                "role.goes_on_without", "{name} goes on after it was told that somebody is absent", name=self.name
            )
        for sender in absent:
            self.mailbox.miss(sender)
        there = {s: answer for s, answer in found.items() if not isinstance(answer, Absent)}
        got = {s: self._read(want, answer) for s, answer in there.items() if want.wants(s)}
        following: Want = role.send(got)
        return following

    def _read(self, want: Want, answer: Mail | Greeted[Any]) -> Message | Greeted[Any]:
        if isinstance(answer, Greeted):
            return answer
        self.mailbox.take(answer)
        if answer.kind != want.kind.__name__:
            raise LocalError(
                "role.gets_another_message",
                "{name} wants {wanted}, got {got}",
                name=self.name,
                wanted=want.kind.__name__,
                got=answer.kind,
            )
        return self._letters[answer.sender, answer.number]
