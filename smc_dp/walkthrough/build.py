"""Walkthrough of a protocol, on a dry run, or of a run folder with the views of its participants."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from protocols.errors import LocalError
from protocols.programs import PROTOCOLS, Protocol, find_protocol
from protocols.runtime.session import Session
from smc_dp.audit.run import replay
from smc_dp.audit.run.blame import absent_senders
from smc_dp.audit.run.evidence import Evidence, load_evidence
from smc_dp.audit.run.time_budget import Allowance, TakesTooLongError
from smc_dp.core.errors import InputError
from smc_dp.pages.blocks import Page
from smc_dp.walkthrough import attacks_on
from smc_dp.walkthrough.dry_run import pattern_of, run_dry
from smc_dp.walkthrough.knowledge_trace import KnowledgeTrace, drop_out, trace_knowledge
from smc_dp.walkthrough.observed_session import ObservedSession, observe_session
from smc_dp.walkthrough.report import walkthrough_page

PARTIES, LEAST_PARTIES, MOST_PARTIES = 3, 2, 5
MOST_COMPARED = 3  # where sizes are compared or permuted the engine has a world for each order
MOST_SHOWN = 20  # parties of a run: beyond that nobody follows a lane
FILE_MARKER = "SECRET"
"""Word in the file name of a page that shows secret values."""
_SECONDS = 40.0
_ATTACKS = 20.0
_WHOLE = 50.0  # of processor time, after which no attack begins


def usual_parties(protocol: Protocol) -> int:
    """Return the default number of parties: as many as are interesting and take a minute at most.

    With two secret permutations there are 216 worlds among three.
    """
    if len(protocol.model.permutations) > 1:
        return LEAST_PARTIES
    # A page where nobody may collude with Charlie would show no claim about him together with a party.
    return PARTIES if getattr(protocol.model.sample(PARTIES), "colluders", 1) else PARTIES + 1


def most_parties(protocol: Protocol) -> int:
    """Return the largest number of parties for which the engine can run the protocol here."""
    return MOST_PARTIES if len(protocol.model.permutations) <= 1 else MOST_COMPARED


def walkthrough_of_protocol(
    protocol: Protocol, parties: int | None = None, *, stays: bool = False, attacks: float = _ATTACKS,
    progress: Callable[[str], None] | None = None,
) -> Page:  # fmt: skip
    """Build the walkthrough of a protocol on a dry run. One party drops out where it may, unless everybody `stays`.

    `attacks`: how much processor time may go into attacks on it, less where the rest took long. Raises InputError for a
    protocol whose code cannot run over symbols.
    """
    parties = usual_parties(protocol) if parties is None else parties
    most = most_parties(protocol)
    if not LEAST_PARTIES <= parties <= most:
        raise InputError(
            "parties.too_few_or_many", protocol=protocol.program.name, wanted=LEAST_PARTIES, most=most, got=parties
        )
    p, start = protocol.model.sample(parties), time.process_time()
    try:
        pattern = None if stays else drop_out(protocol, p)
        found = trace_knowledge(protocol, parties, progress=progress, **({"pattern": pattern} if pattern else {}))
    except LocalError as error:
        raise InputError(error.fault.within("protocol")) from None
    if progress:
        progress("a dry run")
    observed = run_dry(protocol, found.p, found.pattern)
    left = min(attacks, max(0.0, start + _WHOLE - time.process_time()))
    return walkthrough_page(
        observed, found, attacks_on.attack_sections(found.protocol.program.name, seconds=left, progress=progress)
    )


def walkthrough_of_run(folder: Path, views: Path, progress: Callable[[str], None] | None = None) -> Page:
    """Build the walkthrough of a run, with the values in these views. The page is as secret as they are.

    Raises InputError for files that cannot be read, for views that do not fit the transcript, and for too many parties.
    """
    if progress:
        progress("reading the run")
    allowance = Allowance(2 * _SECONDS)
    try:
        evidence = allowance.spend(lambda: load_evidence(folder, views=views))
        if (count := len(evidence.session.parties)) > MOST_SHOWN:
            raise InputError("run.too_many_parties", most=MOST_SHOWN, got=count)
        allowance.spend(lambda: _check_views(evidence, views))
    except TakesTooLongError:
        raise InputError("views.replay_takes_too_long", folder=str(folder), seconds=_SECONDS) from None
    observed = observe_session(evidence.session, evidence.envelopes, evidence.recomputed, absent_senders(evidence))
    found = _knowledge_of(observed, progress)
    return walkthrough_page(
        observed, found, attacks_on.attack_sections(found.protocol.program.name, seconds=0), secret=True
    )


def _check_views(evidence: Evidence, views: Path) -> None:
    """Raise InputError where a view and the transcript differ, as the audit finds it."""
    for check in replay.CHECKS:
        outcome = check.run(evidence)
        if outcome.status == "failed":
            raise InputError(outcome.fault.within(str(views)))


def _knowledge_of(observed: ObservedSession, progress: Callable[[str], None] | None) -> KnowledgeTrace:
    """Return the knowledge trace of a session of the same kind, with as many parties as the engine takes."""
    session = observed.session
    count = len(session.parties)
    most = most_parties(find_protocol(session.program.name, session.program.version))
    parties = count if count <= most else PARTIES
    kinds = {message.kind.__name__ for message in observed.messages}
    case = min(_cases(session, parties), key=lambda case: len(case[2] ^ kinds), default=None)
    if case is None:
        raise InputError("run.no_walkthrough", name=session.program.name)
    protocol, p, _ = case
    pattern = pattern_of(observed, protocol, p) if count == parties else None
    more = {"pattern": pattern} if pattern else {}
    return trace_knowledge(protocol, parties, progress=progress, p=p, **more)


def _cases(session: Session, parties: int) -> Iterator[tuple[Protocol, Any, frozenset[str]]]:
    """Yield the sessions in which the engine runs this program, with parameters and kinds of messages."""
    for protocol in PROTOCOLS.values():
        model = protocol.model
        if protocol.program.roles == session.program.roles and not model.matrix_file:
            first = model.sample(parties)
            for p in (first, *model.profiles(first)):
                messages = run_dry(protocol, p).messages
                yield protocol, p, frozenset(message.kind.__name__ for message in messages)
