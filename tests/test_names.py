"""One name for one thing: no public class, and no type, stands in two files, but for those of two protocols."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
# The symbolic engine puts its own keys in place of the real ones, by their names; a wire message keeps its name.
SAME_ON_PURPOSE: set[str] = set()
PROTOCOL_ROOMS = {f"protocols/{name}" for name in ("comparison", "linear", "pathak2010", "secure_sum")}


def classes(source: str) -> Iterator[str]:
    """Public classes of a file, and public aliases of types: names in mixed case that are bound at its top."""
    for node in ast.parse(source).body:
        targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
        names = [node.name] if isinstance(node, ast.ClassDef) else [t.id for t in targets if isinstance(t, ast.Name)]
        yield from (n for n in names if n[0].isupper() and not n.isupper())


def twice(sources: Mapping[str, str]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = defaultdict(list)
    for place, source in sources.items():
        for name in classes(source):
            found[name].append(place)
    return {name: places for name, places in found.items() if len(places) > 1 and not are_of_protocols(places)}


def are_of_protocols(places: list[str]) -> bool:
    """Whether each is of another protocol: each has its own conversation, and nobody reads two at once."""
    rooms = [str(Path(place).parent) for place in places]
    return len(set(rooms)) == len(rooms) and set(rooms) <= PROTOCOL_ROOMS


def test_no_class_has_the_name_of_another() -> None:
    files = sorted(path for package in ("protocols", "smc_dp") for path in (ROOT / package).rglob("*.py"))
    found = twice({str(path.relative_to(ROOT)): path.read_text(encoding="utf-8") for path in files})
    assert {name: places for name, places in found.items() if name not in SAME_ON_PURPOSE} == {}
    assert set(found) >= SAME_ON_PURPOSE


def test_a_name_in_two_files_is_noticed() -> None:
    assert twice({"a": "class Report:\n    pass", "b": "Report = dict[str, int]", "c": "_Report = REPORT = 1"}) == {
        "Report": ["a", "b"]
    }
    rooms = ("protocols/pathak2010/messages.py", "protocols/secure_sum/messages.py", "protocols/secure_sum/values.py")
    assert twice({place: "class Masked:\n    pass" for place in rooms[:2]}) == {}
    assert twice({place: "class Masked:\n    pass" for place in rooms}) == {"Masked": list(rooms)}
    assert twice({place: "class Masked:\n    pass" for place in (rooms[0], "protocols/runtime/a.py")}) != {}
