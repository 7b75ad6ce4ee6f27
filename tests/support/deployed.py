"""Studies of made-up hospitals, approved of by all, and what their sites leave: a record, a release, views."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

from protocols.arithmetic.rng import Stream
from protocols.crypto.identity import Identity
from protocols.curator import CURATOR_NAME
from protocols.programs import PROTOCOLS
from protocols.runtime.bulletin_board import BulletinBoard
from protocols.runtime.envelope import Envelope
from protocols.runtime.session import PUBLIC_NAME, Session
from protocols.runtime.simulate import DropOutAfter, Setting, simulate
from protocols.runtime.transcript import Transcript
from protocols.runtime.view import RecordedView
from smc_dp.core.documents import canonical_line, canonical_text
from smc_dp.data.columns import CategoricalColumn, Column, DateColumn, NumericColumn
from smc_dp.data.sources import PreparedData
from smc_dp.deploy.merge import Mark
from smc_dp.deploy.release import own_view
from smc_dp.deploy.site_transcript import OwnLog, build_transcript, owed_absences, read_transcript
from smc_dp.deploy.study import STUDY_FORMAT, JointStudy
from smc_dp.run import folder as run_folder
from smc_dp.run.agreement import DEFAULT_SIMULATION, TEST_KEYS, Agreement, method_settings
from smc_dp.run.approvals import RANDOM_BYTES, approval_text, joint_nonce
from smc_dp.run.party import LocalParty
from smc_dp.run.protocols import execution
from smc_dp.run.status_message import Notice
from support.audited import Folders, long_term

Change: TypeAlias = Callable[[Any], Any]
_TARGET = ("epsilon", "delta", "noise", "calibration")


def nothing(document: object) -> None:
    """Everything stays as it is."""


def study_of(agreed: Agreement, identities: Mapping[str, Identity]) -> JointStudy:
    """A study that says what was agreed on, among these."""
    stated, settings = dict(agreed.parameters), method_settings(agreed.method)
    target = {name: stated.pop(name) for name in _TARGET if name in stated}
    terms = {k: v for k, v in stated.items() if k not in (*settings, "method", "protocol", "parties", "dimension")}
    keys = {name: identities[name].public.hex() for name in agreed.participants}
    document = {
        **{"format": STUDY_FORMAT, "title": "made up", "purpose": "tests", "relay": "nats://localhost:4222"},
        "insecure_test_keys": TEST_KEYS in agreed.marks,
        "method": {"name": agreed.method.name, **settings},
        "target": target,
        "protocol": {"name": agreed.protocol, **terms},
        "deadlines": {"greetings": 60, "messages": 60},
        "parties": [{"name": name, "key": keys[name]} for name in agreed.parties],
        "curator": {"key": keys[CURATOR_NAME]} if CURATOR_NAME in keys else None,
        "bounds": _stated(agreed),
    }
    return JointStudy.model_validate(document)


def _stated(agreed: Agreement) -> dict[str, Any]:
    """The bounds as a file of bounds says them."""
    bounds = agreed.bounds
    label = str(bounds.label)
    aliases = {c.name: c.aliases for c in bounds.columns if isinstance(c, CategoricalColumn)} | {label: bounds.aliases}
    return {
        "columns": {c.name: _column(c) for c in bounds.columns},
        "label": {"column": label, "classes": list(bounds.classes)},
        "rows": {"clip": bounds.clip, "bias": bounds.bias, "center": bounds.center},
        "missing": {
            **{c.name: c.missing for c in bounds.columns if c.missing is not None},
            **({} if bounds.missing is None else {label: bounds.missing}),
        },
        "aliases": {name: {level: list(texts) for level, texts in some} for name, some in aliases.items() if some},
    }


def _column(column: Column) -> Any:
    if isinstance(column, NumericColumn):
        return [column.low, column.high]
    if isinstance(column, DateColumn):
        return [column.first, column.last]
    return list(column.categories) if isinstance(column, CategoricalColumn) else {"bins": list(column.edges)}


@dataclass(frozen=True, repr=False)
class Deployed:
    """What the sites of a study have in the end: `simulated` are views of those who did not vanish."""

    study: bytes
    agreement: Agreement
    approvals: list[dict[str, str]]
    session: Session
    identities: Mapping[str, Identity]
    seeds: Mapping[str, Stream]
    inputs: Mapping[str, tuple[Any, ...]]
    envelopes: list[Envelope]
    marks: list[Mark]
    simulated: Mapping[str, RecordedView]

    @property
    def record(self) -> Transcript:
        return build_transcript(
            self.session, self.envelopes, self.marks, self.approvals, self.agreement.marks, notices=self.notices
        )

    @property
    def notices(self) -> list[dict[str, Any]] | None:
        """What each who did not vanish signs at its end; nothing in a session without approvals."""
        if self.approvals is None:
            return None
        study, at = hashlib.sha256(self.study).hexdigest(), self.session.id
        marks = {name: self.log(name).marks for name in self.signing}
        made = (Notice.made(study, at, n, "done", bytes(32), self.identities[n], marks[n]) for n in self.signing)
        return [notice.as_dict() for notice in made]

    @property
    def signing(self) -> list[str]:
        """Who signs a notice."""
        return [name for name in self.session.names if name in self.simulated]

    @property
    def content(self) -> bytes:
        return b"".join(self.record.chunks())

    def log(self, name: str) -> OwnLog:
        """What this site has seen."""
        return OwnLog(
            name,
            [e for e in self.envelopes if e.sender == name],
            [e for e in self.envelopes if e.to == name],
            [e for e in self.envelopes if e.to == PUBLIC_NAME],
            frozenset(absent for reader, absent in self.marks if reader == name),
        )

    def view(self, name: str) -> bytes:
        """Made afterwards by its owner."""
        found = read_transcript(self.content, self.session)
        return own_view(self.session, name, self.identities[name], self.seeds[name], self.inputs[name], found)

    def write(self, folder: Path, *, views: bool = True) -> Folders:
        """The run folder and everybody's view."""
        made = Folders(folder / "run", folder / "views")
        board = BulletinBoard(self.session)
        for e in self.record.read():
            if e.is_public:
                board.post(e)
        value = execution.decode_value(self.session, board.published)
        gone = tuple(sorted({absent.sender for _, absent in self.marks}))
        outcome = execution.outcome_of_sites(self.session, board.published, value, self.record, gone)
        if outcome.execution is None:
            raise AssertionError("nothing was executed")
        published = run_folder.make_release(outcome, self.agreement, DEFAULT_SIMULATION, self.study)
        run_folder.write_run(made.run, published, outcome.execution, self.study)
        made.views.mkdir(parents=True)
        for j, name in enumerate(self.simulated if views else ()):
            (made.views / f"{j}.view").write_bytes(self.view(name))
        return made


