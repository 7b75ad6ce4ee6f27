from __future__ import annotations

import hashlib
import json
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from support import forgeries as f
from support.clear import shared

from protocols.arithmetic.rng import Stream
from protocols.runtime.transcript import Transcript
from smc_dp.cli.main import main
from smc_dp.data.bounds import Bounds, CategoricalColumn, NumericColumn
from smc_dp.methods.functionality import Contribution, SumWithSmallestNoise, ideal
from smc_dp.methods.pathak2010.mean import PathakMean
from smc_dp.privacy.target import Target
from smc_dp.run import folder as run_folder
from smc_dp.run.agreement import REASONS, SEEDED, Agreement, SettledRun
from smc_dp.run.protocols.cost import Execution, Outcome
from smc_dp.run.protocols.registry import CuratorTerms
from smc_dp.run.release import PublishedRelease
from smc_dp.run.verify_release import verify_release
from tests.support.refusals import refused

BOUNDS = Bounds(
    (NumericColumn("age", 0.0, 120.0), CategoricalColumn("sex", ("m", "f"))), ("no", "yes"), label="outcome"
)


def outcome() -> Outcome:
    parts = [
        Contribution(3, (1 << 40, -5, 7, 0), (11, -12, 13, 14)),
        Contribution(4, (3, 1 << 41, 0, -(1 << 39)), (0, 0, 0, 0)),
    ]
    rng = Stream.insecure_from_seed(1)
    value = ideal(SumWithSmallestNoise(), parts, rng)
    shares = shared(value, ("north", "south", "charlie"), 64, rng)
    return Outcome(
        value, Execution(shares, 1 << 64, (("north", "south"),), (), None, Transcript(agreed().session(rng).session))
    )


def agreed(marks: tuple[str, ...] = (), **options: Any) -> Agreement:
    terms = CuratorTerms(**options)
    settled = SettledRun(PathakMean(0.1), Target(1), terms=terms, marks=marks)
    return settled.with_parties(("north", "south"), BOUNDS)


def written(folder: Path, **options: Any) -> PublishedRelease:
    found = outcome()
    made = run_folder.make_release(found, agreed(**options), {"topology": "mesh", "link": "none"})
    assert found.execution
    run_folder.write_run(folder, made, found.execution)
    return made


def read(folder: Path) -> PublishedRelease:
    """The release and its shares; nobody played the session of its transcript."""
    (folder / "transcript.jsonl").unlink(missing_ok=True)
    return verify_release(folder).release


def edit(folder: Path, file: str, *path: str | int, to: object) -> None:
    def change(place: Any) -> None:
        for key in path[:-1]:
            place = place[key]
        place[path[-1]] = to

    f.change_json(folder / file, change)


def test_the_files_are_as_announced(tmp_path):
    written(tmp_path / "run")
    assert sorted(p.name for p in (tmp_path / "run").iterdir()) == [
        "release.json", "shares.json", "timings.json", "transcript.jsonl",
    ]  # fmt: skip
    shares = json.loads((tmp_path / "run" / "shares.json").read_text())
    assert list(shares) == ["modulus", "fraction_bits", "shares"]
    assert (shares["modulus"], shares["fraction_bits"]) == (str(2**64), 40)
    assert set(shares["shares"]) == {"north", "south", "charlie"}
    assert all(text.isdecimal() for values in shares["shares"].values() for text in values)
    document = json.loads((tmp_path / "run" / "release.json").read_text())
    assert list(document) == [
        "format", "weights", "coefficients", "privacy", "parameters",
        "columns", "categories", "bounds", "clip", "bias", "classes", "digests",
    ]  # fmt: skip
    total = [sum(int(s[i]) for s in shares["shares"].values()) % 2**64 for i in range(4)]
    lifted = [t - 2**64 if t >= 2**63 else t for t in total]
    assert lifted == [(1 << 40) + 14, (1 << 41) - 17, 20, 14 - (1 << 39)]
    assert document["weights"] == [float(Fraction(t, 2 * 2**40)) for t in lifted]
    (line,) = (tmp_path / "run" / "transcript.jsonl").read_text().splitlines()
    assert json.loads(line)["kind"] == "Session"
    for name, digest in document["digests"].items():
        assert digest == hashlib.sha256((tmp_path / "run" / name).read_bytes()).hexdigest()


def test_what_was_written_is_read_back(tmp_path):
    made = written(tmp_path / "run", marks=(SEEDED,))
    assert read(tmp_path / "run") == made
    assert json.loads((tmp_path / "run" / "release.json").read_text())["insecure"] == [REASONS[SEEDED]]


