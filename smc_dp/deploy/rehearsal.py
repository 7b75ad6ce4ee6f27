"""Simulate a study before anybody signs it: its agreement, marked as a simulation, and rows for all of its parties.

The marker enters the digest of the agreement, so no session of the study itself can be this one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from protocols.arithmetic.rng import Stream
from smc_dp.core.errors import FaultCollector, InputError, InputFault, refuse_all
from smc_dp.data import sources
from smc_dp.data.bounds import Bounds
from smc_dp.data.columns import BinnedColumn, CategoricalColumn, Column, DateColumn
from smc_dp.data.federation import Federation, Rows
from smc_dp.data.limits import allow_cells
from smc_dp.data.preprocess import encode_labelled_rows
from smc_dp.data.sources import PreparedData
from smc_dp.data.table import Table
from smc_dp.data.table_reader import read_table
from smc_dp.deploy.preflight import agreement_of, encode_party_rows
from smc_dp.deploy.study import JointStudy
from smc_dp.run.agreement import REASONS, SEEDED, SIMULATED_STUDY, Agreement
from smc_dp.run.settings import DataRoles, RunRequest

GENERATED_ROWS = 200
"""Rows that each party gets where none are given: enough for every class, and soon trained on."""
_FILES = (
    "study",
    "party",
    "dataset",
    "data_dir",
    "test",
    "auxiliary",
    "strict_bounds",
    "most_cells",
    "out",
    "record_views",
)
_BESIDE_A_STUDY = (*_FILES, "drop_out", "topology", "link", "insecure_seed")
"""Options that a study leaves to its simulation."""


def rehearse(request: RunRequest, rng: Stream) -> tuple[PreparedData, Agreement]:
    """Return the rows of all parties of a study, and its agreement with the marker of a simulation.

    Rows are those of files, of a data set, or made up inside the bounds. Raises an InputError with every option that
    contradicts the study, and `UnfitError` with every fault of the study.
    """
    _refuse_contradictions(request)
    with allow_cells(request.simulation.most_cells):
        return _rehearsed(request.data, rng)


def _rehearsed(data: DataRoles, rng: Stream) -> tuple[PreparedData, Agreement]:
    study = JointStudy.read(data.study or Path())
    agreement = agreement_of(study, None if data.auxiliary is None else Path(data.auxiliary))
    tables = _tables(study, data, rng.fork("made-up rows"))
    label = study.bounds.label
    rows: dict[str, Rows] = {}
    found = FaultCollector()
    for name in study.parties:
        with found.step():
            rows[name] = encode_party_rows(tables[name], study.bounds, strict=data.strict_bounds)
    found.require()
    public = None if agreement.auxiliary is None else agreement.auxiliary.X
    federation = Federation(tuple(rows.values()), study.bounds.class_count, public, names=study.parties)
    test = (
        None
        if data.test is None
        else encode_labelled_rows(
            read_table(data.test, f"test file {data.test}"), replace(study.bounds, weights=None), label
        )
    )
    wanted = {*agreement.marks, SIMULATED_STUDY, *([SEEDED] if rng.insecure else [])}
    marks = tuple(mark for mark in REASONS if mark in wanted)
    own = {name: tables[name] for name in study.parties}
    threshold = None if study.threshold is None else float(Fraction(study.threshold))
    return PreparedData(federation, test, study.bounds, own, threshold), replace(agreement, marks=marks)


def _refuse_contradictions(request: RunRequest) -> None:
    """Raise an InputError with every option that a study says itself, or that a simulation of one has no use for."""
    said = request.model_dump(by_alias=True, exclude_none=True)
    sections = {name: section if isinstance(section, dict) else {name: section} for name, section in said.items()}
    given = [(name if key == "name" else key, value) for name, own in sections.items() for key, value in own.items()]
    named = [name for name, value in given if value is not False and name not in _BESIDE_A_STUDY]  # a 0 is said
    named += ["dataset"] if request.data.party and request.data.dataset is not None else []
    refuse_all(InputFault("study.contradicted", {"name": name}) for name in named)


def _tables(study: JointStudy, data: DataRoles, rng: Stream) -> Mapping[str, Table]:
    if data.party:
        tables = sources.read_file_of_each(data.party)
        if set(tables) != set(study.parties):
            raise InputError("party.not_of_study", wanted=study.parties, got=list(tables))
        return tables
    if data.dataset is not None:
        dealt = sources.dataset(data.dataset, data.data_dir, parties=len(study.parties))
        return dict(zip(study.parties, dealt.tables.values(), strict=True))
    return {name: made_up(study.bounds, rng.fork(name), name) for name in study.parties}


def made_up(bounds: Bounds, rng: Stream, name: str) -> Table:
    """Return rows that are uniform inside the bounds, with classes that are as frequent as each other."""
    numbers = np.random.default_rng(int.from_bytes(rng.bytes(16)))
    cells: dict[str, Any] = {column.name: _cells(column, numbers) for column in bounds.columns}
    outcomes = bounds.label_column
    if bounds.label is not None and outcomes is not None:
        by_turns = [bounds.classes[i % len(bounds.classes)] for i in range(GENERATED_ROWS)] if bounds.classes else None
        cells[bounds.label] = _cells(outcomes, numbers) if by_turns is None else by_turns
    if bounds.weights is not None and (column := bounds.weights.numbers) is not None:
        cells[column.name] = _cells(column, numbers)
    return Table(f"party {name} (made up)", cells, range(1, GENERATED_ROWS + 1))


def _cells(column: Column, numbers: np.random.Generator) -> Any:
    if isinstance(column, CategoricalColumn):
        return [column.categories[i] for i in numbers.integers(len(column.categories), size=GENERATED_ROWS)]
    if isinstance(column, DateColumn):
        first, last = column.first.toordinal(), column.last.toordinal()
        days = numbers.integers(first, last + 1, size=GENERATED_ROWS)
        return [column.first.fromordinal(int(day)) for day in days]
    if isinstance(column, BinnedColumn):
        return numbers.uniform(column.edges[0], column.edges[-1], GENERATED_ROWS)
    return numbers.uniform(column.low, column.high, GENERATED_ROWS)
