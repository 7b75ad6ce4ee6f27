"""Sessions as they are left at separate sites: messages and marks in no order, and what an audit says of an order."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from protocols.arithmetic.permutation import Permutation
from protocols.arithmetic.rng import Stream
from protocols.runtime.envelope import Envelope
from protocols.runtime.session import Session
from protocols.runtime.simulate import DropOutAfter, Run
from protocols.runtime.transcript import Transcript
from smc_dp.audit.run.check import CheckOutcome
from smc_dp.audit.run.conformity import CONVERSATION_CHECKS, LINK_CHECKS, SESSION_CHECKS
from smc_dp.audit.run.evidence import load_evidence
from smc_dp.deploy.merge import Mark
from smc_dp.deploy.site_transcript import owed_absences
from smc_dp.run.agreement import SEEDED, TEST_KEYS
from smc_dp.run.documents import RELEASE_FORMAT
from smc_dp.run.release import RELEASE, TRANSCRIPT
from support.sessions import Setup


class Left(NamedTuple):
    """What sites have after a session: every message, every mark, what was owed to everybody among them."""

    session: Session
    envelopes: list[Envelope]
    marks: list[Mark]
    insecure: tuple[str, ...]


def left(made: Setup, **vanish: int) -> Left:
    """A session in which each of these sends so many letters, and nothing after."""
    run = made.simulate(drop_outs={name: DropOutAfter(n) for name, n in vanish.items()})
    return of_run(made, run)


def of_run(made: Setup, run: Run) -> Left:
    """What a simulated run left, with what its keeper makes of those who gave no word at the end."""
    marks: list[Mark] = [(name, absent) for name, absents in run.absent.items() for absent in absents]
    envelopes = run.transcript.envelopes
    done = {name for name, end in run.ends.items() if end != "gone"}
    insecure = (SEEDED,) if made.session.program.name == "secure_sum" else (SEEDED, TEST_KEYS)
    return Left(made.session, envelopes, [*marks, *owed_absences(made.session, envelopes, marks, done)], insecure)


def shuffled(left: Left, seed: int) -> Left:
    """The same in another order, with some messages twice."""
    coins = Stream.insecure_from_seed(f"shuffled {seed}")

    def mixed(found: list[object]) -> list[object]:
        twice = [*found, *found[: coins.below(5)]]
        return Permutation.random(len(twice), coins)(twice)

    return left._replace(envelopes=mixed(left.envelopes), marks=mixed(left.marks))  # type: ignore[arg-type]


def written_down(left: Left, entries: Iterable[Envelope | Mark]) -> bytes:
    """A record of these, in this order."""
    made = Transcript(left.session, left.insecure)
    for entry in entries:
        if isinstance(entry, Envelope):
            made.post(entry)
        else:
            made.miss(*entry)
    return b"".join(made.chunks())


def audited(folder: Path, record: bytes) -> dict[str, CheckOutcome]:
    """What all checks of a record's lines, session and conversation say of it; the release states nothing."""
    folder.mkdir(parents=True)
    (folder / RELEASE).write_text(json.dumps({"format": RELEASE_FORMAT, "digests": {}}))
    (folder / TRANSCRIPT).write_bytes(record)
    evidence = load_evidence(folder)
    return {check.name: check.run(evidence) for check in (*LINK_CHECKS, *SESSION_CHECKS, *CONVERSATION_CHECKS)}


def failed(outcomes: dict[str, CheckOutcome]) -> set[str]:
    """The names of those that failed."""
    return {name for name, outcome in outcomes.items() if outcome.status == "failed"}
