"""Result of measuring an attack, and its JSON."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from smc_dp.attacks.attack import CONFIDENCE, FAILS_BELOW, SUCCEEDS_ABOVE, AttackResult, MeasuredAttack


@dataclass(frozen=True)
class AttackReport:
    """Attack and its result against each variant that was measured.

    `key_bits` is None where there are no keys.
    """

    attack: MeasuredAttack
    measured: tuple[AttackResult, ...]
    key_bits: int | None

    @property
    def as_expected(self) -> bool:
        """True if every outcome is the one on record."""
        return all(m.as_expected for m in self.measured)

    @property
    def results(self) -> dict[str, AttackResult]:
        """Results by the name of the variant."""
        return {result.variant: result for result in self.measured}

    def as_dict(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        attack = self.attack
        targets = {variant.name: variant.target for variant in attack.variants}
        return {
            "attack": attack.name,
            "paper": attack.paper,
            "step": attack.step,
            "flaw": attack.flaw,
            "attacker": attack.attacker,
            "takes": attack.takes,
            "success": attack.success,
            "when": attack.when,
            "steps": list(attack.steps),
            "reading": attack.reading,
            "key_bits": self.key_bits,
            "chance": attack.chance,
            "rule": {"confidence": CONFIDENCE, "succeeds_above": SUCCEEDS_ABOVE, "fails_below": FAILS_BELOW},
            "variants": [{"target": targets[m.variant], **m.as_dict()} for m in self.measured],
            "as_expected": self.as_expected,
        }
