"""Preparation of a simulation: everybody's rows and the agreement, from the settings of the command `run`.

The settings are checked first, with all faults at once (`smc_dp.run.settings`), as far as possible before a file of
rows is read: the numbers of parties and classes are announced by options and bounds.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from smc_dp.core.errors import FaultCollector, InputError, InputFault, refuse_all, shown
from smc_dp.data import sources
from smc_dp.data.bounds import read_bounds
from smc_dp.data.dataset_info import DATASET_INFO
from smc_dp.data.frames import FileOrFrame
from smc_dp.data.limits import allow_cells
from smc_dp.data.sources import DEFAULT_PARTIES, PreparedData
from smc_dp.methods.method import require_two_classes
from smc_dp.run.agreement import Agreement, SettledRun, check_auxiliary, check_label_kind, describes_rows
from smc_dp.run.settings import DataRoles, RunRequest

USUAL_DATASET = "breast_cancer"


def prepare_run(request: RunRequest) -> tuple[PreparedData, Agreement]:
    """Return everybody's rows and the agreement; raise an InputError with all faults before any row is read."""
    found, (agreement,) = prepare_runs(request)
    return found, agreement


def prepare_runs(*requests: RunRequest) -> tuple[PreparedData, list[Agreement]]:
    """Return everybody's rows and an agreement for each of these requests, which have the same section of data.

    The rows are read once, after all requests are settled; an InputError before that has all faults of one request.
    """
    with allow_cells(requests[0].simulation.most_cells):
        return _prepared(requests)


def _prepared(requests: Sequence[RunRequest]) -> tuple[PreparedData, list[Agreement]]:
    data = requests[0].data
    announced = _announced(data)
    agreed = [_settled(request, announced, usual_classes(data)) for request in requests]
    whole = describes_rows(agreed[0].method.name)
    if whole and data.test is not None:
        raise InputError("test.of_no_classifier", name=agreed[0].method.name)
    if data.party:
        public = None if data.auxiliary is None else Path(data.auxiliary)
        found = sources.read_own_files(
            data.party, data.bounds or Path(), label=data.label, test=data.test, parties_by=data.parties_by,
            auxiliary=public, strict=data.strict_bounds, whole=whole,
        )  # fmt: skip
    else:
        found = sources.dataset(
            data.dataset or USUAL_DATASET, data.data_dir, parties=data.parties, split=data.split,
            auxiliary=_count(data.auxiliary), strict=data.strict_bounds, whole=whole,
            whole_rows=any(getattr(one.method, "whole_rows", False) for one in agreed),
        )  # fmt: skip
    federation = found.federation
    if len(federation.parties) != announced:  # one file said who has which rows
        agreed = [_settled(request, len(federation.parties), federation.classes) for request in requests]
    public_rows = data.auxiliary is not None
    return found, [one.for_simulation(federation, found.bounds, auxiliary=public_rows) for one in agreed]


def missing_bounds(parties: Sequence[str | tuple[str, FileOrFrame]], label: str | None = None) -> InputError:
    """Return the refusal of files without bounds, with the commands that draft and check some for the first file."""
    name, path = sources.name_and_path(parties[0] if parties else "FILE")
    if not isinstance(path, Path):
        return InputError("bounds.missing_for_frames")
    own = {"file": shlex.quote(str(path)), "party": shlex.quote(name)}
    if label is None:
        return InputError("bounds.missing", **own)
    return InputError("bounds.missing_beside_label", **own, label=shlex.quote(label))


def parse_drop_outs(texts: Iterable[str]) -> dict[str, int]:
    """Return simulated drop-outs: the names of parties, and the own envelope before which each stops."""
    found: dict[str, int] = {}
    for text in texts:
        name, colon, number = text.rpartition(":")
        if not colon or name in found or not (number.isascii() and number.isdigit()) or len(number) > 18:
            raise InputError("drop_out.not_a_message", got=shown(text))
        found[name] = int(number)
    return found


def refuse_beside(given: Mapping[str, object], other: str, why: str = "") -> None:
    """Raise an InputError with each of these parameters that was given beside the `other` one."""
    said = [name for name, value in given.items() if value is not None and value is not False]
    refuse_all(InputFault("option.contradicts", {"name": name, "other": other, "why": why}) for name in said)


def _settled(request: RunRequest, parties: int, classes: int) -> SettledRun:
    data, how, found, agreed = request.data, request.simulation, FaultCollector(), None
    with found.step():
        agreed = request.settle(parties, seeded=how.insecure_seed is not None, as_published=how.as_published_insecure)
    if agreed is not None:
        with found.step():
            check_label_kind(agreed.method, classes)
            if agreed.method.binary:
                require_two_classes(classes, agreed.method)
        with found.step():
            check_auxiliary(agreed.method, given=data.auxiliary is not None)
    with found.step():
        parse_drop_outs(how.drop_out or [])
    with found.step():
        _check_roles(data)
    return found.required(agreed)


def _check_roles(data: DataRoles) -> None:
    """Raise an InputError where files of parties and a data set are named together."""
    if data.party:
        partitioned = {"dataset": data.dataset, "parties": data.parties, "split": data.split}
        refuse_beside(partitioned, "party", ", whose files have the rows. Leave one of them out")
        if data.bounds is None:
            raise missing_bounds(data.party, data.label)
        return
    alone = [name for name in ("label", "bounds", "test", "parties_by") if getattr(data, name) is not None]
    refuse_all(InputFault("option.alone", {"name": name, "other": "party"}) for name in alone)


def _announced(data: DataRoles) -> int:
    """Return the number of parties, as far as options announce it."""
    if data.party:
        return len(data.party)
    if data.split is not None:
        return data.split.count(",") + 1
    return DEFAULT_PARTIES if data.parties is None else data.parties


def usual_classes(data: DataRoles) -> int:
    """Return the number of classes in the bounds, or in a known data set, without reading a row."""
    if data.party:
        return 2 if data.bounds is None else read_bounds(data.bounds).class_count
    known = DATASET_INFO.get(data.dataset or USUAL_DATASET)
    return 2 if known is None else known.classes  # what is missing or unknown, others refuse


def _count(text: str | None) -> int | None:
    if text is None:
        return None
    if not (text.isascii() and text.isdigit() and len(text) < 19 and int(text)):
        raise InputError("auxiliary.not_a_count", got=shown(text))
    return int(text)
