"""The folder of a dossier: whole or not at all, outside of the run; nothing private, and no text taken for markup."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from unittest.mock import patch

import pytest
from support import forgeries as f
from support.dossiers import DATA, HONEST, HOSTILE, Audited, literal_of, with_hostile_names
from support.mutants import OF_THE_RUN, command
from support.shown import ShownPage

from smc_dp import InputError
from smc_dp.audit.run import checks
from smc_dp.audit.run.evidence import load
from smc_dp.audit.run.work import TakesTooLongError
from smc_dp.dossier.dossier import ANNEX, ENTRY, SHEET, Dossier, default_folder, dossier_of, write_dossier
from smc_dp.dossier.paper_pages import annex_page, sheet_page
from smc_dp.dossier.reading import facts_of
from smc_dp.pages.blocks import Blanks, Bullets, PageBlock, PageTable, Prose
from smc_dp.run.release import RELEASE, TIMINGS

FILES = {ANNEX, SHEET, ENTRY}


@pytest.fixture(scope="module")
def known(tmp_path_factory: pytest.TempPathFactory) -> Audited:
    """A run by known identities, with everybody's views."""
    return HONEST["known"](tmp_path_factory.mktemp("known"))


@pytest.fixture(scope="module")
def dossier(known: Audited) -> Dossier:
    return known.dossier


@pytest.fixture(autouse=True)
def _of_the_run() -> object:
    """What is asked of the protocol's code has tests of its own."""
    with patch.object(checks, "CHECKS", OF_THE_RUN):
        yield


def test_the_command_writes_three_files_beside_the_run_and_prints_facts(known: Audited, tmp_path: Path) -> None:
    run = tmp_path / "run"
    shutil.copytree(known.run, run)
    given = ("--identities", str(known.identities), "--views", str(known.views))
    told = command("dossier", str(run), *given)
    assert (told.code, told.err) == (0, "")
    assert told.out.startswith(f"Written to {run}-dossier: {ANNEX}, {SHEET}, {ENTRY}; ")
    assert {path.name for path in default_folder(run).iterdir()} == FILES
    printed = json.loads(command("dossier", str(run), "--out", str(tmp_path / "other"), "--json").out)
    assert set(printed) == {"out", "facts", "sentences", "blanks"}
    assert {each["fact"]: each["value"] for each in printed["facts"]}["parties"] == list(DATA.federation.names)
    assert all(each["tied_to"] for each in printed["sentences"])
    assert {each["file"] for each in (*printed["sentences"], *printed["blanks"])} == FILES


def test_the_same_facts_make_the_same_bytes_and_views_none_of_them(known: Audited, dossier: Dossier) -> None:
    assert dossier_of(dossier.facts).files == dossier.files
    assert dossier.facts.views == 4
    assert (dossier.facts.assurance.number, dossier.facts.pinned) == (
        2,
        4,
    )  # the third level asks for checks of the code


