"""Public keys and signatures as texts of documents, each read in one place and said in one way."""

from __future__ import annotations

from typing import Annotated, TypeAlias

from pydantic import BeforeValidator, WithJsonSchema

from protocols.crypto.identity import PUBLIC_BYTES, SIGNATURE_BYTES, has_small_order
from smc_dp.errors import InputError, shown
from smc_dp.files import reading


def _public_key(value: object) -> str:
    key = reading.hexadecimal("a public key", value, PUBLIC_BYTES)
    if has_small_order(key):
        raise InputError(f"wanted a public key, got {shown(value)}, for which anybody can sign")
    return key.hex()


def _signature(value: object) -> str:
    return reading.hexadecimal("a signature", value, SIGNATURE_BYTES).hex()


PublicKeyText: TypeAlias = Annotated[
    str, BeforeValidator(_public_key), WithJsonSchema({"type": "string", "pattern": "^[0-9a-f]{64}$"})
]
SignatureText: TypeAlias = Annotated[
    str, BeforeValidator(_signature), WithJsonSchema({"type": "string", "pattern": "^[0-9a-f]{128}$"})
]
