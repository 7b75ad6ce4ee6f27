"""The page of a run: made from published files alone, after verification, and with nothing private on it."""

from __future__ import annotations

import hashlib
import json
import shutil
from dataclasses import fields, replace
from pathlib import Path

import pytest
from support.audited import Folders, agreement, hospitals, sum_agreement, toy_run
from support.shown import ShownPage

from protocols.runtime.network import LINK_MODELS, traffic
from smc_dp.audit.run.evidence import load_evidence
from smc_dp.data.bounds import Bounds, CategoricalColumn, NumericColumn
from smc_dp.data.columns import BinnedColumn, Column, DateColumn, parse_iso_date
from smc_dp.methods.sums.weighted_sum import WeightedSum
from smc_dp.pages.html import MOST_PAGE_BYTES, html
from smc_dp.privacy.output import no_guarantee
from smc_dp.run import release_report as run_pages
from smc_dp.run.agreement import (
    PROTOCOLS_BY_METHOD,
    REASONS,
    SEEDED,
    TEST_KEYS,
    Agreement,
    required_settings,
    secure_method,
)
from smc_dp.run.documents import StatedParameters
from smc_dp.run.folder import read_release_file
from smc_dp.run.protocols.registry import TERMS
from smc_dp.run.release import RELEASE, SHARES, TIMINGS, TRANSCRIPT, PublishedRelease
from smc_dp.run.release_report import TrafficTotals, count_traffic, release_page, run_page

SENT = TrafficTotals(3, 4567)
HOSTILE = ("<script>alert(1)</script>", '"><img src=x onerror=alert(2)>', "</title>", "{{7*7}}", "]]>", "a\u202eb")


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Folders:
    return toy_run(tmp_path_factory.mktemp("made"), (12, 8), key_bits=256, link="wan", topology="star")


def release(agreed: Agreement) -> PublishedRelease:
    """What would be published under this agreement; the weights are on no page."""
    insecure = tuple(REASONS[mark] for mark in agreed.marks)
    return PublishedRelease((0.0,), agreed, {}, {**agreed.parameters, "link": "none"}, insecure)


def shown(agreed: Agreement, stated: dict[str, str] | None = None) -> ShownPage:
    return ShownPage(html(release_page(release(agreed), stated or {}, SENT)))


def shown_of(made: Folders) -> ShownPage:
    """Return the page of a run folder."""
    return ShownPage(html(run_page(made.run)))


def test_messages_and_bytes_are_those_of_the_record(made: Folders) -> None:
    """Relayed and over a link; and a record that nobody could have made counts for no more than it shows."""
    evidence, record = load_evidence(made.run), (made.run / TRANSCRIPT).read_bytes().splitlines()
    found = traffic(evidence.envelopes.values(), evidence.session, LINK_MODELS["wan"], "star").values()
    sent = count_traffic(record, LINK_MODELS["wan"].overhead)
    assert sent == (sum(t.messages for t in found), sum(t.bytes for t in found))
    timings = json.loads((made.run / TIMINGS).read_text())
    assert sent == (timings["messages"], timings["bytes"])
    assert count_traffic(record, LINK_MODELS["none"].overhead) != sent
    assert f"It took {sent.messages:,} messages and {sent.bytes:,} bytes" in shown_of(made).text
    for line in (b"", b"{}", b'"size":' + b"9" * 30 + b",", b'{"kind":"Absent","size":5}', rb'"x":"\"size\":5,"'):
        assert count_traffic([record[0], line], 0) == (0, 0)


def test_no_second_no_count_of_rows_and_no_accuracy_is_on_it(made: Folders) -> None:
    """It is made from what has none of them, and a search finds none."""
    text = shown_of(made).text
    timings = json.loads((made.run / TIMINGS).read_text())
    seconds = [timings["seconds"], *(s for stage in timings["by_stage"] for s in stage["seconds"].values() if s)]
    assert seconds
    assert not [s for s in seconds if f"{s:.6g}" in text]
    assert read_release_file(made.run).digests.timings not in text
    assert "accura" not in text
    leaky = text + f" {seconds[0]:.6g}"
    assert [s for s in seconds if f"{s:.6g}" in leaky]  # the twin
    for name in (RELEASE, SHARES, TRANSCRIPT):  # the digests are those of the published files
        assert f"{name} {hashlib.sha256((made.run / name).read_bytes()).hexdigest()}" in text
    assert TIMINGS not in text


