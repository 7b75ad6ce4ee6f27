"""Abandonment of a study at one site: it erases what it keeps, tells the others, and settles its ledger."""

from __future__ import annotations

from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from protocols.curator import CURATOR_NAME
from smc_dp.core.errors import InputError, InputFault
from smc_dp.core.private_text import PrivateText
from smc_dp.deploy.frame import CarrierError
from smc_dp.deploy.join import OpenCarrier, open_carrier
from smc_dp.deploy.party_site import settle_unreleased
from smc_dp.deploy.site import abandonment, charge_from_facts, reason_facts, tells_others, to_send
from smc_dp.deploy.status import SiteStatus, site_status
from smc_dp.deploy.store import SiteStore, open_without_key
from smc_dp.deploy.study import JointStudy
from smc_dp.run import identities
from smc_dp.run.site_ledger import SiteLedger


@dataclass(frozen=True)
class Abandonment:
    """Outcome of an abandonment: how the study stands, and whether something that may have left stays charged.

    `notified`: whether the relay has the status message; `why_not_notified`: the reason where it has not, else empty.
    `settled`: whether the site's ledger has the outcome; a charge that stays has none there, and counts for good.
    """

    status: SiteStatus
    charged: bool
    settled: bool
    notified: bool
    why_not_notified: PrivateText

    def as_dict(self) -> dict[str, Any]:
        """Return plain values for JSON, for the owner's screen."""
        return {**self.status.as_dict(), "charged": self.charged, "settled": self.settled, "notified": self.notified}


def abandon_study(
    study: JointStudy,
    folder: Path,
    counters: Path,
    *,
    key: Path | None = None,
    ledger: Path | None = None,
    credentials: Path | None = None,
    carrier: OpenCarrier = open_carrier,
) -> Abandonment:
    """End the study at this site, and erase what the site keeps of the session.

    With the site's `key` the others are notified as by a session that aborts here; a relay that cannot be reached
    changes nothing else. With its `ledger` the charge is settled: refunded if nothing can have left, else it stays. A
    study that is over here stays as it ended; called again, this does what was left. `StoreError` where a program still
    uses the state, or for counters that are not the state's; InputError for the key of another site.
    """
    name, signer = site_status(study, folder).name, None if key is None else identities.read_identity(key)
    if signer is not None and study.participant(signer.public) != name:
        raise InputError("key.of_another_site", key=str(key), name=name)
    with closing(open_without_key(folder, counters)) as store:
        facts = store.facts()
        charge, end = charge_from_facts(facts), facts.get("end")
        why = "session.abandoned_charged" if charge.standing else "session.abandoned"
        ended = {} if end else {"end": "abandoned", **reason_facts(InputFault(why))}
        sending = []
        if signer is not None and end in (None, "abandoned"):
            sending = abandonment(store, study.digest, name, signer)
        store.commit(sending=sending, facts=ended)  # the status message is in the commit that erases
        failure = _notify(study, name, store, credentials, carrier)
    if ledger is not None and name != CURATOR_NAME and end != "released":
        settle_unreleased(SiteLedger(ledger), bytes.fromhex(facts.get("session", "")), charge)
    settled = ledger is not None or end == "released" or name == CURATOR_NAME
    return Abandonment(site_status(study, folder), bool(charge.standing), settled, not failure, PrivateText(failure))


def _notify(study: JointStudy, name: str, store: SiteStore, credentials: Path | None, carrier: OpenCarrier) -> str:
    """Hand the relay what is still to be sent; return why the others do not know, if they do not."""
    unsent = to_send(store)
    if not unsent:
        unsigned = store.facts()["end"] == "abandoned" and not tells_others(store)
        return str(InputFault("key.none_given")) if unsigned else ""
    try:
        with closing(carrier(study, name, credentials)) as way:
            way.send(unsent)
    except (CarrierError, InputError) as error:
        return str(error)
    store.sent(unsent)
    return ""
