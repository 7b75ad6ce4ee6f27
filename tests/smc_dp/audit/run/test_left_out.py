"""Who is known from elsewhere and took no part: left out of a new session, as all agreed, or Charlie, or a fault."""

from __future__ import annotations

import hashlib
import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from support.audited import hospitals, sum_agreement
from support.audits import outcome

from protocols.arithmetic.rng import Stream
from protocols.crypto.identity import Identity
from smc_dp.audit.run.check import CheckOutcome
from smc_dp.audit.run.evidence import load_evidence
from smc_dp.privacy.target import Target
from smc_dp.run.identities import PUBLIC_FILE, create_identities, load_run_identities
from smc_dp.run.release import RELEASE
from smc_dp.run.simulation import simulate_run

DATA = hospitals((12, 8, 20, 10, 14), 2)
NAMES = DATA.federation.names
GONE = NAMES[1]


def recorded(folder: Path, drop_out: dict[str, int], **terms: Any) -> Path:
    """A run by the identities of a folder, with coins of no seed as far as anybody can see; the identities."""
    agreed = sum_agreement(DATA, None, Target(Fraction("0.4"), noise="ddg"), seeded=False, **terms)
    known = load_run_identities(folder / "keys", agreed.participants)
    rng = Stream(hashlib.sha256(folder.name.encode()).digest(), insecure=False)
    simulate_run(DATA, agreed, rng, folder / "run", identities=known, drop_out=drop_out)
    return folder / "keys" / PUBLIC_FILE


@pytest.fixture
def keys(tmp_path: Path) -> Path:
    create_identities(tmp_path / "keys", NAMES, Stream.insecure_from_seed("keys"))
    return tmp_path


def found(folder: Path, identities: Path, name: str) -> CheckOutcome:
    return outcome(name, load_evidence(folder / "run", identities))


def stated(folder: Path, left_out: list[str]) -> None:
    """The broken twin: a release that names others."""
    document = json.loads((folder / "run" / RELEASE).read_text(encoding="utf-8"))
    document["parameters"]["left_out"] = left_out
    (folder / "run" / RELEASE).write_text(json.dumps(document), encoding="utf-8")


def test_who_was_left_out_of_a_new_session_is_named_and_no_fault(keys: Path) -> None:
    public = recorded(keys, {GONE: 1}, dropouts=1)
    other = found(keys, public, "identities")
    assert other.status == "passed"
    assert repr(GONE) in str(other.fault.fields["said"])
    assert found(keys, public, "agreed").status == "passed"
    stated(keys, [])
    other = found(keys, public, "identities")
    assert (other.code, other.fault.fields) == ("identity.without_participant", {"names": repr(GONE)})
    assert found(keys, public, "agreed").status == "failed"


def test_nobody_is_left_out_by_an_edit(keys: Path) -> None:
    public = recorded(keys, {}, dropouts=1)
    document = json.loads(public.read_text(encoding="utf-8"))
    stranger = Identity.generate(Stream.from_system()).public.hex()
    public.write_text(json.dumps({**document, "stranger": stranger}), encoding="utf-8")
    stated(keys, ["stranger"])
    assert found(keys, public, "agreed").status == "failed"


def test_charlie_has_a_key_where_he_is_not_needed(keys: Path) -> None:
    public = recorded(keys, {}, output="shares")
    assert found(keys, public, "identities").status == "passed"
    document = json.loads(public.read_text(encoding="utf-8"))
    stranger = Identity.generate(Stream.from_system()).public.hex()
    public.write_text(json.dumps({**document, "stranger": stranger}), encoding="utf-8")
    other = found(keys, public, "identities")
    assert (other.code, other.fault.fields) == ("identity.without_participant", {"names": "'stranger'"})
