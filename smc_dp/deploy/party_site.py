"""Duties of a party's site beside its role: its budget, its rows, its check of the transcript, and its release."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from typing_extensions import override

from protocols.arithmetic.rng import Forks, Stream
from protocols.runtime.session import PUBLIC_NAME, Session
from smc_dp.core.errors import InputError
from smc_dp.data.federation import Rows
from smc_dp.data.table import Table
from smc_dp.deploy.approval import Approval
from smc_dp.deploy.release import (
    NoReleaseError,
    as_documents,
    released_from,
    transcript_from_frames,
    write_own_view,
)
from smc_dp.deploy.session_driver import Business, Member
from smc_dp.deploy.site import Site
from smc_dp.deploy.site_transcript import OwnLog, check_transcript
from smc_dp.privacy.ledger.history import History
from smc_dp.privacy.ledger.ledger import Ledger
from smc_dp.run.budget_charge import GivenUp, OpenCharge
from smc_dp.run.party import LocalParty
from smc_dp.run.release import RELEASE
from smc_dp.run.site_ledger import SiteLedger
from smc_dp.run.site_process import SiteInputs
from smc_dp.run.status_message import Notice


@dataclass(frozen=True, repr=False)
class PartyBusiness(Business):
    """Duties of one party; see `Business`. `rows` are encoded under the study's bounds, `table` is what they were read
    from.

    `out`: the run folder that the party makes from the transcript, after its check; `views`: SECRET, a folder to make
    for its own view.
    """

    member: Member
    rows: Rows
    table: Table | None
    ledger: SiteLedger
    out: Path
    views: Path | None = None

    @override
    def begins(self, session: Session, approvals: Mapping[str, Approval], *, over: bool, resumed: bool) -> SiteInputs:
        # The charge is found anew at each start until the role is over: then it may have been refunded. A ledger that
        # another state has charged would pay once for two answers, whatever the relay has of us.
        if not resumed and self.ledger.has(session.id):
            raise InputError("ledger.charged_by_another_state", path=str(self.ledger.path))
        as_read = self.rows if self.table is None else self.table
        if not over:
            self.ledger.reserve(session.id, self.member.agreement, as_read, self.member.approval.encode())
        return SiteInputs(
            lambda coins: self._own(coins).inputs(session),
            lambda coins, inputs: self._own(coins).answers(session, inputs),
            self._own(Forks({}, insecure=False)).draws,
        )

    @override
    def history(self) -> History:
        with Ledger.open(self.ledger.path) as opened:
            return opened.history()

    @override
    def is_over(self, site: Site, notices: Mapping[str, Notice], *, patient: bool) -> bool:
        # the signed head comes with the transcript; without it there is a release, and no cosignature
        has_head = any((frame.lane, frame.to) == ("head", PUBLIC_NAME) for frame in site.store.received())
        return transcript_from_frames(site.store.received()) is not None and (has_head or not patient)

    @override
    def released(self, site: Site, approvals: Mapping[str, Approval], notices: Mapping[str, Notice]) -> None:
        content = transcript_from_frames(site.store.received())
        if content is None:
            raise NoReleaseError("record.missing")
        said = as_documents(self.member.study, approvals)
        try:
            found = check_transcript(content, site.session, own_log(site), said, self.member.agreement.marks)
        except InputError as error:
            raise NoReleaseError(error.fault) from None
        members = released_from(found, site, self.member, said).write(self.out)
        if self.views is not None:
            write_own_view(self.views, site, self.member.signer, found)
        member = self.member.name in members
        self.ledger.released(site.session.id, self.out / RELEASE, site.charge, member=member)

    @override
    def run_folder(self) -> Path:
        return self.out

    @override
    def ended(self, session_id: bytes, charge: OpenCharge) -> None:
        settle_unreleased(self.ledger, session_id, charge)

    def _own(self, coins: Stream | Forks) -> LocalParty:
        return LocalParty(self.member.name, self.rows, self.member.agreement, coins, self.table)


def settle_unreleased(ledger: SiteLedger, session_id: bytes, charge: OpenCharge) -> None:
    """Settle a session without a release: what has not left costs nothing; what may have left stays charged."""
    if session_id and not charge.standing:
        ledger.refund(session_id, GivenUp(charge))


def own_log(site: Site) -> OwnLog:
    """Return what this site sent and received in its session."""
    seen = list(site.envelopes())
    return OwnLog(
        site.name,
        [e for e in seen if e.sender == site.name],
        [e for e in seen if e.to == site.name],
        [e for e in seen if e.to == PUBLIC_NAME],
        frozenset(site.actor.marks),
    )
