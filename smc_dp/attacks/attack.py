"""Model of an attack, and the rule that turns a measurement into an outcome.

An attack is tried many times, each time on fresh keys, coins and secrets. With q the chance of a guess, the *advantage*
of a rate s is (s - q)/(1 - q): 0 for guessing, 1 for certainty. By its Clopper-Pearson 95 % interval an attack
`succeeds` when even the lower limit has an advantage above 1/2, `fails` when even the upper limit has one below 1/4,
and is `undecided` otherwise. So one with an advantage of 1/4 passes for a failure with probability at most .025, and
one with more hardly ever: `missed` has the exact figure for the number of trials made. This is a measurement of one
attack, and no proof that there is none better.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from importlib.resources import files
from typing import Any, Literal, TypeAlias

import scipy

from protocols.arithmetic.rng import Stream
from smc_dp.audit.epsilon.bounds import clopper_pearson

AttackOutcome: TypeAlias = Literal["succeeds", "fails", "undecided"]
AttackTrial: TypeAlias = Callable[[Stream, int], bool]
"""One try, from fresh randomness and the length of the keys (in bits, if there are any): whether it succeeded."""
StepCode: TypeAlias = Callable[..., object]
"""A function that has to do with the step that is attacked: its source stands on the page of the attack."""

CONFIDENCE = 0.95
SUCCEEDS_ABOVE, FAILS_BELOW = 0.5, 0.25
LEAST_TRIALS = 16  # with fewer even an attack that never succeeds could not be said to fail


@dataclass(frozen=True)
class Variant:
    """Target of an attack, with the outcome on record.

    `target`: the protocol or method; `name`: its version; `about`: both in words. `trials`: the default number, large
    enough for the outcome on record. `no_fix_yet`: not as published, but the attack is known to succeed. `code`:
    the functions of the attacked step, which every trial calls; for outcomes "fails", of the variants that are shown
    beside the published one.
    """

    name: str
    target: str
    about: str
    expected: AttackOutcome
    trial: AttackTrial = field(repr=False)
    trials: int = 20
    no_fix_yet: bool = False
    code: tuple[StepCode, ...] = field(default=(), repr=False)

    @property
    def is_as_published(self) -> bool:
        """True if this is the version of a paper, which the attack breaks."""
        return self.expected == "succeeds" and not self.no_fix_yet


@dataclass(frozen=True)
class MeasuredAttack:
    """Description of an attack: the broken step of a paper, the attacker and what he has, success, and course.

    `when`: a clause with the conditions under which it works. `chance`: the rate of success of a guess. `uses_keys`: it
    runs a protocol with keys of a given length, on which no attack here depends. `reading`: what the numbers mean,
    where not plain.
    """

    name: str
    paper: str
    step: str
    flaw: str
    attacker: str
    takes: str
    success: str
    when: str
    steps: tuple[str, ...]
    variants: tuple[Variant, ...]
    chance: float = 0.0
    uses_keys: bool = True
    reading: str = ""

    @property
    def attacked(self) -> tuple[Variant, ...]:
        """Variants with code that it breaks: as published, or with a malicious participant."""
        return tuple(v for v in self.variants if v.code and v.expected == "succeeds")

    @property
    def fixed(self) -> tuple[Variant, ...]:
        """Variants with code in which it fails, shown beside the broken ones."""
        return tuple(v for v in self.variants if v.code and v.expected == "fails")

    @property
    def is_of_publication(self) -> bool:
        """True if it breaks a step as a paper has it."""
        return any(variant.is_as_published for variant in self.variants)

    @property
    def breaks(self) -> str:
        """Paper and step."""
        return f"{self.paper}, {self.step}"


_TEXTS = tomllib.loads(files("smc_dp.attacks").joinpath("attacks.toml").read_text(encoding="utf-8"))


def describe_attack(
    name: str,
    *,
    variants: tuple[Variant, ...],
    chance: float = 0.0,
    uses_keys: bool = True,
    **fields: float,
) -> MeasuredAttack:
    """Return the attack of this name with its texts from `attacks.toml`, filled with `fields`."""
    filled = {key: text.format(**fields) for key, text in _TEXTS[name].items() if key != "steps"}
    steps = tuple(step.format(**fields) for step in _TEXTS[name]["steps"])
    return MeasuredAttack(name, steps=steps, variants=variants, chance=chance, uses_keys=uses_keys, **filled)


@dataclass(frozen=True)
class AttackResult:
    """Number of successes of an attack against a variant."""

    attack: str
    variant: str
    successes: int
    trials: int
    chance: float
    expected: AttackOutcome
    no_fix_yet: bool

    @property
    def interval(self) -> tuple[float, float]:
        """Clopper-Pearson interval of the rate of success."""
        return clopper_pearson(self.successes, self.trials, CONFIDENCE)

    @property
    def outcome(self) -> AttackOutcome:
        """Outcome by the rule of this module."""
        low, high = (advantage(limit, self.chance) for limit in self.interval)
        if low > SUCCEEDS_ABOVE:
            return "succeeds"
        return "fails" if high < FAILS_BELOW else "undecided"

    @property
    def as_expected(self) -> bool:
        """True if the outcome is the one on record."""
        return self.outcome == self.expected

    def missed(self, real: float) -> float:
        """Return the probability that an attack with advantage `real` comes out as `fails` in this many trials."""
        most = max((k for k in range(self.trials + 1) if replace(self, successes=k).outcome == "fails"), default=-1)
        rate = self.chance + real * (1 - self.chance)
        return 0.0 if most < 0 else float(scipy.special.bdtr(most, self.trials, rate))

    def as_dict(self) -> Mapping[str, Any]:
        """Return plain values for JSON."""
        low, high = self.interval
        return {
            "variant": self.variant,
            "outcome": self.outcome,
            "expected": self.expected,
            "no_fix_yet": self.no_fix_yet,
            "successes": self.successes,
            "trials": self.trials,
            "interval": [low, high],
            "confidence": CONFIDENCE,
            "missed": {str(real): self.missed(real) for real in (FAILS_BELOW, SUCCEEDS_ABOVE)},
        }


def advantage(rate: float, chance: float) -> float:
    """Return (rate - chance)/(1 - chance)."""
    return (rate - chance) / (1 - chance)
