"""Run of a protocol in a few lines of Python: everybody's rows in, a run folder and a report out.

Settings are parameters by the names of options (`smc_dp.run.settings`). A method or a target may also be an object, in
place of its section; settings of that section are refused then.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from os import PathLike
from pathlib import Path
from types import MappingProxyType
from typing import Any, TypeAlias

import numpy as np

from protocols.arithmetic.rng import Stream
from protocols.crypto.identity import Identity
from protocols.programs import PROTOCOLS
from smc_dp.core.arrays import Array
from smc_dp.core.errors import InputError
from smc_dp.core.writing import fresh_folder
from smc_dp.data import sources
from smc_dp.data.bounds import Bounds, NumericColumn
from smc_dp.data.federation import Federation, Rows
from smc_dp.data.frames import DataFrame, FileOrFrame, is_frame
from smc_dp.data.partition import check_names, name_of_file
from smc_dp.data.row_weights import RowWeights
from smc_dp.data.sources import PreparedData
from smc_dp.methods.method import Method
from smc_dp.privacy.target import Target
from smc_dp.run.agreement import describes_rows, is_as_published
from smc_dp.run.ledgers import Ledgers
from smc_dp.run.preparation import missing_bounds, refuse_beside
from smc_dp.run.report import Report
from smc_dp.run.settings import MethodSettings, RunSettings, TargetSettings
from smc_dp.run.simulation import HearProgress, simulate_run

AnyPath: TypeAlias = str | PathLike[str]
AnyTable: TypeAlias = AnyPath | DataFrame


def run_protocol(
    data: Federation | Mapping[str, AnyTable] | Sequence[AnyTable],
    *,
    method: str | Method | None = None,
    target: Target | Fraction | float = 1.0,
    bounds: AnyPath | Bounds | None = None,
    label: str | None = None,
    test: AnyTable | Rows | None = None,
    auxiliary: AnyTable | Array | None = None,
    out: AnyPath | None = None,
    drop_out: Mapping[str, int] = MappingProxyType({}),
    topology: str = "mesh",
    link: str = "none",
    identities: Mapping[str, Identity] | None = None,
    views: AnyPath | None = None,
    ledgers: Ledgers | None = None,
    insecure_seed: int | None = None,
    progress: HearProgress | None = None,
    **settings: Any,
) -> Report:
    """Learn together through the protocol that computes this method; write a run folder.

    Parties run as in-process actors that exchange encrypted messages over a simulated channel.

    Parameters
    ----------
    data : Federation, mapping of names to paths or data frames, or sequence of them
        Every party's rows: rows in the unit ball, or CSV or Parquet files or data frames (pandas, polars, Arrow), by
        name, called after their file names, or as party-1, party-2 and so on.
    method : str or Method, default=None
        Name of the method, then with lambda by the public rule if it has one (`smc_dp.methods.usual_lambda`), or the
        method with its settings; None takes newton, or the method of a protocol that is named.
    target : Target, Fraction or float, default=1.0
        Privacy target, or its epsilon alone, above 0.
    bounds : path or Bounds, default=None
        Public bounds, or a TOML file of them; files and data frames need them.
    label : str, default=None
        Column of classes in files and data frames, where the bounds do not say it.
    test : path, data frame or Rows, default=None
        Rows to measure the accuracy on.
    auxiliary : path, data frame or ndarray of shape (N, d), default=None
        Public rows without labels for a method that needs them, a file or a data frame where the parties' rows are
        such; those of a federation serve as well.
    out : path, default=None
        Run folder to make, else a new one in runs/.
    drop_out : mapping of names to int, default={}
        Simulated drop-outs: the party of this name stops before its n-th envelope.
    topology : {"mesh", "star"}, default="mesh"
        Direct links, or all messages through Charlie.
    link : {"none", "lan", "wan"}, default="none"
        Network whose delays are simulated.
    identities : mapping of names to Identity, default=None
        Long-term identities; by default new ones are made.
    views : path, default=None
        SECRET: folder to make for the view of each participant, for audits.
    ledgers : Ledgers, default=None
        Each party's ledger: a run that would pass a budget is refused.
    insecure_seed : int, default=None
        Reproducible and insecure: take all randomness from this number.
    progress : callable, default=None
        Called with what goes on (a stage), how much of the training or of the protocol is done, and of how much.
    **settings : str, int, float, bool or Fraction
        Settings of the method, the target and the protocol, by the names of the options of `smc-dp run` (lambda is
        `lam`), such as `protocol` and `colluders`; none of a `method` or a `target` that is an object.

    Returns
    -------
    Report
        Privacy statement, cost and comparison of accuracies; the release itself is in its `run_dir`.

    Raises
    ------
    InputError
        As `smc-dp run` refuses, before any message is sent; no folder is written then.
    ProtocolError
        On an abort; no folder is written either.

    Warns
    -----
    RowsClippedWarning
        Where more than 5 % of a party's rows in files, or of a column's numbers, are clipped by the bounds. It stays
        where the rows are: nothing that is written has it.

    References
    ----------
    * M. Pathak, S. Rane and B. Raj. Multiparty differential privacy via aggregation of locally trained classifiers.
      NIPS 2010.
    * K. Bonawitz et al. Practical secure aggregation for privacy-preserving machine learning. CCS 2017.

    Examples
    --------
    >>> import tempfile
    >>> from smc_dp import run_protocol
    >>> from smc_dp.data.sources import dataset
    >>> data, run = dataset("breast_cancer"), tempfile.mkdtemp() + "/run"
    >>> report = run_protocol(data.federation, method="newton", bounds=data.bounds, test=data.test, out=run)
    >>> report.privacy.kind, report.privacy.epsilon, report.privacy.unit
    ('zcdp', 1.0, 'record')
    >>> report.comparison.accuracy > report.comparison.majority
    True

    """
    name = method if isinstance(method, str | None) else method.name
    whole = name is not None and describes_rows(name)
    prepared = _prepared(data, bounds, label, test, auxiliary, whole=whole)
    if whole and prepared.test is not None:
        raise InputError("test.of_no_classifier", name=name)
    made = None if isinstance(method, str | None) else method
    wanted = target if isinstance(target, Target) else None
    for name, own, section in (("method", made, MethodSettings), ("target", wanted, TargetSettings)):
        if own is not None:
            refuse_beside({key: settings.get(key) for key in section.model_fields}, name)
    usual = {"method": None if made else method, "epsilon": None if wanted else target, "calibration": "proven"}
    protocol = settings.get("protocol")
    settled = RunSettings.from_options(**usual | settings).settle(
        len(prepared.federation.names), seeded=insecure_seed is not None,
        as_published=protocol in PROTOCOLS and is_as_published(str(protocol)), method=made, target=wanted,
    )  # fmt: skip
    agreed = settled.for_simulation(prepared.federation, prepared.bounds, auxiliary=auxiliary is not None)
    rng = Stream.from_system() if insecure_seed is None else Stream.insecure_from_seed(insecure_seed)
    return simulate_run(
        prepared, agreed, rng, fresh_folder() if out is None else Path(out), progress,
        topology=topology, link=link, identities=identities, views=None if views is None else Path(views),
        ledgers=ledgers, drop_out=drop_out,
    )  # fmt: skip


def _prepared(
    data: Federation | Mapping[str, AnyTable] | Sequence[AnyTable],
    bounds: AnyPath | Bounds | None,
    label: str | None,
    test: AnyTable | Rows | None,
    auxiliary: AnyTable | Array | None,
    *,
    whole: bool,
) -> PreparedData:
    if isinstance(data, Federation):
        if (
            label is not None
            or not isinstance(bounds, Bounds | None)
            or not isinstance(test, Rows | None)
            or not isinstance(auxiliary, np.ndarray | None)
        ):
            raise InputError("data.of_encoded_rows")
        if auxiliary is not None and data.unlabelled is not None:
            raise InputError("auxiliary.twice")
        return _as_announced(data if auxiliary is None else replace(data, unlabelled=auxiliary), bounds, test)
    named = list(_named_tables(data))
    if bounds is None:
        raise missing_bounds(named, label)
    held_out, public = (
        None if given is None else _table(name, given) for name, given in (("test", test), ("auxiliary", auxiliary))
    )
    return sources.read_own_files(named, bounds, label=label, test=held_out, auxiliary=public, whole=whole)


def _named_tables(data: object) -> Iterator[tuple[str, FileOrFrame]]:
    """Yield each party's name and its path or data frame; raise InputError for anything else."""
    if isinstance(data, str | PathLike) or is_frame(data) or not isinstance(data, Mapping | Sequence):
        raise InputError("data.not_of_parties", got=type(data).__name__)
    if isinstance(data, Mapping):
        yield from ((name, _table("data", given)) for name, given in data.items())
        return
    for i, given in enumerate(data, 1):
        table = _table("data", given)
        yield name_of_file(table) if isinstance(table, Path) else f"party-{i}", table


