"""The settings that a release states, each in a few words."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

WORDS: Mapping[str, str] = MappingProxyType(
    {
        "adjacency": "How neighbouring data sets differ",
        "agreed": "Digest of all that was agreed on",
        "auxiliary": "Digest of the public rows",
        "calibration": "How the noise was set",
        "center": "Whether numbers are moved so that 0 is their middle",
        "clip": "The norm that models are clipped to",
        "colluders": "How many parties may deviate, with the curator",
        "comparison": "How the smallest party was found",
        "delta": "The delta that was asked for",
        "dimension": "Numbers in an encoded row",
        "dropouts": "How many parties may vanish",
        "epochs": "Steps of gradient descent, as printed",
        "epsilon": "The epsilon that was asked for",
        "exponents": "Randomisers of ciphertexts",
        "fraction_bits": "Binary digits after the point",
        "gamma": "What keeps directions short that public rows lack",
        "key_bits": "Length of the Paillier keys",
        "label": "The column of classes",
        "lam_global": "Regularisation of the global model",
        "lambda": "Regularisation",
        "learner": "What each party trained",
        "left_out": "Parties that vanished before anybody was charged",
        "link": "Simulated network",
        "method": "Method",
        "most_rows": "The most rows that a party may have",
        "noise": "Law of the noise",
        "output": "Who gets masked inputs",
        "parties": "Parties",
        "protocol": "Protocol",
        "reading": "Reading of the printed step",
        "repair": "How a noisy polynomial is repaired",
        "ring_bits": "Binary digits of the ring of the sums",
        "ring_degree": "Degree of the ring of the keys",
        "rounds": "Rounds of learning",
        "rows": "The number of all rows, which is public",
        "sizes": "Whether the number of all rows is released",
        "topology": "Way of the mail",
        "trust": "One noise on the sum, or one for each party",
        "verifiable": "Whether anybody can add up",
    }
)
"""By the names that stand in a release."""
