"""`charlie-and-one`: Charlie and any one party read every size together.

All parties hold the key of xi, under which one half of each size travels to Charlie; he has the other half. Nothing in
this design keeps the two apart, and the claim of the hardened protocol says so.
"""

from __future__ import annotations

from protocols.arithmetic.rng import Stream
from protocols.pathak2010.as_printed import PrintedCuratorShare, PrintedSlot
from protocols.pathak2010.boundary import Sizes, sizes_of_charlie_and_party
from protocols.pathak2010.parameters import Parameters
from protocols.pathak2010.values import PartyKeys
from protocols.runtime.claims import View
from smc_dp.attacks.attack import MeasuredAttack, Variant
from smc_dp.attacks.sessions import HARDENED, PRINTED, left_behind, mail_from, play, secrets

PARTIES = 3


def printed_sizes(p: Parameters, charlie: View, party: View) -> Sizes:
    """Every size and who is smallest in the printed protocol: its halves add up as integers."""
    keys: PartyKeys = left_behind(party, PartyKeys)
    halves = [mail_from(charlie, name, PrintedCuratorShare) for name in p.parties]
    opened = [keys.xi.decrypt(mail_from(charlie, name, PrintedSlot).a) for name in p.parties]
    n = tuple(opened[half.index] + half.b for half in halves)
    return Sizes(n, n.index(min(n)))


def _trial(rng: Stream, key_bits: int, *, printed: bool) -> bool:
    drawn = secrets(PARTIES, 1, rng)
    played = play(PRINTED if printed else HARDENED, drawn, key_bits, rng)
    find = printed_sizes if printed else sizes_of_charlie_and_party
    found = find(played.parameters, played.charlie, played.party(rng.below(PARTIES)))
    n = tuple(secret.n for secret in drawn)
    return found == Sizes(n, n.index(min(n)))


ATTACK = MeasuredAttack(
    name="charlie-and-one",
    paper="Pathak et al. 2010",
    step="steps 1.2, 1.3",
    flaw="All parties hold one secret key, so that any of them opens what travels to Charlie.",
    attacker="Charlie and any one party",
    takes="the messages that the two receive, and their keys",
    success="they state the size of every data set, and who has the smallest",
    when="always",
    steps=(
        "Charlie shows the party the ciphertexts that he was sent in step 1.3.",
        "The party opens them with the key that all parties share; Charlie adds the halves that are his.",
        "The sums are the sizes, in the order of pi_1, which the party knows and undoes.",
    ),
    variants=(
        Variant(
            "printed",
            "curator protocol",
            "the printed protocol",
            "succeeds",
            lambda rng, bits: _trial(rng, bits, printed=True),
        ),
        Variant(
            "hardened",
            "curator protocol",
            "the hardened protocol",
            "succeeds",
            lambda rng, bits: _trial(rng, bits, printed=False),
            no_fix_yet=True,
        ),
    ),
    reading="Neither the paper nor the hardened protocol claims anything against Charlie and a party together.",
)
