"""What the Markdown files say of the tree and of the program is so: every link, path and command."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest
import typer
from support.pages import PAGES, ROOT, blocks, name_of

from smc_dp.attacks import ATTACKS, inconsistent_extension
from smc_dp.audit.run.levels import LEVEL_RULES
from smc_dp.cli.main import app
from smc_dp.data.bounds import read_bounds
from smc_dp.deploy.site_policy import SitePolicy
from smc_dp.methods.registry import METHODS, STATISTICS
from smc_dp.run.agreement import PROTOCOLS_BY_NAME

FRONT = ROOT / "README.md"
TUTORIAL = ROOT / "smc_dp" / "TUTORIAL.md"
OF_A_PACKAGE = re.compile(r"`((?:protocols|smc_dp|demos|tests)/[\w./-]*)`")
_UsageError: Any = typer.BadParameter.__base__  # of click, or of the copy that typer carries
LINK = re.compile(r"\]\(([^)\s]+)\)|<img src=\"([^\"]+)\"")
# What a line of a shell block may be, beside `smc-dp ...`: setting up, and what .ci/run runs.
KNOWN_LINES = (
    r"python3 -m venv \.venv && \.venv/bin/pip install --quiet (--editable '\.\[\w+\]'|\.)( && .+)?",
    r"\.venv/bin/pip install --quiet --editable '\.\[\w+\]'( && .+)?",
    r"\.venv/bin/pytest( -m ''| -m slow)?( -n0)?( tests[\w/.]*)?",
    r"\.venv/bin/ruff format \. && \.venv/bin/ruff check \. && \.venv/bin/mypy",
    r"\.venv/bin/python [\w./]+\.py",
    r"\.venv/bin/smc-dp .+",
    r"\.ci/run",
    r"ssh-keygen .+",
    r"echo \"auditor@example\.org .+\" > allowed_signers",
    r"\(cd runs/first && sha256sum \*\) \| while .+; done",
    r"cd provisioning-kit/operator && nats-server -c server\.conf",
)


def prose(page: str) -> str:
    """The page without its fenced blocks."""
    return re.sub(r"^ *(`{3,}).*?^ *\1 *$", "", page, flags=re.MULTILINE | re.DOTALL)


def anchors(page: str) -> set[str]:
    """The names of a page's headings, as GitHub makes them."""
    lines = [line.lstrip("# ") for line in prose(page).splitlines() if line.startswith("#")]
    return {re.sub(r"[^\w -]", "", line.lower()).replace(" ", "-") for line in lines}


def wrong_links(page: str, folder: Path) -> Iterator[str]:
    """Links and pictures that lead nowhere, headings that nobody wrote, paths of files that are gone."""
    for text, picture in LINK.findall(prose(page)):
        target, _, heading = (text or picture).partition("#")
        if re.match(r"[a-z]+:", target):
            continue
        place = folder / target if target else None
        if place and not place.exists():
            yield f"links to {target}, which does not exist"
        elif heading and heading not in anchors(place.read_text(encoding="utf-8") if place else page):
            yield f"links to the heading {heading} of {target or 'itself'}, which does not exist"
    steps = r"^(\d+\.|  +Forgotten:) .*$"  # of recipes, which name files that are still to be written
    for path in OF_A_PACKAGE.findall(re.sub(steps, "", prose(page), flags=re.MULTILINE)):
        if not (ROOT / path).exists():
            yield f"names {path}, which does not exist"


def wrong_command(line: str) -> Iterator[str]:
    """What the real command line would say of the options and arguments of one line."""
    _, *words = shlex.split(re.sub(r" (> \S+|2>&1 \|\| echo .+)$", "", line), comments=True)  # where its output goes
    command: Any = typer.main.get_command(app)
    name = "smc-dp"
    while commands := getattr(command, "commands", None):
        if not words or words[0] not in commands:
            yield f"{line}: wanted a command of {name}, got {words[0] if words else 'none'}"
            return
        name, command, words = words[0], commands[words[0]], words[1:]
    try:
        _, left, _ = command.make_parser(command.context_class(command)).parse_args(list(words))
    except _UsageError as error:
        yield f"{line}: {error}"
    else:
        if left:
            yield f"{line}: nobody takes {' '.join(left)}"


