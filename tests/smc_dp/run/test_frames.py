"""Data frames in place of files: the same run, the same predictions, and refusals that say what is wanted."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl

from smc_dp import predict, run_protocol
from smc_dp.data.bounds import parse_bounds
from tests.support.refusals import refused

BOUNDS = '[columns]\nage = [0, 100]\nsex = ["f", "m"]\n[label]\nclasses = ["no", "yes"]\ncolumn = "out"\n'


def patients(n: int, seed: int) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    age = rng.integers(0, 100, n)
    out = np.where(age + rng.normal(0, 8, n) > 50, "yes", "no")
    return pd.DataFrame({"id": range(n), "age": age, "sex": rng.choice(["f", "m"], n), "out": out})


FRAMES = {"party-1": patients(60, 1), "party-2": patients(50, 2)}
TEST = patients(40, 3)
HOW: dict[str, Any] = {"bounds": parse_bounds(BOUNDS), "insecure_seed": 7, "target": 5.0, "colluders": 0}


def test_frames_are_the_run_of_their_files(tmp_path: Path) -> None:
    (tmp_path / "bounds.toml").write_text(BOUNDS)
    for name, frame in [*FRAMES.items(), ("test", TEST)]:
        frame.to_csv(tmp_path / f"{name}.csv", index=False)
    files = [tmp_path / f"{name}.csv" for name in FRAMES]
    wanted = run_protocol(files, test=tmp_path / "test.csv", out=tmp_path / "files", **HOW)
    polars = [pl.from_dict(frame.to_dict("list")) for frame in FRAMES.values()]
    for name, data, test in (
        ("pandas", [*FRAMES.values()], TEST),
        ("polars", polars, pl.from_dict(TEST.to_dict("list"))),
        ("named", dict(FRAMES), TEST),
        ("mixed", [files[0], FRAMES["party-2"]], tmp_path / "test.csv"),
    ):
        found = run_protocol(data, test=test, out=tmp_path / name, **(HOW | {"bounds": tmp_path / "bounds.toml"}))
        assert found.comparison == wanted.comparison
        releases = [json.loads((tmp_path / run / "release.json").read_text()) for run in ("files", name)]
        assert releases[0]["weights"] == releases[1]["weights"]
    told = predict(tmp_path / "files", tmp_path / "test.csv", "id")
    for frame in (TEST, pl.from_dict(TEST.to_dict("list"))):
        assert predict(tmp_path / "files", frame, "id") == told
    with refused("threshold.same_rows", file="a data frame"):
        predict(tmp_path / "files", TEST, threshold_from=TEST)
    # One row or column more makes no other rows of them.
    for others in (pd.concat([TEST, TEST[:1]]), TEST.assign(more=1)):
        with refused("threshold.same_rows", file="a data frame"):
            predict(tmp_path / "files", TEST, threshold_from=others)


def test_what_is_no_frame_of_each_party_is_refused(tmp_path: Path) -> None:
    given: dict[str, Any] = HOW | {"out": tmp_path / "x"}
    for data in (FRAMES["party-1"], "north.csv", 42, {1, 2}):
        with refused("data.not_of_parties", got=type(data).__name__):
            run_protocol(data, **given)  # type: ignore[arg-type]
    with refused("table.no_file_or_frame", name="data", got="list"):
        run_protocol([[1, 2], [3, 4]], **given)  # type: ignore[list-item]
    with refused("table.no_file_or_frame", name="test", got="int"):
        run_protocol([*FRAMES.values()], test=3, **given)  # type: ignore[arg-type]
    with refused("bounds.missing_for_frames"):
        run_protocol([*FRAMES.values()], **(given | {"bounds": None}))
    with refused("party.same_rows"):
        run_protocol([FRAMES["party-1"], FRAMES["party-1"].copy()], **given)
    with refused("cell.unknown_level", at="party party-2: column 'sex', row 3"):
        run_protocol([FRAMES["party-1"], FRAMES["party-2"].assign(sex=["f", "m", "x"] + ["f"] * 47)], **given)
    assert not (tmp_path / "x").exists()


def test_rows_to_predict_are_a_frame_a_file_or_an_array(tmp_path: Path) -> None:
    run_protocol([*FRAMES.values()], out=tmp_path / "run", **HOW)
    with refused("table.no_file_or_frame", name="rows", got="dict"):
        predict(tmp_path / "run", {"age": [1]})  # type: ignore[arg-type]
