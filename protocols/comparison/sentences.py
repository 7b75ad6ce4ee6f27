"""Citations of the notes for each step of the comparison."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from protocols.runtime.citations import Citation, cite_notes

_PACKAGE = "protocols.comparison"
_WHERE = "Notes on the comparison"

SENTENCES: Mapping[str, Citation] = MappingProxyType(
    {
        "compare 0": cite_notes(
            _PACKAGE,
            _WHERE,
            "Each prime of the key is 2 u v k + 1 with primes u and v. The factor k is counted up until the whole is "
            "prime; k itself need not be prime. ... The comparison is for participants who follow the protocol: a "
            "holder with a malformed key could learn bits of the chooser's masked input.",
        ),
        "compare 1": cite_notes(
            _PACKAGE,
            _WHERE,
            "Damgard, Geisler and Kroigaard (2007) compare a private x with a private y bit by bit under the holder's "
            "key.",
        ),
        "compare 2": cite_notes(
            _PACKAGE,
            _WHERE,
            "Only the holder learns the answer. It sees random numbers mod u, none of them zero or one of them, at a "
            "random place. The zero is there with probability one half whatever x and y are, for the "
            "chooser's random bit delta_a decides it.",
        ),
    }
)
