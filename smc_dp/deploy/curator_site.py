"""Duties of the curator's site beside its role. It keeps the transcript and hands it to all at the end."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from typing_extensions import override

from protocols.runtime.session import Session
from protocols.runtime.transcript import Transcript
from smc_dp.deploy.approval import Approval
from smc_dp.deploy.arrival import plausible_absences
from smc_dp.deploy.release import (
    as_documents,
    released_from,
    transcript_frames,
    transcript_from_frames,
    write_own_view,
)
from smc_dp.deploy.session_driver import Business, Member
from smc_dp.deploy.site import Site
from smc_dp.deploy.site_transcript import (
    build_transcript,
    incomplete_senders,
    owed_absences,
    read_transcript,
)
from smc_dp.deploy.transcript_heads import sign_transcript
from smc_dp.run.budget_charge import OpenCharge
from smc_dp.run.site_process import SiteInputs
from smc_dp.run.status_message import Notice


@dataclass(frozen=True, repr=False)
class CuratorBusiness(Business):
    """Duties of the curator; see `Business`. `out`: the run folder; `views`: SECRET, a folder for its own view."""

    member: Member
    out: Path
    views: Path | None = None

    @override
    def begins(self, session: Session, approvals: Mapping[str, Approval], *, over: bool, resumed: bool) -> SiteInputs:
        return SiteInputs(lambda coins: (session.parameters,))

    @override
    def history(self) -> None:
        return None

    @override
    def is_over(self, site: Site, notices: Mapping[str, Notice], *, patient: bool) -> bool:
        given_up = {absent.sender for _, absent in site.marks}
        silent = [name for name in site.session.parties if name not in notices and name not in given_up]
        if silent and patient:
            return False
        heads = {name: bytes.fromhex(notice.head) for name, notice in notices.items()}
        return not patient or not incomplete_senders(site.session, site.envelopes(), heads)

    @override
    def released(self, site: Site, approvals: Mapping[str, Approval], notices: Mapping[str, Notice]) -> None:
        # the transcript is made once, and is on its way to all before this site makes the release from it as all do
        kept = transcript_from_frames(site.store.outgoing())
        content = b"".join(self._transcript(site, approvals, notices).chunks()) if kept is None else kept
        found = read_transcript(content, site.session)
        made = released_from(found, site, self.member, as_documents(self.member.study, approvals))
        if kept is None:
            head = sign_transcript(site.study, site.session.id, content, self.member.signer)
            site.store.commit(sending=[head, *transcript_frames(site.study, content)])
        made.write(self.out)
        if self.views is not None:
            write_own_view(self.views, site, self.member.signer, found)

    def _transcript(self, site: Site, approvals: Mapping[str, Approval], notices: Mapping[str, Notice]) -> Transcript:
        done = [site.name, *(name for name, notice in notices.items() if notice.code == "done")]
        kept = list(site.envelopes())
        others = [(name, notice.marks) for name, notice in notices.items() if name != site.name]
        known = (
            *site.marks,
            *(mark for name, marks in others for mark in plausible_absences(site.session, name, marks)),
        )
        marks = (*known, *owed_absences(site.session, kept, known, done))
        mine, key = [p.body for p in site.store.outgoing() if p.lane == "notice"], self.member.signer.public
        own = [Notice.read(body, site.study, site.name, key) for body in mine]
        said = {**notices, **{notice.sender: notice for notice in own}}
        return build_transcript(
            site.session, kept, marks, as_documents(self.member.study, approvals), self.member.agreement.marks,
            notices=[said[name].as_dict() for name in site.session.names if name in said],
        )  # fmt: skip

    @override
    def run_folder(self) -> Path:
        return self.out

    @override
    def ended(self, session_id: bytes, charge: OpenCharge) -> None:
        pass
