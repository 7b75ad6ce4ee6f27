"""Execution of a functionality by a protocol, over channels that encrypt; and the outcome of a session."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any

from protocols.arithmetic.rng import Stream
from protocols.crypto.identity import Identity
from protocols.errors import Fault, StoppedError
from protocols.programs import find_protocol
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
    """A session, and the identities of all of its participants, which only a simulation has in one place."""

    session: Session
    identities: Mapping[str, Identity] = field(repr=False)


class NoResultError(StoppedError):
    """Refusal of a run that gave no value; `sent`: how many envelopes each participant sent."""

    def __init__(self, why: Fault, dropped_out: tuple[str, ...], sent: Mapping[str, int]) -> None:
        super().__init__(why)
        self.dropped_out, self.sent = dropped_out, sent


def open_session(
    program: Program, parameters: Any, rng: Stream, identities: Mapping[str, Identity] | None = None
) -> SimulatedSession:
    """Return a new session of this program, with new identities unless some are given.

    Raises InputError where somebody's identity is missing.
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
    contributions: Sequence[Any],
    opened: SimulatedSession,
    *,
    rng: Stream,
    setting: Setting | None = None,
    progress: Callable[[str, int, int], None] | None = None,
) -> Outcome:
    """Compute the functionality of these contributions, in the order of the session's parties, by its program.

    `rng` seeds every participant. `progress(stage, done, total)`: the stage that a participant enters, how many
    entries there were, and how many there will be.
    `setting`: how the simulation runs, whether views are kept, and what is called before a share leaves.
    Raises ValueError for contributions that do not fit, or a program that computes something else; a ProtocolError on
    an abort; and a `NoResultError` where too few participants were left. `setting.released` was called for each share
    that had left by then.
    """
    session = opened.session
    p, binding = session.parameters, BINDINGS.get(session.program.name)
    if binding is None or binding.functionality(p) != functionality:
        raise ValueError(f"{session.program.name} does not compute {functionality}")
    functionality.check(contributions)
    by_name = dict(zip(session.parties, contributions, strict=True))
    inputs: dict[str, tuple[Any, ...]] = {name: (p,) for name in session.names}
    inputs |= {name: role_inputs(session, one) for name, one in by_name.items()}
    answers = {name: answer for name, one in by_name.items() if (answer := role_answers(session, one))}
    seeds = {name: rng.fork(f"seed {name}") for name in session.names}
    observed = replace(setting or Setting(), progress=_counter(progress, session))
    run = simulate(session, opened.identities, seeds, inputs, observed, answers)
    dropped_out = tuple(name for name, end in run.ends.items() if end == "gone")
    if missing := [name for name in binding.publishers(p) if name not in run.published]:
        sent = Counter(e.sender for e in run.transcript.read() if e.kind == HELLO or not e.is_public)
        raise NoResultError(_why(run, missing, dropped_out), dropped_out, sent)
    greetings = first_greetings(run.transcript.read()) if openings.has_openings(session) else {}
    if false := openings.find_wrong_opening(session, greetings, run.published):
        raise InputError(false.fault)
    views = {name: view.dumps(session) for name, view in run.recorded.items()}
    value = decode_value(session, run.published)
    return _outcome(session, run.published, value, dropped_out, Cost.of(run), run.transcript, views)


def role_inputs(session: Session, contribution: Any) -> tuple[Any, ...]:
    """Return the inputs of a party's role at its start; answers to its queries come after these."""
    return session.parameters, _binding(session).role_input(session.parameters, contribution)


def role_answers(session: Session, contribution: Any) -> LocalProgram | None:
    """Return the function that answers a role's queries; None where its whole input is known beforehand."""
    return _binding(session).answers(session.parameters, contribution)


def decode_value(session: Session, published: Mapping[str, Any]) -> Any:
    """Return the value of a session's published messages, by name; ValueError where they give none."""
    binding = _binding(session)
    publishers = binding.publishers(session.parameters)
    if missing := [name for name in publishers if name not in published]:
        raise ValueError(f"nothing was published by {missing[0]}")
    return binding.value(session.parameters, {name: published[name] for name in publishers})


def decode_members(session: Session, published: Mapping[str, Any]) -> tuple[tuple[str, ...], ...]:
    """Return the parties in each sum of a value that `decode_value` returns."""
    return tuple(_binding(session).members(session.parameters, published))


def publishes_shares(protocol: str, parameters: Any) -> bool:
    """Return whether the program of this name publishes additive shares of the value, and not the value itself."""
    return BINDINGS[protocol].additive(parameters)


def outcome_of_sites(
    session: Session, published: Mapping[str, Any], value: Any, transcript: Transcript, dropped_out: tuple[str, ...]
) -> Outcome:
    """Return the outcome of a session that ran at separate sites."""
    return _outcome(session, published, value, dropped_out, Cost.counted(session, transcript), transcript)


def _binding(session: Session) -> ProtocolBinding:
    found = BINDINGS.get(session.program.name)
    if found is None:
        raise ValueError(f"{session.program.name} computes no functionality")
    return found


def _why(run: Run, missing: Sequence[str], dropped_out: Sequence[str]) -> Fault:
    """Return why the participants in `missing` published nothing."""
    whys = [run.why[name] for name in missing if name in run.why] or [*run.why.values()]
    why = "; ".join(map(str, whys)) or f"nothing came of {', '.join(missing)}"
    if dropped_out:
        return Fault("session.others_could_not_go_on", {"dropped_out": list(dropped_out), "why": why})
    return Fault("session.no_result", {"why": why})


def _outcome(
    session: Session,
    published: Mapping[str, Any],
    value: Any,
    dropped_out: tuple[str, ...],
    cost: Cost,
    transcript: Transcript,
    views: Mapping[str, bytes] = MappingProxyType({}),
) -> Outcome:
    p, binding = session.parameters, _binding(session)
    named = [name for name in session.names if binding.additive(p) and name in published]
    shares = {name: list(binding.share(published[name])) for name in named}
    members = decode_members(session, published)
    return Outcome(value, Execution(shares, binding.modulus(p), members, dropped_out, cost, transcript, dict(views)))


def _counter(progress: Callable[[str, int, int], None] | None, session: Session) -> Callable[[str, str], None] | None:
    """Return a function that counts entries of participants into the stages that their protocol declares, each once."""
    if progress is None:
        return None
    declared = find_protocol(session.program.name, session.program.version).conversation
    ahead: set[tuple[str, str]] = set()
    if declared is not None:
        talk = declared(session.parameters)
        ahead = {(name, s) for group, stages in talk.stages.items() for name in talk.groups[group] for s in stages}
    total = len(ahead)

    def hear(name: str, stage: str) -> None:
        ahead.discard((name, stage))
        progress(stage, total - len(ahead), total)

    return hear
