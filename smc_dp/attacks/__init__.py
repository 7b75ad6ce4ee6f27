"""Attacks on steps as published, and on the versions here.

`ATTACKS` lists them by name; `measure` measures one against one of its variants. The attacking function of each file
takes what the attacker has and nothing else: its views, the release, public parameters.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

from protocols.arithmetic.rng import Stream
from smc_dp.attacks import (
    average_uploads,
    charlie_and_first,
    charlie_and_one,
    extract_randomiser,
    inconsistent_extension,
    infer_min_size,
    known_noise,
    link_sender,
    ofpa_record_recovery,
    recover_exponent,
    remove_noise,
    residues_mod_k,
    selective_failure,
    strip_noise,
    vote_flip,
)
from smc_dp.attacks.attack import LEAST_TRIALS, AttackResult, MeasuredAttack
from smc_dp.core.errors import InputError, shown

SHORTEST_KEY_BITS, LONGEST_KEY_BITS = 512, 4096

ATTACKS: Mapping[str, MeasuredAttack] = MappingProxyType(
    {
        module.ATTACK.name: module.ATTACK
        for module in (
            remove_noise,
            strip_noise,
            link_sender,
            recover_exponent,
            extract_randomiser,
            residues_mod_k,
            infer_min_size,
            charlie_and_one,
            charlie_and_first,
            known_noise,
            selective_failure,
            inconsistent_extension,
            ofpa_record_recovery,
            average_uploads,
            vote_flip,
        )
    }
)


def find_attack(name: str) -> MeasuredAttack:
    """Return the attack of this name; raise InputError with all names when there is none."""
    if name not in ATTACKS:
        raise InputError("attack.unknown", attacks=tuple(ATTACKS), got=shown(name))
    return ATTACKS[name]


def check_key_bits(key_bits: int) -> None:
    """Raise InputError unless keys of this length can be made, and trials with them end within reason."""
    if not SHORTEST_KEY_BITS <= key_bits <= LONGEST_KEY_BITS or key_bits % 16:
        raise InputError(
            "key_bits.not_possible",
            shortest_key_bits=SHORTEST_KEY_BITS,
            longest_key_bits=LONGEST_KEY_BITS,
            got=key_bits,
        )


def measure(
    name: str,
    variant: str,
    trials: int | None,
    rng: Stream,
    *,
    key_bits: int = SHORTEST_KEY_BITS,
    hear: Callable[[int, int], None] | None = None,
) -> AttackResult:
    """Try the attack on this variant, each time from fresh randomness, and count the successes.

    `trials`: None for the variant's own number. `hear(done, all)` is called after each. Raises InputError for an
    unknown attack or variant, fewer than 16 trials, and keys that are not a multiple of 16 from 512 to 4096 bits.
    """
    attack = find_attack(name)
    known = {v.name: v for v in attack.variants}
    if variant not in known:
        raise InputError("variant.unknown", name=name, known=tuple(known), got=shown(variant))
    target = known[variant]
    wanted = target.trials if trials is None else trials
    if wanted < LEAST_TRIALS:
        raise InputError("trials.too_few", least=LEAST_TRIALS, got=wanted)
    check_key_bits(key_bits)
    successes = 0
    for i in range(wanted):
        successes += target.trial(rng.fork(f"{name} {variant} {i}"), key_bits)
        if hear:
            hear(i + 1, wanted)
    return AttackResult(name, variant, successes, wanted, attack.chance, target.expected, target.no_fix_yet)
