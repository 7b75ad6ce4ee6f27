"""Every demo runs from an empty folder and ends well; and what it shows a reader is what the record says."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path
from xml.etree import ElementTree

import pytest
from support.demos import here
from support.pathak import trial
from support.relays import without_server

from protocols.runtime.diagram import arrows, diagram, mermaid
from smc_dp.audit.run.sequence import sequence

ROOT = Path(__file__).resolve().parent.parent
DEMOS = sorted(path.name for path in (ROOT / "demos").glob("*.py"))
SLOW = {
    *{"audit_a_run.py", "epsilon_curve.py", "federation_on_one_machine.py", "learn_from_sums.py", "own_exports.py"},
    *{"plan_first.py", "read_a_transcript.py", "separate_processes.py", "three_hospitals.py", "with_scikit_learn.py"},
}
# In a process of their own; the others run in that of the test, where most of what they import is loaded already.
ALONE = {"audit_a_run.py", "epsilon_curve.py", "federation_on_one_machine.py", "separate_processes.py"}
OPTIONS = {"recover_a_record.py": ("--page", "found.html")}
NEEDS_A9A = {"epsilon_curve.py"}
NEEDS_NATS = {"federation_on_one_machine.py"}
# A site of one's own takes more lines than a simulation; so do files as three systems write them, and three panels.
LONG = {
    "epsilon_curve.py": 83,
    "federation_on_one_machine.py": 170,
    "own_exports.py": 110,
    "separate_processes.py": 131,
}
HAS_A9A = (Path(os.environ.get("SMC_DP_DATA", "/nowhere")) / "a9a" / "a9a.gz").is_file()


def run(folder: Path, demo: str, *options: str) -> tuple[object, str]:
    """The exit code of the demo in a process of its own, started in `folder`, and what it printed."""
    path = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
    variables = os.environ | {"PYTHONPATH": path, "MPLBACKEND": "Agg", "PYTHONUTF8": "1"}
    command = [sys.executable, str(ROOT / "demos" / demo), *options]
    done = subprocess.run(command, cwd=folder, env=variables, capture_output=True, text=True, timeout=600, check=False)
    return done.returncode, done.stdout or done.stderr


def run_here(capsys: pytest.CaptureFixture[str], demo: str, *options: str) -> tuple[object, str]:
    """The same in this process."""
    try:
        here(demo, *options)
    except SystemExit as ended:
        return ended.code or 0, capsys.readouterr().out
    return 0, capsys.readouterr().out


def refusal(capsys: pytest.CaptureFixture[str], demo: str, *options: str) -> tuple[object, str, str]:
    """The exit code of a demo in this process, and what it printed."""
    with pytest.raises(SystemExit) as ended:
        here(demo, *options)
    return ended.value.code, *capsys.readouterr()


def marked(demo: str) -> object:
    needed = pytest.mark.skipif(not HAS_A9A, reason="a9a is not there: SMC_DP_DATA names no folder with a9a/a9a.gz")
    found = ((pytest.mark.slow, SLOW), (needed, NEEDS_A9A), (without_server, NEEDS_NATS))
    marks = [mark for mark, demos in found if demo in demos]
    return pytest.param(demo, marks=marks)


def test_the_lists_above_name_demos_that_exist():
    assert set(DEMOS) >= SLOW | NEEDS_A9A | NEEDS_NATS | set(LONG)
    assert len(DEMOS) >= 4


@pytest.mark.filterwarnings("ignore::smc_dp.core.errors.RowsClippedWarning")  # it is no error outside of a test
@pytest.mark.parametrize("demo", [marked(demo) for demo in DEMOS])
def test_the_demo_runs_and_agrees_with_itself(tmp_path, monkeypatch, capsys, demo):
    monkeypatch.chdir(tmp_path)
    options = OPTIONS.get(demo, ())
    code, out = run(tmp_path, demo, *options) if demo in ALONE else run_here(capsys, demo, *options)
    assert (code, out != "") == (0, True), out
    if demo == "recover_a_record.py":
        page = (tmp_path / "found.html").read_text(encoding="utf-8")
        assert page.count("As published, epsilon ") == page.count("With a proof, epsilon ") == 2 * 3
        assert page.count("the label 1 is right") >= 3
    if demo == "epsilon_curve.py":
        assert (tmp_path / "figure2.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize("demo", DEMOS)
def test_the_demo_is_short_and_says_what_one_will_see(demo):
    text = (ROOT / "demos" / demo).read_text(encoding="utf-8")
    assert len(text.splitlines()) < LONG.get(demo, 80)
    assert text.startswith('"""')
    assert "ou will see" in text.split('"""')[1]
    assert "raise SystemExit(" in text


