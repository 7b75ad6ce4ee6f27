"""A run folder, views or identities from a stranger: the worst that happens is one line and exit code 2, or a failed
check and exit code 1; never a traceback, never much memory or time, never a file outside the folder.

Folders of honest runs are changed at places and to values that hypothesis chooses.
"""

from __future__ import annotations

import base64
import hashlib
import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import cbor2
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from support import forgeries as f
from support.audited import Folders, long_term, toy_run
from support.audits import OF_THE_RUN, Verdict, audit, command

from protocols.pathak2010.parameters import Parameters
from protocols.runtime.envelope import START, Envelope
from protocols.runtime.transcript import encode_line, link
from smc_dp.audit.run.checks import audit_run
from smc_dp.audit.run.evidence import MAX_TRANSCRIPT_BYTES
from smc_dp.audit.run.time_budget import DEFAULT_SECONDS
from smc_dp.run.release import RELEASE, SHARES, TIMINGS, TRANSCRIPT
from smc_dp.run.transcript_lines import LEAST_LINE
from tests.support.refusals import refused

EVERYDAY, SLOW = 3, 100  # examples of each property
_TOY_RUNS = ("order", "rounds", "completeness", "headers")  # half a second each: for the slow tests
QUICK = [check for check in OF_THE_RUN if check.name not in _TOY_RUNS]
MOST_SECONDS, MOST_BYTES = 60, 1 << 30
HERE = "@@here@@"

# Texts that stand where a JSON value should.
HOSTILE = [
    *("null", "true", "[]", "{}", '""', "0", "-1", "1.0", "-0.0", "1e308", "NaN", "Infinity", "1e999"),
    *("18446744073709551616", "-" + "9" * 300, "9" * 4000, "9" * 5000, '"' + "9" * 5000 + '"', '"1/0"', '"0"', '"²"'),
    *('"../../etc/passwd"', '"\\u0000"', '"\\ud800"', '"\\u202e\\u001b[31m[bold]x[/]"', '"\\n\\r\\u2028"'),
    *('{"a":1,"a":2}', "[[[[[[]]]]]]", "[" * 3000 + "]" * 3000, '{"a":' * 3000 + "1" + "}" * 3000, "[0", '"'),
    *('"' + "A" * 100_000 + '"', "[" + ",".join("0" * 5000) + "]", '["charlie"]', '{"charlie":[]}', '"charlie"'),
    *(f"{2**31}", f"{2**63 - 1}", '"' + "f" * 64 + '"', '"' + "0" * 64 + '"', '"' + " f" * 32 + '"'),
]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Folders:
    folder = tmp_path_factory.mktemp("made")
    identities = long_term(("north-0", "north-1"))
    found = toy_run(folder, (9, 5), 1, identities=identities, key_bits=256)
    pinned = {name: identity.public.hex() for name, identity in identities.items()}
    (folder / "identities.json").write_text(json.dumps(pinned))
    return found


@pytest.fixture
def copy(made: Folders, tmp_path: Path) -> Folders:
    return copied(made, tmp_path / "copy")


def copied(made: Folders, folder: Path) -> Folders:
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(made.run.parent, folder)
    return Folders(folder / "run", folder / "views")


def test_a_fault_that_several_checks_meet_is_told_once(copy: Folders) -> None:
    release = json.loads((copy.run / RELEASE).read_text())
    release["privacy"]["epsilon"] = "x"
    (copy.run / RELEASE).write_text(json.dumps(release))
    found = [finding.outcome for finding in audit_run(copy.run).findings]
    told = [
        str(outcome.fault) for outcome in found if outcome.status == "failed" and outcome.code != "check.same_fault"
    ]
    assert len(set(told)) == len(told)
    assert [outcome.status for outcome in found if outcome.code == "check.same_fault"] == ["failed"] * 5


def arguments(folders: Folders) -> list[str]:
    identities = folders.run.parent / "identities.json"
    return [str(folders.run), "--views", str(folders.views), "--identities", str(identities)]


