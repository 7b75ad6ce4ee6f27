"""A walkthrough of a protocol, on a toy run made for it, or of a run folder with the views of its participants."""

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
from smc_dp.walkthrough.dry_run import pattern_of, toy_run
from smc_dp.walkthrough.knowledge_trace import ProtocolCourse, course, drop_out
from smc_dp.walkthrough.observed_session import Watched, watch
from smc_dp.walkthrough.report import page

PARTIES, LEAST_PARTIES, MOST_PARTIES = 3, 2, 5
MOST_COMPARED = 3  # where sizes are compared or permuted the engine has a world for each order
MOST_SHOWN = 20  # parties of a run: beyond that nobody follows a lane
MARK = "SECRET"
"""What the name of a page has to say that shows somebody's values."""
_SECONDS = 40.0
_ATTACKS = 20.0
_WHOLE = 50.0  # of processor time, after which no attack begins


def usual_parties(protocol: Protocol) -> int:
    """Among how many a walkthrough is that nobody said it of: as many as are interesting, or as a minute allows.

    With two secret permutations there are 216 worlds among three.
    """
    return PARTIES if len(protocol.model.permutations) <= 1 else LEAST_PARTIES


def most_parties(protocol: Protocol) -> int:
    """Among how many the engine can run it here, with a world for each order of sizes and each secret permutation."""
    return MOST_PARTIES if len(protocol.model.permutations) <= 1 else MOST_COMPARED


def of_protocol(
    protocol: Protocol, parties: int | None = None, *, stays: bool = False, attacks: float = _ATTACKS,
    progress: Callable[[str], None] | None = None,
) -> Page:  # fmt: skip
    """The walkthrough of a protocol on a toy run; where somebody may vanish one party does, unless everybody `stays`.

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
        found = course(protocol, parties, progress=progress, **({"pattern": pattern} if pattern else {}))
    except LocalError as error:
        raise InputError(error.fault.within("protocol")) from None
    if progress:
        progress("a toy run")
    watched = toy_run(protocol, found.p, found.pattern)
    left = min(attacks, max(0.0, start + _WHOLE - time.process_time()))
    return page(watched, found, attacks_on.sections(found.protocol.program.name, seconds=left, progress=progress))


def of_run(folder: Path, views: Path, progress: Callable[[str], None] | None = None) -> Page:
    """The walkthrough of a run, with the values that these views hold. The page is as secret as they are.

    Raises InputError for files that cannot be read, for views that do not fit the record, and for too many parties.
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
    watched = watch(evidence.session, evidence.envelopes, evidence.recomputed, absent_senders(evidence))
    found = _course_of(watched, progress)
    return page(watched, found, attacks_on.sections(found.protocol.program.name, seconds=0), secret=True)


def _check_views(evidence: Evidence, views: Path) -> None:
    """InputError where a view and the record differ, as the audit finds it."""
    for check in replay.CHECKS:
        outcome = check.run(evidence)
        if outcome.status == "failed":
            raise InputError(outcome.fault.within(str(views)))


def _course_of(watched: Watched, progress: Callable[[str], None] | None) -> ProtocolCourse:
    """The course of a session of the same kind: with as many parties where the engine takes so many."""
    session = watched.session
    count = len(session.parties)
    most = most_parties(find_protocol(session.program.name, session.program.version))
    parties = count if count <= most else PARTIES
    kinds = {letter.kind.__name__ for letter in watched.letters}
    case = min(_cases(session, parties), key=lambda case: len(case[2] ^ kinds), default=None)
    if case is None:
        raise InputError("run.no_walkthrough", name=session.program.name)
    protocol, p, _ = case
    pattern = pattern_of(watched, protocol, p) if count == parties else None
    more = {"pattern": pattern} if pattern else {}
    return course(protocol, parties, progress=progress, p=p, **more)


def _cases(session: Session, parties: int) -> Iterator[tuple[Protocol, Any, frozenset[str]]]:
    """The sessions in which the engine looks at this program, with their parameters and kinds of letters."""
    for protocol in PROTOCOLS.values():
        model = protocol.model
        if protocol.program.roles == session.program.roles and not model.matrix_file:
            first = model.sample(parties)
            for p in (first, *model.profiles(first)):
                letters = toy_run(protocol, p).letters
                yield protocol, p, frozenset(letter.kind.__name__ for letter in letters)
