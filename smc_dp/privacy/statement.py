"""Privacy statement of a release, for machines and in plain words."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from decimal import ROUND_CEILING, Context
from fractions import Fraction
from functools import cached_property
from typing import Any, Literal, NamedTuple, get_args

from smc_dp.core.errors import InputError, check_one_of
from smc_dp.privacy.gaussian import LEAST_MU, MOST_MU, loss_tail, mu_keeps

GuaranteeKind = Literal["pure", "approx", "zcdp", "none"]
Unit = Literal["record", "party"]
Adjacency = Literal["replace", "addremove", "party"]
RecordAdjacency = Literal["replace", "addremove"]

_CHANGE: dict[str, str] = {
    "replace": "one record of one party were replaced by any other record",
    "addremove": "one record of one party were added or taken away",
    "party": "all records of one party were replaced by any others",
}
CHANGED = {
    "replace": "one replaced record of one party",
    "addremove": "one added or removed record of one party",
    "party": "all records of one party, replaced",
}
"""Change that a guarantee is about, by its adjacency."""
_UNKNOWN = {
    "replace": "which of two versions of one record was used",
    "addremove": "whether one record was used",
    "party": "which of two versions of one party's records was used",
}


CAVEATS_FOLLOW = "Not covered, or to be known:"
_FLOATS = 1 + 2.0**-30  # far above what a few operations on floats can lose


class Certainty(NamedTuple):
    """Bound on the privacy loss: it lies from -loss to loss, but with a probability of `missed` at most.

    posterior: how sure somebody who began at 1/2 is of either neighbour at that loss, at most.
    """

    loss: float
    posterior: float
    missed: float


@dataclass(frozen=True)
class PrivacyStatement:
    """The guarantee of one release: true figures, against whom, and what it does not cover.

    Parameters
    ----------
    kind : {"pure", "approx", "zcdp", "none"}
        `pure`: epsilon, delta = 0. `approx`: epsilon and 0 < delta < 1. `zcdp`: rho, and an epsilon at a 0 < delta < 1
        that follows from mu, where there is one, and else from rho. `none`: no guarantee.
    epsilon : float or None
        The bound, rounded up; None for kind `none`.
    delta : float
        Of (epsilon, delta). It is *not* the probability that the privacy loss exceeds epsilon, which may be much
        larger: see `certainty`.
    unit : {"record", "party"}
        What is protected.
    adjacency : {"replace", "addremove", "party"}
        How neighbouring data sets differ.
    adversary : str
        English; it completes "this holds against".
    caveats : tuple of str
        What is not covered or should be known, each a sentence.
    rho : float, default=None
        Of zero-concentrated privacy, for kind `zcdp` and no other.
    mu : float, default=None
        Of the curve of a Gaussian, for kind `zcdp` alone: every (epsilon, delta) that `gaussian.mu_keeps` for it also
        holds.

    Raises
    ------
    InputError
        A ValueError: the fields contradict each other.

    References
    ----------
    * C. Dwork, F. McSherry, K. Nissim and A. Smith. Calibrating noise to sensitivity in private data analysis. TCC
      2006.
    * M. Bun and T. Steinke. Concentrated differential privacy: simplifications, extensions, and lower bounds. TCC
      2016.

    Examples
    --------
    >>> from smc_dp import PrivacyStatement
    >>> stated = PrivacyStatement("pure", 1.0, 0.0, "record", "replace", "anybody outside", ())
    >>> print(stated.plain_words()[:66])
    Suppose one record of one party were replaced by any other record.

    """

    kind: GuaranteeKind
    epsilon: float | None
    delta: float
    unit: Unit
    adjacency: Adjacency
    adversary: str
    caveats: tuple[str, ...]
    rho: float | None = None
    mu: float | None = None

    def __post_init__(self) -> None:
        check_one_of("kind", self.kind, get_args(GuaranteeKind))
        check_neighbours(self.unit, self.adjacency)
        for name, value, has, most in (
            ("epsilon", self.epsilon, self.kind != "none", math.inf),
            ("delta", self.delta or None, self.kind in ("approx", "zcdp"), 1.0),
            ("rho", self.rho, self.kind == "zcdp", math.inf),
        ):
            if (value is not None) != has or (value is not None and not 0 < value < most):
                raise InputError("statement.wrong_figure", name=name, kind=self.kind, got=value)
        self._check_curve()
        if not self.adversary.strip():
            raise InputError("statement.no_adversary")

    def as_dict(self) -> dict[str, Any]:
        """Return the fields as JSON values; rho where there is one, mu always, null where there is none."""
        fields = {**asdict(self), "caveats": list(self.caveats)}
        return fields if self.rho is not None else {name: fields[name] for name in fields if name != "rho"}

    def plain_words(self) -> str:
        """Return a few sentences for somebody who must answer for the data and is no mathematician."""
        return " ".join([self.promise, *([CAVEATS_FOLLOW] if self.caveats else []), *self.caveats])

    @property
    def figures(self) -> str:
        """Epsilon, delta and the neighbours that they are for; only where there is a guarantee."""
        epsilon, delta = short_figure(self.epsilon or 0.0), short_delta(self.delta)
        return f"epsilon {epsilon}, delta {delta}, for {CHANGED[self.adjacency]}."

    @property
    def brief(self) -> str:
        """Guarantee in two sentences, without the adversary."""
        if self.kind == "none":
            return "none: treat this release as if the exact result were published."
        found, figures = self.certainty, self.figures
        percent = math.ceil(1000 * found.posterior) / 10
        if found.missed >= 1:
            return f"{figures} Delta is too large for this epsilon to bound an attacker's certainty in a single case."
        cases = f"at most {short_delta(100 * found.missed)} %" if found.missed >= 1e-6 else "under a millionth"
        rarely = f", except in {cases} of cases" if found.missed else ""
        hardly = " Such an epsilon hardly protects." if percent > 99 else ""
        return (
            f"{figures} An attacker who knows everything except {_UNKNOWN[self.adjacency]}, and first thinks both "
            f"equally likely, is afterwards at most {percent:g} % sure{rarely}.{hardly}"
        )

    @property
    def example(self) -> str:
        """Guarantee in whole cases out of a thousand, without a symbol.

        The better of two guesses with equal chances is right with probability (1 + TV)/2, for the total variation TV
        of both worlds. (epsilon, delta) bounds it by (e^epsilon - 1 + 2 delta)/(e^epsilon + 1), so that no guess is
        right more often than (e^epsilon + delta)/(1 + e^epsilon) (Kairouz, Oh and Viswanath. The composition theorem
        for differential privacy. ICML 2015, theorem 2.1).
        """
        if self.epsilon is None:
            return "None: nothing hides a record. Treat this release as if the exact result were published."
        right = math.ceil(1000 * _FLOATS * (1 + self.delta * math.exp(-self.epsilon)) / (1 + math.exp(-self.epsilon)))
        certainty = 1000 * self.certainty.posterior
        bound = f"in at most {right} of 1,000" if right < 1000 else "in all of them, perhaps"
        surer = " In single cases it can be surer." if right < 1000 and certainty > right + 5 else ""
        return (
            f"An attacker knows everything except {_UNKNOWN[self.adjacency]}, and finds both equally likely. "
            f"By guessing, the attacker is right in 500 of 1,000 such cases. With this release the attacker is right "
            f"{bound}.{surer}"
        )

    @property
    def promise(self) -> str:
        """Guarantee and adversary in words, or that there is none; the caveats hold what else is to be known."""
        if self.kind == "none":
            return "This release carries no privacy guarantee: treat it as if the exact result were published."
        return f"Suppose {_CHANGE[self.adjacency]}. {self._bound()} This holds against {self.adversary}."

    @cached_property
    def certainty(self) -> Certainty:
        """Certainty that an attacker can reach, and how often more, by what this statement says and no more.

        Attackers who thought both neighbours equally likely have the posterior odds e^Z afterwards, for the privacy
        loss Z = log P(o)/Q(o) of what they saw. Let p bound Pr[Z > l] for both orders of neighbours. Then
        Pr[|Z| > l] <= p (1 + e^-l), as Pr[Z < -l] is at most e^-l times the probability of that event in the other
        world. p is

        * for kind `pure`, with l = epsilon: 0;
        * for kind `zcdp` with mu, l = epsilon: `gaussian.loss_tail`, the least bound that follows from the curve;
        * for kind `zcdp` without: exp(-(epsilon - rho)^2/(4 rho)), by Markov's inequality for e^((a - 1) Z), whose mean
          is at most e^((a - 1) a rho), with a = (epsilon + rho)/(2 rho) (Bun and Steinke 2016);
        * for kind `approx`, with l = epsilon + x: delta/(1 - e^-x), as delta is at least the mean of
          (1 - e^(epsilon - Z))_+. For x = 0 nothing follows; x is epsilon, or at most .01 where delta is below 1e-12.

        ValueError for kind `none`.
        """
        if self.epsilon is None:
            raise ValueError("a statement without a guarantee has no epsilon")
        loss, once = self.epsilon, 0.0
        if self.kind == "approx":
            beyond = min(self.epsilon, 0.01) if self.delta < 1e-12 else self.epsilon
            loss, once = self.epsilon + beyond, self.delta / -math.expm1(-beyond)
        elif self.mu is not None:
            once = round_up(loss_tail(Fraction(self.mu), Fraction(loss)))
        elif self.rho is not None:
            once = math.exp(-(max(0.0, loss - self.rho) ** 2) / (4 * self.rho))
        either = once * (1 + math.exp(-loss)) * _FLOATS
        return Certainty(loss, 1 / (1 + math.exp(-loss)), min(1.0, either))

    def _check_curve(self) -> None:
        if self.mu is None:
            return
        if self.kind != "zcdp" or not LEAST_MU <= self.mu <= MOST_MU:
            raise InputError("statement.wrong_figure", name="mu", kind=self.kind, got=self.mu)
        if not mu_keeps(Fraction(self.mu) ** 2, Fraction(self.epsilon or 0.0), Fraction(self.delta)):
            raise InputError("statement.mu_too_large", mu=self.mu, epsilon=self.epsilon, delta=self.delta)

    def _bound(self) -> str:
        epsilon, delta = short_figure(self.epsilon or 0.0), short_delta(self.delta)
        found, figures = self.certainty, f"epsilon = {epsilon}, delta = {delta}"
        percent = math.ceil(1000 * found.posterior) / 10
        if found.missed < 1:
            words = (
                "An attacker who thought both versions equally likely before the release can afterwards be at most "
                f"{percent:g} % sure of either ({figures})"
            )
            words += f", except with a probability of at most {short_delta(found.missed)}." if found.missed else "."
            if found.missed > self.delta:
                words += " This probability is not delta, but larger."
        else:
            words = "The probability of any observation is at most e^epsilon times what it would be with the other "
            words += f"version, plus delta ({figures})."
            words += " These figures do not bound how sure anybody can be in a single case."
        if self.rho is not None:
            words += f" The release is zero-concentrated differentially private (rho = {short_figure(self.rho)})."
            if self.mu is not None:
                moved = f"{short_figure(self.mu)} standard deviations of the noise (mu)"
                words += " It is at least as private as a release of one number with Gaussian noise, where one record "
                words += f"changes the number by {moved}."
            words += " From this an epsilon follows for every other delta."
        if percent > 99:
            words += " Such an epsilon hardly protects."
        return words


def check_neighbours(unit: Unit, adjacency: Adjacency) -> None:
    """Raise InputError unless neighbours of this adjacency differ in what the unit protects."""
    check_one_of("unit", unit, get_args(Unit))
    check_one_of("adjacency", adjacency, get_args(Adjacency))
    if (unit == "party") != (adjacency == "party"):
        raise InputError("statement.unit_of_other_adjacency", unit=unit, adjacency=adjacency)


def short_delta(delta: float) -> str:
    """Return three digits of a delta, or of another probability, rounded up."""
    # Of at most six digits, :g writes each of them.
    return f"{float(Context(prec=3, rounding=ROUND_CEILING).create_decimal(repr(delta))):g}"


def round_up(value: Fraction) -> float:
    """Return the smallest float not below the value, so that a reported epsilon never flatters."""
    nearest = float(value)
    return math.nextafter(nearest, math.inf) if nearest < value else nearest


def security_bits(distance: Fraction) -> str:
    """Return the largest s, to a tenth and never flattering, for which this distance in (0, 1) is at most 2**-s."""
    tenths = int(1 / distance**10).bit_length() - 1
    return f"{tenths // 10}.{tenths % 10}"


def short_figure(figure: float) -> str:
    """Return six digits of a privacy figure, rounded up."""
    return str(Context(prec=6, rounding=ROUND_CEILING).create_decimal(repr(figure)))
