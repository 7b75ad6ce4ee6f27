"""Status of a study at one site, by what the site has committed."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import closing
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from protocols.curator import CURATOR_NAME
from smc_dp.core.errors import InputFault
from smc_dp.deploy.site import reason_facts
from smc_dp.deploy.store import StoreError, open_without_key, read_facts
from smc_dp.deploy.study import Deadlines, JointStudy


@dataclass(frozen=True)
class SiteStatus:
    """Status of a study at one site: its stage, the awaited participants until when (UTC, ISO 8601), and its end.

    `name`: the participant. `study`: SHA-256 of the study. `why`: sentence about the end; `code`: its code, if any.
    """

    name: str
    study: str
    stage: str
    waiting: tuple[str, ...]
    until: str | None
    end: str | None
    why: str
    code: str

    def as_dict(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        return asdict(self)

    def words(self) -> str:
        """Return the status as one sentence."""
        if self.end is not None:
            return f"{self.name}: the study is over here, {self.end}" + (f": {self.why}." if self.why else ".")
        if not self.waiting:
            return f"{self.name}: in {self.stage}. Nobody is known to be missing."
        return f"{self.name}: in {self.stage}, waiting for {', '.join(self.waiting)} until {self.until}."


def erase_missed(study: JointStudy, folder: Path, counters: Path, now: float) -> SiteStatus:
    """Erase what is kept here of a session that has passed without this site; return how the study stands then.

    Every command that opens the state of a site comes here first, before it reads another file or asks the relay. What
    a program left that was killed while it ended the study goes too; what a running program uses stays. `StoreError`
    as `site_status` raises it, and where the counters of a missed session are those of another state.
    """
    facts = read_facts(folder)
    found = _status_by_facts(study, folder, facts)
    missed = missed_session(study.deadlines, facts, now)
    if not missed and found.end is None:
        return found
    try:
        with closing(open_without_key(folder, counters)) as store:
            store.commit(facts=missed)
    except StoreError as error:
        if missed and error.code != "state.in_use":
            raise
        return found
    return _status_by_facts(study, folder, {**facts, **missed})


def missed_session(deadlines: Deadlines, facts: Mapping[str, Any], now: float) -> dict[str, str]:
    """Return the facts that end a session which has passed while the program of a site was away, else none.

    Nobody waits for this site any longer, so it need keep nothing. A role that is at its end misses nothing.
    """
    in_session = bool(facts.get("session")) and not facts.get("end") and not facts.get("done")
    # A role that goes on after a shorter deadline than the usual one is waited for until the usual one.
    waited = max(deadlines.after(facts), deadlines.after({**facts, "deadlines": None}))
    if in_session and now - float(facts.get("since", now)) > waited:
        return {"end": "deadline", **reason_facts(InputFault("session.back_too_late"))}
    return {}


def check_state(study: JointStudy, name: str, folder: Path) -> None:
    """Raise `StoreError` unless the facts in this folder are of this participant in this study."""
    facts = read_facts(folder)
    _check_study(study, folder, facts)
    if facts.get("participant") != name:
        raise StoreError("state.changed", folder=str(folder))


def site_status(study: JointStudy, folder: Path) -> SiteStatus:
    """Return the status of the study by the facts in this folder. `StoreError` where they are of another study."""
    return _status_by_facts(study, folder, read_facts(folder))


def _check_study(study: JointStudy, folder: Path, facts: Mapping[str, Any]) -> None:
    if facts.get("study") != study.digest:
        raise StoreError("state.of_another_study", folder=str(folder), got=facts.get("study"), wanted=study.digest)


def _status_by_facts(study: JointStudy, folder: Path, facts: Mapping[str, Any]) -> SiteStatus:
    _check_study(study, folder, facts)
    name, stage = str(facts.get("participant")), str(facts.get("stage") or "greetings")
    try:
        waiting = tuple(map(str, facts.get("waiting", ())))
        end = float(facts.get("since", 0)) + study.deadlines.after(facts)
        until = datetime.fromtimestamp(end, UTC).isoformat(timespec="seconds")
    except (ArithmeticError, AttributeError, LookupError, OSError, TypeError, ValueError):
        raise StoreError("state.changed", folder=str(folder)) from None
    if facts.get("done") and not facts.get("end"):
        stage, waiting = "the end", ("the transcript",) if name != CURATOR_NAME else ("the last messages of all",)
    why, code = str(facts.get("why", "")), str(facts.get("code", ""))
    return SiteStatus(name, study.digest, stage, waiting, until if waiting else None, facts.get("end"), why, code)
