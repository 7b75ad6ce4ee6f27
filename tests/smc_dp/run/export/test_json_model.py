"""The model as JSON, read by another program that follows the page on exports, against `predict`."""

from __future__ import annotations

import datetime
import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.audited import hospitals
from support.raw_models import draw_model

from smc_dp import predict, run_protocol
from smc_dp.run.export.export_run import export_run
from smc_dp.run.export.json_model import write_json_model


def probabilities(model: dict[str, Any], row: dict[str, Any]) -> list[float] | None:
    """The probability of each class, None for a row that is left out, by nothing but the document."""
    squared, added = 0.0, [0.0] * len(model["constant"])
    for column in model["columns"]:
        cell = row[column["name"]]
        if cell is None:
            if column["empty"] == "leave out":
                return None
            feature, adds = 1.0, column["empty"]["adds"]
            squared += column["empty"]["squared_length"]
        elif column["type"] == "levels":
            (adds,) = (level["weights"] for level in column["levels"] if cell in level["texts"])
            feature, squared = 1.0, squared + 1
        elif column["type"] == "bins":
            bins = column["bins"]
            within = [each for each in bins if each["from"] <= cell] or bins[:1]
            feature, adds, squared = 1.0, within[-1]["weights"], squared + 1
        else:
            if column["type"] == "days":
                cell = (cell - datetime.date.fromisoformat(column["first"])).days
            feature = (min(max(cell, column["low"]), column["high"]) - column["offset"]) / column["scale"]
            adds, squared = column["weights"], squared + feature**2
        added = [total + feature * one for total, one in zip(added, adds, strict=True)]
    shrink = min(1.0, model["clip"] / math.sqrt(squared)) if squared else 1.0
    scores = [constant + shrink * total for constant, total in zip(model["constant"], added, strict=True)]
    scores, phases = scores[: len(model["scored"])], scores[len(model["scored"]) :]
    for phase, wave in zip(phases, model.get("waves", []), strict=True):
        both = math.cos(math.tau * phase), math.sin(math.tau * phase)
        parts = zip(scores, wave["cosine"], wave["sine"], strict=True)
        scores = [score + both[0] * cosine + both[1] * sine for score, cosine, sine in parts]
    if len(scores) == 1:
        scores = [0.0, *scores]
    largest = max(scores)
    powers = [math.exp(score - largest) for score in scores]
    return [power / sum(powers) for power in powers]


@given(st.integers(0, 10**9))
def test_another_program_finds_the_same_probabilities(seed: int) -> None:
    model = draw_model(seed)
    document = json.loads(write_json_model(model.exported))
    found = [probabilities(document, model.row(i)) for i in range(model.rows)]
    assert document["threshold"] == model.threshold.probability
    every = [[math.nan] * len(model.bounds.classes) if each is None else each for each in found]
    np.testing.assert_allclose(every, model.probabilities(), rtol=0, atol=1e-9)


def test_a_release_that_hides_numbers_of_rows_gives_no_probabilities(tmp_path: Path) -> None:
    parties, given = hospitals((12, 8, 20), 2).federation, []
    for sizes in ({}, {"sizes": "hidden", "most_rows": 100}):
        run = tmp_path / f"run{len(given)}"
        run_protocol(parties, method="wsum", out=run, insecure_seed=1, **sizes)
        given.append(export_run(run, "json", tmp_path / f"{len(given)}.json").gives_probabilities)
        written = json.loads((tmp_path / f"{len(given) - 1}.json").read_text())
        assert written["gives_probabilities"] == given[-1]
    assert given == [True, False]


@pytest.mark.parametrize("classes", [2, 3])
def test_another_program_finds_the_classes_of_a_release_on_features(classes: int, tmp_path: Path) -> None:
    names, rng = [f"c{c}" for c in range(classes)], np.random.default_rng(classes)
    rows = [(a, b, "xyz"[int(a * 7) % 3]) for a, b in rng.uniform(-2, 2, (1200, 2)).round(3).tolist()]
    labels = [names[int((a * b > 0) + (classes > 2 and c == "x"))] for a, b, c in rows]
    lines = [f"{a},{b},{c},{label}" for (a, b, c), label in zip(rows, labels, strict=True)]
    for i in range(3):
        (tmp_path / f"p{i}.csv").write_text("\n".join(["a,b,c,label", *lines[i::3]]) + "\n")
    columns = '[columns]\na = [-2, 2]\nb = [-2, 2]\nc = ["x", "y", "z"]\n'
    (tmp_path / "bounds.toml").write_text(f'[label]\ncolumn = "label"\nclasses = {names}\n{columns}')
    files, bounds, run = [tmp_path / f"p{i}.csv" for i in range(3)], tmp_path / "bounds.toml", tmp_path / "run"
    run_protocol(files, bounds=bounds, method="newton", epsilon=50, features="fourier:32", out=run)
    export_run(run, "json", tmp_path / "model.json")
    document = json.loads((tmp_path / "model.json").read_text())
    assert document["format"] == "smc-dp model 2"
    told = predict(run, tmp_path / "p0.csv")
    found = [probabilities(document, dict(zip("abc", row, strict=True))) for row in rows[::3]]
    wanted = [(1 - p, p) for p in told.probabilities] if classes == 2 else told.probabilities
    np.testing.assert_allclose(found, wanted, rtol=0, atol=0.01)
    assert told.accuracy > 0.85
