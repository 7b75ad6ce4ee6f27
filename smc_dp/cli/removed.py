"""Commands and options that earlier versions had: each is refused in one line that names what to use instead."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from smc_dp.core.errors import InputError

COMMANDS: Mapping[str, str] = MappingProxyType(
    {
        "attack": "smc-dp lab attack",
        "audit-epsilon": "smc-dp lab epsilon",
        "bench": "pytest -n0 tests/benchmarks in a checkout",
        "bench-training": "pytest -n0 tests/benchmarks/test_training.py in a checkout",
        "compare": "smc-dp lab compare",
        "dossier": "smc-dp audit RUN --report FILE.html",
        "forecast": "smc-dp plan --cost",
        "lecture": "smc-dp lab walkthrough",
        "reproduce": "smc-dp lab reproduce",
        "schema": "smc-dp lab schema",
    }
)
"""Removed command -> what to use instead: a command of today, or `pytest` with a path of a checkout."""

_SIGNED_AUDIT = "smc-dp audit --json and ssh-keygen -Y sign, see smc_dp/audit/README.md"

OPTIONS: Mapping[tuple[str, str], str] = MappingProxyType(
    {
        ("audit", "--fresh"): "smc-dp lab check",
        ("audit", "--key"): _SIGNED_AUDIT,
        ("audit", "--matrix"): "smc-dp lab matrix PROTOCOL",
        ("audit", "--receipt"): _SIGNED_AUDIT,
        ("plan", "--no-seconds"): "smc-dp plan",
        ("predict", "--auditor"): "smc-dp predict --level N",
        ("predict", "--receipt"): "smc-dp predict --level N",
    }
)
"""Command and its removed option -> what to use instead."""


def refuse_removed(arguments: Sequence[str]) -> None:
    """Raise InputError if the arguments name a removed command, or a removed option of a command that stays."""
    command = next((argument for argument in arguments if not argument.startswith("-")), "")
    if command in COMMANDS:
        raise InputError(f"{command}: this command was removed; use {COMMANDS[command]}")
    for option in (argument.partition("=")[0] for argument in arguments):
        if (command, option) in OPTIONS:
            raise InputError(f"{option}: this option of {command} was removed; use {OPTIONS[command, option]}")
