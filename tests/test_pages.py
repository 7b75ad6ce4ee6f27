"""Every page says of which kind it is and stands in the site under it, and what its blocks show is carried out.

A page that is carried out here begins in the folder that `start` makes: the files of the tutorial's two hospitals under
the names that pages give them, and runs of theirs.
"""

from __future__ import annotations

import json
import re
import shutil
from collections import Counter
from functools import partial
from pathlib import Path

import pyarrow.csv
import pyarrow.parquet
import pytest
from support.pages import (
    PAGES,
    ROOT,
    Block,
    blocks,
    carry_out,
    differing,
    lines_of,
    name_of,
    prepare_folder,
    run_line,
    run_shell,
)

TUTORIAL = ROOT / "smc_dp" / "TUTORIAL.md"
KIND = re.compile(r"# [^\n]+\n\n\*This page is (?:a (tutorial|how-to|reference)|an (explanation))\.\*\s")
NO_KIND = {
    "README.md": "the front page leads to all kinds",
    "CHANGELOG.md": "a list by versions",
    ".github/SECURITY.md": "forges show it where people report a fault",
}
"""Pages of no kind, with the reason."""
CARRIED_OUT_BY = {
    "smc_dp/deploy/HOWTO_FLARE.md": "tests/smc_dp/deploy/test_flare_page.py",
    "smc_dp/deploy/HOWTO_FLOWER.md": "tests/smc_dp/deploy/test_flower_page.py",
    **dict.fromkeys(
        (".github/CONTRIBUTING.md", "protocols/HOWTO_PROTOCOL.md", "smc_dp/methods/HOWTO_METHOD.md"),
        "tests/test_recipes.py",
    ),
    "protocols/HOWTO_VENDOR.md": "tests/test_package.py",
    **dict.fromkeys(
        (f"smc_dp/deploy/HOWTO_{name}.md" for name in ("NATS", "OWN_TOML", "OFFICER")),
        "tests/smc_dp/deploy/test_operator_page.py",
    ),
    "smc_dp/deploy/container/README.md": "tests/smc_dp/deploy/test_container.py",
    "protocols/secure_sum/proofs/README.md": "tests/protocols/secure_sum/test_proofs.py",
}
"""Pages whose blocks another test carries out."""
LEFT_OUT = {
    r"\.venv/bin/pytest": "it is the suite itself, or a benchmark, which needs a quiet machine",
    r"\.venv/bin/python \.ci/docs\.py": "`.ci/run` builds the site",
    r"\.venv/bin/python demos/": "`tests/test_demos.py` runs every demo",
    r"smc-dp lab reproduce": "minutes to hours; `tests/smc_dp/experiments/reproduce` computes small figures",
    r"smc-dp lab compare .*--(dataset|backend)": "minutes; `tests/smc_dp/experiments/compare` does both on few rows",
    r"smc-dp lab attack --all": "minutes; `tests/smc_dp/attacks` runs each attack",
    r"smc-dp lab walkthrough --protocol pathak2010": "half a minute; `tests/smc_dp/walkthrough` makes both pages",
    r"smc-dp lab matrix (pathak2010|linear|secure_sum)\b": "half a minute; `tests/smc_dp/leakage` computes each matrix",
    r"smc-dp lab check linear": "half a minute; `tests/smc_dp/audit/run/test_code_checks.py` computes all results",
    r"smc-dp lab epsilon": "a minute; `tests/smc_dp/cli/test_epsilon.py` does it with few samples",
    r'ssh-keygen|echo "auditor|\(cd runs/first ': "`tests/smc_dp/audit/run/test_signed_audit.py` signs and verifies",
    r"\[file\]": "`tests/smc_dp/data/test_file_format.py` reads it",
    r"@software": "a citation",
    r"study  approval  site_policy": "a diagram",
}
"""How a line for the shell, or a block of another language, begins that is not carried out, with the reason."""
PATTERN_LEFT_OUT = re.compile("|".join(LEFT_OUT))


def kind_of(page: str) -> str | None:
    """Return the kind that a page states below its title."""
    found = KIND.match(page)
    return found and (found[1] or found[2])