def wrong_shell(text: str) -> Iterator[str]:
    """Lines that are neither a command that there is, nor one of the known forms with files that there are."""
    for line in filter(None, text.replace("\\\n", " ").splitlines()):
        if line.startswith("smc-dp "):
            yield from wrong_command(line)
            continue
        if not any(re.fullmatch(form, line) for form in KNOWN_LINES):
            yield f"{line}: is no line that these pages may have"
        for path in re.findall(r"(?<![\w./])(?:tests|demos|\.ci)[\w/.]*", line):
            if not (ROOT / path).exists():
                yield f"{line}: {path} does not exist"
        _, ours, rest = line.partition(".venv/bin/smc-dp ")
        if ours:
            yield from wrong_command(f"smc-dp {rest}")


def test_the_pages_are_there() -> None:
    wanted = {"README.md", ".github/CONTRIBUTING.md", ".github/SECURITY.md", "demos/README.md", "tests/README.md"}
    wanted |= {
        f"smc_dp{room}/README.md" for room in ("", "/audit", "/data", "/deploy", "/methods", "/experiments/reproduce")
    }
    assert wanted | {"protocols/README.md", "protocols/pathak2010/NOTES.md"} <= {name_of(page) for page in PAGES}


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_every_link_and_path_exists(page: Path) -> None:
    assert list(wrong_links(page.read_text(encoding="utf-8"), page.parent)) == []


SCRIPTS = (
    *("protocols/HOWTO_VENDOR.md", "protocols/secure_sum/proofs/README.md", "smc_dp/deploy/HOWTO_FLARE.md"),
    "smc_dp/deploy/HOWTO_FLOWER.md",
    "smc_dp/deploy/container/README.md",
)
"""Pages whose blocks are scripts, which other tests carry out as they are: see `CARRIED_OUT_BY` in `test_pages.py`."""


@pytest.mark.parametrize("page", [page for page in PAGES if name_of(page) not in SCRIPTS], ids=name_of)
def test_every_command_is_one(page: Path) -> None:
    found = [block for block in blocks(page.read_text(encoding="utf-8")) if block.of("sh")]
    assert [fault for block in found for fault in wrong_shell(block.text)] == []


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_every_block_of_bounds_or_terms_is_read(page: Path, tmp_path: Path) -> None:
    for block in blocks(page.read_text(encoding="utf-8")):
        if block.of("toml"):
            path = tmp_path / (block.words[1] if len(block.words) > 1 else "bounds.toml")
            path.write_text(block.text, encoding="utf-8")
            assert SitePolicy.read(path).limits if path.name == "own.toml" else read_bounds(path).dimension > 1


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_no_placeholder_is_left(page: Path) -> None:
    assert not re.findall(r"\b(?:TODO|FIXME|XXX|[A-Z]{4,}LINE)\b", page.read_text(encoding="utf-8"))


# The front page, and the landing.


def test_there_are_the_two_commands() -> None:
    commands = [line for line in FRONT.read_text(encoding="utf-8").splitlines() if line.startswith("python3 -m venv")]
    assert [line.rpartition("/")[2] for line in commands] == ["smc-dp run", "pytest"]


def crowded(lines: int, files: int) -> list[str]:
    """What is too long about a front page of so many lines and a package with so many files at its top."""
    over = [f"README.md has {lines} lines, wanted at most 110"] if lines > 110 else []
    return over + ([f"smc_dp has {files} files at its top, wanted at most 8"] if files > 8 else [])


def test_the_front_page_is_short_and_the_landing_is_clear() -> None:
    lines = len(FRONT.read_text(encoding="utf-8").splitlines())
    assert crowded(lines, len(list((ROOT / "smc_dp").glob("*.py")))) == []
    assert len(crowded(111, 9)) == 2


def test_the_picture_says_in_words_what_it_shows_and_is_read_on_dark_pages() -> None:
    (alt,) = re.findall(r'<img src="\.github/protocol\.svg" alt="([^"]+)"', FRONT.read_text(encoding="utf-8"))
    assert all(word in alt for word in ("hospitals", "Charlie", "encrypted", "masks", "sum", "noise"))
    assert "prefers-color-scheme: dark" in (ROOT / ".github/protocol.svg").read_text(encoding="utf-8")


COUNTS = (
    *("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"),
    *("thirteen", "fourteen", "fifteen", "sixteen"),
)


def elsewhere(page: str) -> set[str]:
    """The attacks that are tried on the secure sum, and have a row in the table that says so."""
    tried = {a.name for a in ATTACKS.values() if any(variant.name == "secure sum" for variant in a.variants)}
    return {name for name in tried if f"\n| `{name}` | " in page}


