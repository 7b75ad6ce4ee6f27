"""The seam between learning and protocols: private grid integers in, additive shares of a noisy sum out.

`ideal` computes in the clear what the protocol computes among parties who show each other nothing. Both
return an `Outcome`, and what is above the seam cannot tell them apart.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Literal, TypeAlias

from protocols import pathak2010
from protocols.arithmetic.rng import Stream
from protocols.crypto.identity import Identity
from protocols.errors import LocalError
from protocols.pathak2010 import as_printed
from protocols.pathak2010.parameters import Parameters
from protocols.pathak2010.values import PartyInput
from protocols.runtime.network import Meter
from protocols.runtime.session import CURATOR_NAME, Session
from protocols.runtime.simulate import Setting, simulate
from smc_dp.errors import InputError

CURATOR = CURATOR_NAME
MIN_KEY_BITS = 2048
SEEDED, TEST_KEYS, AS_PRINTED = "insecure seed", "insecure test keys", "as printed"
_TEST_KEY_BITS, _MAX_KEY_BITS = 256, 16384

ComparisonName: TypeAlias = Literal["all-pairs", "tournament"]
TopologyName: TypeAlias = Literal["mesh", "star"]
LinkName: TypeAlias = Literal["lan", "wan", "none"]


@dataclass(frozen=True)
class Contribution:
    """One party's private input.

    `size` is its number of rows; `weights` its model and `noise` the noise it would add to the sum of all
    models if it were the smallest party: d signed integers each, on the same grid.
    """

    name: str
    size: int = field(repr=False)
    weights: tuple[int, ...] = field(repr=False)
    noise: tuple[int, ...] = field(repr=False)


@dataclass(frozen=True)
class ProtocolSettings:
    """How the protocol is to be run. Shares live modulo 2**ring_bits; `dimension` is d.

    `agreed` is a digest of everything else that the participants agree on (privacy, objective, bounds). It enters the
    session, so that whoever prepared its part under other settings cannot exchange a message.

    Raises InputError for keys too short to protect anyone, unless they are asked for as test keys.
    """

    dimension: int
    ring_bits: int
    key_bits: int = 3072
    comparison: ComparisonName = "tournament"
    topology: TopologyName = "mesh"
    link: LinkName = "none"
    as_printed: bool = False
    insecure_test_keys: bool = False
    agreed: str = ""

    def __post_init__(self) -> None:
        if self.key_bits < MIN_KEY_BITS and not self.insecure_test_keys:
            raise InputError(f"key_bits: wanted at least {MIN_KEY_BITS} (or `insecure_test_keys`), got {self.key_bits}")
        if not _TEST_KEY_BITS <= self.key_bits <= _MAX_KEY_BITS or self.key_bits % 16:
            raise InputError(
                f"key_bits: wanted a multiple of 16 from {_TEST_KEY_BITS} to {_MAX_KEY_BITS}, got {self.key_bits}"
            )


@dataclass(frozen=True)
class StageCost:
    """What one stage cost; `seconds` maps each role to the time it computed."""

    stage: str
    messages: int
    bytes: int
    rounds: int
    seconds: dict[str, float]


@dataclass(frozen=True)
class Cost:
    """What the whole protocol cost; `seconds` from start to end, on the link model's clock if any."""

    seconds: float
    messages: int
    bytes: int
    rounds: int
    by_stage: tuple[StageCost, ...]

    def as_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return asdict(self)


@dataclass(frozen=True)
class Outcome:
    """The published shares, name -> d integers in [0, modulus), for every party and the curator.

    Their sum modulo `modulus` is the sum of all weights plus the noise of the smallest party. `cost` and
    `transcript` (the lines of the wire record) are None when no protocol was run. `views` maps each participant to
    the bytes of its view, which are secret: empty unless asked for.
    """

    shares: dict[str, list[int]]
    modulus: int
    cost: Cost | None = None
    transcript: list[dict[str, Any]] | None = None
    views: dict[str, bytes] = field(default_factory=dict, repr=False)


def ideal(contributions: Sequence[Contribution], ring_bits: int, rng: Stream) -> Outcome:
    """The ideal functionality: noise of the smallest party, uniform among equals; uniform shares.

    Raises ValueError for fewer than two parties, a name used twice, or vectors of different lengths.
    """
    check(contributions)
    smallest = min(c.size for c in contributions)
    candidates = [c for c in contributions if c.size == smallest]
    noise = candidates[rng.below(len(candidates))].noise
    total = [sum(column) for column in zip(noise, *(c.weights for c in contributions), strict=True)]
    modulus = 1 << ring_bits
    shares = {c.name: [rng.bits(ring_bits) for _ in noise] for c in contributions}
    rest = [sum(column) for column in zip(*shares.values(), strict=True)]
    shares[CURATOR] = [(s - r) % modulus for s, r in zip(total, rest, strict=True)]
    return Outcome(shares, modulus)


