"""Carriers by the scheme of a relay's address: those of this package, and those that a site has installed besides.

Another package brings a carrier as an entry point of the group `smc_dp.carriers`. Its name is the scheme of the relay's
address. It names a function that takes the study, a participant's name and the folder of its credentials, and returns
a `Carrier`. `flower` is such an entry point, of this package.
"""

from __future__ import annotations

from importlib.metadata import EntryPoint, entry_points

GROUP = "smc_dp.carriers"
_OF_NATS = "smc_dp.deploy.nats.carrier:open_nats"
_OWN = {"nats": _OF_NATS, "tls": _OF_NATS, "flare": "smc_dp.deploy.flare.local:refuse_command"}


def find_carrier(scheme: str) -> EntryPoint | None:
    """Return the carrier that goes to relays with this scheme. None unless there is exactly one.

    No package that is installed replaces a carrier of this one.
    """
    if scheme in _OWN:
        return EntryPoint(scheme, _OWN[scheme], GROUP)
    found = entry_points(group=GROUP, name=scheme)
    return next(iter(found)) if len(found) == 1 else None