def test_without_a9a_the_curve_says_where_it_comes_from(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    code, out, err = refusal(capsys, "epsilon_curve.py", "--data-dir", str(tmp_path))
    assert (code, out, len(err.splitlines())) == (2, "", 1)
    assert "a9a/a9a.gz" in err
    assert "LIBSVM" in err
    assert list(tmp_path.iterdir()) == []


def test_without_a_server_the_federation_says_what_to_install(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", str(tmp_path))
    code, out, err = refusal(capsys, "federation_on_one_machine.py")
    assert (code, out, len(err.splitlines())) == (2, "", 1)
    assert "apt install nats-server" in err
    assert list(tmp_path.iterdir()) == []


# The transcript as a diagram.


@pytest.fixture(scope="module")
def record() -> str:
    return trial([5, 3, 4]).run().transcript.dumps()


def lines_of(text: str) -> list[dict[str, object]]:
    return [json.loads(line) for line in text.splitlines()]


def test_a_run_s_own_transcript_is_drawn_and_a_forged_one_refused(tmp_path, record, capsys):
    (tmp_path / "transcript.jsonl").write_text(record)
    for name in ("release.json", "shares.json"):  # not looked at
        (tmp_path / name).write_text("{}")
    here("read_a_transcript.py", str(tmp_path))
    assert capsys.readouterr().out.rstrip() == arrows(lines_of(record)).rstrip()
    drawn = tmp_path / "record.svg"
    here("read_a_transcript.py", str(tmp_path), "--mermaid", "--svg", str(drawn))
    assert capsys.readouterr().out.rstrip() == mermaid(lines_of(record)).rstrip()
    assert drawn.read_text() == sequence(lines_of(record)).svg.document()
    lines = record.splitlines(keepends=True)
    lines[7] = lines[7].replace('"kind":"', '"kind":"X')
    (tmp_path / "transcript.jsonl").write_text("".join(lines))
    with pytest.raises(SystemExit, match=r"^line 7 "):  # a text: Python prints it and ends with 1
        here("read_a_transcript.py", str(tmp_path))
    with pytest.raises(SystemExit, match="nothing"):
        here("read_a_transcript.py", str(tmp_path / "nothing"))
    assert capsys.readouterr().out == ""


def picture_of(lines: list[dict[str, object]]) -> ElementTree.Element:
    return ElementTree.fromstring(sequence(lines).svg.document())


def shapes(picture: ElementTree.Element) -> Counter[str]:
    return Counter(element.tag.rpartition("}")[2] for element in picture.iter() if not element.tag.endswith("text"))


def texts(picture: ElementTree.Element) -> list[str]:
    return [element.text or "" for element in picture.iter() if element.tag.endswith("text")]


def test_a_picture_has_every_row_of_the_text_and_says_it_first(record):
    lines = lines_of(record)
    found, drawing = diagram(lines), sequence(lines)
    wanted = [f"{row.kind}, {row.count}" for stage in found.stages for row in stage.rows]
    shown = texts(picture_of(lines))
    assert [text for text in shown if " bytes" in text and " messages" not in text] == wanted
    assert all(f"{stage.name}: {stage.count}" in shown for stage in found.stages)
    said = " ".join(drawing.said)
    assert all(
        f"{row.kind} from {row.who[0]} to {row.who[1]}, {row.count}" in said for s in found.stages for row in s.rows
    )
    one_less = [line for line in lines if line.get("kind") != "Masked"]  # twin
    assert "Masked, " not in " ".join(texts(picture_of(one_less)))


def crowd(count: int, *without: tuple[str, str]) -> list[dict[str, object]]:
    """Everybody writes to everybody else, but for these."""
    names = [f"P{j}" for j in range(1, count + 1)]
    head = {"protocol": "x", "parameters": {"parties": names}, "identities": dict.fromkeys(names, "")}
    letter = {"stage": "one", "kind": "Hello", "size": 7}
    edges = [(a, b) for a in names for b in names if a != b and (a, b) not in without]
    return [head, *({**letter, "from": a, "to": b} for a, b in edges)]


def test_a_picture_of_twenty_has_one_row_for_what_all_send_alike_and_numbers_for_names():
    picture = picture_of(crowd(20))
    assert texts(picture)[1] == "one: 380 messages, 2,660 bytes"
    assert [text for text in texts(picture) if text.startswith("Hello")] == ["Hello, 380 x 7 bytes"]
    assert float(picture.get("width", "")) < 800
    assert texts(picture)[2:24] == [*map(str, range(1, 22)), "Hello, 380 x 7 bytes"]
    assert "20 P20, 21 public" in " ".join(texts(picture))
    assert len([t for t in texts(picture_of(crowd(20, ("P3", "P4")))) if t.startswith("Hello")]) == 20  # twin
    with pytest.raises(ValueError, match="wanted at most 250 lanes and 4000 kinds of messages, got 301 and 1"):
        sequence(crowd(300)[:2])
    with pytest.raises(ValueError, match="line 0 "):
        sequence([])


def test_names_change_no_shape_of_the_picture(record):
    head, *rest = lines_of(record)
    names = {"P1": "x\x1b[2J\nP2->>P3: hi; %% #1;", "P2": "end"}
    text = json.dumps([head, *rest])
    for plain, bad in names.items():
        text = text.replace(json.dumps(plain), json.dumps(bad))
    lines = json.loads(text)
    # names that are too long stand in the key, so that it is the lines of the key that may be more
    plain_picture, picture = (picture_of(some) for some in ([head, *rest], lines))
    assert shapes(picture) == shapes(plain_picture)
    assert any("hi; %% #1;" in text for text in texts(picture))
