"""Part of a site in a study, from the files that it has: `join` and `serve`, over any carrier."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass, field
from functools import cached_property, partial
from pathlib import Path
from typing import Any, TypeAlias

from protocols.crypto.identity import Signer
from protocols.curator import CURATOR_NAME
from protocols.runtime.session import PUBLIC_NAME
from smc_dp.core import reading
from smc_dp.core.errors import InputError, InputFault, shown
from smc_dp.core.private_text import Hear, PrivateText
from smc_dp.data.federation import Rows
from smc_dp.deploy.approval import Approval
from smc_dp.deploy.carriers import find_carrier
from smc_dp.deploy.curator_site import CuratorBusiness
from smc_dp.deploy.frame import Carrier, CarrierError
from smc_dp.deploy.ledger_heads import own_witness
from smc_dp.deploy.party_site import PartyBusiness
from smc_dp.deploy.paths import approval_file, counter_folder, state_folder
from smc_dp.deploy.preflight import OwnFiles, OwnRows, run_preflight
from smc_dp.deploy.session_driver import Member, SessionDriver
from smc_dp.deploy.site import charge_from_facts, refusal
from smc_dp.deploy.site_policy import SitePolicy
from smc_dp.deploy.status import erase_missed
from smc_dp.deploy.store import StoreError, is_begun, open_store
from smc_dp.deploy.study import JointStudy
from smc_dp.run import folder as run_folder
from smc_dp.run import identities
from smc_dp.run.agreement import Agreement
from smc_dp.run.local_evaluation import LocalComparison, evaluate_locally
from smc_dp.run.release import RELEASE
from smc_dp.run.site_ledger import SiteLedger


def open_carrier(study: JointStudy, name: str, credentials: Path | None) -> Carrier:
    """Return this participant's carrier to the relay of the study. Nothing is sent yet.

    `credentials`: the folder that the relay's operator made for it. InputError for an address of no carrier, and where
    what the carrier needs is not installed.
    """
    found = find_carrier(study.relay.partition("://")[0])
    if found is None:
        raise InputError("relay.no_address", got=shown(study.relay))
    opened: Carrier = found.load()(study, name, credentials)
    return opened


OpenCarrier: TypeAlias = Callable[[JointStudy, str, Path | None], Carrier]
_LONGEST_PASSPHRASE = 1 << 12


@dataclass(frozen=True)
class SiteFiles:
    """Files of a site in a study, beside the study; what is None has its usual place, or is not there.

    A party has a `ledger` and a `policy`, and `data` unless the policy names them. The curator has none of
    these, and an `out`. `views`: a folder to make for the view of this site.
    """

    key: Path
    policy: Path | None = None
    data: Path | None = None
    ledger: Path | None = None
    out: Path | None = None
    approval: Path | None = None
    state: Path | None = None
    counters: Path | None = None
    views: Path | None = None
    credentials: Path | None = None
    auxiliary: Path | None = None
    passphrase: Path | None = None


@dataclass(frozen=True)
class Part:
    """Outcome of a site's part in a study: "released", or another end with its reason, for its owner alone, and its
    code.

    `out` is the site's run folder; `rows` are those of the site, where it has some.
    """

    name: str
    study: str
    end: str
    why: PrivateText
    code: str
    charged: bool
    out: Path
    rows: Rows | None = field(default=None, repr=False, compare=False)

    @cached_property
    def compared(self) -> LocalComparison | None:
        """Comparison of the release with a local model on the site's own rows, for the site alone; None without rows or
        release.

        Computed on request: the session is over by then, and a failure here does not touch it.
        """
        if self.end != "released" or self.rows is None or not (self.out / RELEASE).is_file():
            return None
        document = run_folder.read_release_file(self.out)
        release = run_folder.parse_release(document, run_folder.read_public_rows(self.out, document))
        return evaluate_locally(release, self.rows)

    def as_dict(self) -> dict[str, Any]:
        """Return plain values for JSON, for the owner's screen."""
        out = str(self.out) if self.end == "released" else None
        return {
            **{"name": self.name, "study": self.study, "end": self.end, "why": self.why.on_screen(), "code": self.code},
            **{"charged": self.charged, "run": out},
            **({} if self.compared is None else {"own_rows": self.compared.as_dict()}),
        }


