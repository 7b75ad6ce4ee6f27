"""The operators' pages are followed word for word, by organisations with a folder each, over a real nats-server."""

from __future__ import annotations

import re
import shutil
import subprocess
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest
from support.organisations import (
    CHARGED_ONCE,
    INSTALLED,
    OF_THE_MACHINE,
    ROOT,
    Organisation,
    Seen,
    entries,
    in_common,
    loaded,
    organisations,
    until,
)
from support.pages import blocks
from support.relays import free_port, without_server

from smc_dp.core.documents import Document
from smc_dp.data.format_sections import FileSection
from smc_dp.deploy.site_policy import RelaySection, SiteLimits, SitePolicy

PAGE, FLARE, OWN_TOML, OFFICER, REFERENCE = (
    (ROOT / "smc_dp" / "deploy" / name).read_text(encoding="utf-8")
    for name in ("HOWTO_NATS.md", "HOWTO_FLARE.md", "HOWTO_OWN_TOML.md", "HOWTO_OFFICER.md", "README.md")
)
FAULTS = ROOT / "smc_dp" / "deploy" / "faults.toml"
ADDRESS = "relay.example:4222"
"""The one thing on the page that is not taken as it stands."""
LOOKS = 0.005  # seconds between two looks at programs that go on
EVERYBODY = ("north", "south", "west", "charlie", "relay")
PARTIES = EVERYBODY[:3]
GOING_ON = ("nats-server ", "smc-dp join ", "smc-dp serve ")
RELAY, AFTERWARDS = "4. Start the relay", "6. Afterwards"
BEFORE_A_STUDY, AFTER_A_STUDY = "1. Before the study", "2. After the study"
NAMES = r"\w+(?:(?:, | and )\w+)*"
PLACE = re.compile(rf"At (\w+)(?:, and likewise at ({NAMES}))?(?:, `([\w.]+)`)?:")
HANDED = re.compile(
    rf"Hand over `([^`]+)` from (\w+) to ({NAMES})(?: as `(\w+)`)?(?:, and likewise (from|to) ({NAMES}))?\..*"
)


@dataclass(frozen=True)
class Step:
    """What the page says under a heading: commands, or what is in a file, at one place; or a file that goes on `to`."""

    heading: str
    at: str
    text: str
    file: str = ""
    to: str = ""


def steps(page: str) -> Iterator[Step]:
    """What is to be done, in the order of the page; what is done likewise elsewhere, with its name for the first."""
    heading, place, held = "", None, None
    for line in page.splitlines():
        if held is not None and line != "```":
            held.append(line)
        elif held is not None:
            if place is not None:
                for name in (place[1], *listed(place[2])):
                    yield Step(heading, name, "\n".join(held).replace(place[1], name), place[3] or "")
            place, held = None, None
        elif line.startswith("```"):
            held = []
        elif line.startswith("#"):
            heading = line.lstrip("# ")
        elif line.startswith("Hand over"):
            yield from handed_over(heading, line)
        elif line.startswith("At ") and line.endswith(":"):
            place = PLACE.fullmatch(line)


def handed_over(heading: str, line: str) -> Iterator[Step]:
    found = HANDED.fullmatch(line)
    assert found, line
    what, giver, takers, called, way, others = found.groups()
    for taker in listed(takers):
        yield Step(heading, giver, what, called or what, taker)
    for name in listed(others):
        one = giver if way == "from" else takers
        renamed = what.replace(one, name)
        yield Step(
            heading, name if way == "from" else giver, renamed, called or renamed, takers if way == "from" else name
        )


def listed(names: str | None) -> list[str]:
    return re.split(r", | and ", names) if names else []


def lines(text: str) -> list[str]:
    return text.replace("\\\n", " ").splitlines()


def follow(step: Step, everybody: dict[str, Organisation], address: str) -> str:
    """Do it, and return what its commands printed that end by themselves."""
    printed = ""
    one, text = everybody[step.at], step.text.replace(ADDRESS, address)
    if step.to:
        found, place = one.folder / text, everybody[step.to].folder / step.file
        (shutil.copytree if found.is_dir() else shutil.copy)(found, place)
    elif step.file:
        (one.folder / step.file).write_text(text, encoding="utf-8")
    else:
        for line in lines(text):
            if any(word in line for word in GOING_ON):
                one.start(line)
            else:
                printed += one.run(line)
    return printed


