"""Role that runs over symbols: its randomness is unknowns, and its messages are handed over as they are."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Protocol

from typing_extensions import override

from protocols.errors import LocalError
from protocols.runtime.endpoint import Greeted
from protocols.runtime.message import Message
from protocols.runtime.role_stepper import RoleStepper
from protocols.runtime.session import PUBLIC_NAME, Session
from smc_dp.leakage.symbolic.box import Box, Secret
from smc_dp.leakage.symbolic.coins import Coins, Tape
from smc_dp.leakage.symbolic.form import Form
from smc_dp.leakage.symbolic.trace import Sent, message_values
from smc_dp.leakage.symbolic.undecidable import UndecidedError


class Outbox(Protocol):
    """Receiver of a role's messages."""

    def put(self, sent: Sent) -> None:
        """Take a message."""


class SymbolicRole(RoleStepper):
    """Role over symbols; `stages` are those that it entered, `answers` the local inputs that it may ask for."""

    def __init__(
        self, session: Session, name: str, tape: Tape, outbox: Outbox, board: Mapping[str, Greeted[Any] | None]
    ) -> None:
        coins: Any = Coins(tape, name, "")
        super().__init__(session, name, coins, (), board)
        self.stages: list[str] = []
        self.answers: tuple[Any, ...] = ()
        self.greeted = True
        self._tape, self._outbox = tape, outbox

    @override
    def step(self) -> None:
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
                self._put(sent)

    @override
    def begin_stage(self, name: str, replaces: bool) -> tuple[bool, Any, Any]:
        entered = super().begin_stage(name, replaces)
        self.stages.append(self.stage or "")
        return entered

    @override
    def ask(self, said: tuple[Any, ...]) -> Any:
        # The next answer is given whatever the role has learned: any answer is possible.
        if not self.answers:
            raise LocalError("model.answers_too_few", name=self.name)
        answer, self.answers = self.answers[0], self.answers[1:]
        return answer

    @override
    def greet(self) -> None:
        pass  # the engine has posted all greetings before it makes the first role

    @override
    def announce_stage_end(self, stage: str) -> None:
        pass  # `stages` shows which stages are over

    @override
    def refuse_unread(self) -> None:
        pass  # a coalition sees what is sent to it, whether its roles read it or not

    @override
    def check_route(self, to: str, message: Message) -> None:
        pass  # a mutant may send more than its program declares, and its cell has to change

    @override
    def send(self, to: str, message: Message) -> None:
        self._put(self._sent(to, message))

    @override
    def keep(self, message: Message) -> None:
        self.progress.unpublished.append(self._sent(PUBLIC_NAME, message))

    @override
    def statement_bytes(self, name: str, message: Message) -> bytes:
        # Each part stands behind its length, so that no two statements join alike.
        strings = self._tape.strings
        said = (v if isinstance(v, bytes) else strings.digest_of([v]) for v in message_values(message))
        return b"".join(len(part).to_bytes(8, "big") + part for part in (type(message).__name__.encode(), *said))

    @override
    def statement_signature(self, signer: str, kind: str, payload: bytes) -> bytes:
        return self._tape.strings.signature(signer, [payload])

    def _put(self, sent: Sent) -> None:
        self.count_out(sent.to, type(sent.message).__name__, sent.stage)
        self._outbox.put(sent)

    def _sent(self, to: str, message: Message) -> Sent:
        """Return the message on its way; refuse what no message can hold, such as the length of an unknown number."""
        sent = Sent(self.name, to, message, self.stages[-1], entered=len(self.stages))
        for value in sent.values:
            if not isinstance(value, int | bytes | Form | Box | Secret | None):
                what = f"what is no number: {type(value).__name__}"
                raise LocalError("role.sends_no_number", name=self.name, kind=type(message).__name__, what=what)
        return sent
