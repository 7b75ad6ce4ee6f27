"""Releases that contradict their evidence: whoever uses them refuses them, for the same reason, and an audit fails."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import wraps
from pathlib import Path
from typing import Any

import pytest
from support import forgeries as f
from support.audited import Folders, agreement, hospitals, sum_agreement
from support.deployed import Deployed, deployed
from support.mutants import OF_THE_RUN
from support.small_model import Model

from protocols.crypto import commitment
from protocols.curator import CURATOR_NAME
from protocols.runtime import simulate as engine
from protocols.runtime.actor import Actor
from protocols.runtime.envelope import STAGE_END
from protocols.runtime.inbox import Absent
from protocols.runtime.session import PUBLIC_NAME
from protocols.secure_sum import complaints, publishing, steps
from protocols.secure_sum.messages import Shares
from smc_dp.audit.run.check import CheckOutcome
from smc_dp.audit.run.report import audit_evidence
from smc_dp.core.errors import InputError
from smc_dp.run.folder import read_run_files
from smc_dp.run.prediction import predict_rows
from smc_dp.run.publication import publish_run
from smc_dp.run.release import RELEASE, STUDY
from smc_dp.run.verify_release import verify_release

DATA = hospitals((12, 8, 20), 2)
P1, P2, P3 = DATA.federation.names


def summed(**options: Any) -> Any:
    return sum_agreement(DATA, seeded=False, **{"colluders": 0, "dropouts": 1, **options})


def audited(folders: Folders, *views: str) -> dict[str, CheckOutcome]:
    """What an audit finds beside the views of these alone."""
    evidence = folders.evidence(views=bool(views))
    some = replace(evidence, views={name: evidence.views[name] for name in views})
    return {found.check.name: found.outcome for found in audit_evidence(some, OF_THE_RUN).findings}


def failed(found: dict[str, CheckOutcome]) -> dict[str, str]:
    return {name: outcome.code for name, outcome in found.items() if outcome.status == "failed"}


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
    assert failed(found)["word"] == "sum.not_as_signed"
    assert found["word"].culprit is not None
    assert found["word"].culprit.name == CURATOR_NAME


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
    assert failed(found) == {"word": "word.broken"}
    assert found["word"].fault.fields["who"] == P2
    assert found["word"].culprit is None, "the commitment came sealed"


def test_a_member_that_vanished_before_its_input_is_none(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    nobody_holds(monkeypatch)
    publishing_others(monkeypatch, members=lambda members: (0b111,))
    folders = deployed(DATA, summed(), **{P2: 4}).write(tmp_path, views=False)
    assert refusals(folders.run, tmp_path / "public") == {"member.absent"}
    assert failed(audited(folders)) == {"members": "member.absent"}


def without_a_member(made: Deployed) -> Deployed:
    """Charlie takes the messages of P2 in the sum out of the transcript, and notes it as absent there."""
    out = [e for e in made.envelopes if e.sender == P2 and e.stage == "sum0"]
    assert {e.kind for e in out} == {"Masked", "Signed", "Unmask", STAGE_END}
    rest = [e for e in made.envelopes if e not in out]
    return replace(made, envelopes=rest, marks=[(CURATOR_NAME, Absent(P2, "Masked", "sum0"))])


def test_a_member_whose_messages_were_taken_out_is_missed(tmp_path: Path) -> None:
    folders = without_a_member(deployed(DATA, summed())).write(tmp_path, views=False)
    assert refusals(folders.run, tmp_path / "public") == {"member.absent"}
    assert failed(audited(folders))["members"] == "member.absent"


def test_a_study_cannot_be_turned_into_a_simulation(tmp_path: Path) -> None:
    """Without study.json, its digest and the approvals nothing says who agreed: the session is bound to all of them."""
    made = deployed(DATA, summed()).write(tmp_path, views=False)
    stripped = f.forge(made.run, tmp_path / "stripped", lambda r: replace(r, head=without(r.head, "approvals")))
    run = f.edited(stripped, tmp_path / "simulated", RELEASE, lambda d: d["digests"].pop(STUDY))
    (run / STUDY).unlink()
    assert refusals(run, tmp_path / "public") == {"session.bound_to_another"}
    assert failed(audited(Folders(run, run))) == {"agreed": "session.bound_to_another"}


def without(head: dict[str, Any], name: str) -> dict[str, Any]:
    return {key: value for key, value in head.items() if key != name}


FALSE = (P1, Absent(P2, "Shares", "setup"))


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


def at_sites(made: Deployed) -> set[str]:
    """The codes with which the parties' sites refuse the transcript, before anybody settles."""
    model = Model(made)
    return {model.at_site(name, made.content).code for name in made.session.parties}


def test_no_site_settles_a_sum_that_its_opening_refutes(monkeypatch: pytest.MonkeyPatch) -> None:
    announcing(monkeypatch, moved)
    assert at_sites(deployed(DATA, summed(verifiable=True))) == {"sum.other_value"}


def test_no_site_settles_another_sum_than_it_was_told(monkeypatch: pytest.MonkeyPatch) -> None:
    nobody_holds(monkeypatch)
    publishing_others(monkeypatch, values=lambda values: (moved(values[0]),))
    assert at_sites(deployed(DATA, summed())) == {"sum.not_as_signed"}


def test_no_site_settles_a_sum_whose_member_was_taken_out() -> None:
    made = deployed(DATA, summed())
    model, changed = Model(made), without_a_member(made)
    codes = {name: model.at_site(name, changed.content).code for name in made.session.parties}
    assert codes[P2] == "member.absent", "whose messages they are, too"
    assert set(codes.values()) == {"member.absent"}


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
    assert failed(audited(folders)) == {"order": "message.out_of_order", "headers": "header.not_public_function"}


def test_no_site_settles_shares_that_were_not_announced(monkeypatch: pytest.MonkeyPatch) -> None:
    """What the roles were told decides, and no statement: the commitments came sealed."""
    nobody_holds(monkeypatch)
    model = Model(deployed(DATA, agreement(DATA, seeded=False, key_bits=256)))
    result = model.seen[P1].result
    other = replace(result, commitments=(result.commitments[1], *result.commitments[1:]))
    model.seen[P1] = replace(model.seen[P1], result=other)
    assert model.at_site(P1, model.made.content).code == "word.broken"
    assert model.at_site(P2, model.made.content).code == ""
