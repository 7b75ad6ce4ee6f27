"""What is known of a run once an audit has passed: typed facts, each with its source and the checks that hold it.

Nothing here is private, and nothing was measured in seconds: a run folder has no private rows in it, and its file of
timings is not read.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, is_dataclass
from functools import cache
from types import MappingProxyType
from typing import Annotated, Any, Literal, NamedTuple, TypeAlias, get_type_hints

from smc_dp.privacy.statement import PrivacyStatement

NoiseBy: TypeAlias = Literal["the smallest party", "shares of all", "each party by itself"]
"""Whose noise is in a release."""


class FactSource(NamedTuple):
    """Where a fact comes from, in words, and the checks of an audit that fail where it is another."""

    where: str
    held_by: tuple[str, ...] = ()


@dataclass(frozen=True)
class ApprovedStudy:
    """What all sites approved of before they took part."""

    title: str
    purpose: str
    digest: str


@dataclass(frozen=True)
class AssuranceReached:
    """Which of three levels an audit came to, 0 for none, in its own words, and what is missing for the next one."""

    number: int
    name: str
    words: str
    next: str
    missing: tuple[str, ...]


@dataclass(frozen=True)
class LedgerCost:
    """What one release costs each party: figures as the ledgers add them up, rounded up, as text."""

    epsilon: str
    delta: str


@dataclass(frozen=True)
class LetterCount:
    """How much left: letters sealed to one reader, messages for everybody, and all of their bytes."""

    sealed: int
    public: int
    size: int


@dataclass(frozen=True)
class RunFacts:
    """All that the documents are made of. `study`: None where no sites approved of one, as in a simulation.

    `unclaimed`: what the protocol does not promise, the worst first. `gone_before`: parties that vanished before any
    was charged, and were left out of a new session. Of the settings, None for those that the protocol does not have.
    """

    parties: Annotated[tuple[str, ...], FactSource("release.json: parameters.parties", ("agreed",))]
    curator: Annotated[bool, FactSource("what the protocol's program says of who takes part", ("session",))]
    columns: Annotated[tuple[str, ...], FactSource("release.json: columns", ("agreed",))]
    label: Annotated[str, FactSource("release.json: parameters.label", ("agreed",))]
    classes: Annotated[tuple[str, ...], FactSource("release.json: classes", ("agreed",))]
    left_out_for: Annotated[tuple[str, ...], FactSource("release.json: missing", ("agreed",))]
    method: Annotated[str, FactSource("release.json: parameters.method", ("agreed",))]
    protocol: Annotated[str, FactSource("transcript.jsonl line 0: protocol", ("agreed", "session"))]
    weights: Annotated[int, FactSource("release.json: weights", ("release",))]
    sums: Annotated[int, FactSource("release.json: parameters", ("agreed",))]
    shares_published: Annotated[bool, FactSource("release.json: digests", ("agreed",))]
    public_rows: Annotated[int | None, FactSource("auxiliary.json", ("agreed",))]
    guarantee: Annotated[PrivacyStatement, FactSource("release.json: privacy", ("statement",))]
    marks: Annotated[tuple[str, ...], FactSource("release.json: insecure", ("marks",))]
    noise: Annotated[str, FactSource("release.json: parameters.noise", ("agreed",))]
    noise_by: Annotated[NoiseBy, FactSource("release.json: parameters.method and protocol", ("agreed",))]
    calibration: Annotated[str, FactSource("release.json: parameters.calibration", ("agreed",))]
    colluders: Annotated[int | None, FactSource("release.json: parameters.colluders", ("agreed",))]
    dropouts: Annotated[int | None, FactSource("release.json: parameters.dropouts", ("agreed",))]
    most_rows: Annotated[int | None, FactSource("release.json: parameters.most_rows", ("agreed",))]
    rows_known: Annotated[int | None, FactSource("release.json: parameters.rows", ("agreed",))]
    rows_released: Annotated[bool, FactSource("release.json: parameters.sizes", ("agreed",))]
    gone_before: Annotated[tuple[str, ...], FactSource("release.json: parameters.left_out", ("agreed",))]
    key_bits: Annotated[int | None, FactSource("release.json: parameters.key_bits", ("agreed",))]
    unclaimed: Annotated[tuple[str, ...], FactSource("what the protocol's code declares", ("session",))]
    letters: Annotated[LetterCount, FactSource("transcript.jsonl: the messages", ("sizes",))]
    vanished: Annotated[tuple[str, ...], FactSource("transcript.jsonl: letters that did not come", ("completeness",))]
    study: Annotated[ApprovedStudy | None, FactSource("study.json", ("approvals",))]
    charged: Annotated[LedgerCost | None, FactSource("what follows from release.json: privacy", ("statement",))]
    pinned: Annotated[int, FactSource("the identities that were given to the audit", ("identities",))]
    views: Annotated[int, FactSource("the views that were given to the audit", ("view-agrees",))]
    checks_passed: Annotated[tuple[str, ...], FactSource("the audit")]
    checks_open: Annotated[tuple[str, ...], FactSource("the audit")]
    assurance: Annotated[AssuranceReached, FactSource("the audit")]
    session: Annotated[str, FactSource("transcript.jsonl line 0: session", ("session",))]
    release_digest: Annotated[str, FactSource("release.json: its SHA-256")]

    @property
    def document(self) -> list[dict[str, Any]]:
        """Plain values for JSON: each fact with its source and the checks that hold it."""
        return [
            {"fact": name, "value": _plain(getattr(self, name)), "from": source.where, "held_by": list(source.held_by)}
            for name, source in sources().items()
        ]


@cache
def sources() -> Mapping[str, FactSource]:
    """Where each fact comes from, by its name."""
    hints = get_type_hints(RunFacts, include_extras=True)
    return MappingProxyType({name: hint.__metadata__[0] for name, hint in hints.items()})


@cache
def kinds() -> Mapping[str, Any]:
    """The type of each fact, by its name."""
    return MappingProxyType(get_type_hints(RunFacts))


def _plain(value: object) -> Any:
    if is_dataclass(value) and not isinstance(value, type):
        return value.as_dict() if isinstance(value, PrivacyStatement) else asdict(value)
    return list(value) if isinstance(value, tuple) else value
