"""Citations of the notes for each step of a sum, word for word."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from protocols.runtime.citations import Citation, cite_notes

_PACKAGE = "protocols.secure_sum"
_RULES = "What is claimed, rules of an honest party"

_LIST = (
    "R3: for each sum it signs at most one list U of survivors, together with the context of its masks (session, g, r "
    'and q_r). The list is empty ("given up"), '
    "or it contains the signer and at least K-D parties of G."
)
_OPENS = (
    "R4: it opens shares only once, and only after Q (the quorum) distinct members of U have signed exactly what it "
    "signed. It opens "
    "a share of b (the seed of a party's own mask) for members of U, and a share of s (the secret of its mask key) "
    "for the others."
)

SENTENCES: Mapping[str, Citation] = MappingProxyType(
    {
        "0": cite_notes(
            _PACKAGE,
            "[S2]",
            "All K greetings are needed, and every mask is computed from their digest g.",
            "S2",
            "S3",
            "S6",
        ),
        "1": cite_notes(
            _PACKAGE,
            "[S7]",
            "Parties tell Charlie that they have all greetings and shares, and which greetings they saw. No party "
            "sends a masked input before Charlie has heard from all of them.",
            "S7",
            "S11",
        ),
        "2": cite_notes(
            _PACKAGE,
            _RULES,
            "R1: with at most 1,000 parties (200 if D > 0), an honest party shares a mask with every other party on "
            "G, the list of all parties. The label of each mask contains the session, the digest g of all greetings, "
            "the number r of the sum, the digest q_r of the query that the sum answers, "
            "and the places of both parties on the list. R2: it sends one masked input for each sum of a session.",
            "S4",
        ),
        "3": cite_notes(_PACKAGE, _RULES, _LIST, "S1", "S12"),
        "4": cite_notes(_PACKAGE, _RULES, _LIST, "S1"),
        "5": cite_notes(_PACKAGE, _RULES, _OPENS, "S1"),
        "6": cite_notes(_PACKAGE, _RULES, _OPENS, "S5", "S8"),
        "7": cite_notes(
            _PACKAGE, "What is claimed", "Honest parties output what Charlie says, or nothing.", "S9", "S10"
        ),
    }
)

SYMBOLS: Mapping[str, str] = MappingProxyType(
    {
        "colluders": "number t of parties that may collude with Charlie",
        "dropouts": "number D of parties that may drop out",
        "quorum": "number Q of signatures that a list of survivors (parties that have not dropped out) needs",
        "threshold": "number T of shares that open a secret",
        "honest": "number of honest parties whose noise the privacy guarantee counts",
        "sums": "the sums of the session, each in blocks of integers",
        "numbers": "number of integers in all sums",
        "ring_bits": "all numbers are computed modulo 2**ring_bits",
        "verifiable": "whether Charlie publishes what he added up, so that anybody can do it again",
        "output": "curator: Charlie receives the masked inputs; shares: they are published, and there is no Charlie",
        "degree": "number of parties with whom each shares masks; 0 for all",
        "K": "number of parties",
        "z_j": "numbers of party P_j plus its noise",
        "mask": "random numbers that hide z_j. P_j shares one mask with each other party: one of the two adds it and "
        "the other subtracts it, so that it cancels in the sum. It also has one mask of its own, made from its seed",
        "b_j, s_j": "two secrets of P_j for a sum: the seed of its own mask, and the secret key of its shared masks",
        "share": "one of the pieces of a secret that the other parties hold; T of them open the secret, fewer tell "
        "nothing",
        "dealer, holder": "party that hands out shares of its secrets; party that receives one",
        "greeting": "first message of a party, with its public keys; g is the digest of all greetings",
        "digest, commitment": "fingerprint of data; value that fixes a secret without showing it",
        "leaves": "one digest for each holder, which fixes all shares that this holder gets from the sender",
        "siblings, paths": "digests of a holder's shares that are not opened. With them anybody can compute the leaf "
        "of an opened share again, and compare it with the leaf in the dealer's greeting",
        "U": "list of the survivors of a sum: the parties whose masked inputs Charlie has. G lists all parties",
        "r, q_r": "number of the sum in the session; digest of the query that it answers, such as the gradient at "
        "certain weights",
        "simulator": "algorithm of the proof that makes up all that the attackers see, from the sums alone",
    }
)
