"""One participant's actor, and what stands behind it: its coins, who answers at home, and what of it has left.

A simulation has one for each participant and lets go of them in the end. A site has its own, keeps it after every step,
and makes it again from what it kept.

What is kept holds no more than the rest of the session takes, so that whoever gets hold of it learns nothing of what is
over. A role is run again from the stage that is open, with the randomness of that stage, whose key leads to those of
later ones and not back; its inputs and what earlier stages left are kept as its program says (`Program.unspent`). Coins
that are drawn at home are kept one label each, until the answer that is drawn with it. A role that is done, and has
published, keeps its result, and no key. With `keeps_seed` all of it stays until the view has been made.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import cbor2

from protocols.arithmetic.rng import Forks, Stream
from protocols.crypto.identity import Signer
from protocols.errors import ReplayError, StoppedError, UnansweredError
from protocols.runtime.actor import Actor, Greetings, LocalProgram
from protocols.runtime.envelope import Envelope
from protocols.runtime.observer import Observer
from protocols.runtime.replay import resume, save
from protocols.runtime.session import Session
from smc_dp.core.errors import InputFault
from smc_dp.run.budget_charge import RELEASED, OpenCharge


@dataclass(frozen=True, repr=False)
class SiteRandomness:
    """All randomness of a participant: `seed` is its role's, `home` what it trains and draws noise with."""

    seed: Stream
    home: Stream

    @classmethod
    def from_system(cls) -> SiteRandomness:
        """New coins."""
        return cls(Stream.from_system(), Stream.from_system())


@dataclass(frozen=True, repr=False)
class SiteInputs:
    """What a participant brings: `inputs` of its role, made from its coins once, and what answers at home.

    `answers(coins, inputs)`: who answers its role's questions, given the inputs that it has by now; earlier answers are
    among them. `draws`: under which labels of its coins it draws its answers, one for each in their order: all others
    are gone when the inputs have been made, and each of these with its answer.
    """

    inputs: Callable[[Stream], tuple[Any, ...]]
    answers: Callable[[Forks, tuple[Any, ...]], LocalProgram | None] = lambda coins, inputs: None
    draws: tuple[str, ...] = ()


@dataclass(frozen=True, repr=False)
class StoredActor:
    """What `OwnActor.state` gave, its number, and what had left by then."""

    content: bytes
    counter: int
    charge: OpenCharge


class SiteActor:
    """Driven by `actor`, but for the end: what it publishes goes out by `release`, which counts as leaving.

    `greetings`: those that are posted, by sender. `keeps_seed`: the role's first seed stays in what is kept, so that a
    view can be made in the end. `charge` and `voided` hear the labels under which something leaves, or is taken back.
    """

    def __init__(
        self,
        session: Session,
        name: str,
        signer: Signer,
        brings: SiteInputs,
        greetings: Greetings,
        *,
        coins: SiteRandomness | None = None,
        kept: StoredActor | None = None,
        keeps_seed: bool = False,
        charge: Callable[[str], None] | None = None,
        voided: Callable[[str], None] | None = None,
        observer: Observer | None = None,
    ) -> None:
        self.charge = OpenCharge() if kept is None else kept.charge
        self.sends_nothing = False  # the session is over: the role reads what has come, and nothing new is charged
        self._name, self._brings = name, brings
        self._charge, self._voided = charge, voided
        self._answers: LocalProgram | None = None
        self.first_seed: Stream | None
        if kept is None:
            drawn = coins or SiteRandomness.from_system()
            self.first_seed = drawn.seed if keeps_seed else None
            self._home = drawn.home.forks(*brings.draws)
            self.actor = Actor(
                session, name, signer, drawn.seed, brings.inputs(drawn.home), greetings,
                observer=observer, charge=self.leaving, refund=self._disowned, local_program=self._asked,
            )  # fmt: skip
        else:
            state, self._home, self.first_seed = _parts(kept.content)
            self.actor = resume(
                session, state, signer, kept.counter, greetings,
                observer=observer, charge=self.leaving, refund=self._disowned, local_program=self._asked,
            )  # fmt: skip

    def release(self) -> list[Envelope]:
        """What the role published, once it is done."""
        if self.actor.progress.unpublished:
            self.leaving(RELEASED)
        published = self.actor.release()
        if self.first_seed is None:
            self.actor.forget()
        return published

    def state(self) -> bytes:
        """All that the rest of the session takes, under the actor's next number; secret."""
        first = None if self.first_seed is None else [self.first_seed.key, self.first_seed.insecure]
        state = save(self.actor, whole=self.first_seed is not None)
        return cbor2.dumps([state, dict(self._home.left), self._home.insecure, first])

    def leaving(self, label: str) -> None:
        """What is charged under this label is about to leave; it cannot be called back.

        Raises `StoppedError` for what is new where nothing leaves any more.
        """
        if self.sends_nothing and label not in self.charge.left:
            raise StoppedError(InputFault("session.over", {"label": label}))
        self.charge = self.charge.leaving(label)
        if self._charge:
            self._charge(label)

    def _disowned(self, label: str) -> None:
        self.charge = self.charge.disowned(label)
        if self._voided:
            self._voided(label)

    def _asked(self, *said: Any) -> Any:
        """Who answers at home is made when the first question comes, with what was answered before."""
        if self._answers is None:
            self._answers = self._brings.answers(self._home, self.actor.inputs)
        if self._answers is None:
            raise UnansweredError("role.nobody_at_home", name=self._name)
        answer = self._answers(*said)
        self._home = self._home.without_first()
        return answer


def _parts(content: bytes) -> tuple[bytes, Forks, Stream | None]:
    """The state of the actor, the coins of home, and the role's first seed if it was kept."""
    try:
        state, left, insecure, first = cbor2.loads(content)
        seed = None if first is None else Stream(first[0], insecure=first[1])
        return state, Forks(left, insecure=insecure), seed
    except (cbor2.CBORError, LookupError, TypeError, ValueError) as error:
        raise ReplayError("state.other_program", why=type(error).__name__) from None