def deployed(
    data: PreparedData,
    agreed: Agreement,
    *,
    study: Change = nothing,
    approvals: Change = nothing,
    nonce: bytes | None = None,
    **vanish: int,
) -> Deployed:
    """One session of a study in which exactly this is agreed on, by roles that publish in the end; coins from the
    system. `vanish`: after so many letters.

    What everybody approves of and how is changed by `study` and `approvals`, and the session has the nonce that these
    make, or another: so nothing else about it is out of order.
    """
    identities, coins = long_term(agreed.parties), Stream.from_system()
    document = json.loads(study_of(agreed, identities).content)
    study(document)
    content = canonical_text(document)
    said = [_approval(name, identities[name], content, coins) for name in agreed.participants]
    approvals(said)
    made_of_all = joint_nonce(map(canonical_line, said)) if nonce is None else nonce
    program = PROTOCOLS[agreed.protocol].program
    pinned = {name: identities[name] for name in agreed.participants}
    public = {name: identity.public for name, identity in pinned.items()}
    session = Session(
        program, agreed.program_parameters(agreed.session_binding(DEFAULT_SIMULATION, content)), public, made_of_all
    )
    parts = {n: LocalParty(n, rows, agreed, coins.fork(f"own {n}")) for n, rows in data.federation.by_name.items()}
    inputs: dict[str, tuple[Any, ...]] = {name: (session.parameters,) for name in session.names}
    inputs |= {name: part.inputs(session) for name, part in parts.items()}
    home = {name: answers for name, part in parts.items() if (answers := part.answers(session, inputs[name]))}
    seeds = {name: coins.fork(f"seed {name}") for name in session.names}
    setting = Setting(drop_outs={name: DropOutAfter(n) for name, n in vanish.items()}, views=True)
    run = simulate(session, pinned, seeds, inputs, setting, home)
    here = [name for name, end in run.ends.items() if end != "gone"]
    marks = [(name, absent) for name in here for absent in run.absent[name]]
    sent = run.transcript.envelopes
    views = {name: run.recorded[name] for name in here}
    return Deployed(
        content, agreed, said, session, pinned, seeds, {name: view.inputs for name, view in views.items()}, sent,
        [*marks, *owed_absences(session, sent, marks, here)], views,
    )  # fmt: skip


def approved(approval: dict[str, str], study: str, identity: Identity) -> None:
    """The same approval, of this study."""
    signed = approval_text(study, approval["name"], approval["random"])
    approval.update(study=study, signature=identity.sign(signed).hex())


def _approval(name: str, identity: Identity, content: bytes, coins: Stream) -> dict[str, str]:
    made = {"name": name, "random": coins.bytes(RANDOM_BYTES).hex()}
    approved(made, hashlib.sha256(content).hexdigest(), identity)
    return made
