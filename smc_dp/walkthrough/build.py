"""Walkthrough of a protocol, on a dry run."""

from __future__ import annotations

import time
from collections.abc import Callable

from protocols.errors import LocalError
from protocols.programs import Protocol
from smc_dp.core.errors import InputError
from smc_dp.pages.blocks import Page
from smc_dp.walkthrough import attacks_on
from smc_dp.walkthrough.dry_run import run_dry
from smc_dp.walkthrough.knowledge_trace import drop_out, trace_knowledge
from smc_dp.walkthrough.report import walkthrough_page

PARTIES, LEAST_PARTIES, MOST_PARTIES = 3, 2, 5
MOST_COMPARED = 3  # where sizes are compared or permuted the engine has a world for each order
_ATTACKS = 20.0
_WHOLE = 50.0  # of processor time, after which no attack begins


def usual_parties(protocol: Protocol) -> int:
    """Return the default number of parties: as many as are interesting and take a minute at most.

    With two secret permutations there are 216 worlds among three.
    """
    if len(protocol.model.permutations) > 1:
        return LEAST_PARTIES
    # A page where nobody may collude with Charlie would show no claim about him together with a party.
    return PARTIES if getattr(protocol.model.sample(PARTIES), "colluders", 1) else PARTIES + 1


def most_parties(protocol: Protocol) -> int:
    """Return the largest number of parties for which the engine can run the protocol here."""
    return MOST_PARTIES if len(protocol.model.permutations) <= 1 else MOST_COMPARED


def walkthrough_of_protocol(
    protocol: Protocol, parties: int | None = None, *, stays: bool = False, attacks: float = _ATTACKS,
    progress: Callable[[str], None] | None = None,
) -> Page:  # fmt: skip
    """Build the walkthrough of a protocol on a dry run. One party drops out where it may, unless everybody `stays`.

    `attacks`: how much processor time may go into attacks on it, less where the rest took long. Raises InputError for a
    protocol whose code cannot run over symbols.
    """
    parties = usual_parties(protocol) if parties is None else parties
    most = most_parties(protocol)
    if not LEAST_PARTIES <= parties <= most:
        raise InputError(
            "parties.too_few_or_many", protocol=protocol.program.name, wanted=LEAST_PARTIES, most=most, got=parties
        )
    p, start = protocol.model.sample(parties), time.process_time()
    try:
        pattern = None if stays else drop_out(protocol, p)
        found = trace_knowledge(protocol, parties, progress=progress, **({"pattern": pattern} if pattern else {}))
    except LocalError as error:
        raise InputError(error.fault.within("protocol")) from None
    if progress:
        progress("a dry run")
    observed = run_dry(protocol, found.p, found.pattern)
    left = min(attacks, max(0.0, start + _WHOLE - time.process_time()))
    return walkthrough_page(
        observed, found, attacks_on.attack_sections(found.protocol.program.name, seconds=left, progress=progress)
    )
