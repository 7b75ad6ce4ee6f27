"""A role in motion over symbols: its randomness is unknowns, and what it sends is handed over as it is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Protocol

from protocols.errors import LocalError
from protocols.runtime.endpoint import Greeted
from protocols.runtime.message import Message
from protocols.runtime.role_stepper import RoleStepper
from protocols.runtime.session import PUBLIC_NAME, Session
from smc_dp.leakage.symbolic.box import Box, Secret
from smc_dp.leakage.symbolic.coins import Coins, Tape
from smc_dp.leakage.symbolic.form import Form
from smc_dp.leakage.symbolic.trace import Sent, values
from smc_dp.leakage.symbolic.undecidable import UndecidedError


class PostOffice(Protocol):
    """Where a role hands its letters in."""

    def post(self, sent: Sent) -> None:
        """Take a letter."""
        ...


class SymbolicRole(RoleStepper):
    """A role over symbols. `stages` are those that it entered; `answers` what it is told at home, when it asks."""

    def __init__(
        self, session: Session, name: str, tape: Tape, office: PostOffice, board: Mapping[str, Greeted[Any] | None]
    ) -> None:
        coins: Any = Coins(tape, name, "")
        super().__init__(session, name, coins, (), board)
        self.stages: list[str] = []
        self.answers: tuple[Any, ...] = ()
        self.greeted = True
        self._tape, self._office = tape, office

    def step(self) -> None:
        """Run until it waits for a message that is not there, or ends; refuse what only numbers can do."""
        self._tape.role = self.name
        try:
            super().step()
        except UndecidedError as error:
            raise UndecidedError(replace(error.fault, place=f"{self.name} ")) from None
        except (TypeError, AttributeError) as error:
            raise LocalError("role.needs_a_number", name=self.name, error=str(error)) from error
        except LocalError:
            raise
        except Exception as error:
            what = f"{type(error).__name__}: {error}"
            raise LocalError("role.does_not_end", name=self.name, what=what) from error

    def release(self) -> None:
        """Publish what the role has published, if it is done."""
        with self.until_dropped_out():
            for sent in self.progress.unpublished if self.done else ():
                self._post(sent)

    # What it replaces of the engine.

    def enter(self, name: str, replaces: bool) -> tuple[bool, Any, Any]:
        """Begin a stage, and note it."""
        entered = super().enter(name, replaces)
        self.stages.append(self.stage or "")
        return entered

    def ask(self, said: tuple[Any, ...]) -> Any:
        """The next of its own inputs that it does not start with, whatever it has learned: any answer is possible."""
        if not self.answers:
            raise LocalError("model.answers_too_few", name=self.name)
        answer, self.answers = self.answers[0], self.answers[1:]
        return answer

    def greet(self) -> None:
        """Leave it to the engine, which has posted what everybody says before it makes the first role."""

    def end_stage(self, stage: str) -> None:
        """Send nothing: that a stage is over follows from `stages`."""

    def refuse_unread(self) -> None:
        """Let it lie: a coalition sees what is sent to it, whether its roles read it or not."""

    def check_route(self, to: str, message: Message) -> None:
        """Let everything through: a mutant says more than its program declares, and its cell is to change."""

    def send(self, to: str, message: Message) -> None:
        """Hand a letter in."""
        self._post(self._sent(to, message))

    def keep(self, message: Message) -> None:
        """Keep a letter to everybody."""
        self.progress.unpublished.append(self._sent(PUBLIC_NAME, message))

    def statement_bytes(self, name: str, message: Message) -> bytes:
        """Join the strings of a statement, and digests of its numbers, each behind its length: no two join alike."""
        strings = self._tape.strings
        said = (v if isinstance(v, bytes) else strings.digest_of([v]) for v in values(message))
        return b"".join(len(part).to_bytes(8, "big") + part for part in (type(message).__name__.encode(), *said))

    def signature(self, name: str, kind: str, payload: bytes) -> bytes:
        """Return a string that stands for the signature."""
        return self._tape.strings.signature(name, [payload])

    def _post(self, sent: Sent) -> None:
        self.count_out(sent.to, type(sent.message).__name__, sent.stage)
        self._office.post(sent)

    def _sent(self, to: str, message: Message) -> Sent:
        """Refuse what no message can hold, such as the length of an unknown number."""
        for value in values(message):
            if not isinstance(value, int | bytes | Form | Box | Secret | None):
                what = f"what is no number: {type(value).__name__}"
                raise LocalError("role.sends_no_number", name=self.name, kind=type(message).__name__, what=what)
        return Sent(self.name, to, message, self.stages[-1], entered=len(self.stages))
