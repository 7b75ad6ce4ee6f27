"""Hygiene: keys, ciphertexts, nonces and masks in the messages that the given views open, of every sender.

Each line is opened by itself, with the link keys that follow from a view's randomness, so these checks look at messages
as well that the role itself refused or never came to read. A sender is named as the culprit for what it signed alone:
the key of a link is in two hands, so either of them could have sealed a line.
"""

from __future__ import annotations

from collections.abc import Callable

from smc_dp.audit.run.check import Check, CheckOutcome
from smc_dp.audit.run.evidence import Evidence
from smc_dp.audit.run.hygiene import ciphertexts, keys, nonces, secrecy


def _check(name: str, asks: str, run: Callable[[Evidence], CheckOutcome]) -> Check:
    return Check("hygiene", name, asks, run)


CHECKS: tuple[Check, ...] = (
    _check(
        "keys",
        "Are all Paillier and DGK keys well formed, and do secret keys match the announced ones?",
        keys.check_keys,
    ),
    _check(
        "units",
        "Is every ciphertext a number that the encryption can produce (a unit of its group)?",
        ciphertexts.check_units,
    ),
    _check("repeats", "Was every ciphertext sent only once?", ciphertexts.check_repeats),
    _check("freshness", "Does every ciphertext carry new randomness?", ciphertexts.check_freshness),
    _check(
        "nonces",
        "Are all session and link keys different, so that no key meets the same message number (nonce) twice?",
        nonces.check_nonces,
    ),
    _check("masks", "Are masks as wide as declared, and wide enough?", secrecy.check_masks),
    _check("canaries", "Are all views free of other participants' private numbers?", secrecy.check_canaries),
)
