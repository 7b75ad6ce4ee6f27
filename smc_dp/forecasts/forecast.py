"""A forecast: what a run will cost, in the form in which the cost of a run is stated."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from fractions import Fraction
from typing import Any

from protocols.errors import LocalError
from protocols.runtime.conversation import Foreseen, foresee
from protocols.runtime.network import LINKS, Traffic
from smc_dp.aggregation.cost import StageCost, in_order
from smc_dp.errors import InputError, shown
from smc_dp.forecasts import asked
from smc_dp.forecasts.asked import Asked
from smc_dp.forecasts.clock import Course, course
from smc_dp.forecasts.prices import calibrate
from smc_dp.run.agreement import usual_method


@dataclass(frozen=True)
class RoleCost:
    """What all who have a role send and get together, and the seconds that each of them computes; None if not asked.

    What is public counts as sent, and as nobody's to get.
    """

    role: str
    participants: int
    messages: int
    bytes: int
    received_messages: int
    received_bytes: int
    seconds: float | None


@dataclass(frozen=True)
class Forecast:
    """What a run without drop-outs will cost. Messages, bytes and rounds are exact; `seconds` are what a calibration on
    this machine makes of it, from start to end over the link model, and None where none was asked for.
    """

    protocol: str
    link: str
    parameters: Mapping[str, Any] = field(repr=False)
    messages: int
    bytes: int
    rounds: int
    seconds: float | None
    by_stage: tuple[StageCost, ...]
    by_role: tuple[RoleCost, ...]

    def as_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return asdict(self)


def forecast(
    parties: int | Sequence[str],
    dimension: int,
    *,
    protocol: str | None = None,
    method: str | None = None,
    link: str = "none",
    key_bits: int | None = None,
    comparison: str | None = None,
    exponents: str | None = None,
    colluders: int | None = None,
    dropouts: int | None = None,
    verifiable: bool | None = None,
    output: str | None = None,
    rounds: int | None = None,
    classes: int = 2,
    epsilon: Fraction | float = 1.0,
    delta: Fraction | float | None = None,
    holder: str = asked.HOLDER,
    seconds: bool = True,
    insecure_test_keys: bool = False,
) -> Forecast:
    """What a run among so many parties on so many columns, the constant one among them, will cost if nobody vanishes.

    Parameters
    ----------
    parties : int or sequence of str
        How many, or their names.
    dimension : int
        The columns of an encoded row, the constant one among them.
    protocol : str, default=None
        That of the method, if it is not the usual one for so many parties; without a method, this protocol on vectors
        of `dimension` numbers. With neither it is the method of a run that names none.
    method : str, default=None
        What is learnt; then everything follows as in a run of it, with the default lambda.
    link : {"none", "lan", "wan"}, default="none"
        The network whose delays are counted.
    key_bits, comparison, exponents, colluders, dropouts, verifiable, output : default=None
        Settings of the protocol, as in `run_protocol`.
    rounds : int, default=None
        How many sums a secure sum without a method has, 1 where none is said.
    classes : int, default=2
        How many classes there are.
    epsilon : Fraction or float, default=1.0
        The privacy loss that the run is to have.
    delta : Fraction or float, default=None
        A probability, for noise that has one.
    holder : str, default="hospital"
        What parties without names are called: `holder`-1, `holder`-2 ..., as `run` calls them.
    seconds : bool, default=True
        Whether to calibrate, which takes about two seconds.
    insecure_test_keys : bool, default=False
        Whether keys below 2048 bits are allowed.

    Returns
    -------
    Forecast
        Messages, bytes and rounds, exactly, and seconds where they were asked for.

    Raises
    ------
    InputError
        As a run would refuse.

    Examples
    --------
    >>> from smc_dp import forecast
    >>> found = forecast(5, 31, method="newton", seconds=False)
    >>> found.messages, found.rounds, found.seconds
    (152, 19, None)

    """
    names = asked.called(_whole("parties", parties, 2), holder) if isinstance(parties, int) else tuple(parties)
    d = _whole("dimension", dimension, 1)
    if link not in LINKS:
        raise InputError(f"link: wanted one of {', '.join(LINKS)}, got {shown(link)}")
    named: dict[str, Any] = {"key_bits": key_bits, "comparison": comparison, "exponents": exponents}
    named |= {"colluders": colluders, "dropouts": dropouts}
    named |= {"verifiable": verifiable or None, "output": output}
    if protocol is not None and method is None:
        found = asked.by_protocol(protocol, names, d, named, rounds=rounds, test_keys=insecure_test_keys)
    else:
        if rounds is not None:
            raise InputError("rounds: goes with `protocol` secure_sum and no `method`, which has rounds of its own")
        chance = None if delta is None else Fraction(delta)
        found = asked.by_method(
            method or usual_method(classes), names, d, protocol, named,
            classes=classes, epsilon=Fraction(epsilon), delta=chance, test_keys=insecure_test_keys,
        )  # fmt: skip
    return of_session(found, link, seconds=seconds)


def of_session(found: Asked, link: str = "none", *, seconds: bool = True) -> Forecast:
    """The same of a protocol and parameters; InputError for a protocol that declares no conversation."""
    protocol, p = found
    if protocol.conversation is None:
        raise InputError(f"protocol: {protocol.program.name} does not say what is sent in it")
    try:
        foreseen = foresee(protocol.program, p, protocol.conversation(p), LINKS[link].overhead)
    except LocalError as error:
        raise InputError(str(error)) from None
    timed = course(foreseen, found, LINKS[link], calibrate(found, foreseen)) if seconds else None
    return Forecast(
        protocol.program.name,
        link,
        p.as_dict(),
        sum(found.messages for found in foreseen.by_stage.values()),
        sum(found.bytes for found in foreseen.by_stage.values()),
        sum(found.rounds for found in foreseen.by_stage.values()),
        None if timed is None else timed.wall,
        tuple(_stages(foreseen, timed)),
        tuple(_roles(foreseen, timed)),
    )


def _stages(foreseen: Foreseen, timed: Course | None) -> list[StageCost]:
    by_stage = {} if timed is None else timed.seconds
    names = in_order(list(foreseen.by_stage), list(by_stage))
    counts = ((name, foreseen.by_stage.get(name, Traffic())) for name in names)
    return [StageCost(name, t.messages, t.bytes, t.rounds, dict(by_stage.get(name, {}))) for name, t in counts]


def _roles(foreseen: Foreseen, timed: Course | None) -> list[RoleCost]:
    found = []
    for role, names in foreseen.groups.items():
        tally = foreseen.by_group[role]
        counts = tally.messages, tally.bytes, tally.received, tally.received_bytes
        seconds = None if timed is None else sum(by_role.get(role, 0.0) for by_role in timed.seconds.values())
        found.append(RoleCost(role, len(names), *counts, seconds))
    return found


def _whole(name: str, value: object, least: int) -> int:
    if type(value) is not int or value < least:
        raise InputError(f"{name}: wanted a whole number from {least} on, got {shown(value)}")
    return value
