"""Threat model of a secure sum, and what may then be said of its result.

The parties draw the noise in shares and add everything up by a protocol. A colluding party knows its own shares of the
noise, and a party that drops out may take its own away; the shares of all others are in every result.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Literal, TypeAlias

from smc_dp.core.errors import InputError
from smc_dp.methods.sums.party_limits import (
    check_party_limits,
    closed_graph,
    has_sparse_graph,
    sparse_graph_failure,
)
from smc_dp.privacy.statement import PrivacyStatement, round_up

COMPUTATIONAL_CAVEAT = (
    "Against those who see messages of the protocol, and not only the release, the guarantee is computational "
    "(SIM-CDP): it holds if they cannot break the cryptography."
)
MALICIOUS_CAVEAT = (
    "A malicious participant can deny everybody the result: the ledgers may have been charged for nothing. It can also "
    "enter invented numbers. There is no promise of a result, or of a correct one, only that nothing besides the sums "
    "is revealed."
)
_THEY_MAY = (
    "They may take the masks off single parties' contributions, deny everybody the result, or make it a false one."
)
SEMI_HONEST_CAVEAT = (
    "Nothing is claimed against a malicious Charlie, or malicious parties with him, because each party shares masks "
    f"with its neighbours alone. {_THEY_MAY}"
)
SEMI_HONEST_SECRECY_CAVEAT = (
    "Against a malicious Charlie, or malicious parties with him, nothing but epsilon is claimed, because each party "
    f"shares masks with its neighbours alone. {_THEY_MAY}"
)
STATE_LEAK_CAVEAT = (
    "A party whose state leaks during the session counts as corrupted, because its share of the noise is known."
)
GRAPH_LEAK_CAVEAT = (
    f"{STATE_LEAK_CAVEAT} This holds only if whose state leaks does not depend on which parties share masks."
)
PARTICIPATION_CAVEAT = (
    "The fact that a run takes place at all is not covered. Neither is who took part and who dropped out."
)


RowCounts: TypeAlias = Literal["released", "hidden"]
"""Treatment of the number of all rows: part of the release, or hidden."""
COLLUDERS = "Secure sum: number of parties that may be malicious, besides the curator."
DROPOUTS = "Secure sum: number of parties that may drop out."
"""Sentences of settings, for a protocol's terms and for parameters of estimators."""


@dataclass(frozen=True)
class AnnouncedRows:
    """Public facts of numbers of rows: a cap on each party's, and whether the sum of them is released as well."""

    most_rows: int
    sizes: RowCounts = "hidden"


