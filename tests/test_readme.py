"""What the README says of the tree is so."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[1]
TEXT = (ROOT / "README.md").read_text(encoding="utf-8")


def test_paths_exist() -> None:
    paths = set(re.findall(r"`((?:protocols|smc_dp|demos|tests)/[\w./]*)`", TEXT))
    paths |= set(re.findall(r"\]\(([\w./]+)\)", TEXT))
    assert len(paths) > 10
    assert not [path for path in paths if not (ROOT / path).exists()]


def test_links_within_the_page_exist() -> None:
    headings = {re.sub(r"[^a-z -]", "", line.lower().lstrip("# ")).replace(" ", "-") for line in TEXT.splitlines()
                if line.startswith("#")}  # fmt: skip
    assert set(re.findall(r"\]\(#([\w-]+)\)", TEXT)) <= headings


def test_no_placeholder_is_left() -> None:
    assert not re.findall(r"\b(?:TODO|FIXME|XXX|[A-Z]{4,}LINE)\b", TEXT)


def test_there_are_the_two_commands() -> None:
    commands = [line for line in TEXT.splitlines() if line.startswith("python3 -m venv")]
    assert [line.rpartition("/")[2] for line in commands] == ["smc-dp run", "pytest"]