def test_it_stands_outside_of_the_run_and_over_nothing(known: Audited, tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    os.symlink(known.run, tmp_path / "link")
    for out, why in (
        (known.run / "dossier", "lies inside the run folder"),
        (known.run, "lies inside the run folder"),
        (tmp_path / "link" / "dossier", "lies inside the run folder"),
        (tmp_path / "there", "exists already"),
    ):
        with pytest.raises(InputError, match=why):
            write_dossier(known.run, out=out)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["link", "there"]


def test_a_run_that_fails_its_audit_has_no_dossier(known: Audited, tmp_path: Path) -> None:
    forged = f.altered_weight(known.run, tmp_path / "run")
    told = command("dossier", str(forged))
    assert (told.code, told.out) == (2, "")
    assert "the audit failed, there is no dossier: release: " in told.err
    assert [path.name for path in tmp_path.iterdir()] == ["run"]


def test_an_audit_that_is_not_finished_makes_no_dossier(known: Audited, tmp_path: Path) -> None:
    def too_long(evidence: object) -> object:
        raise TakesTooLongError

    endless = replace(OF_THE_RUN[-1], run=too_long)
    told = command("dossier", str(known.run), "--out", str(tmp_path / "out"), of=(*OF_THE_RUN[:-1], endless))
    assert told.code == 2
    assert "the audit did not finish, there is no dossier" in told.err
    assert "(--seconds)" in told.err
    assert not any(tmp_path.iterdir())


def test_what_is_changed_after_its_audit_has_no_dossier(known: Audited, tmp_path: Path) -> None:
    run = tmp_path / "run"
    shutil.copytree(known.run, run)
    last = OF_THE_RUN[-1].name

    def change(step: str) -> None:
        if step.endswith(last):
            (run / RELEASE).write_text((run / RELEASE).read_text() + " ")

    with pytest.raises(InputError, match="was changed while it was audited"):
        write_dossier(run, progress=change)
    assert [path.name for path in tmp_path.iterdir()] == ["run"]


def test_nothing_private_is_in_it_and_no_seconds(known: Audited, dossier: Dossier) -> None:
    """No row, no model, no number of rows, no key of anybody's view, and nothing of timings.json."""
    everything = b"".join(dossier.files.values()).decode()
    evidence = load(known.run, views=known.views)
    private = [repr(x) for rows in DATA.federation.parties for x in rows.X.ravel().tolist()]
    private += [view.seed.hex() for view in evidence.views.values()]
    private += [f"{len(rows)} rows" for rows in DATA.federation.parties]
    timings = json.loads((known.run / TIMINGS).read_text())
    private += [str(s) for stage in timings["by_stage"] for s in stage["seconds"].values() if s]
    assert len(private) > 80
    assert [secret for secret in private if secret in everything] == []


def test_texts_of_strangers_stay_text_on_pages(dossier: Dossier) -> None:
    hostile = dossier_of(with_hostile_names(dossier.facts))
    harmless = dossier_of(dossier.facts)
    for name in (ANNEX, SHEET):
        page, plain = ShownPage(hostile.files[name]), ShownPage(harmless.files[name])
        assert page.elements.count("script") == plain.elements.count("script") == 1
        assert set(page.elements) <= set(plain.elements)
        everything = "".join(page.text.split())
        assert [text for text in HOSTILE if "".join(literal_of(text).split()) not in everything] == []


def test_every_text_of_a_page_is_a_sentence_a_fact_or_of_the_form(dossier: Dossier) -> None:
    facts = dossier.facts
    for make, paper in ((sheet_page, dossier.sheet), (annex_page, dossier.annex)):
        made = make(paper, facts)
        sentences = {sentence.text for part in paper.parts for sentence in part.sentences}
        of_parts = made.sections[: len(paper.parts)]
        assert [section.heading for section in of_parts] == [part.heading for part in paper.parts]
        blocks = [block for section in of_parts for block in section.blocks]
        assert set(texts(blocks)) == sentences
        asked = [label for block in blocks if isinstance(block, Blanks) for label in block.labels]
        assert asked == [blank.asks for part in paper.parts for blank in part.blanks]


def texts(blocks: Iterable[PageBlock]) -> Iterator[str]:
    """What the blocks of a paper say, but for numbers and the names of facts; no block of another kind is there."""
    for block in blocks:
        if isinstance(block, Prose):
            yield block.text
        elif isinstance(block, Bullets):
            yield from block.items
        elif isinstance(block, PageTable):
            yield from (sentence for _, sentence, _ in block.rows)
        else:
            assert isinstance(block, Blanks)


def test_what_is_said_of_numbers_noise_and_signatures_is_no_more_than_the_record_shows(dossier: Dossier) -> None:
    facts = dossier.facts

    def text(**other: object) -> str:
        return " ".join(s.text for _, s in dossier_of(replace(facts, **other)).sentences)  # type: ignore[arg-type]

    known = text(rows_known=455)
    assert "agreed on as 455: it is public and not protected" in known
    assert "No number of rows is released" not in known
    assert "No number of rows is released" in text()  # the twin
    assert "but for the last letters of those who vanished" not in text()
    vanished = text(vanished=("north-1",))
    assert "but for the last letters of those who vanished" in vanished
    assert "Letters of north-1 did not come" in vanished
    assert "LetterCount" not in vanished
    assert "Whether it was drawn so, the record does not show." in text()
    assert "The release states that it is differentially private" in text()
    assert "who wrote to whom at which step" in text()


def test_keys_of_those_who_signed_nothing_are_not_counted(known: Audited) -> None:
    """Of Charlie where there is none, of parties that had vanished before: the check lets them be."""
    report = checks.audit_run(known.run, identities=known.identities)
    pinned = dict(report.audited.pinned or {})
    more = replace(report, audited=replace(report.audited, pinned=pinned | {"west": "0" * 64}))
    evidence = load(known.run)
    assert facts_of(evidence, more).pinned == facts_of(evidence, report).pinned == len(pinned)
