"""Commands, options and values of earlier versions, each refused in one line that names its replacement."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from smc_dp.core.errors import InputError

REMOVED_COMMANDS: Mapping[str, str] = MappingProxyType(
    {
        "attack": "smc-dp lab attack",
        "audit-epsilon": "smc-dp lab epsilon",
        "bench": "pytest -n0 tests/benchmarks in a checkout",
        "bench-training": "pytest -n0 tests/benchmarks/test_training.py in a checkout",
        "compare": "smc-dp lab compare",
        "data": "smc-dp lab data",
        "dossier": "smc-dp audit RUN --report FILE.html",
        "forecast": "smc-dp plan --cost",
        "lecture": "smc-dp lab walkthrough",
        "reproduce": "smc-dp lab reproduce",
        "schema": "smc-dp lab schema",
        "study kit": "smc-dp study provision",
    }
)
"""Removed command, with its group if it has one -> what to use instead: a command of today, or `pytest` with a path of
a checkout."""

_SIGNED_AUDIT = "smc-dp audit --json and ssh-keygen -Y sign, see smc_dp/audit/HOWTO_AUDIT.md"

REMOVED_OPTIONS: Mapping[tuple[str, str], str] = MappingProxyType(
    {
        ("audit", "--fresh"): "smc-dp lab check",
        ("audit", "--key"): _SIGNED_AUDIT,
        ("audit", "--matrix"): "smc-dp lab matrix PROTOCOL",
        ("audit", "--parties"): "smc-dp lab matrix PROTOCOL --parties K",
        ("audit", "--receipt"): _SIGNED_AUDIT,
        ("bounds check", "--terms"): "smc-dp bounds check --policy own.toml",
        ("join", "--terms"): "smc-dp join --policy own.toml",
        ("lab compare", "--backend"): "smc-dp lab compare --jobs N",
        ("lab epsilon", "--twin"): "smc-dp lab epsilon --mutant NAME",
        ("lab reproduce", "--backend"): "smc-dp lab reproduce FIGURE --jobs N",
        ("plan", "--no-seconds"): "smc-dp plan",
        ("predict", "--auditor"): "smc-dp predict --level N",
        ("predict", "--receipt"): "smc-dp predict --level N",
        ("run", "--as-printed-insecure"): "smc-dp run --as-published-insecure",
        ("run", "--vanish"): "smc-dp run --drop-out NAME:N",
        ("serve", "--terms"): "smc-dp serve --policy own.toml",
        ("study abandon", "--terms"): "smc-dp study abandon --policy own.toml",
        ("study approve", "--terms"): "smc-dp study approve --policy own.toml",
        ("study check", "--terms"): "smc-dp study check --policy own.toml",
        ("study new", "--letters"): "smc-dp study new --messages DURATION",
        ("study open", "--kit"): "smc-dp study open --provisioning-kit DIR",
    }
)
"""Command, with its group if it has one, and its removed option -> what to use instead."""

REMOVED_VALUES: Mapping[tuple[str, str, str], str] = MappingProxyType(
    {
        ("lab", "matrix", "pathak2010-garbled"): "smc-dp lab matrix linear",
        ("lab", "schema", "receipt"): _SIGNED_AUDIT,
        ("lab", "schema", "terms"): "smc-dp lab schema policy",
        ("lab", "walkthrough", "pathak2010-garbled"): "smc-dp lab walkthrough --protocol linear",
    }
)
"""Group, its command and a removed value -> what to use instead."""


def refuse_removed(arguments: Sequence[str]) -> None:
    """Raise InputError if the arguments name a removed command, or a removed option or value of one that stays."""
    command, within, *_ = [*(argument for argument in arguments if not argument.startswith("-")), "", ""]
    for name in (command, f"{command} {within}"):
        if name in REMOVED_COMMANDS:
            raise InputError("removed.command", command=name, commands=REMOVED_COMMANDS[name])
        for option in (argument.partition("=")[0] for argument in arguments):
            if instead := REMOVED_OPTIONS.get((name, option)):
                raise InputError("removed.option", option=option, command=name, options=instead)
    for value in (argument.rpartition("=")[2] for argument in arguments):
        if instead := REMOVED_VALUES.get((command, within, value)):
            raise InputError("removed.value", value=value, command=command, within=within, instead=instead)