def _table(name: str, given: object) -> FileOrFrame:
    if isinstance(given, str | PathLike):
        return Path(given)
    if is_frame(given):
        return given
    raise InputError("table.no_file_or_frame", name=name, got=type(given).__name__)


def _as_announced(data: Federation, bounds: Bounds | None, test: Rows | None) -> PreparedData:
    """Return rows that are in the ball already: columns x1 ... xd in [-1, 1] and classes 0, 1 ..., or these bounds."""
    columns = tuple(NumericColumn(f"x{i + 1}", -1.0, 1.0) for i in range(data.dimension))
    classes = tuple(map(str, range(data.classes)))
    weights = RowWeights(column="weight") if data.weighted else None
    announced = bounds or Bounds(columns, classes, "class", clip=1.0, bias=0.0, weights=weights)
    announced = (
        announced if announced.label is not None or not announced.has_label else replace(announced, label="class")
    )
    if announced.dimension != data.dimension:
        raise InputError("bounds.other_dimension", dimension=data.dimension, got=announced.dimension)
    if data.weighted != (announced.weights is not None):
        raise InputError("bounds.other_weights")
    if announced.class_count != data.classes:
        raise InputError("bounds.other_classes", classes=data.classes, got=announced.class_count)
    names = data.names or tuple(f"party-{j + 1}" for j in range(len(data.parties)))
    if not all(isinstance(name, str) for name in names):
        raise InputError("parties.no_names")
    check_names(list(names))
    return PreparedData(replace(data, names=names), test, announced)