def test_what_makes_it_insecure_comes_first_and_no_guarantee_is_claimed(made: Folders) -> None:
    text = shown_of(made).text
    assert text.index(f"INSECURE: {REASONS[SEEDED]}.") < text.index("What was released")
    nothing = no_guarantee("record", "replace", "").promise
    assert text.index(f"INSECURE: {REASONS[TEST_KEYS]}.") < text.index(nothing)
    assert "Epsilon" not in text
    honest = shown(agreement(hospitals((12, 8), 2), key_bits=3072, seeded=False)).text
    assert "INSECURE" not in honest
    assert "Epsilon 1" in honest


def unsaid() -> set[str]:
    """The settings that some release states and for which there are no words."""
    of_methods = (
        required_settings(secure_method(name, by)) for name, each in PROTOCOLS_BY_METHOD.items() for by in each
    )
    of_protocols = ([field.name for field in fields(kind)] for kind in TERMS.values())
    stated = {*StatedParameters.model_fields, "calibration", "noise", "delta", "auxiliary", "fraction_bits"}
    return stated.union(*of_methods, *of_protocols) - set(run_pages.PARAMETER_TITLES)


def test_every_setting_has_words(monkeypatch: pytest.MonkeyPatch) -> None:
    assert unsaid() == set()
    page = shown(agreement(hospitals((12, 8), 2), key_bits=3072, seeded=False))
    assert "Distribution of the noise knorm noise" in page.text
    monkeypatch.setattr(
        run_pages, "PARAMETER_TITLES", {k: v for k, v in run_pages.PARAMETER_TITLES.items() if k != "colluders"}
    )
    assert unsaid() == {"colluders"}


def in_columns(*columns: Column, classes: tuple[str, ...] = ("no", "yes"), label: str = "y") -> Agreement:
    """A secure sum over these columns."""
    agreed = sum_agreement(hospitals((12, 8, 9), 2), WeightedSum(0.1), seeded=False)
    return replace(agreed, bounds=Bounds(columns, classes, label))


def test_every_kind_of_column_has_its_bounds_and_its_rule() -> None:
    text = shown(
        in_columns(
            NumericColumn("age", 0, 120, 50),
            NumericColumn("weight", 0.5, 99, "indicator"),
            CategoricalColumn("ward", tuple(f"w{i}" for i in range(48)), "category"),
            CategoricalColumn("sex", ("f", "m"), "m"),
            DateColumn("admitted", parse_iso_date("2010-01-01"), parse_iso_date("2025-12-31")),
            BinnedColumn("bmi", (0, 18, 25.5, 60), 30),
        )
    ).text
    for row in (
        "age a number 0 to 120 counts as 50",
        "weight a number 0.5 to 99 counts as the middle of the range, and is marked",
        "w38, w39, and 8 more is a category of its own",
        "sex one of several texts f, m counts as m",
        "admitted a date 2010-01-01 to 2025-12-31 is refused",
        "bmi a number, by its bin 0, 18, 25.5, 60 counts as 30",
    ):
        assert row in text, row


def test_hostile_names_stay_text() -> None:
    columns = [NumericColumn(name, 0, 1) for name in HOSTILE]
    levels = CategoricalColumn("levels", HOSTILE)
    found = shown(in_columns(*columns, levels, classes=("no", HOSTILE[0]), label=f"of {HOSTILE[1]}"))
    plain = shown(in_columns(*(NumericColumn(f"c{i}", 0, 1) for i in range(6)), CategoricalColumn("l", ("a", "b"))))
    assert found.elements == plain.elements
    for name in HOSTILE:
        assert " ".join(name.split()) in found.text


def test_whatever_is_released_fits_on_a_page() -> None:
    """The widest table, the longest names and all of them made of letters that are written as five."""
    long = '"' * 4000
    columns = [CategoricalColumn(f"{i}{long}", tuple(f"{j}{long}" for j in range(20))) for i in range(500)]
    agreed = in_columns(*columns, classes=(f"a{long}", f"b{long}"), label=long)
    content = html(release_page(release(agreed), {}, SENT))
    assert len(content.encode()) < MOST_PAGE_BYTES
    assert "And 100 more." in ShownPage(content).text


@pytest.mark.parametrize("missing", [(TRANSCRIPT,), (SHARES,), (SHARES, TRANSCRIPT)], ids=str)
def test_a_release_without_its_record_is_called_that(missing: tuple[str, ...], made: Folders, tmp_path: Path) -> None:
    shutil.copytree(made.run, tmp_path / "run")
    for name in missing:
        (tmp_path / "run" / name).unlink()
    found = run_page(tmp_path / "run")
    assert found.notices[0].look == "failed"
    assert found.notices[0].text.endswith(f" has no {' and no '.join(missing)}.")
    assert ("It took" in ShownPage(html(found)).text) == (TRANSCRIPT not in missing)
    assert run_page(made.run).notices[0].look != "failed"
