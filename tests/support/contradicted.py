"""Runs whose release contradicts their evidence, and who refuses them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import wraps
from pathlib import Path
from typing import Any

import pytest

from protocols.curator import CURATOR_NAME
from protocols.runtime import simulate as engine
from protocols.runtime.envelope import STAGE_END
from protocols.runtime.inbox import Absent
from protocols.secure_sum import publishing, steps
from smc_dp.audit.run.check import CheckOutcome
from smc_dp.core.errors import InputError
from smc_dp.run.folder import read_run_files
from smc_dp.run.prediction import predict_rows
from smc_dp.run.publication import publish_run
from smc_dp.run.verify_release import verify_release
from support.audited import Folders, hospitals, sum_agreement
from support.audits import outcomes
from support.deployed import Deployed
from support.small_model import Model

DATA = hospitals((12, 8, 20), 2)


P1, P2, P3 = DATA.federation.names


def summed(**options: Any) -> Any:
    return sum_agreement(DATA, seeded=False, **{"colluders": 0, "dropouts": 1, **options})


def audited(folders: Folders, *views: str) -> dict[str, CheckOutcome]:
    """What an audit finds beside the views of these alone."""
    evidence = folders.evidence(views=bool(views))
    return outcomes(replace(evidence, views={name: evidence.views[name] for name in views}))


def refusals(run: Path, to: Path) -> set[str]:
    """The codes with which each consumer refuses the folder."""
    files = read_run_files(run)
    uses: tuple[Callable[[], Any], ...] = (
        lambda: verify_release(files),
        lambda: predict_rows(files, DATA.federation.parties[0].X),
        lambda: publish_run(run, to),
    )
    codes = set()
    for use in uses:
        with pytest.raises(InputError) as caught:
            use()
        codes.add(caught.value.code)
    assert not to.exists()
    return codes


def nobody_holds(monkeypatch: pytest.MonkeyPatch) -> None:
    """The simulation itself refuses such a run; here it lets it pass, as separate sites would be lied to."""
    monkeypatch.setattr(engine, "check_announcements", lambda *_: None)


def announcing(monkeypatch: pytest.MonkeyPatch, change: Callable[[Any], Any]) -> None:
    """Charlie tells the parties, signs and publishes another sum than that of the masked inputs."""
    honest = steps.announce_result

    def announce(me: Any, p: Any, state: Any, r: int, members: int, S: Any, opening: Any) -> Any:
        return honest(me, p, state, r, members, change(S), opening)

    monkeypatch.setattr(steps, "announce_result", announce)


def publishing_others(monkeypatch: pytest.MonkeyPatch, **changes: Callable[[Any], Any]) -> None:
    """Charlie publishes something else than he told the parties, under his own signature."""
    honest = publishing.publish_sums

    @wraps(honest)
    async def publish_others(me: Any, p: Any, state: Any) -> Any:
        vault = replace(state.vault, **{name: change(getattr(state.vault, name)) for name, change in changes.items()})
        return await honest(me, p, replace(state, vault=vault))

    monkeypatch.setattr("protocols.secure_sum.publish_sums", publish_others)


def moved(S: tuple[int, ...]) -> tuple[int, ...]:
    return (S[0] ^ 1, *S[1:])


def without_a_member(made: Deployed) -> Deployed:
    """Charlie takes the messages of P2 in the sum out of the transcript, and notes it as absent there."""
    out = [e for e in made.envelopes if e.sender == P2 and e.stage == "sum0"]
    assert {e.kind for e in out} == {"Masked", "Signed", "Unmask", STAGE_END}
    rest = [e for e in made.envelopes if e not in out]
    return replace(made, envelopes=rest, marks=[(CURATOR_NAME, Absent(P2, "Masked", "sum0"))])


def at_sites(made: Deployed) -> set[str]:
    """The codes with which the parties' sites refuse the transcript, before anybody settles."""
    model = Model(made)
    return {model.at_site(name, made.content).code for name in made.session.parties}


FALSE = (P1, Absent(P2, "Shares", "setup"))
