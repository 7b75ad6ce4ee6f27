"""The parameters of a protocol that has nothing to agree on but who takes part."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Parties:
    """Parties by name; `widths` are those of the fields of their messages."""

    parties: tuple[str, ...]
    widths: Mapping[str, int]

    def as_dict(self) -> dict[str, Any]:
        return {"parties": list(self.parties)}

    def layout(self) -> Mapping[str, int]:
        return self.widths
