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
            "P_1 draws Delta (128 bits, the first one 1) and sends R_i = r_i B + Delta_i A for each bit Delta_i, with "
            "random numbers r_i. Before that it computes r_1 A ... r_128 A, and refuses A if one of them is no valid "
            "point.",
        ),
        "transfer 2": _said(
            2, "Charlie extends: his choice bits are those of b_1 ... b_K, and l = ceil(log2 K) coins c.", "L5"
        ),
        "transfer 3": _said(
            3,
            "P_1 draws a uniform permutation rho and garbles the search for the smallest pair (n_j, rho_j xor c). "
            "Where a bit of a_j or of rho_j is 1, it swaps the two labels of the wire.",
            "L1",
        ),
        "3": _said(
            3,
            "P_1 locks epk_j and r_j + s, s uniform, for each j. The number of the winner's place has l bits; tag "
            "and key of row j are two hashes of the l labels that these bits have if it is j. It sorts the locked "
            "rows by tags. Charlie evaluates the circuit, hashes the labels that he gets, and finds his tag or "
            "refuses. He opens that row and subtracts PRG(kappa_j*): x_C = eta_j* + s. Nobody decodes a label.",
            "L3",
        ),
        "4": _said(
            4,
            "The summands are w_1 - s, w_2 ... w_K, x_C; each mask is added by one participant and subtracted by "
            "another, so all masks cancel. All commit to their share, Charlie too; Go is the digest of all "
            "commitments.",
            "L7",
            "L8",
        ),
        "5": _said(
            5,
            "All publish their share, its opening, and the Go that they sent or received. A reader computes Go again "
            "from all shares and openings, and refuses them if any published Go differs. Otherwise he adds up the "
            "shares.",
            "L7",
        ),
    }
)

SYMBOLS: Mapping[str, str] = MappingProxyType(
    {
        "dimension": "number of weights in a model",
        "ring_bits": "the published sum is computed modulo 2**ring_bits (not the ring of neighbours)",
        "ring_degree": "the parties but P_1 stand in a circle (ring). Each shares masks with its k nearest "
        "neighbours, or with all if there are not more",
        "size_bits": "a number of rows has at most this many bits",
        "K": "number of parties",
        "n_j, w_j, eta_j": "number of rows, model and noise of party P_j",
        "j*": "party with the fewest rows (the winner), whose noise is selected",
        "a_j, b_j": "halves of n_j, for P_1 and for Charlie: n_j = a_j xor b_j",
        "garbler, evaluator": "P_1, which encrypts a circuit gate by gate (garbles it); Charlie, who computes with it",
        "label": "key that stands for one bit of a wire in the garbled circuit. Each wire has two labels",
        "Delta": "secret number of P_1. The labels of 0 and 1 of a wire differ by it: one is the other xor Delta",
        "oblivious transfer": "way in which Charlie gets the labels of his bits, and P_1 does not learn the bits",
        "A, B, R_i": "points of an elliptic curve; A = x B with a secret number x of Charlie, and B known to all. "
        "First there are 128 transfers with exchanged roles: P_1 chooses, by the bits of Delta. From these Charlie "
        "makes (extends) a transfer for each of his own bits, in which he chooses",
        "box": "Charlie's public key (X25519, a key exchange). The same secret value can be computed from box and "
        "e_j as from epk_j and Charlie's secret key. HKDF makes a key of it. In Submit, box is a digest of it",
        "rho, c": "random order of parties with equal sizes, from P_1; random bits of Charlie, which change that order",
        "row, r_j": "the noise of party P_j, encrypted. Where rows are counted, they are rows of data",
        "e_j, epk_j, kappa_j": "secret and public half of a key that P_j uses once; key of its row, which Charlie can "
        "compute from epk_j",
        "PRG": "ChaCha20, which makes as many random numbers from a key as are needed",
        "s": "random vector that P_1 adds to all rows, so that Charlie does not see the noise",
        "tag, key": "hashes of the labels for the place of one party. P_1 locks the row of that party: it encrypts it "
        "with the key and puts the tag beside it. Charlie finds his tag, and opens that row",
        "x_C": "what Charlie adds to the sum: the selected noise plus s",
        "hubs": "P_1 and Charlie, who share masks with all; the others share masks with k neighbours on a ring",
        "mask": "random numbers, made from a seed that two participants share: one adds them, the other subtracts them",
        "digest, commitment": "fingerprint of data; value that fixes a share without showing it",
    }
)