def test_the_page_counts_the_attacks() -> None:
    page = (ROOT / "smc_dp/audit/README.md").read_text(encoding="utf-8")
    printed = [a for a in ATTACKS.values() if a.paper != "the linear protocol"]
    fixed = [a for a in printed if not any(variant.no_fix_yet for variant in a.variants)]
    assert f"Of the {COUNTS[len(ATTACKS)]} attacks in" in page
    assert f" {COUNTS[len(printed)]} are on what a paper prints, and {COUNTS[len(fixed)]} of these fail on what" in page
    assert f"{COUNTS[len(printed) - len(fixed)].capitalize()} have no fix" in page
    assert elsewhere(page) == {a.name for a in printed if a not in fixed}
    assert elsewhere(page.replace("| `strip-noise` |", "| |")) != elsewhere(page)
    ours = [name for name, attack in ATTACKS.items() if attack not in printed]
    assert f"{COUNTS[len(ours)].capitalize()} attacks are on the linear protocol" in page
    assert [name for name in ours if f"\n| `{name}` | " not in page] == []
    at = inconsistent_extension.search_costs(1000)
    assert all(f"2^{at[what]:.0f}" in page for what in ("guesses", "consistent", "hashes", "with memory"))


def missing_methods(page: str) -> set[str]:
    """The methods that no row of the page's first table names in its first cell."""
    cells = [line.split("|")[1] for line in page.splitlines() if line.startswith("| `")]
    return set(METHODS) - {name for cell in cells for name in re.findall(r"`(\w+)`", cell)}


def test_the_page_has_every_method() -> None:
    page = (ROOT / "smc_dp/methods/README.md").read_text(encoding="utf-8")
    assert missing_methods(page) == set()
    assert missing_methods(page.replace("| `avg_clip` |", "| |")) == {"avg_clip"}


def neighbours(page: str) -> dict[str, set[str]]:
    """The neighbours of each method of runs, by the page's table."""
    found: dict[str, set[str]] = {}
    for left, right in re.findall(r"^\| ([^|]+) \| ([^|]+) \|$", page, flags=re.MULTILINE)[1:]:
        (adjacency,) = re.findall(r"`(\w+)`", left)
        for name in re.findall(r"`(\w+)`", right):
            found.setdefault(name, set()).add(adjacency)
    return found


def test_the_page_has_the_neighbours_of_every_method_of_runs() -> None:
    stated = {}
    for name in PROTOCOLS_BY_NAME:
        method: Any = (METHODS | STATISTICS)[name]
        settable = "adjacency" in {field.name for field in fields(method)}
        stated[name] = {"replace", "addremove"} if settable else {getattr(method, "adjacency", "replace")}
    page = (ROOT / "smc_dp/privacy/README.md").read_text(encoding="utf-8")
    assert neighbours(page) == stated
    assert neighbours(page.replace("| `wsum_ar`;", "|")) != stated


def stated_levels(page: str) -> list[tuple[str, str]]:
    """Number and name of each level of assurance, by the page's table."""
    return re.findall(r"^\| (\d), ([^|]+) \|", page, flags=re.MULTILINE)


def test_the_page_has_every_level_of_assurance() -> None:
    page = (ROOT / "smc_dp/audit/HOWTO_AUDIT.md").read_text(encoding="utf-8")
    levels = [(str(number), rule.name) for number, rule in LEVEL_RULES.items()]
    assert stated_levels(page) == levels
    assert stated_levels(page.replace("| 2, it is authentic |", "| 2, it is true |")) != levels


# Broken pages.


@pytest.mark.parametrize(
    ("page", "said"),
    [
        ("[a](gone.md)", "links to gone.md"),
        ("[a](#nowhere)\n# Here", "links to the heading nowhere of itself"),
        ("[a](README.md#nowhere)", "links to the heading nowhere of README.md"),
        ('<img src=".github/gone.svg" alt="x">', "links to .github/gone.svg"),
        ("see `smc_dp/gone.py`", "names smc_dp/gone.py"),
    ],
)
def test_a_broken_link_is_noticed(page: str, said: str) -> None:
    (fault,) = wrong_links(page, ROOT)
    assert fault.startswith(said)


