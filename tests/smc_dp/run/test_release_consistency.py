"""Releases that contradict their evidence: sites, their users and audits refuse them for the same reason."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from support import forgeries as f
from support.audited import Folders, agreement, hospitals, sum_agreement
from support.audits import OF_THE_RUN, failed
from support.contradicted import (
    DATA,
    FALSE,
    P1,
    P2,
    P3,
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

from protocols.crypto import commitment
from protocols.curator import CURATOR_NAME
from protocols.runtime import message as messages
from protocols.runtime.actor import Actor
from protocols.runtime.attestation import Attestation, signing_input
from protocols.runtime.envelope import STAGE_END
from protocols.runtime.inbox import Absent
from protocols.runtime.message import Message
from protocols.runtime.session import PUBLIC_NAME
from protocols.secure_sum import complaints, roster
from protocols.secure_sum.messages import Agreed, Ended, Shares
from smc_dp.audit.run.report import audit_evidence
from smc_dp.run.protocols import openings
from smc_dp.run.release import RELEASE, STUDY
from smc_dp.run.release_consistency import promise_fault
from smc_dp.run.verify_release import verify_release


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


def test_weights_that_are_not_those_of_the_published_sum_are_used_by_nobody(tmp_path: Path) -> None:
    run = f.altered_weight(deployed(DATA, summed()).write(tmp_path, views=False).run, tmp_path / "altered")
    assert refusals(run, tmp_path / "public") == {"release.other_weights"}
    assert failed(audited(Folders(run, run))) == {"release": "release.other_weights"}


@pytest.mark.parametrize("views", [(P1,), (P1, P2, P3)])
def test_a_result_that_charlie_signed_and_another_that_he_published_name_him(
    views: tuple[str, ...], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    nobody_holds(monkeypatch)
    publishing_others(monkeypatch, values=lambda values: (moved(values[0]),))
    found = audited(deployed(DATA, summed()).write(tmp_path), *views)
    assert failed(found)["published-values"] == "sum.not_as_signed"
    assert found["published-values"].culprit is not None
    assert found["published-values"].culprit.name == CURATOR_NAME


def test_a_share_that_was_not_announced_shows_beside_one_view(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    nobody_holds(monkeypatch)
    honest = commitment.commit

    def another(context: bytes, value: bytes, rng: Any) -> tuple[bytes, bytes]:
        lies = context.startswith(b"smc-dp share") and context.endswith(P2.encode())
        return honest(context, bytes([value[0] ^ 1]) + value[1:] if lies else value, rng)

    monkeypatch.setattr(commitment, "commit", another)
    folders = deployed(DATA, agreement(DATA, seeded=False, key_bits=256)).write(tmp_path)
    monkeypatch.undo()
    assert failed(audited(folders)) == {}
    found = audited(folders, P1)
    assert failed(found) == {"published-values": "published_values.broken"}
    assert found["published-values"].fault.fields["who"] == P2
    assert found["published-values"].culprit is None, "the commitment came sealed"


def test_a_false_absence_is_the_word_of_its_signer_and_stops_nobody(tmp_path: Path) -> None:
    """P1 signs that it went on without shares that it read: the honest curator's transcript passes all the same."""
    folders = replace(deployed(DATA, summed()), marks=[FALSE]).write(tmp_path, views=False)
    report = audit_evidence(folders.evidence(views=False), OF_THE_RUN)
    found = {each.check.name: each.outcome for each in report.findings}
    assert failed(found) == {}
    assert report.audited.missing == ()
    assert (found["absences"].code, found["absences"].fault.fields["names"]) == ("absences.refuted", [P1])
    assert verify_release(folders.run).missing_files_text is None


def test_who_tells_the_truth_beside_those_who_lie_is_not_refuted(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """P1 accuses P2, whose shares it went on without; P3 and P4 sign the same of a list that they read."""
    data, accused, asked = hospitals((12, 8, 20, 9), 2), complaints.accused_dealers, list[int]()

    def accuse(p: Any, greetings: Any, holder: int, held: Any) -> int:
        asked.append(holder)
        found: int = accused(p, greetings, holder, held)
        return found or (0b10 if holder == 0 and asked.count(0) == 1 else 0)

    monkeypatch.setattr(complaints, "accused_dealers", accuse)
    made = deployed(data, sum_agreement(data, seeded=False, colluders=1, dropouts=1))
    monkeypatch.undo()
    first, *_, third, fourth = data.federation.names
    lies = [(name, Absent(CURATOR_NAME, "Survivors", "sum0")) for name in (third, fourth)]
    folders = replace(made, marks=[(first, FALSE[1]), *lies]).write(tmp_path, views=False)
    found = audited(folders)["absences"]
    assert (found.code, found.fault.fields["names"]) == ("absences.refuted", [third, fourth])


def test_a_party_that_writes_in_another_order_stops_no_release(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Each reader gets the letter that it waits for, and no sum is another: an audit says it, and sites go on."""
    honest, held = Actor.send, list[Any]()

    def send(self: Actor, to: str, message: Any) -> None:
        if self.name != P2 or not isinstance(message, Shares):
            honest(self, to, message)
            return
        held.append((to, message))
        for letter in reversed(held if len(held) == len(DATA.federation.names) - 1 else []):
            honest(self, *letter)

    monkeypatch.setattr(Actor, "send", send)
    made = deployed(DATA, summed())
    monkeypatch.undo()
    assert at_sites(made) == {""}
    folders = made.write(tmp_path, views=False)
    assert verify_release(folders.run).missing_files_text is None
    assert failed(audited(folders)) == {"order": "message.out_of_order"}
