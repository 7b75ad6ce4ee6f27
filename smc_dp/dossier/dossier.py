"""The dossier of a run: its facts as documents for three readers, written as one folder, whole or not at all."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import Any

from smc_dp.audit.run.work import SECONDS
from smc_dp.dossier.entry import EntryTree, entry, leaves, said_in
from smc_dp.dossier.facts import RunFacts
from smc_dp.dossier.paper_pages import annex_page, sheet_page
from smc_dp.dossier.papers import Paper, annex, sheet
from smc_dp.dossier.reading import read_facts
from smc_dp.dossier.registration import has_entry
from smc_dp.dossier.sentences import Blank, DossierPart, Sentence
from smc_dp.dossier.yaml_text import yaml_text
from smc_dp.errors import InputError
from smc_dp.files.writing import refuse_existing, write_folder
from smc_dp.pages.rendering import html

ANNEX, SHEET, ENTRY = "impact-assessment.html", "ethics-committee.html", "registry_entry.yaml"


@dataclass(frozen=True)
class Dossier:
    """What is said of a run, and to whom. `entry`: None where nothing is guaranteed that could be registered."""

    facts: RunFacts
    annex: Paper
    sheet: Paper
    entry: EntryTree | None

    @property
    def parts(self) -> tuple[tuple[str, DossierPart], ...]:
        """Everything that stands in the documents, with the file in which it stands."""
        papers = [(name, of) for name, paper in ((ANNEX, self.annex), (SHEET, self.sheet)) for of in paper.parts]
        fields = [said_in(field) for _, field in leaves(self.entry or {})]
        return (*papers, *((ENTRY, of) for of in fields if of is not None))

    @property
    def sentences(self) -> tuple[tuple[str, Sentence], ...]:
        """All sentences, with the file in which each stands."""
        return tuple((file, sentence) for file, of in self.parts for sentence in of.sentences)

    @property
    def blanks(self) -> tuple[tuple[str, Blank], ...]:
        """All that a person fills in, with the file."""
        return tuple((file, blank) for file, of in self.parts for blank in of.blanks)

    @cached_property
    def files(self) -> dict[str, bytes]:
        """The documents by the names of their files."""
        found = {
            ANNEX: html(annex_page(self.annex, self.facts)).encode(),
            SHEET: html(sheet_page(self.sheet, self.facts)).encode(),
        }
        return found if self.entry is None else {**found, ENTRY: yaml_text(self.entry)}

    def as_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return {
            "facts": self.facts.document,
            "sentences": [{"file": f, "text": s.text, "tied_to": list(s.tied_to)} for f, s in self.sentences],
            "blanks": [{"file": file, "asks": blank.asks} for file, blank in self.blanks],
        }


def dossier_of(facts: RunFacts) -> Dossier:
    """The documents that these facts make."""
    return Dossier(facts, annex(facts), sheet(facts), entry(facts) if has_entry(facts) else None)


def write_dossier(
    run_folder: str | PathLike[str],
    *,
    out: str | PathLike[str] | None = None,
    identities: str | PathLike[str] | None = None,
    views: str | PathLike[str] | None = None,
    progress: Callable[[str], None] | None = None,
    seconds: float = SECONDS,
) -> Dossier:
    """Audit a run and write what it shows for an impact assessment, an ethics committee and a public registry.

    Parameters
    ----------
    run_folder : path
        The folder that a run has written.
    out : path, default=None
        The folder to make, else the run folder's name with "-dossier", beside it.
    identities : path, default=None
        A file of public keys that are known from elsewhere.
    views : path, default=None
        A folder of what participants did and saw.
    progress : callable, default=None
        Hears the name of each check.
    seconds : float, default=40.0
        The processor time that the audit may use.

    Returns
    -------
    Dossier
        The facts, and every sentence with those that it is tied to; the files are in `out`.

    Raises
    ------
    InputError
        For a run whose audit fails or does not finish, for files that cannot be read, and for a folder that exists or
        lies inside the run.

    Examples
    --------
    >>> import tempfile
    >>> from smc_dp import run_protocol, write_dossier
    >>> from smc_dp.data.sources import dataset
    >>> data, run = dataset("breast_cancer"), tempfile.mkdtemp() + "/run"
    >>> report = run_protocol(data.federation, method="newton", bounds=data.bounds, out=run)
    >>> made = write_dossier(run)
    >>> list(made.files)
    ['impact-assessment.html', 'ethics-committee.html', 'registry_entry.yaml']

    """
    run = Path(run_folder)
    folder = default_folder(run) if out is None else Path(out)
    _check_place(run, folder)
    known, seen = (None if path is None else Path(path) for path in (identities, views))
    made = dossier_of(read_facts(run, known, seen, progress, seconds))
    write_folder(folder, {name: [content] for name, content in made.files.items()}, 0o777)
    return made


def default_folder(run: Path) -> Path:
    """Beside the run folder."""
    whole = run.absolute()
    return whole.with_name(f"{whole.name}-dossier")


def _check_place(run: Path, folder: Path) -> None:
    if folder.resolve().is_relative_to(run.resolve()):
        raise InputError(f"out: {folder} lies inside the run folder {run}, wanted a place outside")
    if os.path.lexists(folder):
        raise InputError(f"out: {folder} exists already, wanted a new folder")
    refuse_existing(folder)
