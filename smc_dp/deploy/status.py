"""How a study stands at one site, from what it has committed, and how it ends there without the program that ran it."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from protocols.curator import CURATOR_NAME
from smc_dp.core.errors import InputFault
from smc_dp.deploy.session_driver import is_over_for, patience
from smc_dp.deploy.site import reason
from smc_dp.deploy.store import StoreError, end_without_key, standing
from smc_dp.deploy.study import JointStudy


@dataclass(frozen=True)
class SiteStatus:
    """One site's stage; whom it waits for, and until when (UTC, ISO 8601), if for anybody; how it ended, if it did.

    `why` is a sentence, and `code` its code where it has one.
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
        """Plain values for JSON."""
        return asdict(self)

    def words(self) -> str:
        """One sentence."""
        if self.end is not None:
            return f"{self.name}: the study is over here, {self.end}" + (f": {self.why}." if self.why else ".")
        if not self.waiting:
            return f"{self.name}: in {self.stage}, with nobody to wait for."
        return f"{self.name}: in {self.stage}, waiting for {', '.join(self.waiting)} until {self.until}."


def erase_missed(study: JointStudy, folder: Path, counters: Path, now: float) -> None:
    """End a session that has passed without this site: what is kept here of it is erased, unless a program uses it.

    So is what a program left that was killed while it ended the study.
    """
    facts = standing(folder)
    ended, missed = facts.get("end") is not None, is_over_for(study, facts, now)
    if ended or missed:
        why = {"end": "deadline", **reason(InputFault("session.back_too_late"))} if missed else {}
        try:
            end_without_key(folder, counters, why)
        except StoreError as error:
            if missed and error.code != "state.in_use":
                raise


def abandon(study: JointStudy, folder: Path, counters: Path) -> SiteStatus:
    """End the study at this site, and erase what it keeps of the session: it cannot go on, and there is no way back.

    A study that is over here stays as it ended. `StoreError` where a program still uses the state, or for a folder of
    counters that is not the state's.
    """
    found = site_status(study, folder)
    why = {"end": "abandoned", **reason(InputFault("session.abandoned"))} if found.end is None else {}
    end_without_key(folder, counters, why)
    return site_status(study, folder)


def site_status(study: JointStudy, folder: Path) -> SiteStatus:
    """How the study stands by what is in this folder; `StoreError` where that is of another study."""
    facts = standing(folder)
    if facts.get("study") != study.digest:
        raise StoreError("state.of_another_study", folder=str(folder), got=facts.get("study"), wanted=study.digest)
    name, stage = str(facts.get("participant")), str(facts.get("stage") or "greetings")
    waiting = tuple(facts.get("waiting", ()))
    if facts.get("done") and not facts.get("end"):
        stage, waiting = "the end", ("the record",) if name != CURATOR_NAME else ("everybody's last letter",)
    end = float(facts.get("since", 0)) + patience(study, facts)
    until = datetime.fromtimestamp(end, UTC).isoformat(timespec="seconds")
    why, code = str(facts.get("why", "")), str(facts.get("code", ""))
    return SiteStatus(name, study.digest, stage, waiting, until if waiting else None, facts.get("end"), why, code)
