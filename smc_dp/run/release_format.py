"""Format of release.json: 3 since it has coefficients, 2 since privacy statements have the terms of the glossary.

A release of format 2 has no coefficients, and is read as it is. One of format 1 states no format. Its statements make
the same claims in other sentences, so it is read with those of today. The sessions of both had another wire format,
which this version does not verify.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, TypeAlias, get_args

from smc_dp.core.errors import InputError, shown

ReleaseFormat: TypeAlias = Literal["smc-dp release 2", "smc-dp release 3"]
WITHOUT_COEFFICIENTS: ReleaseFormat
RELEASE_FORMAT: ReleaseFormat
WITHOUT_COEFFICIENTS, RELEASE_FORMAT = get_args(ReleaseFormat)
"""Format of the releases that this version writes."""

_SENTENCES = (
    (
        "any set of semi-honest parties that acts without Charlie and without the party whose noise was selected",
        "any coalition of semi-honest parties without Charlie and without the party whose noise was selected",
    ),
    (
        "any set of semi-honest participants that has not both Charlie and the first party in it, and not the party "
        "whose noise was selected (the one with the smallest data set)",
        "any coalition of semi-honest participants that does not contain both Charlie and the first party, and does "
        "not contain the party whose noise was selected (the one with the smallest data set)",
    ),
    (
        "One party that breaks the rules removes all noise: it enters no rows, or few, and no noise, and what is "
        "released is the exact sum of all models",
        "One malicious party removes all noise: it enters no rows, or few, and no noise. The release is then the exact "
        "sum of all models",
    ),
    ("; a Charlie who breaks them selects none. ", ". A malicious Charlie removes it too: he selects none. "),
    (
        "The party with the smallest data set knows its own noise, can subtract it, and so obtains the exact sum of "
        "all models: it is outside this guarantee.",
        "The party with the smallest data set is outside this guarantee. It knows its own noise, can subtract it, and "
        "so obtains the exact sum of all models.",
    ),
    (
        "is computational (SIM-CDP): it rests on the encryption, and on participants who follow",
        "is computational (SIM-CDP). It rests on the encryption, and on semi-honest participants, who follow",
    ),
    ("are not protected: the smallest one sets", "are not protected. The smallest one sets"),
    ("That a run takes place at all, or is refused", "The fact that a run takes place at all, or is refused"),
    (
        "A first party that breaks the rules can put noise that it knows, or none, into the result; a Charlie who "
        "breaks them chooses whose noise it is, and with that party learns the exact sum. Nobody notices.",
        "A malicious first party can put noise that it knows, or none, into the result. A malicious Charlie chooses "
        "whose noise it is, and together with that party learns the exact sum. Nobody notices either.",
    ),
    ("Charlie with parties learns in each", "Charlie together with parties learns in each"),
    (
        "the one with fewer records so obtains the other's model exactly: nothing of it",
        "the one with fewer records therefore obtains the other's model exactly. Nothing of it",
    ),
    (
        "All parties but one, if the smallest is among them and they pool what they know, so obtain the last one's "
        "model exactly.",
        "A coalition of all parties but one, with the smallest among them, therefore obtains the last one's model "
        "exactly.",
    ),
    ("The noise is the paper's: its nominal epsilon", "The noise is the paper's. Its nominal epsilon"),
    (", what it is proved to give is at most ", "; the epsilon proved for it is at most "),
    ("SHAKE-256 (what makes h)", "SHAKE-256 (which makes h)"),
    (
        "as strong as they are held to be, and that the coins of the operating system and their expansion (ChaCha20, "
        "HMAC-SHA-256) cannot be told from true ones",
        "as strong as they are held to be; that the randomness of the operating system and its expansion "
        "(ChaCha20, HMAC-SHA-256) cannot be told from true randomness",
    ),
    ("(full exponents do without)", "(full exponents do not need this)"),
    ("on edwards25519, that HKDF", "on edwards25519; that HKDF"),
    ("a random permutation, that ChaCha20", "a random permutation; that ChaCha20"),
    (
        "; beyond that, what such a set of participants sees differs from what it could have made up itself from ",
        ". Beyond that, the view of such a coalition differs from one that is simulated from ",
    ),
    ("the coins of its own that order equal sizes", "its own randomness that orders equal sizes"),
    ("the smallest data set, or that none has, by", "the smallest data set (or that none has) by"),
    (" is worth about ", " has about "),
    (" bits, not 128: so many calls of AES, 2^", " bits of security, not 128: 2^"),
    (", find the difference of its labels", " calls of AES find the difference of its labels"),
    ("from a seed: whoever knows the seed", "from a seed, and anybody who knows the seed"),
    ("exactly as printed in the paper", "exactly as published in the paper"),
    (
        "whoever sees the published shares and the release, and nothing",
        "anyone who sees the published shares and the release, and nothing",
    ),
)
"""Passages of format 1, and those of today."""


def in_current_format(release: Mapping[str, Any]) -> dict[str, Any]:
    """Return a release with the sentences of today; raise an InputError for one of a format that is not known.

    What is no text where a text belongs stays as it is, for the reader of the release to refuse.
    """
    if "format" in release:
        if release["format"] not in get_args(ReleaseFormat):
            raise InputError("release.other_format", wanted=RELEASE_FORMAT, got=shown(release["format"]))
        return dict(release)
    found = {**release, "format": WITHOUT_COEFFICIENTS}
    if isinstance(privacy := found.get("privacy"), dict):
        stated = {name: _in_words_of_today(privacy[name]) for name in ("adversary", "caveats") if name in privacy}
        found["privacy"] = {**privacy, **stated}
    if "insecure" in found:
        found["insecure"] = _in_words_of_today(found["insecure"])
    return found


def _in_words_of_today(said: Any) -> Any:
    if isinstance(said, list):
        return [_in_words_of_today(text) if isinstance(text, str) else text for text in said]
    if isinstance(said, str):
        for then, today in _SENTENCES:
            said = said.replace(then, today)
    return said
