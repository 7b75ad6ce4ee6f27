"""What attacks came to, in words, as a table and as plain values for JSON; every figure from a measurement."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from smc_dp.attacks.attack import CONFIDENCE, FAILS_BELOW, SUCCEEDS_ABOVE, AttackResult, MeasuredAttack
from smc_dp.pages.blocks import Drawing

HEADINGS = ("attack", "breaks", "attacker", "target", "variant", "outcome", "succeeded", "95 % interval", "chance")
RULE = (
    "Succeeds: the lower limit of the 95 % interval (Clopper-Pearson) has an advantage over guessing above 1/2, as a "
    "fraction of the best possible one. Fails: the upper limit has one below 1/4. Undecided: neither. A failed attack "
    "is a measurement of this attack, and no proof that there is none better."
)


@dataclass(frozen=True)
class AttackReport:
    """An attack and what it came to against each variant; `key_bits` is None where there are no keys. `drawing`: a run
    of it, where it has a picture and somebody wants it.
    """

    attack: MeasuredAttack
    measured: tuple[AttackResult, ...]
    key_bits: int | None
    drawing: Drawing | None = None

    @property
    def as_expected(self) -> bool:
        """Whether every outcome is the one on record."""
        return all(m.as_expected for m in self.measured)

    def as_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
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


def story(attack: MeasuredAttack, key_bits: int | None) -> list[str]:
    """Who attacks what, from what and how, a paragraph each."""
    keys = "" if key_bits is None else f" Keys of {key_bits} bits; the attack does not depend on their length."
    return [
        f"{attack.name} breaks {attack.breaks}: {attack.flaw}",
        f"Attacker: {attack.attacker}. It has {attack.takes}, and nothing else.",
        *(f"{i}. {step}" for i, step in enumerate(attack.steps, start=1)),
        f"Success: {attack.success}.{keys}",
        f"Where it succeeds it does so {attack.when}.",
        *([attack.reading] if attack.reading else []),
    ]


def rows(reports: Iterable[AttackReport]) -> list[tuple[str, ...]]:
    """A row of text under `HEADINGS` for every measurement."""
    return [
        (report.attack.name, report.attack.breaks, report.attack.attacker, variant.target, m.variant, *figures(m))
        for report in reports
        for variant, m in zip(report.attack.variants, report.measured, strict=True)
    ]


def figures(m: AttackResult) -> tuple[str, str, str, str]:
    """Outcome, successes, interval and chance, as text."""
    low, high = m.interval
    known = ", no fix yet" if m.no_fix_yet and m.outcome == "succeeds" else ""
    interval = f"{low:.3f} to {high:.3f}"
    return f"{m.outcome}{known}", f"{m.successes} of {m.trials}", interval, f"{m.chance:.3g}"


def conditions(reports: Sequence[AttackReport]) -> list[str]:
    """For every attack a line that says when it works where it does, and one about keys."""
    bits = {report.key_bits for report in reports if report.key_bits is not None}
    keys = [f"Keys have {b} bits, which makes these runs fast; no attack depends on it." for b in bits]
    told = (f"  {report.attack.name}: {report.attack.when}." for report in reports)
    return ["Where an attack succeeds it does so on these conditions:", *told, *keys]


def powers(reports: Iterable[AttackReport]) -> list[str]:
    """A sentence on what a failure is worth: the worst figures of all that failed; nothing where none did."""
    failed = [m for report in reports for m in report.measured if m.outcome == "fails"]
    if not failed:
        return []
    quarter, half = (max(m.missed(real) for m in failed) for real in (FAILS_BELOW, SUCCEEDS_ABOVE))
    return [
        f"What failed was tried {min(m.trials for m in failed)} times or more: an attack with an advantage of 1/4 "
        f"would have passed for a failure with probability {quarter:.2g} at most, and one with 1/2 with {half:.1g}."
    ]


def surprises(reports: Sequence[AttackReport]) -> list[str]:
    """A sentence for every outcome that is not the one on record."""
    return [
        f"NOT AS EXPECTED: {m.attack} against {m.variant}: {m.outcome}, and {m.expected} is on record"
        for report in reports
        for m in report.measured
        if not m.as_expected
    ]