@pytest.mark.parametrize(
    ("file", "path", "to", "why"),
    [
        ("shares.json", ["shares", "north", 0], "12345", partial(refused, "release.weights_not_of_shares")),
        ("shares.json", ["fraction_bits"], 41, partial(refused, "agreement.other_fraction_bits", wanted=40)),
        ("shares.json", ["modulus"], str(2**64 - 1), partial(refused, "shares.other_modulus", ring_bits=64)),
        ("shares.json", ["shares", "north", 0], str(2**64), partial(refused, "shares.above_modulus")),
        ("shares.json", ["shares", "north", 0], "-1", partial(refused, "document.wrong_value", at="shares: north 1")),
        ("shares.json", ["shares", "north"], ["1"], partial(refused, "shares.other_length", wanted=4, length=4)),
        ("shares.json", ["shares", "east"], ["1"] * 4, partial(refused, "json.unknown_key", at="shares", key="'east'")),
        ("shares.json", ["shares"], {"north": []}, partial(refused, "json.missing_key", at="shares", key="'charlie'")),
        ("shares.json", ["more"], 1, partial(refused, "document.unknown_key", key="'more'")),
        ("release.json", ["weights"], [1.0] * 5, partial(refused, "weights.other_length", wanted=4)),
        ("release.json", ["accuracy"], 0.9, partial(refused, "document.unknown_key", key="'accuracy'")),
        ("release.json", ["columns"], ["age"], partial(refused, "columns.not_once")),
        ("release.json", ["bounds", "age"], [120, 0], partial(refused, "columns.no_order", at="column 'age'")),
        ("release.json", ["parameters", "parties"], ["north"], partial(refused, "parties.too_few")),
        ("release.json", ["parameters"], {}, partial(refused, *["document.missing"] * 10)),
        ("release.json", ["privacy", "mu"], True, partial(refused, "value.not_finite", at="privacy: mu", got="True")),
        ("release.json", ["privacy", "mu"], 0.5, partial(refused, "privacy.unfit", at="privacy")),
    ],
)
def test_a_changed_release_is_refused(tmp_path, file, path, to, why):
    written(tmp_path / "run")
    edit(tmp_path / "run", file, *path, to=to)
    if file == "shares.json":
        f.redigested(tmp_path / "run")  # as a forger would
    with why() as caught:
        read(tmp_path / "run")
    assert str(tmp_path / "run") in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("file", ["shares.json", "transcript.jsonl", "timings.json"])
def test_changed_files_are_refused_and_those_that_are_missing_are_done_without(tmp_path, file):
    written(tmp_path / "run")
    path = tmp_path / "run" / file
    path.write_bytes(path.read_bytes() + b" ")
    with refused("release.other_digest", name=file):
        verify_release(tmp_path / "run") if file == "transcript.jsonl" else read(tmp_path / "run")
    path.unlink(missing_ok=True)
    assert read(tmp_path / "run").weights


def test_a_release_that_hides_why_it_is_insecure_is_refused(tmp_path):
    written(tmp_path / "run")
    printed = {"protocol": "pathak2010-as-printed-insecure", "calibration": "paper"}
    for parameters, code in (({"key_bits": 512}, "key_bits.too_short"), (printed, "insecure_markers.of_printed_steps")):
        other = f.edited(
            tmp_path / "run", tmp_path / code, "release.json", lambda d, p=parameters: d["parameters"].update(p)
        )
        with refused(code):
            read(other)


@pytest.mark.parametrize(("name", "to", "why"), [
    ("method", "pathak2010", partial(refused, "method.is_a_protocol", known="prr_mean")),
    ("method", "local", partial(refused, "setting.unknown_value", name="method")),
    ("protocol", "secure_sum", partial(refused, "protocol.not_of_method")),
    ("epsilon", "2/2", partial(refused, "setting.no_fraction", name="epsilon")),
    ("lambda", "1/7", partial(refused, "agreement.other_parameter", key="lambda")),
    ("noise", "gauss", partial(refused, "noise.not_of_protocol", method="prr_mean")),
    ("dimension", 5, partial(refused, "agreement.other_parameter", key="dimension")),
    ("ring_bits", 2000, partial(refused, "setting.out_of_range", name="ring_bits", wanted=1, most=128)),
    ("more", 1, partial(refused, "agreement.unknown_parameter", unknown="'more'")),
])  # fmt: skip
def test_parameters_that_no_run_agreed_on_are_refused(tmp_path, name, to, why):
    written(tmp_path / "run")
    edit(tmp_path / "run", "release.json", "parameters", name, to=to)
    with why():
        read(tmp_path / "run")


@pytest.mark.parametrize("stated", ["smc-dp release 2", "smc-dp release 4", 3, None, ["smc-dp release 3"]])
def test_commands_refuse_a_run_of_another_format_in_one_line(tmp_path, capsys, stated):
    written(run := tmp_path / "run")
    edit(run, "release.json", "format", to=stated)
    for command in (["audit", str(run)], ["show", str(run)], ["predict", str(run), "--data", "rows.csv"]):
        assert main([*command, "--json"] if command[0] != "show" else command) == 2
        out, err = capsys.readouterr()
        assert err.count("\n") == 1
        assert command[0] == "show" or json.loads(out)["error"]["code"] == "release.other_format"
