"""What Charlie's site does beside his role: it keeps the record of all mail, and hands it to everybody in the end."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from protocols.runtime.session import Session
from protocols.runtime.transcript import Transcript
from smc_dp.deploy.approval import Approval
from smc_dp.deploy.arrival import told
from smc_dp.deploy.record import Record, owed, read, record_of, under_way
from smc_dp.deploy.release import (
    as_documents,
    as_parcels,
    from_parcels,
    released_from,
    write_own_view,
)
from smc_dp.deploy.session_driver import Member
from smc_dp.deploy.site import Site
from smc_dp.run.budget_charge import OpenCharge
from smc_dp.run.site_process import SiteInputs
from smc_dp.run.status_message import Notice


@dataclass(frozen=True, repr=False)
class KeeperBusiness:
    """Charlie's; see `Business`. `out`: the run folder to make; `views`: SECRET, a folder to make for his own view."""

    member: Member
    out: Path
    views: Path | None = None

    def begins(self, session: Session, approvals: Mapping[str, Approval], *, over: bool, resumed: bool) -> SiteInputs:
        """Charlie has no rows."""
        return SiteInputs(lambda coins: (session.parameters,))

    def is_over(self, site: Site, notices: Mapping[str, Notice], *, patient: bool) -> bool:
        """Whether all is here of all who said that they are done, and nobody is waited for any more."""
        given_up = {absent.sender for _, absent in site.marks}
        silent = [name for name in site.session.parties if name not in notices and name not in given_up]
        if silent and patient:
            return False
        heads = {name: bytes.fromhex(notice.head) for name, notice in notices.items()}
        return not patient or not under_way(site.session, site.envelopes(), heads)

    def released(self, site: Site, approvals: Mapping[str, Approval], notices: Mapping[str, Notice]) -> None:
        """The record is made once, and on its way to all before the release is made from it, as everybody does."""
        kept = from_parcels(site.store.outgoing())
        content = b"".join(self._record(site, approvals, notices).chunks()) if kept is None else kept
        found = read(content, site.session)
        made = released_from(found, site, self.member, as_documents(self.member.study, approvals))
        if kept is None:
            site.store.commit(sending=as_parcels(site.study, content))
        made.write(self.out)
        if self.views is not None:
            write_own_view(self.views, site, self.member.signer, found)

    def _record(self, site: Site, approvals: Mapping[str, Approval], notices: Mapping[str, Notice]) -> Transcript:
        done = [site.name, *(name for name, notice in notices.items() if notice.code == "done")]
        kept = Record(site.session, site.envelopes()).envelopes
        others = [(name, notice.marks) for name, notice in notices.items() if name != site.name]
        known = (*site.marks, *(mark for name, marks in others for mark in told(site.session, name, marks)))
        marks = (*known, *owed(site.session, kept, known, done))
        mine, key = [p.body for p in site.store.outgoing() if p.lane == "notice"], self.member.signer.public
        own = [Notice.read(body, site.study, site.name, key) for body in mine]
        said = {**notices, **{notice.sender: notice for notice in own}}
        return record_of(
            site.session, kept, marks, as_documents(self.member.study, approvals), self.member.agreement.marks,
            notices=[said[name].as_dict() for name in site.session.names if name in said],
        )  # fmt: skip

    def ended(self, session_id: bytes, charge: OpenCharge) -> None:
        """Charlie has no budget."""