def not_carried_out(page: str) -> list[Block]:
    """Return the blocks of a page that nothing here carries out or compares, and that are not left out."""
    found, after_commands = [], False
    for block in blocks(page):
        known = block.of("sh") or block.of("python") or block.of("toml") or (block.file and not block.indented)
        if not known and not (block.of("text") and after_commands) and not PATTERN_LEFT_OUT.match(block.text):
            found.append(block)
        after_commands = block.of("sh")
    return found


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_every_page_says_of_which_kind_it_is(page: Path) -> None:
    assert bool(kind_of(page.read_text(encoding="utf-8"))) == (name_of(page) not in NO_KIND)


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_every_block_is_carried_out(page: Path) -> None:
    by = CARRIED_OUT_BY.get(name_of(page))
    if by is None:
        assert not_carried_out(page.read_text(encoding="utf-8")) == []
    else:
        assert page.name in (ROOT / by).read_text(encoding="utf-8")


def test_no_list_has_more_than_there_is() -> None:
    names = set(map(name_of, PAGES))
    assert names >= {*NO_KIND, *CARRIED_OUT_BY}
    found = [block for page in PAGES for block in blocks(page.read_text(encoding="utf-8"))]
    texts = [text for block in found for text in ([block.text] if not block.of("sh") else lines_of(block.text))]
    assert [start for start in LEFT_OUT if not any(re.match(start, text) for text in texts)] == []


# The site.


def groups_of_the_site() -> dict[str, str]:
    """Return the group of the site's navigation in which each page stands, by the page's place in the site."""
    found, group = {}, ""
    navigation = (ROOT / ".github" / "mkdocs.yml").read_text(encoding="utf-8").partition("\nnav:\n")[2]
    for indent, name, place in re.findall(r"^( *)- ([^:\n]+):(?: (\S+))?$", navigation, flags=re.MULTILINE):
        if len(indent) == 2:
            group = name
        if place:
            found[place] = group
    return found


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_the_site_has_every_page_under_its_kind(page: Path) -> None:
    group = groups_of_the_site()[name_of(page).replace(".github", "project")]
    kind = kind_of(page.read_text(encoding="utf-8"))
    assert group == "Project" or kind is None or group.lower() == kind


# Pages are carried out.