def rows(folder: Path, count: int) -> None:
    """The rows of a hospital, as its own system writes them, and those of new patients; days show whose they are."""
    cells = [
        (20 + i % 75, f"{i % 30},{count}{i:04}", "fm"[i % 2], "yes" if i % 30 > 12 else "no") for i in range(count)
    ]
    table = ["age;days;sex;back", *(";".join(map(str, row)) for row in cells)]
    (folder / "rows.csv").write_text("\n".join(table) + "\n")
    (folder / "new.csv").write_text("age;days;sex\n44;3;f\n81;29,5;m\n")


def kill_and_go_on(one: Organisation, line: str) -> None:
    """Once it has a state, it is killed, and the same command again goes on."""
    until("a state", lambda: bool(one.stands()), look=LOOKS)
    one.kill(line)
    one.start(line)


def wait_for(sites: Sequence[Organisation]) -> dict[str, Seen]:
    """For the end of all their programs, which has to be a good one; what was seen of each."""
    seen = {site.name: Seen() for site in sites}

    def are_over() -> bool:
        going = [(site.name, process) for site in sites for process in site.started.values()]
        for name, process in going:
            seen[name].look(process.pid)
        return all(process.poll() is not None for _, process in going)

    until("the end of all", are_over, 480, LOOKS)
    for site in sites:
        for line in list(site.started):
            assert site.ended(line) == 0, site.said
    return seen


def check_apart(everybody: Mapping[str, Organisation], seen: Mapping[str, Seen], port: int) -> None:
    """Sites have no file, no folder and no variable in common, connect to the relay alone and listen nowhere; no key
    and no cell is in the folder of another.
    """
    assert list(in_common(seen, INSTALLED)) == []
    for name, found in seen.items():
        folder = everybody[name].folder
        assert {str(folder / f"study.{name}.state" / "site.db"), str(folder)} <= found.files
        assert f"HOME={folder}" in found.variables
        assert found.ports == {port}
        secrets = [bytes.fromhex((folder / f"{name}.key").read_text()), (folder / f"{name}.key").read_bytes().strip()]
        if name in PARTIES:
            secrets.append((folder / "rows.csv").read_bytes().split(b";")[4])
        for other in set(EVERYBODY) - {name}:
            content = b"".join(p.read_bytes() for p in everybody[other].folder.rglob("*") if p.is_file())
            assert not [secret for secret in secrets if secret in content]


def test_a_file_that_two_processes_have_open_is_noticed(tmp_path: Path) -> None:
    (tmp_path / "common").touch()
    seen = {"one": Seen(), "other": Seen()}
    for name, found in seen.items():
        with (tmp_path / "common").open() as common:
            process = subprocess.Popen(["/bin/sleep", "60"], stdin=common, env={"HOME": name, "KEY": "the same"})
        place = Path(f"/proc/{process.pid}")  # the kernel names a new programme before it has laid out its variables
        for file, word in (("cmdline", b"sleep"), ("environ", b"KEY=")):
            until(file, lambda path=place / file, word=word: word in path.read_bytes(), look=LOOKS)  # type: ignore[misc]
        found.look(process.pid)
        process.kill()
        process.wait()
    said = " ".join(in_common(seen, OF_THE_MACHINE))
    assert f"one and other have {tmp_path / 'common'}" in said
    assert "one and other have KEY=the same" in said
    assert "HOME" not in said


@pytest.mark.parametrize("page", [PAGE, FLARE], ids=["nats", "flare"])
def test_every_block_of_a_page_is_followed_but_the_installation(page: str) -> None:
    found = [block.text.rstrip("\n") for block in blocks(page) if block.language in ("sh", "toml")]
    followed = {step.text for step in steps(page)}
    assert [text for text in found if text not in followed] == [found[0]]
    assert "pip install" in found[0]


def test_everybody_has_a_part_and_nothing_is_handed_over_but_public_keys_and_credentials() -> None:
    followed = list(steps(PAGE))
    assert {step.at for step in followed} == set(EVERYBODY)
    assert [step.text for step in followed if step.to == "charlie" and step.at in PARTIES] == [
        f"{n}.pub" for n in PARTIES
    ]
    assert {step.to for step in followed if step.file == "credentials"} == set(EVERYBODY[:-1])