def take_part(
    study_file: Path,
    files: SiteFiles,
    hear: Hear,
    carrier: OpenCarrier = open_carrier,
    before: Callable[[Agreement, Rows], None] = lambda agreement, rows: None,
) -> Part:
    """Take part in a study from the first look at the files to the settled ledger; called again, go on from there.

    `before` is called with the agreement and this site's rows before anything is sent, at the first call alone.

    Raises InputError, after a status message to the others, for what does not fit; nothing has been charged then.
    """
    study, signer = JointStudy.read(study_file), identities.read_identity(files.key)
    name = study.participant(signer.public)
    folder, counters = files.state or state_folder(study_file, name), files.counters or counter_folder()
    begun = is_begun(folder)
    if begun:
        erase_missed(study, folder, counters, time.time())
    policy = None if files.policy is None else SitePolicy.read(files.policy)
    if (name in study.parties) != (files.ledger is not None):
        raise InputError(
            "key.other_command", key=str(files.key), name=name, command="join" if name in study.parties else "serve"
        )
    own = OwnFiles(files.data, files.ledger, files.auxiliary, begun, study_file)
    checked = run_preflight(
        study, name, policy, own, lambda policy: policy.ask_witnesses(study, files.ledger, signer, hear)
    )
    credentials = files.credentials or (None if policy is None else policy.credentials_path)
    witness = partial(own_witness, counters, signer.public, time.time)
    with closing(carrier(study, name, credentials)) as way:
        try:
            agreement = checked.require(f"study {study_file}")
            approval = _own_approval(files.approval or approval_file(study_file, name), study, name)
            member = Member(study, name, signer, approval, agreement)
            business = _business(member, checked.own, files, folder)
        except InputError:
            _say_refused(study, name, signer, way, hear)
            raise
        if checked.own is not None and not begun:
            before(agreement, checked.own.rows)
        with closing(open_store(folder, approval, signer, counters, _first_line(files.passphrase))) as store:
            hear(PrivateText(f"{name} takes part in study {study.digest}; its state is in {folder}"))
            keeps = files.views is not None
            taking_part = SessionDriver(member, store, way, business, witness, hear=hear, keeps_seed=keeps)
            try:
                end = taking_part.run()
            except InputError as error:
                if not isinstance(error, StoreError) and store.newest() is None:  # nothing was sent in the session
                    _say_refused(study, name, signer, way, hear)
                raise
            facts = store.facts()
    if policy is not None and policy.witnesses is not None:
        try:
            policy.ask_witnesses(study, files.ledger, signer, hear, over=True)  # who see the charge then
        except InputError as error:  # the session is over, and its result stands
            hear(PrivateText(str(error)))
        if len(policy.witnesses.urls) < len(policy.witnesses.keys):
            hear(PrivateText(str(InputFault("witnesses.ask_again"))))
    charged = bool(charge_from_facts(facts).standing)
    rows = None if checked.own is None else checked.own.rows
    why, code = PrivateText(facts.get("why", "")), facts.get("code", "")
    return Part(name, study.digest, end, why, code, charged, business.out, rows)


def _own_approval(path: Path, study: JointStudy, name: str) -> Approval:
    """Return the participant's own approval of the study."""
    own = Approval.read(path)
    study.check_approval(own)
    if own.name != name:
        raise InputError("approval.of_another", path=str(path), got=own.name, wanted=name)
    return own


def _business(member: Member, own: OwnRows | None, files: SiteFiles, folder: Path) -> CuratorBusiness | PartyBusiness:
    out = files.out or folder / "run"
    if member.name == CURATOR_NAME:
        return CuratorBusiness(member, out, files.views)
    if own is None or files.ledger is None:
        raise InputError("data.missing" if own is None else "ledger.none_given")
    return PartyBusiness(member, own.rows, own.table, SiteLedger(files.ledger), out, files.views)


def _say_refused(study: JointStudy, name: str, signer: Signer, carrier: Carrier, hear: Hear) -> None:
    """Tell all others, by a code and nothing else, that this participant does not take part as things stand."""
    try:
        last = carrier.last(PUBLIC_NAME, "refusal")
        carrier.send([refusal(study.digest, name, signer, 0 if last is None else last.number + 1)])
    except CarrierError as error:
        hear(PrivateText(f"the other sites were not notified that {name} does not take part: {error}"))


def _first_line(path: Path | None) -> str | None:
    if path is None:
        return None
    lines = reading.read_file(path, _LONGEST_PASSPHRASE).decode(errors="replace").splitlines()
    if not lines or not lines[0]:
        raise InputError("passphrase.empty", path=str(path))
    return lines[0]