def harmless(found: Verdict, most: int = 4) -> Verdict:
    """Whatever was put in, this is how it must end; `most`: faults. One change gave an audit two in 10,000 tries."""
    assert found.code in (0, 1, 2)
    if found.code == 2:
        assert found.out == ""
        *faults, end = found.err.split("\n")
        assert (end, 1 <= len(faults) <= most) == ("", True)
        assert all(fault.startswith("error: ") and len(fault) < 1000 for fault in faults)  # 400 of a long file name
    for text in (found.out, found.err):
        assert all(character.isprintable() or character == "\n" for character in text)
    return found


def test_the_honest_run_passes(made):
    assert harmless(audit(*arguments(made))).code == 0


# Values at places of JSON files.


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The path of every value in a document, but its own."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in items:
        yield (*path, key)
        yield from places(inner, (*path, key))


@st.composite
def changed(draw: st.DrawFn, text: str) -> str:
    """A JSON text with one thing in it changed."""
    document = json.loads(text)
    *path, last = draw(st.sampled_from(list(places(document))))
    place = document
    for key in path:
        place = place[key]
    how = draw(st.sampled_from(("value", "value", "value", "key", "drop", "twice")))
    if how == "value" or (how in ("key", "twice") and not isinstance(place, dict)):
        place[last] = HERE
        return json.dumps(document).replace(f'"{HERE}"', draw(st.sampled_from(HOSTILE)))
    value = place.pop(last)
    if how == "key":
        place[draw(st.sampled_from(["", "../x", "\x1b[2J", "\u202e", "A" * 9999, "parties"]))] = value
    if how == "twice":
        place[HERE] = value
        written = json.dumps(value)
        return json.dumps(document).replace(f'"{HERE}": {written}', f'"{last}": {written}, "{last}": {written}')
    return json.dumps(document)


def hostile(made: Folders, name: str, change: Callable[[bytes], bytes], of: Any = QUICK) -> None:
    """Audit a copy of the run in which one file is another; of views the auditor is given no other."""
    folders = copied(made, made.run.parent.parent / "hostile")
    path = folders.run.parent / name
    path.write_bytes(change(path.read_bytes()))
    for other in folders.views.iterdir() if path.suffix == ".view" else ():
        if other != path:
            other.unlink()
    harmless(audit(*arguments(folders), of=of))


def changed_file(data: st.DataObject, name: str) -> Callable[[bytes], bytes]:
    """A change of one value of a JSON file, in a transcript of one line, at any depth."""

    def change(content: bytes) -> bytes:
        lines = content.decode().splitlines() if name.endswith(TRANSCRIPT) else [content.decode()]
        n = data.draw(st.just(0) | st.integers(0, len(lines) - 1))
        lines[n] = data.draw(changed(lines[n]))
        return ("\n".join(lines) + "\n").encode(errors="surrogatepass")

    return change


FILES = [f"run/{RELEASE}", f"run/{SHARES}", f"run/{TRANSCRIPT}", f"run/{TIMINGS}", "identities.json"]
RARE = [pytest.param(name, marks=pytest.mark.slow) for name in FILES if name != f"run/{TRANSCRIPT}"]
_SHARED = {"derandomize": True, "suppress_health_check": list(HealthCheck), "database": None}


def many(examples: int) -> Any:
    return pytest.mark.parametrize("examples", [EVERYDAY, pytest.param(examples, marks=pytest.mark.slow)])