@dataclass(frozen=True)
class ThreatModel:
    """Threat model: K parties of whom t may collude and D may drop out.

    `verifiable`: everybody can add up what was sent. `by_curator`: what is sent goes to Charlie, else to everybody.
    `sparse`: parties share masks with neighbours alone although none may drop out.
    """

    parties: int
    colluders: int = 1
    dropouts: int = 0
    verifiable: bool = False
    by_curator: bool = True
    sparse: bool = False

    def __post_init__(self) -> None:
        for name, count in (("colluders", self.colluders), ("dropouts", self.dropouts)):
            if count < 0:
                raise InputError("parties.negative_count", name=name, got=count)

    def check(self) -> None:
        """Raise InputError, with the nearest that works, unless a secure sum can add up among these parties."""
        check_party_limits(self.parties, self.colluders, self.dropouts, sparse=self.sparse)

    def require_honest(self) -> None:
        """Raise InputError unless a party is left whose noise is counted."""
        if self.honest < 1:
            raise InputError("colluders.none_honest", limit=self.remaining, dropouts=self.dropouts, got=self.colluders)

    @property
    def remaining(self) -> int:
        """Number of parties that are left if as many drop out as may."""
        return self.parties - self.dropouts

    @property
    def honest(self) -> int:
        """H: number of parties whose shares of the noise are counted."""
        return self.remaining - self.colluders

    @property
    def has_sparse_graph(self) -> bool:
        """True where the parties share masks with neighbours alone: asked for, or because they are too many."""
        return self.sparse or has_sparse_graph(self.parties, self.dropouts)

    @property
    def degree(self) -> int:
        """Number of neighbours to ask the protocol for; 0 where it decides itself who shares masks with whom."""
        return closed_graph(self.parties, self.colluders, self.dropouts).degree if self.sparse else 0

    def with_graph_failure(self, promised: PrivacyStatement, sums: int) -> PrivacyStatement:
        """Return the statement of so many sums, with the probability that their neighbour graph fails added to delta.

        That depends on no row, so what is (epsilon, delta)-private else is (epsilon, delta + it)-private. It is no more
        than that: nothing that can fail is zero-concentrated, or below the curve of a Gaussian at every delta.
        """
        failure = sparse_graph_failure(self.parties, self.colluders, self.dropouts, sums, sparse=self.sparse)
        if not failure or promised.kind == "none":
            return promised
        return replace(
            promised,
            kind="approx",
            delta=round_up(Fraction(promised.delta) + failure),
            rho=None,
            mu=None,
        )

    @property
    def adversary(self) -> str:
        """Adversary that the noise of the sum holds against, with all five numbers; completes "this holds against"."""
        K, t, D, H = self.parties, self.colluders, self.dropouts, self.honest
        who = f"Charlie and any {t} of {K} parties" if self.by_curator else f"any {t} of {K} parties"
        how = "if they are semi-honest" if self.has_sparse_graph else "even if they are malicious"
        present = (
            f"while up to {D} {'party drops' if D == 1 else 'parties drop'} out" if D else "while nobody drops out"
        )
        less = f" ({K} parties, minus {D} that may drop out, minus {t} that may be corrupted)"
        honest = f"{H} honest {'party' if H == 1 else 'parties'}{less}"
        return f"{who}, {how}, {present}. A result has the noise of at least {honest}"

    @property
    def everybody_else(self) -> str:
        """Adversary that noise holds against which a party adds to its own numbers before they are masked."""
        who = "Charlie and all" if self.by_curator else "all"
        return (
            f"{who} {self.parties - 1} other parties, even if they are malicious, and whichever drop out: epsilon with "
            "the noise of each party for its own rows alone, and nobody else's"
        )

    def caveats(self) -> Iterator[str]:
        """Yield the caveats of every sum."""
        yield SEMI_HONEST_CAVEAT if self.has_sparse_graph else MALICIOUS_CAVEAT
        yield COMPUTATIONAL_CAVEAT
        yield GRAPH_LEAK_CAVEAT if self.has_sparse_graph else STATE_LEAK_CAVEAT
        yield from self._caveats_of_result("This holds")

    def caveats_of_own_noise(self) -> Iterator[str]:
        """Yield the caveats of a sum in which each party's noise is enough for its own rows: of its secrecy alone."""
        yield SEMI_HONEST_SECRECY_CAVEAT if self.has_sparse_graph else MALICIOUS_CAVEAT
        yield from self._caveats_of_result("The secrecy of single contributions holds")
        who = f"{'Charlie and ' if self.by_curator else ''}{self.colluders} of {self.parties} parties"
        condition = ", if they are semi-honest" if self.has_sparse_graph else ""
        yield (
            f"The sum also hides single models and numbers of rows from {who}{condition}. No epsilon describes this "
            "secrecy, and it is computational."
        )

    def _caveats_of_result(self, holds: str) -> Iterator[str]:
        """Yield the caveats about the run and its result; `holds` begins "... against so many of them"."""
        yield PARTICIPATION_CAVEAT
        if self.by_curator and not self.verifiable:
            yield (
                "Nobody but Charlie can see whether he published the sum of what he received. If he publishes a false "
                "sum, nobody notices."
            )
        if self.verifiable:
            yield (
                "The values that take the masks off the sum are published, so that anybody can add up. So parties do "
                f"without Charlie what they can do with him. {holds} against {self.colluders} of them either way."
            )
