"""Every protocol of this package by the name that stands in its records: what an audit looks a record up in."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from protocols import comparison, linear, pathak2010, secure_sum
from protocols.comparison import conversation as comparison_conversation
from protocols.comparison import ideal as comparison_ideal
from protocols.comparison import limits as comparison_limits
from protocols.comparison import sentences as comparison_sentences
from protocols.errors import LocalError
from protocols.linear import checkable as linear_checkable
from protocols.linear import conversation as linear_conversation
from protocols.linear import ideal as linear_ideal
from protocols.linear import limits as linear_limits
from protocols.linear import sentences as linear_sentences
from protocols.pathak2010 import as_printed, conversation, ideal, sentences
from protocols.pathak2010 import printed_conversation as printed
from protocols.pathak2010.limits import LIMITS
from protocols.runtime.claims import Checkable, Claim, Model
from protocols.runtime.conversation import Converse
from protocols.runtime.limits import Limits
from protocols.runtime.quoted import Quoted
from protocols.runtime.session import Program
from protocols.secure_sum import checkable as secure_sum_checkable
from protocols.secure_sum import conversation as secure_sum_conversation
from protocols.secure_sum import ideal as secure_sum_ideal
from protocols.secure_sum import limits as secure_sum_limits
from protocols.secure_sum import sentences as secure_sum_sentences


@dataclass(frozen=True)
class Protocol:
    """A program, its model for audits, its claim, and its limits; what anybody can check of it, if there is something;
    and its conversation in advance, which whoever wants to know what a run costs asks for. `sentences`: what its paper
    or its notes say of each step, by the number that its messages name.

    A protocol that is kept for its flaws runs as printed in its paper; it claims nothing, and its claim is None.
    """

    program: Program
    model: Model
    claim: Claim | None
    limits: Limits
    checkable: Checkable | None = None
    conversation: Converse | None = None
    sentences: Mapping[str, Quoted] = field(default_factory=lambda: MappingProxyType({}))


_PAPER = sentences.SENTENCES
PROTOCOLS = MappingProxyType(
    {
        protocol.program.name: protocol
        for protocol in (
            Protocol(pathak2010.PROGRAM, ideal.MODEL, ideal.CLAIM, LIMITS, None, conversation.conversation, _PAPER),
            Protocol(as_printed.PROGRAM, as_printed.MODEL, None, LIMITS, None, printed.conversation, _PAPER),
            Protocol(
                comparison.PROGRAM,
                comparison_ideal.MODEL,
                comparison_ideal.CLAIM,
                comparison_limits.LIMITS,
                conversation=comparison_conversation.conversation,
                sentences=comparison_sentences.SENTENCES,
            ),
            Protocol(
                linear.PROGRAM,
                linear_ideal.MODEL,
                linear_ideal.CLAIM,
                linear_limits.LIMITS,
                linear_checkable.CHECKABLE,
                linear_conversation.conversation,
                linear_sentences.SENTENCES,
            ),
            Protocol(
                secure_sum.PROGRAM,
                secure_sum_ideal.MODEL,
                secure_sum_ideal.CLAIM,
                secure_sum_limits.LIMITS,
                secure_sum_checkable.CHECKABLE,
                secure_sum_conversation.conversation,
                secure_sum_sentences.SENTENCES,
            ),
        )
    }
)


def find(name: str, version: int) -> Protocol:
    """The protocol of this name and version; raises `LocalError` when this code does not have it."""
    if name not in PROTOCOLS or PROTOCOLS[name].program.version != version:
        known = ", ".join(f"{p.program.name} {p.program.version}" for p in PROTOCOLS.values())
        raise LocalError(f"wanted one of the protocols {known}, got {name[:40]!r} {version}")
    return PROTOCOLS[name]
