"""What an audit finds of a study that ran at separate sites: who approved of it, what it cost, all the rest."""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from support import forgeries as f
from support.audited import Folders, agreement, hospitals, long_term, sum_agreement
from support.audits import failed, outcomes
from support.deployed import Deployed, approved, deployed, study_of

from protocols.crypto.identity import Identity
from smc_dp.audit.run import conformity
from smc_dp.audit.run.check import CheckOutcome
from smc_dp.audit.run.evidence import load_evidence
from smc_dp.core.errors import InputError
from smc_dp.run.approvals import approval_text
from smc_dp.run.publication import publish_run
from smc_dp.run.release import RELEASE, STUDY
from smc_dp.run.verify_release import verify_release
from tests.support.refusals import refused

DATA = hospitals((12, 8, 20), 2)
PARTIES = DATA.federation.names
P1, P2, P3 = PARTIES
OWN = long_term(PARTIES)
AGREED = sum_agreement(DATA, seeded=False, colluders=0, dropouts=1)
SHORT = sum_agreement(DATA, seeded=False, colluders=0, dropouts=0)
Approvals = list[dict[str, str]]


def summed(**changed: Any) -> Deployed:
    return deployed(DATA, AGREED, **changed)


@pytest.fixture(scope="module")
def made() -> Deployed:
    return summed()


@pytest.fixture(scope="module")
def folders(made: Deployed, tmp_path_factory: pytest.TempPathFactory) -> Folders:
    return made.write(tmp_path_factory.mktemp("made"))


def found_of(folders: Folders, *, views: bool = True) -> dict[str, CheckOutcome]:
    return outcomes(folders.evidence(views=views))


def approvals(run: Path) -> CheckOutcome:
    check, _ = conformity.STUDY_CHECKS
    return check.run(load_evidence(run))


def test_everybody_approved_and_no_seconds_are_stated(folders: Folders) -> None:
    found = found_of(folders)
    assert failed(found) == {}
    digest = hashlib.sha256((folders.run / STUDY).read_bytes()).hexdigest()
    assert found["approvals"].fault.fields == {"count": 4, "study": digest}
    assert not any(map(str.isdigit, str(found["cost"].fault.fields["seconds"])))
    assert STUDY in found["files"].fault.fields["names"]
    assert {found[n].status for n in ("view-agrees", "messages-recomputed", "result", "dispute")} == {"passed"}


@pytest.mark.parametrize("letters", [4, 6])
def test_where_somebody_vanished_no_check_fails_either(letters: int, tmp_path: Path) -> None:
    found = found_of(summed(**{P2: letters}).write(tmp_path))
    assert failed(found) == {}
    assert found["completeness"].fault.fields["but"]


def test_whoever_reads_or_publishes_it_knows_the_study(folders: Folders, tmp_path: Path) -> None:
    assert verify_release(folders.run).missing_files_text is None
    assert set(publish_run(folders.run, tmp_path / "public")) == {RELEASE, STUDY, "transcript.jsonl"}
    assert (tmp_path / "public" / STUDY).read_bytes() == (folders.run / STUDY).read_bytes()
    assert verify_release(tmp_path / "public").missing_files_text is None
    (tmp_path / "public" / STUDY).unlink()
    with refused("file.unreadable", at=STUDY):
        verify_release(tmp_path / "public")


# Other approvals, or of another study, in a session of their own: everything else about it is in order.


def found_in(folder: Path, **changed: Any) -> dict[str, CheckOutcome]:
    """What an audit finds of such a session; whoever only reads the release refuses it for the same reason."""
    folders = deployed(DATA, SHORT, **changed).write(folder, views=False)
    found = found_of(folders, views=False)
    if found["approvals"].status == "failed":
        with pytest.raises(InputError):
            verify_release(folders.run)
    else:
        assert verify_release(folders.run).missing_files_text is None
    return found


def by(identity: Identity, **fields: str) -> Callable[[Approvals], None]:
    """The second approval says this, and is signed by this identity."""

    def change(found: Approvals) -> None:
        found[1].update(fields)
        signed = approval_text(found[1]["study"], found[1]["name"], found[1]["random"])
        found[1]["signature"] = identity.sign(signed).hex()

    return change


