"""What others look up of a protocol: program, model, claim, limits, conversation and the sentences of its paper."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from protocols.runtime.citations import Citation
from protocols.runtime.claims import Claim, Model, PublicVerification
from protocols.runtime.conversation import Converse
from protocols.runtime.session import Program


@dataclass(frozen=True)
class KeyLimits:
    """How long the keys of a protocol are.

    `parameter` names the parameter of line 0 that gives their length in bits. Keys of fewer than `shortest` bits are
    test keys and protect nothing; longer ones than `replayed` are not made again from a view, which would take minutes.
    """

    parameter: str
    shortest: int
    replayed: int

    def bits(self, p: Any) -> int:
        """The length of the keys under these parameters."""
        length: int = p.as_dict()[self.parameter]
        return length


@dataclass(frozen=True)
class Limits:
    """Figures beyond which working with a record would take all day, so that it is no run of anybody's.

    `largest` maps each integer that line 0 states and the rest follows from to the most that it may be; the least is 1,
    or 0 for those that `may_be_zero`; a record may leave out those that `may_be_absent`.
    `parties`: how many may take part, the curator apart. `keys` is None for a protocol without any.
    """

    largest: Mapping[str, int]
    parties: int
    keys: KeyLimits | None
    may_be_zero: frozenset[str] = frozenset()
    may_be_absent: frozenset[str] = frozenset()

    def are_test_keys(self, p: Any) -> bool:
        """Whether there are keys under these parameters, too short to protect anything."""
        return self.keys is not None and self.keys.bits(p) < self.keys.shortest


@dataclass(frozen=True)
class Protocol:
    """A protocol with all that others look up of it.

    `program`: its roles and messages. `model`: how audits of its code run it. `claim`: its security claim, None for a
    protocol that is kept for its flaws and claims nothing. `limits`: how large a run may be. `public_verification`:
    what the public can verify, if anything. `conversation`: who sends what to whom, from which the cost of a run
    follows. `sentences`: what its paper or its notes say of each step, by the number that its messages name.
    """

    program: Program
    model: Model
    claim: Claim | None
    limits: Limits
    public_verification: PublicVerification | None = None
    conversation: Converse | None = None
    sentences: Mapping[str, Citation] = field(default_factory=lambda: MappingProxyType({}))