def secure(
    contributions: Sequence[Contribution],
    settings: ProtocolSettings,
    *,
    rng: Stream,
    progress: Callable[[str, int, int], None] | None = None,
    identities: Mapping[str, Identity] | None = None,
    views: bool = False,
) -> Outcome:
    """The same by the curator protocol, over channels that really encrypt; `rng` seeds every participant.

    `progress(stage, done, total)` hears how many participants have entered a stage. `identities`: the long-term
    identities of all participants, else new ones are made for this run. `views` asks for what each participant could
    read. Raises a ProtocolError on an abort; nothing is published then.
    """
    check(contributions)
    parties = tuple(c.name for c in contributions)
    try:
        parameters = Parameters(
            parties,
            settings.dimension,
            settings.key_bits,
            settings.ring_bits,
            settings.comparison,
            settings.agreed,
        )
    except LocalError as error:
        raise InputError(str(error)) from None
    program, make = (as_printed.PROGRAM, _printed) if settings.as_printed else (pathak2010.PROGRAM, _hardened)
    names = (*parties, CURATOR)
    if identities is None:
        identities = {name: Identity.generate(rng.fork(f"identity {name}")) for name in names}
    if missing := [name for name in names if name not in identities]:
        raise InputError(f"identities: wanted one of {missing[0]} too")
    identities = {name: identities[name] for name in names}
    pinned = {name: identity.public for name, identity in identities.items()}
    session = Session(program, parameters, pinned, rng.fork("nonce").bytes(32))
    inputs: dict[str, tuple[Any, ...]] = {c.name: (parameters, make(parameters, c)) for c in contributions}
    inputs[CURATOR] = (parameters,)
    seeds = {name: rng.fork(f"seed {name}") for name in names}
    setting = Setting(
        settings.topology,
        settings.link,
        progress=_counter(progress, len(names)),
        marks=marks(settings, rng),
        views=views,
    )
    run = simulate(session, identities, seeds, inputs, setting)
    shares = {name: list(run.published[name].y) for name in names}
    return Outcome(
        shares,
        parameters.weights.modulus,
        _cost(run.meter),
        list(run.transcript.lines()),
        {name: view.dumps(session) for name, view in run.recorded.items()},
    )


def _hardened(p: Parameters, c: Contribution) -> PartyInput:
    return PartyInput(c.size, p.weights.vector(c.weights), p.weights.vector(c.noise))


def _printed(p: Parameters, c: Contribution) -> as_printed.PrintedInput:
    return as_printed.PrintedInput(c.size, p.weights.vector(c.weights), c.noise)


def marks(settings: ProtocolSettings, rng: Stream) -> tuple[str, ...]:
    """What makes a run insecure, in the words that its transcript is marked with; nothing for a proper run."""
    applying = {
        SEEDED: rng.insecure,
        TEST_KEYS: settings.key_bits < MIN_KEY_BITS,
        AS_PRINTED: settings.as_printed,
    }
    return tuple(mark for mark, applies in applying.items() if applies)


def _counter(progress: Callable[[str, int, int], None] | None, total: int) -> Callable[[str, str], None] | None:
    if progress is None:
        return None
    entered: dict[str, set[str]] = defaultdict(set)  # a role comes back to a stage after making its keys

    def hear(name: str, stage: str) -> None:
        entered[stage].add(name)
        progress(stage, len(entered[stage]), total)

    return hear


def _cost(meter: Meter) -> Cost:
    stages = tuple(StageCost(name, m.messages, m.bytes, m.rounds, dict(m.seconds)) for name, m in meter.stages.items())
    return Cost(
        max(meter.clock.values()),
        sum(s.messages for s in stages),
        sum(s.bytes for s in stages),
        sum(s.rounds for s in stages),
        stages,
    )


def check(contributions: Sequence[Contribution]) -> None:
    """Raises ValueError unless the contributions fit together."""
    if len(contributions) < 2:
        raise ValueError(f"contributions: wanted those of at least 2 parties, got {len(contributions)}")
    names = [c.name for c in contributions]
    if len(set(names)) != len(names) or CURATOR in names:
        raise ValueError(f"contributions: names must differ from each other and from {CURATOR!r}, got {names}")
    d = len(contributions[0].weights)
    for c in contributions:
        if c.size < 1:
            raise ValueError(f"{c.name}: size must be positive")
        if len(c.weights) != d or len(c.noise) != d or not d:
            raise ValueError(f"{c.name}: wanted {d} weights and as much noise, got {len(c.weights)} and {len(c.noise)}")
