"""Citations of the notes for each round: "The protocol in one page", word for word."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from protocols.runtime.citations import Citation, cite_notes

_PACKAGE = "protocols.linear"


def _said(number: int, text: str, *notes: str) -> Citation:
    return cite_notes(_PACKAGE, f"The protocol in one page, {number}", text, *notes)


SENTENCES: Mapping[str, Citation] = MappingProxyType(
    {
        "0": _said(0, "Charlie sends a box key (X25519) to all, the same one, and a point A = x B to P_1.", "L4", "L6"),
        "transfer 0": _said(
            0, "Charlie sends a box key (X25519) to all, the same one, and a point A = x B to P_1.", "L4"
        ),
        "1": _said(
            1,
            "P_j splits n_j = a_j xor b_j, takes a fresh ephemeral key epk_j, kappa_j = HKDF(X25519(e_j, box); "
            "session, epk_j, box), and the row r_j = eta_j + PRG(kappa_j). P_1 gets a_j, epk_j, r_j, a digest of the "
            "box key, and a seed; Charlie b_j and a seed; k neighbours on a ring of P_2 ... P_K a seed each.",
            "L2",
            "L9",
        ),
        "transfer 1": _said(
            1,
            "It draws Delta (128 bits, the first one 1) and sends R_i = r_i B + Delta_i A, when r_1 A ... r_128 A are "
            "made: a product that fails is a refusal.",
        ),
        "transfer 2": _said(
            2, "Charlie extends: his choice bits are those of b_1 ... b_K, and l = ceil(log2 K) coins c.", "L5"
        ),
        "transfer 3": _said(
            3,
            "P_1 garbles the search for the smallest (n_j, rho_j xor c), rho a uniform permutation. A bit of a_j, and "
            "one of rho_j, turns a label of zero round.",
            "L1",
        ),
        "3": _said(
            3,
            "The l labels that the winner's place would have if it were j, in a row and hashed, are tag and key of "
            "row j: epk_j and r_j + s, s uniform. Rows are sorted by tags. Nothing is decoded. Charlie evaluates, "
            "hashes, finds his tag or refuses, and takes PRG(kappa) off: x_C = eta_j* + s.",
            "L3",
        ),
        "4": _said(
            4,
            "The summands are w_1 - s, w_2 ... w_K, x_C; masks cancel along the edges of the graph. All commit to "
            "their share, Charlie too; Go is the digest of all commitments.",
            "L7",
            "L8",
        ),
        "5": _said(
            5,
            "All publish share, opening, and the Go that they read. A reader who adds the shares makes Go again from "
            "them, and refuses if one differs.",
            "L7",
        ),
    }
)

SYMBOLS: Mapping[str, str] = MappingProxyType(
    {
        "K": "number of parties",
        "n_j, w_j, eta_j": "number of rows, model and noise of party P_j",
        "j*": "party with the fewest rows (the winner), whose noise is selected",
        "a_j, b_j": "halves of n_j, for P_1 and for Charlie: n_j = a_j xor b_j",
        "garbler, evaluator": "P_1, which encrypts a circuit gate by gate; Charlie, who computes with it",
        "label": "key that stands for one bit in the encrypted circuit. The label of 1 is that of 0 xor Delta, a "
        "secret number of P_1, the same for all bits",
        "oblivious transfer": "way in which Charlie gets the labels of his bits, and P_1 does not learn the bits",
        "rho": "random order of parties with equal sizes",
        "row": "here, the noise of a party, encrypted. Where rows are counted, they are rows of data",
        "hubs": "P_1 and Charlie, who share masks with all; the others share masks with k neighbours on a ring",
        "mask": "random numbers that two participants share: one adds them and the other subtracts them",
        "digest, commitment": "fingerprint of data; value that fixes a share without showing it",
    }
)
