"""Attacks on a protocol's steps for its walkthrough, each measured now on the broken step and on the fixed one.

Only the forms whose code is shown are tried, each as seldom as decides anything, and the attacks on steps that are
fixed inside the design first. Where the processor time is used up the rest is shown without numbers, and says so.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace

from protocols.arithmetic.rng import Stream
from protocols.programs import PROTOCOLS
from smc_dp.attacks import ATTACKS, SHORTEST_KEY_BITS, measure
from smc_dp.attacks.attack import LEAST_TRIALS, MeasuredAttack, Variant
from smc_dp.attacks.report import AttackReport
from smc_dp.attacks.report_blocks import attack_section, without_numbers
from smc_dp.pages.blocks import Prose, Section

ATTACK_SECONDS = 25.0
FEWEST_TRIALS = 20  # trials of a form that are decided by the least number as well


def attack_sections(
    protocol: str,
    *,
    seconds: float = ATTACK_SECONDS,
    progress: Callable[[str], None] | None = None,
) -> tuple[Section, ...]:
    """Return a section for each attack on the protocol of this name.

    No attack begins to be measured once so much processor time is used up. All randomness is fresh.
    """
    rng = Stream.from_system()
    end = time.process_time() + seconds
    sections = []
    for attack in attacks_on_protocol(protocol):
        section = _section(attack, end, seconds, rng, progress)
        of_another = attack.is_of_publication and not _has_code(attack.attacked, protocol)
        sections.append(_of_another(attack, section) if of_another else section)
    return tuple(sections)


def attacks_on_protocol(protocol: str) -> tuple[MeasuredAttack, ...]:
    """Return the attacks with code of this protocol's package; those on fixed steps come first."""
    found = (attack for attack in ATTACKS.values() if _has_code(attack.variants, protocol))
    return tuple(sorted(found, key=lambda a: any(v.no_fix_yet for v in a.variants)))


def _has_code(variants: Sequence[Variant], protocol: str) -> bool:
    rooms = {_room(role.__module__) for role in PROTOCOLS[protocol].program.roles.values()}
    return any(_room(f.__module__) in rooms for variant in variants for f in variant.code)


def _room(module: str) -> str:
    return ".".join(module.split(".")[:2])


def _of_another(attack: MeasuredAttack, section: Section) -> Section:
    """Return the section of an attack on another protocol, which begins with the reason why it is on this page.

    The notes on the step are left out: they are the other protocol's.
    """
    why = f"This attack breaks another protocol ({attack.paper}). It is here because this protocol prevents it."
    own = (block for block in section.blocks if not (isinstance(block, Section) and block.details))
    return replace(section, heading=f"Prevented here: {section.heading}", blocks=(Prose(why), *own))


def _section(
    attack: MeasuredAttack, end: float, seconds: float, rng: Stream, progress: Callable[[str], None] | None
) -> Section:
    shown = (*attack.attacked, *attack.fixed)
    if any(v.trials > FEWEST_TRIALS for v in shown):
        return without_numbers(
            attack,
            f"Not measured on this page, because it takes too long. To measure it: smc-dp lab attack {attack.name}",
        )
    if time.process_time() >= end:
        why = f"Not measured on this page: its attacks have {seconds:g} s of processor time"
        return without_numbers(attack, f"{why}. To measure it: smc-dp lab attack {attack.name}")
    measured = []
    for variant in shown:
        if progress:
            progress(f"{attack.name} against {variant.name}")
        measured.append(measure(attack.name, variant.name, LEAST_TRIALS, rng))
    return attack_section(AttackReport(attack, tuple(measured), SHORTEST_KEY_BITS if attack.uses_keys else None))