STRANGER = Identity(bytes(31) + b"\x07")
OTHERS: dict[str, tuple[Callable[[Approvals], Any], str]] = {
    "one is missing": (lambda a: a.pop(1), "approvals.other_names"),
    "one is there twice": (lambda a: a.append(dict(a[1])), "approvals.other_names"),
    "signed by a stranger": (by(STRANGER), "approvals.not_signed"),
    "signed by another participant": (by(OWN[P1]), "approvals.not_signed"),
    "of another study": (by(OWN[P2], study="ab" * 32), "approvals.another_study"),
    "other random bytes, old signature": (lambda a: a[1].update(random="ab" * 32), "approvals.not_signed"),
    "of another's name, signed": (by(OWN[P2], name=P3), "approvals.other_names"),
    "a field too many": (lambda a: a[1].update(note="x"), "json.unknown_key"),
    "capital digits": (lambda a: a[1].update(random=a[1]["random"].upper() + "A"), "json.not_hexadecimal"),
    "all of another study": (
        lambda a: [approved(x, "ab" * 32, OWN[x["name"]]) for x in a], "study.not_approved",
    ),
}  # fmt: skip


def test_approvals_are_of_one_session(tmp_path: Path) -> None:
    """Whoever takes them for a second session has a nonce that is not made of them."""
    found = found_in(tmp_path / "again", nonce=bytes(32))
    assert set(failed(found)) == {"approvals"}
    assert found["approvals"].code == "approvals.other_nonce"
    anew = found_in(tmp_path / "anew", approvals=by(OWN[P2], random="ab" * 32))
    assert anew["approvals"].status == "passed", "new random bytes of one make another session, which is in order"
    titled = found_in(tmp_path / "titled", study=lambda d: d.update(title="another title"))
    assert titled["approvals"].status == "passed", "what a release does not state only binds those who approved"


STUDIES: dict[str, tuple[Callable[[dict[str, Any]], Any], str]] = {
    "another epsilon": (lambda d: d["target"].update(epsilon="1/2"), "study.other_parameters"),
    "more may vanish": (lambda d: d["protocol"].update(dropouts=1), "study.other_parameters"),
    "a method that is none": (lambda d: d["method"].update(name="magic"), "setting.unknown_value"),
    "study.other_bounds": (lambda d: d["bounds"].update(clip=3.0), "study.other_bounds"),
    "another key": (lambda d: d["parties"][1].update(key=STRANGER.public.hex()), "study.other_participants"),
    "parties in another order": (lambda d: d["parties"].reverse(), "study.other_participants"),
    "no curator": (lambda d: d.update(curator=None), "study.other_participants"),
    "public rows": (lambda d: d.update(auxiliary="ab" * 32), "study.other_public_rows"),
    "a section too many": (lambda d: d.update(note="x"), "json.unknown_key"),
    "no section": (lambda d: d.update(method=5), "json.not_an_object"),
}


@pytest.mark.parametrize(
    ("what", "name"), [*(("approvals", name) for name in OTHERS), *(("study", name) for name in STUDIES)]
)
def test_other_approvals_and_another_study_are_caught(what: str, name: str, tmp_path: Path) -> None:
    """All have approved of the study, and it is not what was run."""
    change, code = (OTHERS if what == "approvals" else STUDIES)[name]
    found = found_in(tmp_path, **{what: change})
    assert set(failed(found)) == {"approvals"}
    assert found["approvals"].code == code, found["approvals"]
    assert found["approvals"].culprit is None


@pytest.mark.parametrize("content", [b"", b"{}", b"[" * 10_000, b"\xff", b'{"format": 1}'])
def test_what_is_no_study_is_caught(content: bytes, folders: Folders, tmp_path: Path) -> None:
    shutil.copytree(folders.run, tmp_path / "run")
    (tmp_path / "run" / STUDY).write_bytes(content)
    found = found_of(Folders(tmp_path / "run", tmp_path), views=False)
    assert set(failed(found)) == {"files", "agreed", "approvals"}


def test_without_its_study_or_its_approvals_a_run_fails(
    made: Deployed, folders: Folders, small: Folders, tmp_path: Path
) -> None:
    simulated = approvals(small.run)
    assert (simulated.status, simulated.code) == ("not possible", "approvals.simulation")
    run = f.edited(folders.run, tmp_path / "run", RELEASE, lambda d: d["digests"].pop(STUDY), redigest=False)
    assert approvals(run).code == "study.missing"
    digest = hashlib.sha256(made.study).hexdigest()
    other = f.edited(small.run, tmp_path / "other", RELEASE, lambda d: d["digests"].update({STUDY: digest}))
    (other / STUDY).write_bytes(made.study)
    assert approvals(other).code == "study.without_approvals"
    for folder in (run, other):
        with pytest.raises(InputError):
            verify_release(folder)


def test_what_was_agreed_on_makes_the_study_that_states_it() -> None:
    """The helper of these tests says in a study just what was agreed on."""
    agreed = agreement(DATA, seeded=False)
    assert study_of(agreed, OWN).agreement().digest == agreed.digest
