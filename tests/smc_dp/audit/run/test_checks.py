"""Every group of the report is one module of its name, which holds all of the group's checks; and rooms that are not so
are noticed.
"""

from __future__ import annotations

import importlib
import pkgutil
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, TypeAlias, get_args

from smc_dp.audit import run
from smc_dp.audit.run import checks
from smc_dp.audit.run.check import Check, Group

GROUPS: tuple[str, ...] = get_args(Group)
Room: TypeAlias = dict[
    str, dict[str, Any]
]  # the modules by their names inside of the room, each with all that it names


def room() -> Room:
    inside = pkgutil.walk_packages(run.__path__, f"{run.__name__}.")
    return {m.name.removeprefix(f"{run.__name__}."): dict(vars(importlib.import_module(m.name))) for m in inside}


def held(names: Mapping[str, Any]) -> list[Check]:
    """All checks that stand in a module, alone or in a row of them."""
    rows = (value if isinstance(value, tuple | list) else (value,) for value in names.values())
    return [item for row in rows for item in row if isinstance(item, Check)]


def faults(room: Room) -> Iterator[str]:
    for group in GROUPS:
        own = room.get(group, {}).get("CHECKS", ())
        if not own:
            yield f"{group} has no module of its name with checks"
        yield from (f"{group} holds {check.name} of {check.group}" for check in own if check.group != group)
    for name, names in room.items():
        if name not in (*GROUPS, "checks"):
            yield from (f"{name} holds {check.name} of {check.group}" for check in held(names))
    if room["checks"]["CHECKS"] != tuple(c for group in GROUPS for c in room.get(group, {}).get("CHECKS", ())):
        yield "the checks of a run are not those of the groups, one after the other"


def test_each_group_is_a_module_of_its_name_and_holds_its_checks() -> None:
    assert {*GROUPS, "checks", "conformity.links", "hygiene.keys"} <= room().keys()
    assert list(faults(room())) == []


def test_names_of_checks_are_unique() -> None:
    names = [check.name for check in checks.CHECKS]
    assert len(set(names)) == len(names)


def unnamed(names: Iterable[str], tests: Iterable[str]) -> set[str]:
    """The checks whose name stands in none of these texts, in quotes or as a keyword."""
    said = {name for text in tests for pair in re.findall(r'"([\w-]+)"|\b(\w+)=(?:"|None)', text) for name in pair}
    return set(names) - said


def test_every_check_has_a_test_that_names_it() -> None:
    folder = Path(__file__).parent
    others = [path for path in folder.rglob("test_*.py") if path != Path(__file__)]
    tests = [path.read_text(encoding="utf-8") for path in (*others, *(folder.parents[2] / "support").glob("*.py"))]
    assert unnamed((check.name for check in checks.CHECKS), tests) == set()
    assert unnamed(["sizes", "whatever"], tests) == {"whatever"}
