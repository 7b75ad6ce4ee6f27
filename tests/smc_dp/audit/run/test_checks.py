"""Every group of the report is one module of its name, which holds all of the group's checks; and rooms that are not so
are noticed.
"""

from __future__ import annotations

import importlib
import pkgutil
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeAlias, get_args

import pytest

from smc_dp.audit import run
from smc_dp.audit.run import checks
from smc_dp.audit.run.check import Check, Group, passed

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


OTHER = Check("replay", "other", "Is it so?", lambda evidence: passed("it is"))


def _misplaced(room: Room) -> None:
    """A check of a group among those of another, and in the same order for a run."""
    room["privacy"]["CHECKS"] = (*room["privacy"]["CHECKS"], OTHER)
    _collect(room)


def _collect(room: Room) -> None:
    room["checks"]["CHECKS"] = tuple(c for group in GROUPS for c in room.get(group, {}).get("CHECKS", ()))


def _renamed(room: Room) -> None:
    room["recomputation"] = room.pop("replay")
    _collect(room)


def _emptied(room: Room) -> None:
    room["hygiene"]["CHECKS"] = ()
    _collect(room)


TWINS: dict[str, tuple[Callable[[Room], object], str]] = {
    "a group's module under another name": (_renamed, "replay has no module"),
    "a group without checks": (_emptied, "hygiene has no module"),
    "a check of another group": (_misplaced, "privacy holds other of replay"),
    "checks in a part of a package": (
        lambda room: room["conformity.links"].update(CHECKS=room["conformity"]["LINK_CHECKS"]),
        "conformity.links holds schema",
    ),
    "a check in what is shared": (lambda room: room["report"].update(LAST=OTHER), "report holds other of replay"),
    "a check left out of a run": (
        lambda room: room["checks"].update(CHECKS=room["checks"]["CHECKS"][:-1]),
        "not those of the groups",
    ),
    "groups in another order": (
        lambda room: room["checks"].update(CHECKS=room["checks"]["CHECKS"][::-1]),
        "not those of the groups",
    ),
    "a check of a group's own that a run has in other words": (
        lambda room: room["leakage"].update(CHECKS=tuple(replace(c, asks="Why?") for c in room["leakage"]["CHECKS"])),
        "not those of the groups",
    ),
}


@pytest.mark.parametrize("name", TWINS)
def test_a_room_that_is_not_so_is_noticed(name: str) -> None:
    change, said = TWINS[name]
    twin = room()
    change(twin)
    assert any(said in fault for fault in faults(twin)), list(faults(twin))