@pytest.fixture(scope="session")
def start(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder in which each page begins."""
    folder = tmp_path_factory.mktemp("pages")
    prepare_folder(folder)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        tutorial = TUTORIAL.read_text(encoding="utf-8").partition("## 3. ")[0]
        carry_out(tutorial, folder, re.compile("(?!)"))
    run_shell("smc-dp identities new ids north south && cp ids/identities.json .", folder)
    run_shell("cp new.csv held_out.csv && cp new.csv test.csv && cp north.csv other.csv", folder)
    files = "--party north.csv --party south.csv --bounds bounds.toml --identities ids"
    budget = "--ledgers ledgers --budget 3 --budget-delta 1e-4"
    for run, views in (("first", "first-views"), ("second", "views")):
        run_line(f"smc-dp run {files} {budget} --record-views {views} --out runs/{run}", folder)
    table = pyarrow.csv.read_csv(folder / "south.csv")
    for name in ("south.parquet", "data.parquet"):
        pyarrow.parquet.write_table(table, folder / name)
    (head, *north), (_, *south) = ((folder / f"{name}.csv").read_text().splitlines() for name in ("north", "south"))
    rows = (f"{row},{name}" for name, found in (("north", north), ("south", south)) for row in found)
    (folder / "all.csv").write_text("\n".join([f"{head},hospital", *rows]) + "\n")
    return folder


HERE = [
    page
    for page in sorted(PAGES, key=TUTORIAL.__ne__)
    if name_of(page) not in CARRIED_OUT_BY and "```" in page.read_text(encoding="utf-8")
]


def first_lines() -> set[tuple[Path, str]]:
    """Return the first line with each command of the program, and its page, which is the tutorial where it has one.

    They run in processes of their own, where nothing is loaded but what they load.
    """
    found: dict[str, tuple[Path, str]] = {}
    for page in HERE:
        of_shell = [block for block in blocks(page.read_text(encoding="utf-8")) if block.of("sh")]
        for line in (line for block in of_shell for line in lines_of(block.text) if not PATTERN_LEFT_OUT.match(line)):
            if command := re.match(r"smc-dp (?:(?:lab|ledger|bounds|identities|study) )?(?:data )?[a-z]+", line):
                found.setdefault(command[0], (page, line))
    return set(found.values())


def run_on_page(page: Path, line: str, folder: Path) -> str:
    """Run a line for the shell, by itself where it is the first with its command."""
    return (run_shell if (page, line) in FIRST else run_line)(line, folder)


FIRST = first_lines()


@pytest.mark.slow
@pytest.mark.parametrize("page", HERE, ids=name_of)
def test_the_page_is_carried_out(page: Path, start: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = page.read_text(encoding="utf-8")
    for last in (False, True):  # noise hid the intervals in 2 of 320 runs, and does not twice
        folder = tmp_path / f"folder-{last}"
        if kind_of(text) == "tutorial":  # which begins with nothing
            prepare_folder(folder)
        else:
            shutil.copytree(start, folder, symlinks=True)
        for made in (
            folder / name for name in re.findall(r"--out (\S+)", text)
        ):  # what a page makes is not there before
            shutil.rmtree(made, ignore_errors=True) if made.is_dir() else made.unlink(True)
        monkeypatch.chdir(folder)
        try:
            carry_out(text, folder, PATTERN_LEFT_OUT, partial(run_on_page, page))
            break
        except AssertionError:
            if last or "show odds" not in text:
                raise
    if page == TUTORIAL:
        assert len(Path("predictions.csv").read_text().splitlines()) == 1001
        assert json.loads(run_line("smc-dp audit first --json", folder))["verdict"] == "audit.passed"


@pytest.mark.slow
def test_the_page_counts_the_checks_of_a_run_with_little_evidence(start: Path) -> None:
    findings = json.loads(run_line("smc-dp audit runs/first --json", start))["findings"]
    count = Counter(finding["status"] for finding in findings)
    page = " ".join((ROOT / "smc_dp" / "audit" / "HOWTO_AUDIT.md").read_text(encoding="utf-8").split())
    assert f" {count['passed']} checks pass and {count['not possible']} are not possible." in page


# Broken pages.


def test_a_page_without_its_kind_is_noticed() -> None:
    assert kind_of("# A\n\n*This page is a how-to.* It says how.\n") == "how-to"
    assert kind_of("# A\n\n*This page is an explanation.*\n") == "explanation"
    assert kind_of("# A\n\nWords. *This page is a how-to.*\n") is None
    assert kind_of("# A\n\n*This page is a poem.* It says how.\n") is None


def test_a_block_that_nothing_carries_out_is_noticed() -> None:
    page = "```sh\nls\n```\n```text\nx\n```\n```text\ny\n```\n```json\n{}\n```\n"
    page += "```text a.csv\nz\n```\n  ```python\n  1\n  ```\n"
    assert [block.text for block in not_carried_out(page)] == ["y\n", "{}\n", "  1\n"]


@pytest.mark.parametrize(
    "page",
    [
        "```sh\nfalse\n```\n",
        "```sh\nfalse | true\n```\n",
        "```python\nx = 1\n```\n```python\nassert x == 2\n```\n",
        "```sh\necho 'accuracy 0.5'\n```\n```text\nloss 0.5\n```\n",
        "```text a.txt\none\n```\n```sh\ngrep two a.txt\n```\n",
    ],
)
def test_a_block_that_fails_is_noticed(page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(AssertionError):
        carry_out(page, tmp_path, PATTERN_LEFT_OUT)


def test_output_is_compared_but_for_numbers() -> None:
    printed = "Plan\nmodel  accuracy\na       0.9\nb      1e-05\nmore\nWritten to runs/2026-ab: x/\n"
    assert differing("model accuracy\na 0.8\n...\nWritten to runs/0-f: x/\n", printed) == []
    assert differing("model accuracy\nb 0.8\n...\nmore\n", printed) == ["model accuracy\nb 0.8\n"]
    assert differing("more\n...\nmodel\n", printed) == ["model\n"]


def test_the_installation_is_not_repeated() -> None:
    line = "python3 -m venv .venv && .venv/bin/pip install --quiet . && .venv/bin/smc-dp run"
    assert lines_of(f"{line}\nls a \\\n  b\n") == [".venv/bin/smc-dp run", "ls a    b"]
    assert lines_of(".venv/bin/pip install --quiet --editable '.[docs]' && .venv/bin/python .ci/docs.py") == [
        ".venv/bin/python .ci/docs.py"
    ]
