"""Protocol: program, model, claim, limits, conversation and the sentences of its paper, for lookup by name."""

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
    """Limits of the keys of a protocol.

    `parameter` names the parameter of line 0 with their length in bits. Keys of fewer than `shortest` bits are test
    keys and protect nothing; longer ones than `replayed` are not made again from a view, which would take minutes.
    """

    parameter: str
    shortest: int
    replayed: int

    def bits(self, p: Any) -> int:
        """Return the length of the keys under these parameters."""
        length: int = p.as_dict()[self.parameter]
        return length


@dataclass(frozen=True)
class Limits:
    """Limits beyond which checking a transcript would take all day.

    `largest` maps each free integer parameter of line 0 to its maximum; the minimum is 1, or 0 for those that
    `may_be_zero`; a transcript may omit those that `may_be_absent`. `parties`: maximum number of parties, without the
    curator. `keys` is None for a protocol without any.
    """

    largest: Mapping[str, int]
    parties: int
    keys: KeyLimits | None
    may_be_zero: frozenset[str] = frozenset()
    may_be_absent: frozenset[str] = frozenset()

    def are_test_keys(self, p: Any) -> bool:
        """Tell whether the keys under these parameters are too short to protect anything."""
        return self.keys is not None and self.keys.bits(p) < self.keys.shortest


@dataclass(frozen=True)
class Protocol:
    """Protocol with all that other packages look up.

    `program`: its roles and messages. `model`: its model for audits of the code. `claim`: its security claim, None for
    a protocol that is kept for its flaws. `limits`: bounds of a run. `public_verification`: what anybody can verify, if
    anything. `conversation`: messages in advance, from which the cost follows. `sentences`: citations of its paper or
    its notes for each step. `symbols`: meanings of their letters and words, and of parameters.
    """

    program: Program
    model: Model
    claim: Claim | None
    limits: Limits
    public_verification: PublicVerification | None = None
    conversation: Converse | None = None
    sentences: Mapping[str, Citation] = field(default_factory=lambda: MappingProxyType({}))
    symbols: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