@many(SLOW // 5)
@pytest.mark.parametrize("name", FILES)
def test_hostile_values_anywhere(made, name, examples):
    """Every day without the checks that take long."""

    @given(st.data())
    @settings(max_examples=examples, **_SHARED)
    def holds(data: st.DataObject) -> None:
        hostile(made, name, changed_file(data, name), QUICK if examples == EVERYDAY else OF_THE_RUN)

    holds()


@pytest.mark.parametrize("name", [RELEASE, SHARES])
@given(st.data())
@settings(max_examples=EVERYDAY, **_SHARED)
def test_a_prediction_from_a_hostile_folder(made, name, data):
    folders = copied(made, made.run.parent.parent / "predicted")
    path = folders.run / name
    path.write_text(data.draw(changed(path.read_text())), errors="surrogatepass")
    table = folders.run.parent / "rows.csv"
    table.write_text("x0\n0.5\n")
    harmless(command("predict", str(folders.run), "--data", str(table)), most=15)  # ten without all parameters


# Bytes.


@st.composite
def cut_up(draw: st.DrawFn, content: bytes) -> bytes:
    """Bytes with some of them changed, left out or put in."""
    at = draw(st.integers(0, len(content)))
    to = min(len(content), at + draw(st.integers(0, 40)))
    piece = draw(st.binary(max_size=40) | st.sampled_from([b"\n", b"\r\n", b"\xff", b"\x00" * 20, b'"', b"[" * 5000]))
    return content[:at] + piece + (content[to:] if draw(st.booleans()) else b"")


@pytest.mark.parametrize("name", [*FILES, "views/1.view"])
@given(st.data())
@settings(max_examples=EVERYDAY - 1, **_SHARED)
def test_hostile_bytes_anywhere(made, name, data):
    hostile(made, name, lambda content: data.draw(cut_up(content)))


# Views.

ODD = [
    *(None, True, -1, 0, 2**63, 2**64, -(2**70), 1.5, "", "charlie", "\x1b[2J", b"", bytes(32), b"\xff" * 5000),
    *([], [[]], {}, {1: 2}, ["int", b""], ["int", b"\xff" * 9000], ["plain", None], ["tuple", []], ["list", [[]]]),
    *(["record PartyInput", []], ["record Parameters", []], ["record PublicKey", [["int", b"\x09"]] * 2]),
    *(["record Nobody", []], ["dict", [[["list", []], ["plain", 1]]]], ["tuple", [["plain", 1]] * 3000]),
    *(cbor2.CBORTag(35, "(a+)+$"), cbor2.CBORTag(5, [2**62, 1]), cbor2.CBORTag(29, 0), cbor2.CBORTag(258, [1, 2])),
]


def of_view(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    yield path
    for i, inner in enumerate(value if isinstance(value, list) else ()):
        yield from of_view(inner, (*path, i))


@st.composite
def changed_view(draw: st.DrawFn, content: bytes) -> bytes:
    """A view with one value of it changed, at any depth of its encoding."""
    holder = [cbor2.loads(content)]
    path = draw(st.sampled_from(list(of_view(holder[0]))))
    place: Any = holder
    for i in (0, *path)[:-1]:
        place = place[i]
    place[(0, *path)[-1]] = ODD[draw(st.integers(0, len(ODD) - 1))]
    return cbor2.dumps(holder[0], canonical=draw(st.booleans()))


@many(SLOW)
@pytest.mark.parametrize("name", ["1.view", "2.view", "3.view"])
def test_hostile_values_in_views(made, name, examples):
    @given(st.data())
    @settings(max_examples=examples, **_SHARED)
    def holds(data: st.DataObject) -> None:
        hostile(made, f"views/{name}", lambda content: data.draw(changed_view(content)))

    holds()


# What stands where a file should.


def in_place_of(path: Path, what: str) -> None:
    path.unlink()
    if what == "link":
        outside = path.parent.parent / "outside"
        outside.write_text('{"secret": "outside"}')
        path.symlink_to(outside)
    elif what == "device":
        path.symlink_to("/dev/zero")
    elif what == "dangling":
        path.symlink_to("nowhere")
    elif what == "folder":
        path.mkdir()
    elif what == "pipe":
        os.mkfifo(path)
    elif what == "empty":
        path.touch()
    elif what == "huge":
        with path.open("wb") as file:
            file.truncate(1 << 40)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="links, pipes and devices as POSIX has them")
@pytest.mark.parametrize("what", ["missing", "link", "device", "dangling", "folder", "pipe", "empty", "huge"])
@pytest.mark.parametrize("name", [*RARE, f"run/{TRANSCRIPT}", "views/1.view"])
def test_only_plain_files_of_the_folder_are_read(copy, name, what):
    in_place_of(copy.run.parent / name, what)
    start = time.monotonic()
    found = harmless(audit(*arguments(copy), of=QUICK))
    assert time.monotonic() - start < 20
    assert "outside" not in found.out + found.err
    if name == f"run/{TIMINGS}":  # nobody needs it: only its digest is looked at
        assert found.code == (0 if what == "missing" else found.code)
    elif (name, what) == ("views/1.view", "missing"):
        assert found.code == 0
    else:
        assert found.code == 2
    if name == f"run/{SHARES}":
        (copy.run.parent / "rows.csv").write_text("x0\n0.5\n")
        harmless(command("predict", str(copy.run), "--data", str(copy.run.parent / "rows.csv")))


@pytest.mark.parametrize("folder", ["", "x" * 300, "/dev/null", "\udcff\udcfe", "[red]", "\x1b[2J"])
def test_names_of_folders(made, folder):
    for given_ in ([folder], [str(made.run), "--views", folder], [str(made.run), "--identities", folder]):
        assert harmless(audit(*given_, of=QUICK)).code == 2


# What a terminal would obey.


def test_names_on_the_screen_are_escaped(copy):
    evil = "\x1b]0;owned\x07\u202egpj.exe[bold red]x[/bold red]"
    path = copy.run / TRANSCRIPT
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    for line in lines[1:]:
        line["from"] = line["kind"] = line["stage"] = evil
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    release = json.loads((copy.run / RELEASE).read_text())
    release["privacy"]["adversary"] = release["parameters"]["method"] = evil
    release[evil] = evil
    (copy.run / RELEASE).write_text(json.dumps(release))
    for options in ([], ["--json"]):
        found = harmless(audit(*arguments(copy), *options))
        assert found.code == 1
        assert "\x1b" not in found.out
        assert "\u202e" not in found.out


# Memory and time.

# A process that has loaded what an audit needs, so that each audit, in a fork, adds to its memory nothing else. With
# limits that are so many times smaller, what an audit takes and keeps counts so many times.
SMALLER = 16
_MEASURED = """
import json, os, sys, time
from smc_dp.audit.run import evidence
from smc_dp.cli.main import main
from smc_dp.run import transcript_lines
def peak(): # what the kernel says of resource.ru_maxrss begins with the size of whoever started this process
    return 1024 * next(int(line.split()[1]) for line in open("/proc/self/status") if line.startswith("VmHWM:"))
told, smaller = os.dup(1), int(sys.argv[1])
os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
main(["audit", *sys.argv[2:]])
for module, limits in (evidence, "MAX_TRANSCRIPT_BYTES _MAX_REPLAYED"), (transcript_lines, "_KEPT _KEPT_LINES"):
    for limit in limits.split():
        setattr(module, limit, getattr(module, limit) // smaller)
for line in sys.stdin:
    if os.fork() == 0:
        factor, *arguments = json.loads(line)
        before = peak(), time.process_time()
        code = main(["audit", *arguments])
        memory, seconds = (start + factor * (end - start) for start, end in zip(before, (peak(), time.process_time())))
        os.write(told, f"{code} {memory} {seconds}\\n".encode())
        os._exit(0)
    if os.waitstatus_to_exitcode(os.wait()[1]):
        sys.exit(f"no verdict: {line}")
"""
Measured = Callable[..., tuple[int, int, float]]


@pytest.fixture(scope="module")
def measured(made: Folders) -> Iterator[Measured]:
    """Exit code, largest memory in bytes, processor seconds of an audit in a process of its own."""
    words = [sys.executable, "-c", _MEASURED, str(SMALLER), str(made.run)]
    process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdin
    assert process.stdout

    def measure(*given_: str, factor: int = SMALLER) -> tuple[int, int, float]:
        print(json.dumps([factor, *given_]), file=process.stdin, flush=True)
        code, memory, seconds = process.stdout.readline().split()
        return int(code), int(memory), float(seconds)

    yield measure
    _, printed = process.communicate()
    assert "Traceback" not in printed
    assert process.returncode == 0


def line_of(kind: str, body: int) -> bytes:
    line = {"from": "north-0", "to": "north-1", "kind": kind, "stage": "stage1", "number": 1, "round": 2}
    return json.dumps(line | {"chain": "00" * 32, "body": "A" * body}).encode() + b"\n"


def absence() -> bytes:
    line = {"from": "north-0", "to": "north-1", "kind": "Absent", "stage": "stage1", "missing": "Relay", "read": 0}
    return json.dumps(line | {"size": 0, "prev": "00" * 32, "digest": ""}).encode() + b"\n"


LONGEST = MAX_TRANSCRIPT_BYTES // SMALLER
BOMBS: dict[str, tuple[str, bytes, int]] = {
    "lists in the release": (f"run/{RELEASE}", b"[],", (1 << 25) - 10),
    "a text of spaces": (f"run/{SHARES}", b" ", (1 << 25) - 10),
    "empty lines": (f"run/{TRANSCRIPT}", b"\n", LONGEST),
    "one line of lists": (f"run/{TRANSCRIPT}", b"[],", LONGEST),
    "many short messages": (f"run/{TRANSCRIPT}", line_of("Relay", 4), LONGEST),
    "lines as short as can be": (f"run/{TRANSCRIPT}", b" " * (LEAST_LINE - 1) + b"\n", LONGEST),
    "nothing but absences": (f"run/{TRANSCRIPT}", absence(), LONGEST),
    "long messages": (f"run/{TRANSCRIPT}", line_of("Relay", 1 << 20), LONGEST - (1 << 20)),
    "greetings": (f"run/{TRANSCRIPT}", line_of("Hello", 128), LONGEST // 6),
    "empty arrays": ("views/1.view", b"\x80", 1 << 26),
    "long integers": ("views/1.view", b"\x82\x63int\x59\x20\x00" + b"\x01" * 8192, 1 << 26),
}


def exploding(made: Folders, folder: Path, name: str) -> Folders:
    """A copy of the run with one file filled up with a piece; a transcript keeps its line 0."""
    folders = copied(made, folder)
    file, piece, length = BOMBS[name]
    path = folders.run.parent / file
    head = path.read_bytes().split(b"\n")[0] + b"\n" if path.name == TRANSCRIPT else b""
    if path.suffix == ".view":
        head = b"\x9a" + (length // len(piece)).to_bytes(4, "big")
    elif path.suffix == ".json":
        head = b'{"a":['
    length -= len(head)
    path.write_bytes(head + piece * (length // len(piece)))
    return folders


@pytest.mark.slow
@pytest.mark.parametrize("name", BOMBS)
def test_memory_and_time_are_bounded(made, measured, tmp_path, name):
    """A transcript, and its limits, are a sixteenth of what may be."""
    factor = SMALLER if BOMBS[name][0] == f"run/{TRANSCRIPT}" else 1
    code, memory, seconds = measured(*arguments(exploding(made, tmp_path / "bomb", name)), factor=factor)
    assert code in (1, 2)
    assert memory < MOST_BYTES
    assert seconds < MOST_SECONDS


def chained(folders: Folders, lines: int, body: int = 0) -> Folders:
    """The record replaced by one of short letters that hang together by every digest; `lines` 0: as many as may be."""
    found = f.read_record(folders.run)
    prev = hashlib.sha256(encode_line(found.head)).digest()
    session, chain, size, n = bytes.fromhex(found.head["session"]), START, 10_000, 0
    with (folders.run / TRANSCRIPT).open("wb") as file:
        file.write(encode_line({**found.head, "digest": prev.hex()}) + b"\n")
        while n < lines or (not lines and size < LONGEST):
            e = Envelope(session, "north-0", "charlie", "Relay", "s", n, 2, chain, bytes(body))
            chain, before, prev, n = e.digest, prev, link(prev, e.digest), n + 1
            fields = {"from": e.sender, "to": e.to, "kind": e.kind, "stage": e.stage, "number": e.number, "round": 2}
            fields |= {"size": e.size, "chain": e.prev.hex(), "body": base64.b64encode(e.body).decode(), "n": n}
            text = encode_line({**fields, "prev": before.hex(), "digest": prev.hex()}) + b"\n"
            size += file.write(text)
    return folders


@pytest.mark.slow
@pytest.mark.parametrize(
    ("lines", "body", "views"),
    [(0, 0, False), ((1 << 18) // SMALLER - 1, 450, True)],  # the most lines, and beside views: fewer hold no more
    ids=["the most of the shortest lines", "the most lines and views"],
)
def test_a_long_record_that_hangs_together_fits_into_memory(made, measured, tmp_path, lines, body, views):
    """No check may keep what it has read of every line. The record, and all limits, are a sixteenth of what may be."""
    folders = chained(copied(made, tmp_path / "long"), lines, body)
    assert LONGEST * 0.9 < (folders.run / TRANSCRIPT).stat().st_size <= LONGEST
    given_ = [str(folders.run), "--seconds", f"{DEFAULT_SECONDS / SMALLER:.0f}"]
    given_ += ["--views", str(folders.views)] if views else []
    code, memory, seconds = measured(*given_)
    assert code == 1
    assert memory < MOST_BYTES
    assert seconds < 2 * MOST_SECONDS  # on a shared machine; what grows faster than the record comes to more


def of_a_hundred(folders: Folders, size: int) -> Folders:
    """The record replaced by one that states a hundred parties, and nonsense after it."""
    names = (*(f"p{j}" for j in range(100)), "charlie")
    head = f.read_record(folders.run).head
    head |= {
        "parameters": Parameters(names[:-1], 1, 256).as_dict(),
        "identities": {n: os.urandom(32).hex() for n in names},
    }
    line = line_of("Relay", 300)
    with (folders.run / TRANSCRIPT).open("wb") as file:
        file.write(encode_line({**head, "digest": "00" * 32}) + b"\n")
        for _ in range(size // len(line)):
            file.write(line)
    return folders


@pytest.mark.slow
def test_no_schedule_is_learnt_for_the_nonsense_of_a_hundred_parties(made, measured, tmp_path):
    """It took minutes: the conversation of a hundred parties was learnt first. The longest file has a test above."""
    folders = of_a_hundred(copied(made, tmp_path / "hundred"), LONGEST // 2)
    code, memory, seconds = measured(str(folders.run), factor=1)
    assert code in (1, 2)
    assert memory < MOST_BYTES
    assert seconds < 10


def test_many_values_are_refused_before_they_are_made(made, tmp_path):
    for file, piece in ((f"run/{RELEASE}", b"[],"), ("views/1.view", b"\x81")):
        folders = copied(made, tmp_path / "bomb")
        path = folders.run.parent / file
        head = b"\x9a\x00\x60\x00\x00" if path.suffix == ".view" else b""
        path.write_bytes(head + piece * (3 << 20))
        found = harmless(audit(*arguments(folders), of=QUICK))
        assert found.code == 2
        assert "values" in found.err or "too large" in found.err


def test_a_session_with_keys_that_take_minutes_is_not_replayed(copy):
    path = copy.run / TRANSCRIPT
    path.write_text(path.read_text().replace('"key_bits":256', '"key_bits":16384', 1))
    with refused("views.keys_too_long", parameter="key_bits"):
        copy.evidence()
