"""Commands and options that earlier versions had: each is refused in one line that names what to use instead."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from smc_dp.errors import InputError

COMMANDS: Mapping[str, str] = MappingProxyType(
    {
        "attack": "smc-dp lab attack",
        "audit-epsilon": "smc-dp lab epsilon",
        "compare": "smc-dp lab compare",
        "lecture": "smc-dp lab walkthrough",
        "reproduce": "smc-dp lab reproduce",
        "schema": "smc-dp lab schema",
    }
)
"""Removed command -> what to use instead."""

OPTIONS: Mapping[tuple[str, str], str] = MappingProxyType(
    {
        ("audit", "--fresh"): "smc-dp lab check",
        ("audit", "--matrix"): "smc-dp lab matrix PROTOCOL",
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