def test_every_block_of_the_other_pages_is_followed() -> None:
    for page, headings in ((OWN_TOML, 3), (OFFICER, 2)):
        found = [block.text.rstrip("\n") for block in blocks(page) if block.language in ("sh", "toml")]
        assert [step.text for step in steps(page)] == found
        assert len({step.heading for step in steps(page)}) == headings
    assert {step.heading for step in steps(OFFICER)} == {BEFORE_A_STUDY, AFTER_A_STUDY}


def unexplained(page: str) -> set[str]:
    """The codes of what does not fit a site policy that no row of the page's table names."""
    known = {f"terms.{name}" for name in tomllib.loads(FAULTS.read_text(encoding="utf-8"))["terms"]}
    return known - set(re.findall(r"`(terms\.\w+)`", " ".join(re.findall(r"^\| `.*", page, flags=re.MULTILINE))))


def test_the_page_explains_every_fault_of_a_policy() -> None:
    assert unexplained(OWN_TOML) == set()
    assert unexplained(OWN_TOML.replace("| `terms.purposes` |", "| |")) == {"terms.purposes"}


def missing_keys(page: str) -> set[str]:
    """The keys of `own.toml` that no row of the page's tables names."""
    sections: tuple[type[Document], ...] = (SitePolicy, FileSection, SiteLimits, RelaySection)
    known = {name for section in sections for name in section.model_fields}
    return known - set(re.findall(r"\w+", " ".join(line for line in page.splitlines() if line.startswith("| `"))))


def test_the_page_has_every_key_of_own_toml() -> None:
    assert missing_keys(REFERENCE) == set()
    assert missing_keys(REFERENCE.replace("| `purposes` |", "| |")) == {"purposes"}


def read_before_a_study(everybody: dict[str, Organisation], address: str) -> None:
    """Follow what the other pages say of the time before a study; its policy fits, and the papers show the example."""
    example = " ".join(re.findall(r"^> (.*)$", OFFICER, flags=re.MULTILINE))
    for step in steps(OWN_TOML):
        follow(step, everybody, address)
    for step in steps(OFFICER):
        if step.heading == BEFORE_A_STUDY:
            assert "No problems: " in follow(step, everybody, address)
    shown = (everybody["north"].folder / "study.txt").read_text(encoding="utf-8")
    assert example
    assert example in shown


def wrong_first_sheet(page: str, said: str) -> list[str]:
    """The headings of an audit's page, unless those before the annex are the rows of the table that describes them."""
    headings = re.findall(r"<h2[^>]*>([^<]+)</h2>", page)
    rows = re.findall(r"^\| ([A-Z][^|]+) \|", said, flags=re.MULTILINE)
    annex = "".join(headings[len(rows) :][:1])
    return [] if headings[: len(rows)] == rows and annex.startswith("Annex: ") else headings


@without_server
@pytest.mark.slow
def test_the_page_leads_to_one_release_at_every_site(tmp_path: Path) -> None:
    with loaded(tmp_path / "door") as program, organisations(tmp_path, EVERYBODY, program) as everybody:
        port = free_port()
        address, sites, seen = f"127.0.0.1:{port}", [everybody[name] for name in EVERYBODY[:-1]], dict[str, Seen]()
        for name, count in zip(PARTIES, (600, 450, 300), strict=True):
            rows(everybody[name].folder, count)
        heading = ""
        for step in steps(PAGE):
            if step.heading == RELAY != heading:
                read_before_a_study(everybody, address)
            heading = step.heading
            if step.heading == AFTERWARDS and not seen:
                seen = wait_for(sites)
                check_apart(everybody, seen, port)
            follow(step, everybody, address)
            if step.at == "north" and "smc-dp join" in step.text:
                kill_and_go_on(everybody["north"], step.text)
        for step in steps(OFFICER):
            if step.heading == AFTER_A_STUDY:
                follow(step, everybody, address)
        audited = (everybody["north"].folder / "audit.html").read_text(encoding="utf-8")
        assert wrong_first_sheet(audited, OFFICER) == []
        assert wrong_first_sheet(audited, OFFICER.replace("| Signature |", "| |")) != []
        releases = {name: everybody[name].folder / f"study.{name}.state" / "run" / "release.json" for name in PARTIES}
        releases["charlie"] = everybody["charlie"].folder / "published" / "release.json"
        assert len({path.read_bytes() for path in releases.values()}) == 1
        for name in PARTIES:
            assert entries(everybody[name].folder / f"{name}.ledger") == CHARGED_ONCE
