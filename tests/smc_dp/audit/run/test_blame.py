"""Whatever is done to a record or a release by somebody who holds no key, and to mail on its way, nobody is named."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from support import forgeries as f
from support.audited import Folders, long_term, toy_run
from support.liars_views import evidence_of, outcomes, played
from support.mutants import OF_THE_RUN, audit
from support.sessions import setup

from protocols.crypto.identity import Identity
from protocols.runtime.envelope import Envelope
from smc_dp.audit.run.evidence import load_evidence
from smc_dp.audit.run.report import audit_evidence
from smc_dp.core.errors import InputError
from smc_dp.run.release import RELEASE

P1, P2 = "north-0", "north-1"
OWN = long_term((P1, P2))
STRANGER = Identity(bytes(31) + b"\x09")
BLAMING = ("is wrong", "made it", "put it there", "cheat", "lied", "culprit", "to blame")


@pytest.fixture(scope="module")
def honest(tmp_path_factory: pytest.TempPathFactory) -> Folders:
    return toy_run(tmp_path_factory.mktemp("honest"), (9, 5), 1, identities=OWN, key_bits=256)


@pytest.fixture(scope="module")
def other(tmp_path_factory: pytest.TempPathFactory) -> Folders:
    return toy_run(tmp_path_factory.mktemp("other"), (9, 5), 1, seed=2, identities=OWN, key_bits=256)


def accusations(folders: Folders, identities: Path | None = None) -> list[str]:
    """Whom an audit with all views names, and what it says in words that blame."""
    try:
        evidence = load_evidence(folders.run, identities, folders.views)
    except InputError:  # views of another session, as line 0 has it now, are none
        evidence = load_evidence(folders.run, identities)
    found = audit_evidence(evidence, OF_THE_RUN).findings
    bad = [x for x in found if x.outcome.status == "failed"]
    assert bad, "what was done is found at least"
    named = [f"{x.check.name}: {x.outcome.party}: {x.outcome.detail}" for x in bad if x.outcome.party]
    return named + [x.outcome.detail for x in bad if any(word in x.outcome.detail for word in BLAMING)]


UNDONE = "another number"  # chains that are made anew have their numbers back
At = Callable[[f.Record], f.Change]


def at(make: Callable[..., f.Change], kind: str, /, *args: Any, nth: int = 0, **fields: Any) -> At:
    return lambda record: make(record.place(kind, None, nth), *args, **fields)


def swapped(kind: str, other: str) -> At:
    return lambda record: f.swap(record.place(kind), record.place(other))


DONE: dict[str, At] = {
    **{f"flipped {kind}": at(f.flip, kind) for kind in ("Hello", "Commitment", "Relay", "Half", "Masked", "Ready")},
    **{f"dropped {kind}": at(f.drop, kind) for kind in ("Hello", "Opening", "Slot", "StageEnd", "PublishedShare")},
    **{f"repeated {kind}": at(f.duplicate, kind) for kind in ("Hello", "Bits", "Blinded", "PublishedShare")},
    **{f"round of {kind}": at(f.alter, kind, round=9) for kind in ("Hello", "Relay", "PublishedShare")},
    "another sender": at(f.alter, "Relay", sender="charlie"),
    "another addressee": at(f.alter, "Slot", to=P2),
    "another kind": at(f.alter, "Half", kind="Ready"),
    "no kind": at(f.alter, "Half", kind="Pickle"),
    UNDONE: at(f.alter, "Half", number=9),
    "longer": at(f.resize, "Relay", 1),
    "shorter": at(f.resize, "PublishedShare", -1),
    "delayed": lambda record: f.move(record.place("Relay"), len(record.envelopes) - 1),
    "early": lambda record: f.move(record.place("Masked"), 5),
    "greeting late": lambda record: f.move(record.place("Hello"), 9),
    "swapped": swapped("Relay", "Half"),
    "cut off": lambda record: f.cut(len(record.envelopes) // 2),
    "share signed by a stranger": at(f.sign, "PublishedShare", STRANGER),
    "somebody absent": lambda record: f.miss(P1, P2, "Relay", "stage1"),
    "no mark of the seed": lambda record: f.with_head(insecure=["insecure test keys"]),
    "another nonce": lambda record: f.with_head(nonce="00" * 32),
    "longer keys": lambda record: f.with_parameters(key_bits=384),
    "a stranger's identity": lambda record: f.with_identity(P1, STRANGER),
}


@pytest.mark.parametrize(
    ("name", "anew"), [(name, anew) for name in DONE for anew in (False, True) if not (anew and name == UNDONE)]
)
def test_nobody_is_named_for_what_anybody_can_do_to_a_record(
    name: str, anew: bool, honest: Folders, tmp_path: Path
) -> None:
    changes = [DONE[name](f.read_record(honest.run)), *([f.linked] if anew else [])]
    run = f.forge(honest.run, tmp_path / "forged", *changes)
    assert accusations(Folders(run, honest.views)) == []


@pytest.mark.parametrize("kind", ["Relay", "Hello", "PublishedShare", "StageEnd"])
def test_nobody_is_named_for_what_comes_from_an_old_run(
    kind: str, honest: Folders, other: Folders, tmp_path: Path
) -> None:
    i = f.read_record(honest.run).place(kind)
    for number, more in enumerate(([], [f.linked])):
        run = f.forge(honest.run, tmp_path / str(number), f.splice(other.run, i), *more)
        assert accusations(Folders(run, honest.views)) == []


def test_nobody_is_named_for_views_of_another_run(honest: Folders, other: Folders, tmp_path: Path) -> None:
    """They are refused; and a record of strangers under known names is held against the identities that are known."""
    strangers = long_term((P1, P2), seed=7)
    keys = [f.with_identity(name, strangers[name]) for name in strangers]
    i = f.read_record(honest.run).place("Relay")
    changes = [f.resize(i, 1), *keys, f.with_session, f.resigned(strangers)]
    run = f.forge(honest.run, tmp_path / "forged", *changes)
    known = tmp_path / "known.json"
    known.write_text(json.dumps({name: identity.public.hex() for name, identity in OWN.items()}))
    found = audit_evidence(load_evidence(run, known), OF_THE_RUN).findings
    assert {x.check.name for x in found if x.outcome.status == "failed"} >= {"identities", "sizes"}
    assert {x.outcome.party for x in found} == {None}


@pytest.mark.parametrize("change", ["epsilon", "noise", "calibration", "lambda"])
def test_nobody_is_named_for_a_release_that_says_something_else(change: str, honest: Folders, tmp_path: Path) -> None:
    other = {"epsilon": "1/1000", "noise": "laplace", "calibration": "paper", "lambda": "1/1000"}[change]
    run = f.edited(honest.run, tmp_path / "run", RELEASE, lambda d: d["parameters"].update({change: other}))
    assert accusations(Folders(run, honest.views)) == []


def test_the_command_names_nobody_either(honest: Folders, tmp_path: Path) -> None:
    run = f.forge(honest.run, tmp_path / "run", DONE["flipped Relay"](f.read_record(honest.run)), f.linked)
    found = audit(str(run), "--views", str(honest.views), "--json")
    report = json.loads(found.out)
    assert (found.code, report["passed"]) == (1, False)
    assert {finding["party"] for finding in report["findings"]} == {None}
    text = audit(str(run), "--views", str(honest.views)).out
    assert "[north" not in text
    assert "[charlie]" not in text


def test_who_signed_it_is_named_all_the_same(honest: Folders, tmp_path: Path) -> None:
    """The twin of all of the above."""
    i = f.read_record(honest.run).place("Relay")
    sender = f.read_record(honest.run).envelopes[i].sender
    run = f.forge(honest.run, tmp_path / "run", f.flip(i), f.resigned(OWN))
    assert any(f": {sender}: " in said for said in accusations(Folders(run, honest.views)))


# On the way.


def flipped(e: Envelope) -> list[Envelope]:
    return [replace(e, body=bytes([e.body[0] ^ 1]) + e.body[1:])]


ON_THE_WAY: dict[str, Callable[[Envelope], list[Envelope]]] = {
    "flipped": flipped,
    "repeated": lambda e: [e, e],
    "another round": lambda e: [replace(e, round=e.round + 1)],
    "another kind": lambda e: [replace(e, kind="Ready")],
    "another number": lambda e: [replace(e, number=e.number + 1)],
    "lost": lambda e: [],
}


EVERYDAY = [
    ("flipped", "Commitment"),
    ("lost", "Commitment"),
    *((how, "Half") for how in ON_THE_WAY),
    ("lost", "Reshare"),
]
SELDOM = [(how, kind) for kind in ("Commitment", "Reshare") for how in ON_THE_WAY if (how, kind) not in EVERYDAY]


@pytest.mark.parametrize(
    ("how", "kind"), [*EVERYDAY, *(pytest.param(how, kind, marks=pytest.mark.slow) for how, kind in SELDOM)]
)
def test_nobody_is_named_for_what_happens_on_the_way(how: str, kind: str) -> None:
    made = setup(3, 1)
    once: list[Envelope] = []

    def spoil(e: Envelope) -> list[Envelope]:
        if e.kind != kind or (once and once[0] != e):
            return [e]
        once[:] = [e]
        return ON_THE_WAY[how](e)

    found = outcomes(evidence_of(made, played(made, spoil)))
    assert once
    assert {o.party for o in found.values()} == {None}, found
    assert not [o for o in found.values() if any(word in o.detail for word in BLAMING)]
