"""Actor of one participant with its randomness, its answers and what has left of it.

A simulation has one for each participant. A site has its own, stores its state after every step, and restores it.

A stored state holds no more than the rest of the session needs, so that a thief learns nothing about what is over. A
role is run again from the open stage with the randomness of that stage, whose key leads to later keys and not back. Its
inputs and the results of earlier stages are kept as its program says (`Program.unspent`). Randomness for local answers
is kept one label each, until the answer that is drawn with it. A role that has published keeps its result and no key.
With `keeps_seed` all of it stays until the view has been made.
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
from smc_dp.privacy.ledger.ledger import RELEASED
from smc_dp.run.budget_charge import OpenCharge


@dataclass(frozen=True, repr=False)
class SiteRandomness:
    """Randomness of a participant: `seed` is its role's, `home` is for training and noise."""

    seed: Stream
    home: Stream

    @classmethod
    def from_system(cls) -> SiteRandomness:
        """Return new randomness of the system."""
        return cls(Stream.from_system(), Stream.from_system())


@dataclass(frozen=True, repr=False)
class SiteInputs:
    """Local part of a participant: `inputs` of its role, made from its randomness once, and answers to its queries.

    `answers(randomness, inputs)`: the function that answers, given the inputs by now, with earlier answers among them.
    `draws`: labels of the randomness for answers, one each in their order. All other randomness is erased when the
    inputs have been made, and each of these with its answer.
    """

    inputs: Callable[[Stream], tuple[Any, ...]]
    answers: Callable[[Forks, tuple[Any, ...]], LocalProgram | None] = lambda randomness, inputs: None
    draws: tuple[str, ...] = ()


@dataclass(frozen=True, repr=False)
class StoredActor:
    """Stored state of a `SiteActor`, its number, and what had left by then."""

    content: bytes
    counter: int
    charge: OpenCharge


class SiteActor:
    """Actor at a site, moved by `actor` up to its end; `release` publishes its result, which counts as leaving.

    `greetings`: posted greetings by sender. `keeps_seed`: the role's first seed stays in the stored state, so that a
    view can be made in the end. `charge` and `refund` are called with labels that leave, or are taken back.
    """

    def __init__(
        self,
        session: Session,
        name: str,
        signer: Signer,
        brings: SiteInputs,
        greetings: Greetings,
        *,
        randomness: SiteRandomness | None = None,
        kept: StoredActor | None = None,
        keeps_seed: bool = False,
        charge: Callable[[str], None] | None = None,
        refund: Callable[[str], None] | None = None,
        observer: Observer | None = None,
    ) -> None:
        self.charge = OpenCharge() if kept is None else kept.charge
        self.sends_nothing = False  # the session is over: the role reads what has come, and nothing new is charged
        self._name, self._brings = name, brings
        self._charge, self._refund = charge, refund
        self._answers: LocalProgram | None = None
        self.first_seed: Stream | None
        if kept is None:
            drawn = randomness or SiteRandomness.from_system()
            self.first_seed = drawn.seed if keeps_seed else None
            self._home = drawn.home.forks(*brings.draws)
            self.actor = Actor(
                session, name, signer, drawn.seed, brings.inputs(drawn.home), greetings,
                observer=observer, charge=self.leaving, refund=self._disowned, local_program=self._answer_query,
                keeps_spent=keeps_seed,
            )  # fmt: skip
        else:
            state, self._home, self.first_seed = _parts(kept.content)
            self.actor = resume(
                session, state, signer, kept.counter, greetings, charge=self.leaving, refund=self._disowned,
                local_program=self._answer_query, keeps_spent=self.first_seed is not None,
            )  # fmt: skip

    def release(self) -> list[Envelope]:
        """Publish the result of the role that is done, and return its envelopes."""
        if self.actor.progress.unpublished:
            self.leaving(RELEASED)
        published = self.actor.release()
        if self.first_seed is None:
            self.actor.forget()
        return published

    def state(self) -> bytes:
        """Return all that the rest of the session needs, under the actor's next number; secret."""
        first = None if self.first_seed is None else [self.first_seed.key, self.first_seed.insecure]
        state = save(self.actor, keep_spent=self.first_seed is not None)
        return cbor2.dumps([state, dict(self._home.left), self._home.insecure, first])

    def leaving(self, label: str) -> None:
        """Charge this label, before something leaves under it that cannot be called back.

        Raises `StoppedError` for a new label once the session is over.
        """
        if self.sends_nothing and label not in self.charge.left:
            raise StoppedError(InputFault("session.over", {"label": label}))
        self.charge = self.charge.leaving(label)
        if self._charge:
            self._charge(label)

    def _disowned(self, label: str) -> None:
        self.charge = self.charge.disowned(label)
        if self._refund:
            self._refund(label)

    def _answer_query(self, *said: Any) -> Any:
        """Answer a query of the role; the answering function is made at the first query, with the earlier answers."""
        if self._answers is None:
            self._answers = self._brings.answers(self._home, self.actor.inputs)
        if self._answers is None:
            raise UnansweredError("role.nobody_at_home", name=self._name)
        answer = self._answers(*said)
        self._home = self._home.without_first()
        return answer


def _parts(content: bytes) -> tuple[bytes, Forks, Stream | None]:
    """Return the state of the actor, the local randomness, and the role's first seed if it was kept."""
    try:
        state, left, insecure, first = cbor2.loads(content)
        seed = None if first is None else Stream(first[0], insecure=first[1])
        return state, Forks(left, insecure=insecure), seed
    except (cbor2.CBORError, LookupError, TypeError, ValueError) as error:
        raise ReplayError("state.other_program", why=type(error).__name__) from None
