"""The coalition matrix as a picture: every cell in its pattern, every sentence before it, for any protocol."""

from __future__ import annotations

import json
from dataclasses import replace
from html import unescape
from pathlib import Path

import pytest

from smc_dp.audit.matrix_picture import _FILLS, matrix_drawing, matrix_page
from smc_dp.cli.main import main
from smc_dp.leakage.matrix_text import MatrixTable
from smc_dp.pages.html import html

TABLE = MatrixTable(
    "x, 3 parties: what each coalition learns of the others' secrets",
    "Nothing more, to nobody.",
    ("sizes", "selected noise", "who is smallest"),
    (
        ("one party <script>", ("-", "(-)", "partly*")),
        ("charlie", ("all*", "listed", "own")),
        ("charlie and all parties", ("-/all*", "", "own")),
    ),
    ("One party: has hints.", "Charlie: learns.", "Charlie and all parties: learns."),
)
LOOKS = {level: fill for level, _, fill in _FILLS}


def test_every_cell_has_the_pattern_of_its_worst_level_and_its_word() -> None:
    drawn = matrix_drawing(TABLE).svg.markup("x")
    cells = [cell for _, row in TABLE.rows for cell in row if cell]
    for level, worst in (("all", 2), ("listed", 1), ("partly", 1), ("(-)", 1), ("own", 2)):
        assert drawn.count(f'class="fill-{LOOKS[level]}"') == worst
    assert drawn.count('class="fill-paper"') == 1 + 3  # one cell, and the plates under words on patterns
    assert len(set(LOOKS.values())) == len(LOOKS)
    assert sum(f">{cell}</text>" in drawn for cell in cells) == len(cells)
    worse = replace(TABLE, rows=(("one party", ("all", "(-)", "partly*")), *TABLE.rows[1:]))  # twin
    assert matrix_drawing(worse).svg.markup("x").count('class="fill-solid"') == 3


def test_the_sentences_come_first_and_say_what_patterns_mean() -> None:
    said = matrix_drawing(TABLE).said
    assert said[:4] == (TABLE.margin, *TABLE.sentences)
    assert (
        "all is dark, listed is dense strokes, partly is hatched, (-) is dotted, - is white, own is shaded" in said[4]
    )
    text = html(matrix_page((TABLE,), ("The key.", "The limits.", "The method.")))
    order = (TABLE.title, TABLE.margin, *TABLE.sentences, 'role="img"', "The key.", "The limits.", "The method.")
    places = [text.index(part.replace("'", "&#39;")) for part in order]
    assert places == sorted(places)
    assert text.count("<script>") == 1  # the page's own


def test_words_over_columns_do_not_run_into_each_other() -> None:
    many = MatrixTable("x, 2", "", ("exact sum",) * 9, (("a", ("-",) * 9),), ("A: nothing.",))
    drawn = matrix_drawing(many).svg.markup("x")
    assert drawn.count(">exact</text>") == 9
    assert matrix_drawing(many).svg.width <= 510  # so that letters stay readable on a telephone


def test_the_command_draws_what_it_prints(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "matrix.html"
    asked = ["lab", "matrix", "linear", "--parties", "2", "--report", str(file)]
    assert main(asked) == 0
    said, text = capsys.readouterr().out, file.read_text(encoding="utf-8")
    sentences = [line.strip() for line in said.split("\n\n")[1].splitlines()]
    assert all(sentence in unescape(text) for sentence in sentences)
    assert all(f"<p>{p.strip()}</p>" in unescape(text) for p in said.strip().split("\n\n")[-1].splitlines())
    assert main(asked) == 2
    assert "exists already" in capsys.readouterr().err
    assert file.read_text(encoding="utf-8") == text


def test_as_json_the_page_is_written_as_well(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "matrix.html"
    assert main(["lab", "matrix", "linear", "--parties", "2", "--json", "--report", str(file)]) == 0
    assert json.loads(capsys.readouterr().out)["protocol"] == "linear"
    assert "Coalitions and what they learn" in file.read_text(encoding="utf-8")
