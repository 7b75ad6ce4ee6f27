"""`charlie-and-one`: Charlie and any one party read every size together.

All parties hold the key of xi, under which one half of each size travels to Charlie; he has the other half. Nothing in
this design keeps the two apart, and the claim of the hardened protocol says so.

In the secure sum the two take off all masks that they know: of each party that which its opened seed makes, and that
which it has with the one of them. What is left is under the masks that it has with parties who are not theirs.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

from protocols import pathak2010
from protocols.arithmetic.ring import Vector
from protocols.arithmetic.rng import Stream
from protocols.pathak2010 import as_published
from protocols.pathak2010.as_published import PrintedCuratorShare, PrintedSlot
from protocols.pathak2010.limitations import Sizes, sizes_of_charlie_and_party
from protocols.pathak2010.parameters import Parameters
from protocols.pathak2010.values import PartyKeys
from protocols.runtime.claims import View, message_from, stage_result
from protocols.secure_sum import dealing, masks, steps
from protocols.secure_sum.messages import Masked, Unmask
from protocols.secure_sum.parameters import Parameters as SumParameters
from protocols.secure_sum.values import Addends, Vault
from smc_dp.attacks.attack import Variant, describe_attack
from smc_dp.attacks.charlie_and_first import other_party_variant
from smc_dp.attacks.sessions import PartySecret, draw_secrets, draw_sizes, run_program
from smc_dp.attacks.sums import ROW_CAP, run_secure_sum, secure_sum_variant, shared_weighted_sum
from smc_dp.methods.sums.threat_model import ThreatModel

_PARTIES = 3
_SUM_PARTIES = 4  # parties of the secure sum: the fewest of whom one may drop out, so that seeds are opened


def read_sizes_as_published(p: Parameters, charlie: View, party: View) -> Sizes:
    """Return every size and who is smallest in the protocol as published: its halves add up as integers."""
    keys: PartyKeys = stage_result(party, PartyKeys)
    halves = [message_from(charlie, name, PrintedCuratorShare) for name in p.parties]
    opened = [keys.xi.decrypt(message_from(charlie, name, PrintedSlot).a) for name in p.parties]
    n = tuple(opened[half.index] + half.b for half in halves)
    return Sizes(n, n.index(min(n)))


def unmask_inputs(p: SumParameters, charlie: View, *parties: View) -> Mapping[str, Vector]:
    """Return each other party's masked input without the masks that Charlie and these parties know."""
    opened = {name: message_from(charlie, name, Unmask).shares for name in p.parties}
    places = [p.parties.index(view.name) for view in parties]
    vaults = [stage_result(view, Vault) for view in parties]  # the first, which still has its secrets
    keys = {place: vault.of(0).s for place, vault in zip(places, vaults, strict=True)}
    found = {}
    for i, name in enumerate(p.parties):
        if i not in keys:
            masked = message_from(charlie, name, Masked)
            seed = dealing.seed_of_shares({holder: opened[p.parties[holder]][i] for holder in range(p.T)})
            found[name] = masks.unmask_sum(p, masked.context, {i: masked.y}, {i: seed, **keys}, vaults[0].keys[0])
    return found


def read_sum_sizes(p: SumParameters, charlie: View, *parties: View) -> Sizes:
    """Return the attackers' answer for the sizes: the last number of each masked input, without known masks."""
    read = {name: z[-1] for name, z in unmask_inputs(p, charlie, *parties).items()}
    for view in parties:
        read[view.name] = _added(view)[-1]
    n = tuple(read[name] for name in p.parties)
    return Sizes(n, n.index(min(n)))


def _added(view: View) -> Vector:
    mine: Addends = next(x for x in view.inputs if isinstance(x, Addends))
    return mine.numbers[0]


def _trial(rng: Stream, key_bits: int, *, is_as_published: bool) -> bool:
    drawn = draw_secrets(_PARTIES, 1, rng)
    finished = run_program(as_published.PROGRAM if is_as_published else pathak2010.PROGRAM, drawn, key_bits, rng)
    find = read_sizes_as_published if is_as_published else sizes_of_charlie_and_party
    found = find(finished.parameters, finished.charlie, finished.party(rng.below(_PARTIES)))
    n = tuple(secret.n for secret in drawn)
    return found == Sizes(n, n.index(min(n)))


def _secure_sum(rng: Stream, _key_bits: int) -> bool:
    spec = shared_weighted_sum(ThreatModel(_SUM_PARTIES, 1, 1), 1, Fraction(1, 2), sizes="released")
    n = [1 + size % ROW_CAP for size in draw_sizes(_SUM_PARTIES, rng)]
    entered = [PartySecret(size, [rng.bits(36), size], [*spec.noise.distribution.share(rng), 0]) for size in n]
    seen = run_secure_sum(spec, entered, rng)
    found = read_sum_sizes(seen.parameters, seen.charlie, seen.party(rng.below(_SUM_PARTIES)))
    return found == Sizes(tuple(n), n.index(min(n)))


ATTACK = describe_attack(
    "charlie-and-one",
    variants=(
        Variant(
            "as published",
            "curator protocol",
            "the published protocol",
            "succeeds",
            lambda rng, bits: _trial(rng, bits, is_as_published=True),
            code=(as_published.find_smallest,),
        ),
        Variant(
            "hardened",
            "curator protocol",
            "the hardened protocol",
            "succeeds",
            lambda rng, bits: _trial(rng, bits, is_as_published=False),
            no_fix_yet=True,
        ),
        other_party_variant("linear, not P_1"),
        secure_sum_variant(
            "with the number of rows of all in it",
            _secure_sum,
            code=(steps.masked_input, masks.mask_vector, masks.mask_openly),
        ),
    ),
    parties=_PARTIES,
    sum_parties=_SUM_PARTIES,
)
