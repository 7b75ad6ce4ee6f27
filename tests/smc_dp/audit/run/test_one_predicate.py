"""An audit fails for the reason for which a release is refused, and says what it finds beside views."""

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
    at_sites,
    audited,
    moved,
    nobody_holds,
    publishing_others,
    refusals,
    summed,
)
from support.deployed import deployed

from protocols.crypto import commitment
from protocols.curator import CURATOR_NAME
from protocols.runtime.actor import Actor
from protocols.runtime.inbox import Absent
from protocols.secure_sum import complaints
from protocols.secure_sum.messages import Shares
from smc_dp.audit.run.report import audit_evidence
from smc_dp.run.verify_release import verify_release


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