def test_links_that_are_right_are_left_alone() -> None:
    page = "[a](README.md#two-commands) [b](#here-too) [c](https://example.org/x) `smc_dp/audit`\n## Here, too\n"
    page += "```text\n[d](gone.md)\n```\n1. A step, `smc_dp/new.py`.\n   Forgotten: `tests/test_new.py`\n"
    assert list(wrong_links(page, ROOT)) == []


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("smc-dp", "is no line"),
        ("smc-dp fly", "wanted a command of smc-dp, got fly"),
        ("smc-dp ledger burn x", "wanted a command of ledger, got burn"),
        ("smc-dp ledger", "wanted a command of ledger, got none"),
        ("smc-dp run --epsilom 1", "--epsilom"),
        ("smc-dp run --epsilon", "--epsilon"),
        ("smc-dp run --json \\\n  --fast", "--fast"),
        ("smc-dp predict a b --data c", "nobody takes b"),
        ("rm -rf .", "is no line"),
        (".venv/bin/pytest tests/gone.py", "tests/gone.py does not exist"),
        (".venv/bin/python demos/gone.py", "demos/gone.py does not exist"),
        ("python3 -m venv .venv && .venv/bin/pip install --quiet . && .venv/bin/smc-dp fly", "got fly"),
    ],
)
def test_a_broken_command_is_noticed(text: str, said: str) -> None:
    (fault,) = wrong_shell(text)
    assert said in fault


def all_tests() -> set[str]:
    """The names of all tests, and of all files with tests."""
    found: set[str] = set()
    for path in (ROOT / "tests").rglob("test_*.py"):
        found |= {path.stem, *re.findall(r"^(?:async )?def (test_\w+)", path.read_text(encoding="utf-8"), flags=re.M)}
    return found


def unknown_tests(text: str) -> set[str]:
    return set(re.findall(r"`(test_\w+)(?:\.py)?`", text)) - all_tests()


def test_the_tests_that_the_page_names_are_there() -> None:
    page = (ROOT / "tests" / "README.md").read_text(encoding="utf-8")
    numbers = {number for row in re.findall(r"^\| ([ABPM][\w, ]*) \|", page, flags=re.M) for number in row.split(", ")}
    wanted = {"M", *(f"{letter}{i}" for letter, last in (("A", 12), ("B", 14), ("P", 8)) for i in range(1, last + 1))}
    assert numbers == wanted
    assert unknown_tests(page) == set()
    assert unknown_tests("`test_of_nothing` and `test_readme.py`") == {"test_of_nothing"}


def sentences(page: str) -> list[list[str]]:
    """The words of every sentence in paragraphs and list items: without code blocks, tables, headings and targets."""
    lines = [line for line in prose(page).splitlines() if not re.match(r"[#|<]", line)]
    text = re.sub(r"\]\([^)]*\)", "]", "\n".join(lines))
    paragraphs = re.split(r"\n\s*\n|\n(?=\d+\. |[*-] )", text)
    whole = (re.sub(r"^(\d+\.|[*-]) ", "", one.strip()) for one in paragraphs)
    found = [sentence for one in whole for sentence in re.split(r"(?<=[.!?])\s+(?=[\[*`]*[A-Z]|`)", one)]
    return [words for sentence in found if (words := re.findall(r"[^\s`*\[\]]*\w[^\s`*\[\]]*", sentence))]


def too_long(page: str) -> list[str]:
    """What is too long about the sentences of a page for newcomers."""
    found = sentences(page)
    long = [f"{len(words)} words: {' '.join(words)}" for words in found if len(words) > 30]
    average = sum(map(len, found)) / len(found)
    return long + ([f"{average:.1f} words in a sentence, wanted at most 17"] if average > 17 else [])


@pytest.mark.parametrize("page", [FRONT, TUTORIAL], ids=name_of)
def test_pages_for_newcomers_are_in_short_sentences(page: Path) -> None:
    assert too_long(page.read_text(encoding="utf-8")) == []


def test_a_long_sentence_is_noticed() -> None:
    page = "# A b\n\nOne two. `Three` four [five](six).\n\n* seven\n* eight\n\n|a|b|\n```sh\nx y\n```\n"
    assert [len(words) for words in sentences(page)] == [2, 3, 1, 1]
    assert too_long(" ".join(["word"] * 31) + ".") == [
        "31 words: " + " ".join(["word"] * 31) + ".",
        "31.0 words in a sentence, wanted at most 17",
    ]
