"""Releases that contradict their evidence: sites do not settle them, their users refuse them, and an audit fails."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from support import forgeries as f
from support.audited import Folders, agreement
from support.audits import failed
from support.contradicted import (
    DATA,
    FALSE,
    P1,
    P2,
    announcing,
    at_sites,
    audited,
    moved,
    nobody_holds,
    publishing_others,
    refusals,
    summed,
    without_a_member,
)
from support.deployed import Deployed, deployed
from support.small_model import Model

from protocols.curator import CURATOR_NAME
from protocols.runtime import message as messages
from protocols.runtime.attestation import Attestation, signing_input
from protocols.runtime.envelope import STAGE_END
from protocols.runtime.inbox import Absent
from protocols.runtime.message import Message
from protocols.runtime.session import PUBLIC_NAME
from protocols.secure_sum import roster
from protocols.secure_sum.messages import Agreed, Ended
from smc_dp.run.protocols import openings
from smc_dp.run.release import RELEASE, STUDY
from smc_dp.run.release_consistency import promise_fault


@pytest.mark.parametrize("dropouts", [0, 1])
def test_a_sum_that_its_own_opening_refutes_is_used_by_nobody(
    dropouts: int, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    announcing(monkeypatch, moved)
    folders = deployed(DATA, summed(verifiable=True, dropouts=dropouts)).write(tmp_path, views=False)
    assert refusals(folders.run, tmp_path / "public") == {"sum.other_value"}
    found = audited(folders)
    assert failed(found) == {"openings": "sum.other_value"}
    assert found["openings"].culprit is not None
    assert found["openings"].culprit.name == CURATOR_NAME


def test_a_member_that_vanished_before_its_input_is_none(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    nobody_holds(monkeypatch)
    publishing_others(monkeypatch, members=lambda members: (0b111,))
    folders = deployed(DATA, summed(), **{P2: 4}).write(tmp_path, views=False)
    assert refusals(folders.run, tmp_path / "public") == {"member.absent"}
    assert failed(audited(folders)) == {"members": "member.absent"}


def test_a_member_whose_messages_were_taken_out_is_missed(tmp_path: Path) -> None:
    """By every site before it settles, the one whose messages they are among them."""
    changed = without_a_member(deployed(DATA, summed()))
    folders = changed.write(tmp_path, views=False)
    assert at_sites(changed) == {"member.absent"}
    assert refusals(folders.run, tmp_path / "public") == {"member.absent"}
    assert failed(audited(folders))["members"] == "member.absent"


def without(head: dict[str, Any], name: str) -> dict[str, Any]:
    return {key: value for key, value in head.items() if key != name}


def test_a_study_cannot_be_turned_into_a_simulation(tmp_path: Path) -> None:
    """Without study.json, its digest and the approvals nothing says who agreed: the session is bound to all of them."""
    made = deployed(DATA, summed()).write(tmp_path, views=False)
    stripped = f.forge(made.run, tmp_path / "stripped", lambda r: replace(r, head=without(r.head, "approvals")))
    run = f.edited(stripped, tmp_path / "simulated", RELEASE, lambda d: d["digests"].pop(STUDY))
    (run / STUDY).unlink()
    assert refusals(run, tmp_path / "public") == {"session.bound_to_another"}
    assert failed(audited(Folders(run, run))) == {"agreed": "session.bound_to_another"}


def test_an_absence_that_nobody_signed_is_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    made = deployed(DATA, summed())
    honest = made.notices
    monkeypatch.setattr(Deployed, "notices", property(lambda self: honest))
    folders = replace(made, marks=[FALSE]).write(tmp_path, views=False)
    assert refusals(folders.run, tmp_path / "public") == {"absence.not_signed"}
    assert failed(audited(folders))["absences"] == "absence.not_signed"


def test_an_absence_for_which_no_role_waits_is_refused(tmp_path: Path) -> None:
    """Charlie signs that he went on without the end of a stage of P2, which nobody reads."""
    made = deployed(DATA, summed())
    model, changed = Model(made), replace(made, marks=[(CURATOR_NAME, Absent(P2, STAGE_END, "sum0"))])
    codes = {model.at_site(name, changed.content).code for name in made.session.parties}
    folders = changed.write(tmp_path, views=False)
    assert codes == refusals(folders.run, tmp_path / "public") == {"absence.not_waited_for"}
    assert failed(audited(folders))["absences"] == "absence.not_waited_for"


def test_who_has_signed_that_it_is_done_owes_nobody_a_message(tmp_path: Path) -> None:
    """Charlie notes P2, whose notice he has, as one that vanished."""
    changed = replace(deployed(DATA, summed()), marks=[(PUBLIC_NAME, Absent(P2, STAGE_END, "sum0"))])
    folders = changed.write(tmp_path, views=False)
    assert "absence.of_one_who_is_done" in at_sites(changed)
    assert refusals(folders.run, tmp_path / "public") == {"absence.of_one_who_is_done"}
    assert failed(audited(folders))["absences"] == "absence.of_one_who_is_done"


def test_no_site_settles_shares_that_were_not_announced(monkeypatch: pytest.MonkeyPatch) -> None:
    """What the roles were told decides, and no statement: the commitments came sealed."""
    nobody_holds(monkeypatch)
    model = Model(deployed(DATA, agreement(DATA, seeded=False, key_bits=256)))
    result = model.seen[P1].result
    other = replace(result, commitments=(result.commitments[1], *result.commitments[1:]))
    model.seen[P1] = replace(model.seen[P1], result=other)
    assert model.at_site(P1, model.made.content).code == "published_values.broken"
    assert model.at_site(P2, model.made.content).code == ""


@pytest.mark.parametrize("kind", [Ended, Agreed])
def test_a_statement_counts_of_those_who_may_make_it(kind: type[Message], tmp_path: Path) -> None:
    """Charlie states what a sum is, and parties that they agree: what he signs in their place says nothing."""
    made = deployed(DATA, summed())
    recorded = made.write(tmp_path, views=False).evidence(views=False).recorded
    greeted = openings.read_greetings(made.session, recorded.greetings)
    query, p = roster.first_query(made.session.id), made.session.parameters
    at = roster.sum_context(made.session.id, roster.greetings_digest(p, greeted), 0, query)
    said = Ended(at, 1, bytes(32)) if kind is Ended else Agreed(0, at, 1, bytes(32))
    payload = messages.encode(said, made.session.layout, {})
    signature = made.identities[CURATOR_NAME].sign(signing_input(made.session.id, CURATOR_NAME, kind.__name__, payload))
    signed = (Attestation(CURATOR_NAME, kind.__name__, payload, signature),)
    found = promise_fault(replace(recorded, statements=signed))
    assert (found is not None and found.name == CURATOR_NAME) == (kind is Ended)
