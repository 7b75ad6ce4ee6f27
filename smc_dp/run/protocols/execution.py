"""A functionality by a protocol, over channels that really encrypt: how it is run, and what it leaves behind."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any

from protocols.arithmetic.rng import Stream
from protocols.crypto.identity import Identity
from protocols.errors import StoppedError
from protocols.runtime.actor import LocalProgram
from protocols.runtime.envelope import HELLO, first_greetings
from protocols.runtime.session import SESSION_BYTES, Program, Session
from protocols.runtime.simulate import Run, Setting, simulate
from protocols.runtime.transcript import Transcript
from smc_dp.core.errors import InputError
from smc_dp.methods.functionality import Functionality
from smc_dp.run.protocols import openings
from smc_dp.run.protocols.bindings import BINDINGS, ProtocolBinding
from smc_dp.run.protocols.cost import Cost, Execution, Outcome


@dataclass(frozen=True)
class SimulatedSession:
    """A session and the identities that sign in it: all of them here, as a simulation needs."""

    session: Session
    identities: Mapping[str, Identity] = field(repr=False)


class NoResultError(StoppedError):
    """No value came of a run. `vanished`: who was gone; `sent`: how many letters each participant sent until then."""

    def __init__(self, why: str, vanished: tuple[str, ...], sent: Mapping[str, int]) -> None:
        super().__init__(why)
        self.vanished, self.sent = vanished, sent


def open_session(
    program: Program, parameters: Any, rng: Stream, identities: Mapping[str, Identity] | None = None
) -> SimulatedSession:
    """A new session of this program. Without identities every participant gets a new one.

    Raises InputError when somebody's identity is missing.
    """
    names = tuple(program.participants(parameters))
    if identities is None:
        identities = {name: Identity.generate(rng.fork(f"identity {name}")) for name in names}
    if missing := [name for name in names if name not in identities]:
        raise InputError("identities.missing", missing=missing[0])
    own = {name: identities[name] for name in names}
    pinned = {name: identity.public for name, identity in own.items()}
    return SimulatedSession(Session(program, parameters, pinned, rng.fork("nonce").bytes(SESSION_BYTES)), own)


def run_session(
    functionality: Functionality,
    parts: Sequence[Any],
    taking_part: SimulatedSession,
    *,
    rng: Stream,
    setting: Setting | None = None,
    progress: Callable[[str, int, int], None] | None = None,
) -> Outcome:
    """The functionality of these parts, in the order of the session's parties, by the session's own program.

    `rng` seeds every participant. `progress(stage, done, total)` hears how many participants have entered a stage;
    `setting`: how the simulation runs, whether what each participant could read is kept, and who hears that a share is
    about to leave. Raises ValueError for parts that do not fit, or a program that computes something else, and a
    ProtocolError on an abort, a `NoResultError` where too few were left; whose share had left by then,
    `setting.released` was told.
    """
    session = taking_part.session
    p, realisation = session.parameters, BINDINGS.get(session.program.name)
    if realisation is None or realisation.functionality(p) != functionality:
        raise ValueError(f"{session.program.name} does not compute {functionality}")
    functionality.check(parts)
    by_name = dict(zip(session.parties, parts, strict=True))
    inputs: dict[str, tuple[Any, ...]] = {name: (p,) for name in session.names}
    inputs |= {name: role_inputs(session, part) for name, part in by_name.items()}
    asked = {name: role_answers(session, part) for name, part in by_name.items()}
    home = {name: answers for name, answers in asked.items() if answers}
    seeds = {name: rng.fork(f"seed {name}") for name in session.names}
    heard = replace(setting or Setting(), progress=_counter(progress, len(session.names)))
    run = simulate(session, taking_part.identities, seeds, inputs, heard, home)
    if missing := [name for name in realisation.publishers(p) if name not in run.published]:
        raise NoResultError(_why(run, missing), _vanished(run), _sent(run))
    greetings = first_greetings(run.transcript.read()) if openings.has_openings(session) else {}
    if false := openings.find_wrong_opening(session, greetings, run.published):
        raise InputError(false.fault)
    return Outcome(decode_value(session, run.published), _execution(session, realisation, run, heard))


def role_inputs(session: Session, part: Any) -> tuple[Any, ...]:
    """What the role of a party with this part is given at its start; what it is told later comes after these."""
    return session.parameters, _realisation(session).entered(session.parameters, part)


def role_answers(session: Session, part: Any) -> LocalProgram | None:
    """Who answers for a party with this part when its role asks; None where all that it enters is known beforehand."""
    return _realisation(session).home(session.parameters, part)


def decode_value(session: Session, published: Mapping[str, Any]) -> Any:
    """The value that these published messages of a session give, by name; ValueError where they give none."""
    p, realisation = session.parameters, _realisation(session)
    publishers = realisation.publishers(p)
    if missing := [name for name in publishers if name not in published]:
        raise ValueError(f"nothing was published by {missing[0]}")
    said = {name: published[name] for name in publishers}
    return realisation.value(p, said)


def publishes_shares(protocol: str, parameters: Any) -> bool:
    """Whether the program of this name publishes additive shares of the value, and not the value itself."""
    return BINDINGS[protocol].additive(parameters)


def _realisation(session: Session) -> ProtocolBinding:
    found = BINDINGS.get(session.program.name)
    if found is None:
        raise ValueError(f"{session.program.name} computes no functionality")
    return found


def _why(run: Run, missing: Sequence[str]) -> str:
    """Why nothing came of those from whom something was missing, in one line."""
    whys = [run.why[name] for name in missing if name in run.why] or [*run.why.values()]
    why = "; ".join(map(str, whys)) or f"nothing came of {', '.join(missing)}"
    vanished = ", ".join(_vanished(run))
    return f"{vanished} vanished, and the others could not go on: {why}" if vanished else why


def _vanished(run: Run) -> tuple[str, ...]:
    return tuple(name for name, end in run.ends.items() if end == "gone")


def _sent(run: Run) -> Mapping[str, int]:
    return Counter(e.sender for e in run.transcript.read() if e.kind == HELLO or not e.is_public)


def outcome_of_sites(
    session: Session, published: Mapping[str, Any], value: Any, record: Transcript, vanished: tuple[str, ...]
) -> Outcome:
    """The outcome of a session that ran at separate sites: the value, and what is known of how it came about."""
    realisation = BINDINGS[session.program.name]
    return Outcome(value, _executed(session, realisation, published, vanished, Cost.counted(session, record), record))


def _execution(session: Session, realisation: ProtocolBinding, run: Run, setting: Setting) -> Execution:
    views = {name: view.dumps(session) for name, view in run.recorded.items()}
    cost = Cost.of(session, run, setting)
    return _executed(session, realisation, run.published, _vanished(run), cost, run.transcript, views)


def _executed(
    session: Session,
    realisation: ProtocolBinding,
    published: Mapping[str, Any],
    vanished: tuple[str, ...],
    cost: Cost,
    record: Transcript,
    views: Mapping[str, bytes] = MappingProxyType({}),
) -> Execution:
    p, additive = session.parameters, realisation.additive(session.parameters)
    named = [name for name in session.names if additive and name in published]
    return Execution(
        {name: list(realisation.share(published[name])) for name in named},
        realisation.modulus(p),
        tuple(realisation.members(p, published)),
        vanished,
        cost,
        record,
        dict(views),
    )


def _counter(progress: Callable[[str, int, int], None] | None, total: int) -> Callable[[str, str], None] | None:
    if progress is None:
        return None
    entered: dict[str, set[str]] = defaultdict(set)  # a role comes back to a stage after making its keys

    def hear(name: str, stage: str) -> None:
        entered[stage].add(name)
        progress(stage, len(entered[stage]), total)

    return hear
