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
            "The cofactor of each prime is stepped rather than prime; nothing in the scheme rests on it. ... "
            "Semi-honest: a holder with a malformed key could learn bits of the chooser's masked input.",
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
            "Only the holder learns the answer. It sees at most one zero at a uniform place among uniform non-zero "
            "residues mod u; the zero is there with probability one half whatever x and y are, since delta_a is a "
            "coin.",
        ),
    }
)
