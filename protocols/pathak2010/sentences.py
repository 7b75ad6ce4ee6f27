"""Citations of the paper for each step: section 3.2 word for word, its symbols spelled as in the code.

Hats are left out as they are there, a~ has a tilde; `...` between two sentences stands for others. Where the code
departs, the notes are named. For blocks that the paper leaves open (the comparison) the notes are cited.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from protocols.comparison import sentences as comparison
from protocols.runtime.citations import Citation

_PACKAGE = "protocols.pathak2010"
PAPER = "Pathak, Rane and Raj, Multiparty Differential Privacy via Aggregation of Locally Trained Classifiers"
"""Authors and title of the paper."""


def _citation(where: str, text: str, *notes: str) -> Citation:
    return Citation(text, f"{PAPER} (NIPS 2010), section 3.2, {where}", _PACKAGE, notes)


_SELECTED = _citation(
    "stage 2, steps 2 to 4",
    "The parties mutually obtain a permuted vector pi_1^-1(pi_2^-1(zeta(u))) = zeta(v) where pi_1^-1 inverts the "
    "permutation pi_1 originally applied by the parties P_j in Stage I. ... Then, it obtains a d-dimensional vector "
    "psi_j where for i = 1, ..., d, psi_j(i) = zeta(v(j)eta_j(i)) = zeta(v(j)eta_j(i)). ... All parties P_j now "
    "compute a d-dimensional noise vector psi such that, for i = 1, ..., d, psi(i) = prod_j psi_j(i) = prod_j "
    "zeta(v(j)eta_j(i)) = zeta(sum_j v(j)eta_j(i)).",
    "N5",
)

SENTENCES: Mapping[str, Citation] = MappingProxyType(
    {
        "setup 1": _citation(
            "stage 1, step 3, and stage 2, step 1",
            "The parties P_j generate a key pair (pk, sk) where pk is a public key for homomorphic encryption and sk "
            "is the secret decryption key known only to the parties but not to Charlie. ... He generates a key-pair "
            "(pk', sk') for additive homomorphic function zeta(.) where only the encryption key pk' is publicly "
            "available to the parties P_j.",
            "N7",
        ),
        "setup 2": _citation(
            "before stage 1",
            "For the ensuing protocol, encryption keys are considered public and decryption keys are privately owned "
            "by the specified parties.",
            "N7",
        ),
        "setup 3": _citation(
            "stage 1, step 2",
            "The parties P_j mutually agree on a permutation pi_1 on the index vector (1, 2, ..., K). This "
            "permutation is unknown to Charlie.",
            "N7",
        ),
        "1.2": _citation(
            "stage 1, steps 1 and 2",
            "Each party P_j computes n_j = a_j + b_j, where a_j and b_j are integers representing additive shares of "
            "the database lengths n_j for j = 1, 2, ..., K. ... Then, each party P_j sends its share a_j to party "
            "P_pi_1(j), and sends its share b_j to Charlie with the index changed according to the permutation.",
            "N1",
            "N2",
        ),
        "1.3": _citation(
            "stage 1, step 3",
            "Denote element-wise encryption of a by xi(a). The parties send xi(pi_1(a)) = pi_1(xi(a)) to Charlie.",
            "N1",
            "N10",
        ),
        "1.4": _citation(
            "stage 1, step 4",
            "Charlie generates a random vector r = (r_1, r_2, ..., r_K) where the elements r_i are integers chosen "
            "uniformly at random and are equally likely to be positive or negative. ... Then, Charlie selects a "
            "permutation pi_2 at random and obtains pi_2(xi(pi_1(a) + r)) = xi(pi_2(pi_1(a) + r)) and "
            "pi_2(pi_1(b) - r). He sends xi(pi_2(pi_1(a) + r)) to the individual parties in the following order: "
            "First element to P_1, second element to P_2, ..., K^th element to P_K.",
            "N4",
            "N11",
        ),
        "1.6": _citation(
            "stage 1, steps 5 and 6",
            "Each party decrypts the signal received from Charlie. ... For each (i, j) pair with i, j in {1, 2, ..., "
            "K}, these comparisons can be solved by any implementation of a secure millionaire protocol [2]. When all "
            "the comparisons are done, Charlie finds the index j~ such that a~_j~ + b~_j~ = min_j n_j.",
            "N3",
        ),
        "2.1": _citation(
            "stage 2, step 1",
            "Charlie constructs an K indicator vector u such that u_j~ = 1 and all other elements are 0. He then "
            "obtains the permuted vector pi_2^-1(u) where pi_2^-1 inverts pi_2. ... Charlie then transmits "
            "zeta(pi_2^-1(u)) = pi_2^-1(zeta(u)) to the parties P_j.",
        ),
        # These steps have one message, which is of 2.3 here and of 2.4 as published.
        **dict.fromkeys(("2.3", "2.4"), _SELECTED),
        "3.1": _citation(
            "stage 3, step 1",
            "One of the parties, say P_1, generates a d-dimensional random integer noise vector s, and transmits "
            "psi(i)zeta(s(i)) for all i = 1, ..., d to Charlie. Using s effectively prevents Charlie from discovering "
            "eta, and therefore still ensures that no information is leaked about the database owners P_j. P_1 "
            "computes w_1 - Ks.",
            "N4",
            "N6",
        ),
        "3.3": _citation(
            "stage 3, steps 2 and 3",
            "Charlie decrypts psi(i)zeta(s(i)) to obtain eta(i) + s(i) for i = 1, ..., d. ... Finally, Charlie and "
            "the K database-owning parties run a simple secure function evaluation protocol [13], at the end of which "
            "each of the K + 1 participants obtains an additive share of Kw^s. This protocol is provably private "
            "against honest but curious participants when there are no collisions. The resulting shares are "
            "published.",
            "N6",
            "N8",
        ),
        **comparison.SENTENCES,
    }
)

SYMBOLS: Mapping[str, str] = MappingProxyType(
    {
        "dimension": "number d of weights in a model",
        "key_bits": "length of the Paillier keys and of the DGK key (DGK: encryption of Damgard, Geisler and "
        "Kroigaard, for the bits of a comparison). Keys of a dry run are short; a real run has 3072 bits",
        "ring_bits": "the published sum is computed modulo M = 2**ring_bits",
        "comparison": "a tournament needs K - 1 comparisons of sizes; all-pairs, the paper's way, needs K(K - 1)/2",
        "exponents": "length of the random exponents in ciphertexts, short or full: see note [N10]",
        "sigma": "a blinded number is at least this many bits longer than what it hides, and tells next to nothing of "
        "it",
        "size_bits": "a number of rows has at most this many bits",
        "tie_bits": "random bits that a party appends to its number of rows: see note [N2]",
        "K": "number of parties",
        "n_j, w_j, eta_j": "number of rows, model and noise of party P_j",
        "epsilon (eps), lambda": "privacy parameter; strength of the regularisation with which models were trained",
        "n": "without an index, the modulus of a public key",
        "a_j, b_j": "additive shares of n_j, for the parties and for Charlie",
        "xi, zeta": "homomorphic encryption (Paillier) under the key of the parties, and under Charlie's key: products "
        "of ciphertexts decrypt to sums",
        "pi_1, pi_2": "secret permutations: of the parties, unknown to Charlie; of Charlie, unknown to the parties",
        "r, a~, b~": "Charlie's blinding numbers; the shares after blinding and both permutations",
        "slot": "place of a party after pi_1; in a packed ciphertext, the place of one number",
        "packed": "a packed ciphertext holds several numbers side by side",
        "u, v": "vectors with 1 at the party with the fewest rows and 0 elsewhere: u in the order after both "
        "permutations, v in the order of the parties. In a comparison u and v are primes instead, and its "
        "plaintexts are numbers modulo u",
        "psi, s": "selected noise, encrypted; mask that P_1 adds to it",
        "w^s": "mean of the models with the noise, so that K w^s is the published sum",
        "randomiser, h_s": "random factor of a ciphertext; public number whose powers are such factors",
        "L'": "bits of a share of a size",
        "holder, chooser": "Charlie and P_1 in a comparison: the holder has the key and learns the answer",
        "x, y": "numbers that are compared: x is the chooser's share of the difference of two sizes, y the complement "
        "of the holder's share, both without the top bit, which is the sign of the difference",
        "[y_i], [c_i]": "encrypted bits of y; encrypted numbers of which one is zero if the answer is yes, blinded by "
        "the chooser",
        "delta_a": "random bit of the chooser, which decides whether yes means x <= y or the opposite",
        "as published, hardened": "the protocol of the paper; that protocol with the changes [N1] to [N11]",
        "linear protocol": "protocol with the same result by other messages",
        "secure sum, weighted sum": "another method: a sum in which every party adds a share of the noise; such a "
        "sum of models, each multiplied by its number of rows",
        "grid": "numbers are rounded to multiples of a fixed step, such as 2**-40, and computed with as integers",
    }
)

# As published there are no tie bits, a share is no longer than its size, and nothing is blinded by longer numbers.
SYMBOLS_AS_PUBLISHED: Mapping[str, str] = MappingProxyType(
    {name: text for name, text in SYMBOLS.items() if name != "L'"}
    | dict.fromkeys(("sigma", "tie_bits"), "not used by the steps as published")
)
