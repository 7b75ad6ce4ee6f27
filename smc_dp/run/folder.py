"""Run folder: the files that a run publishes, written whole or not at all, and read back with suspicion.

`shares.json` and `release.json` are what Dave needs, `transcript.jsonl` is what an auditor needs, `timings.json` has
the cost of the run and is for the participants alone (`publish` leaves it out). A run that publishes the sum itself has
no `shares.json`. A method on public rows has them in `auxiliary.json`, without which nobody can compute the weights
from the sum. A study that all organisations approved is in `study.json`, and the cosigned head of its transcript in
`transcript.cosigned`, which comes later and which the release does not state. Nothing in the folder was computed from
private rows outside the protocol: no baseline, no accuracy.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Container, Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

from smc_dp.core import reading
from smc_dp.core.documents import validate_document
from smc_dp.core.errors import InputError, InputFault, warn_ignored
from smc_dp.core.writing import write_folder
from smc_dp.data.bounds import Bounds
from smc_dp.data.columns import BinnedColumn, CategoricalColumn, DateColumn, NumericColumn
from smc_dp.methods.model import Weights
from smc_dp.methods.statistics.describe_result import DescribeResult
from smc_dp.run.agreement import REASONS, Agreement
from smc_dp.run.auxiliary import AuxiliaryRows
from smc_dp.run.coefficient_intervals import make_intervals
from smc_dp.run.coefficients import make_coefficients
from smc_dp.run.documents import RELEASE_FORMAT, SIMULATED, ReleaseFile, SharesFile
from smc_dp.run.protocols.cost import Execution, Outcome
from smc_dp.run.release import AUXILIARY, COSIGNED, RELEASE, SHARES, STUDY, TIMINGS, TRANSCRIPT, PublishedRelease
from smc_dp.run.run_files import RunFiles, RunPlace, has_file, path_of, read_run_file

PAGE = "page.html"
"""Page that earlier versions wrote into every run folder; nothing reads it."""
NOT_PUBLIC = "not_for_publication"
"""First field of timings.json, which says why."""
_WHY = "Seconds depend on secret operands, such as keys and coins: this file is for the participants of the run alone."
_MOST_BYTES = {
    RELEASE: 1 << 27,
    SHARES: 1 << 27,
    TIMINGS: 1 << 27,
    TRANSCRIPT: 1 << 30,
    AUXILIARY: 1 << 25,
    STUDY: 1 << 25,
    COSIGNED: 1 << 17,
}
FILES = tuple(_MOST_BYTES)
"""Files that a run may write into its folder."""
_DIGESTED = (SHARES, AUXILIARY, STUDY, TRANSCRIPT, TIMINGS)
_NO_DIGESTS = MappingProxyType(dict.fromkeys((TRANSCRIPT, TIMINGS), "0" * 64))


def make_release(
    outcome: Outcome, agreement: Agreement, simulated: Mapping[str, str], study: bytes | None = None
) -> PublishedRelease:
    """Return the release of an outcome; `simulated`: values of `SIMULATED`; `study`: the study that all approved."""
    members = () if outcome.execution is None else outcome.execution.members_of_sums
    result, found = agreement.inferred_result(outcome.value, members)
    inference = make_intervals(found, result, agreement.bounds)
    return replace(_release(result, agreement, simulated, study), inference=inference)


def check_readable(agreement: Agreement, simulated: Mapping[str, str]) -> None:
    """Raise an InputError unless this agreement would be read back as the same, before anything is charged."""
    try:
        planned = _as_json(_release(_zeros(agreement), agreement, simulated), _NO_DIGESTS)
        document = validate_document(ReleaseFile, json.loads(json.dumps(planned, allow_nan=False)), RELEASE)
        found = document.agreement(agreement.auxiliary, agreement.grid.fraction_bits)
    except InputError:
        raise
    except (TypeError, ValueError) as error:
        raise InputError("agreement.not_publishable", why=str(error)) from None
    if found.digest != agreement.digest:
        raise InputError("agreement.reads_back_otherwise")


def _release(
    result: Weights | DescribeResult, agreement: Agreement, simulated: Mapping[str, str], study: bytes | None = None
) -> PublishedRelease:
    bounds = agreement.bounds
    return PublishedRelease(
        result=result,
        agreement=agreement,
        privacy=agreement.statement.as_dict(),
        parameters={
            **agreement.parameters,
            **{name: simulated[name] for name in SIMULATED},
            **{"agreed": agreement.session_binding(simulated, study), "label": bounds.label, "center": bounds.center},
        },
        insecure=tuple(REASONS[mark] for mark in agreement.marks),
        coefficients=_coefficients(result, agreement),
    )


def _coefficients(result: Weights | DescribeResult, agreement: Agreement) -> dict[str, Any] | None:
    """Return the coefficients of columns; a description has none, and weights beside Fourier features would mislead."""
    if isinstance(result, DescribeResult) or agreement.features is not None:
        return None
    return make_coefficients(result, agreement.bounds)


def _zeros(agreement: Agreement) -> Weights | DescribeResult:
    """Return what any release of this agreement may have."""
    bounds = agreement.bounds
    if agreement.describes:
        return agreement.result((0,) * agreement.spec.length)
    row = (0.0,) * agreement.weight_count
    return (row,) * len(bounds.classes) if len(bounds.classes) > 2 else row


def write_run(folder: Path, release: PublishedRelease, execution: Execution, study: bytes | None = None) -> None:
    """Write the run folder, whole or not at all; raise an InputError where it exists or cannot be written."""
    write_folder(folder, _contents(release, execution, study), 0o777)


def write_views(folder: Path, execution: Execution) -> None:
    """Write the participants' secret views into a folder that only its owner may read, whole or not at all.

    Files are numbered, because names of parties are no names of files. Raises InputError as `write_run` does.
    """
    views = execution.views.values()
    write_folder(folder, {f"{number}.view": [view] for number, view in enumerate(views, start=1)}, 0o700)


def has_release(folder: Path, release: PublishedRelease, execution: Execution, study: bytes | None = None) -> bool:
    """Return whether the run folder has exactly this release."""
    (content,) = _contents(release, execution, study)[RELEASE]
    return read_content(folder, RELEASE) == content


def _contents(release: PublishedRelease, execution: Execution, study: bytes | None) -> dict[str, Iterable[bytes]]:
    timings = {NOT_PUBLIC: _WHY, **(execution.cost.as_dict() if execution.cost else {})}
    files = {TIMINGS: [_json(timings)]}
    if release.agreement.publishes_shares:
        shares = {
            "modulus": str(execution.modulus),
            "fraction_bits": release.agreement.grid.fraction_bits,
            "shares": {name: [str(share) for share in values] for name, values in execution.shares.items()},
        }
        files = {SHARES: [_json(shares)], **files}
    if release.agreement.auxiliary is not None:
        files[AUXILIARY] = [release.agreement.auxiliary.content]
    if study is not None:
        files[STUDY] = [study]
    digests = {name: _digest(content) for name, content in files.items()}
    digests[TRANSCRIPT] = _digest(execution.transcript.chunks())
    document = _as_json(release, {name: digests[name] for name in _DIGESTED if name in digests})
    return {**files, TRANSCRIPT: execution.transcript.chunks(), RELEASE: [_json(document)]}


def _digest(content: Iterable[bytes]) -> str:
    digest = hashlib.sha256()
    for chunk in content:
        digest.update(chunk)
    return digest.hexdigest()


def _as_json(release: PublishedRelease, digests: Mapping[str, str]) -> dict[str, Any]:
    columns = release.bounds.columns
    said = {name: found for name, found in _said_of_columns(release.bounds).items() if found}
    result = release.result
    found: dict[str, Any] = {"description": result.as_dict()} if isinstance(result, DescribeResult) else {
        "weights": list(result),
        **({} if release.agreement.features is not None else {"coefficients": release.coefficients}),
    }  # fmt: skip
    document = {
        "format": RELEASE_FORMAT,
        **found,
        "privacy": dict(release.privacy),
        "parameters": dict(release.parameters),
        "columns": [column.name for column in columns],
        "categories": {c.name: list(c.categories) for c in columns if isinstance(c, CategoricalColumn)},
        "bounds": {c.name: [c.low, c.high] for c in columns if isinstance(c, NumericColumn)},
        "clip": release.bounds.clip,
        "bias": release.bounds.bias,
        "classes": list(release.bounds.classes),
        **({} if release.bounds.outcome is None else {"outcome": list(release.bounds.outcome)}),
        "digests": dict(digests),
        **said,
    }
    return (
        document
        | ({} if release.inference is None else {"inference": release.inference})
        | ({"insecure": list(release.insecure)} if release.insecure else {})
    )


def _said_of_columns(bounds: Bounds) -> dict[str, dict[str, Any]]:
    """Return what columns state beside ranges and categories; aliases of classes stand under the label."""
    columns = bounds.columns
    aliases = {c.name: c.aliases for c in columns if isinstance(c, CategoricalColumn)} | {bounds.label: bounds.aliases}
    missing = [*((c.name, c.missing) for c in columns), (str(bounds.label), bounds.missing)]
    return {
        "dates": {c.name: [c.first.isoformat(), c.last.isoformat()] for c in columns if isinstance(c, DateColumn)},
        "bins": {c.name: list(c.edges) for c in columns if isinstance(c, BinnedColumn)},
        "missing": {name: rule for name, rule in missing if rule is not None},
        "row_weights": {} if bounds.weights is None else bounds.weights.as_dict(),
        "aliases": {str(name): {level: list(texts) for level, texts in some} for name, some in aliases.items() if some},
    }


def warn_of_page(folder: RunPlace) -> None:
    """Warn of a page that an earlier version wrote into a run folder: it is ignored."""
    if os.path.lexists(page := path_of(folder, PAGE)):
        warn_ignored(InputFault("page.ignored").within(str(page)))


def read_release_file(folder: RunPlace) -> ReleaseFile:
    """Return the content of release.json; raise an InputError with every fault."""
    found = reading.parse_object(read_content(folder, RELEASE), str(path_of(folder, RELEASE)))
    return validate_document(ReleaseFile, found, f"run folder {folder}: {RELEASE}")


def read_content(folder: RunPlace, name: str) -> bytes:
    """Return a file of a run folder; raise an InputError where it cannot be read, or is too large."""
    return read_run_file(folder, name, _MOST_BYTES[name])


def read_run_files(folder: Path) -> RunFiles:
    """Return the files of a run folder, each read once; raise InputError for one that cannot be read.

    Public rows and a study that the release does not state are left out: nobody reads them.
    """
    release = read_content(folder, RELEASE)
    named = listed_files(reading.parse_object(release, str(folder / RELEASE)))
    others = (name for name in FILES if name != RELEASE and (name in named or name not in (AUXILIARY, STUDY)))
    return RunFiles(
        folder, {RELEASE: release, **{name: read_content(folder, name) for name in others if has_file(folder, name)}}
    )


def listed_files(release: Mapping[str, Any]) -> Container[str]:
    """Return the files that a release states to be beside it; the shares where it states nothing."""
    digests = release.get("digests")
    return digests if isinstance(digests, dict) else (SHARES,)


def read_listed_file(folder: RunPlace, document: ReleaseFile, name: str) -> bytes:
    """Return a file beside a release; raise an InputError unless it has the digest that the release states."""
    content = read_content(folder, name)
    if document.digests.named.get(name) != hashlib.sha256(content).hexdigest():
        raise InputError("release.other_digest", name=name)
    return content


def read_shares(folder: RunPlace, document: ReleaseFile) -> SharesFile:
    """Return the shares beside a release; raise an InputError where they are missing, changed or malformed."""
    return validate_document(
        SharesFile, reading.parse_object(read_listed_file(folder, document, SHARES), SHARES), SHARES
    )


def read_public_rows(folder: RunPlace, document: ReleaseFile) -> AuxiliaryRows | None:
    """Return the public rows beside a release that states some; InputError for missing, changed or malformed ones."""
    if AUXILIARY not in document.digests.named:
        return None
    return AuxiliaryRows.read(read_listed_file(folder, document, AUXILIARY), AUXILIARY)


def read_study_bytes(folder: RunPlace, document: ReleaseFile) -> bytes | None:
    """Return the study beside a release that states one; InputError where it is missing or changed."""
    return read_listed_file(folder, document, STUDY) if STUDY in document.digests.named else None


def recompute_release(document: ReleaseFile, shares: SharesFile, rows: AuxiliaryRows | None = None) -> PublishedRelease:
    """Return the release in two files, with its weights recomputed from the shares; digests are not compared.

    Raises InputError for what no run states, where shares and weights differ, and for intervals.
    """
    found = parse_release(document, rows, shares.fraction_bits)
    if found.agreement.result(shares.total(found.agreement)) != found.result:
        raise InputError("release.weights_not_of_shares")
    if found.inference is not None:  # shares are of one sum, and no method of one has intervals
        raise InputError("release.other_inference")
    return found


def parse_release(
    document: ReleaseFile, rows: AuxiliaryRows | None = None, fraction_bits: int | None = None
) -> PublishedRelease:
    """Return the release that a document states, with its weights; raise an InputError for what no run states.

    `rows` and `fraction_bits` as in `ReleaseFile.agreement`.
    """
    agreement = document.agreement(rows, fraction_bits)
    if (SHARES in document.digests.named) != agreement.publishes_shares:
        some = "one" if agreement.publishes_shares else "none"
        raise InputError("release.other_files", wanted=some, protocol=agreement.protocol)
    return PublishedRelease(
        document.result(agreement),
        agreement,
        document.privacy.statement.as_dict(),
        document.parameters.model_dump(),
        tuple(document.insecure),
        document.stated_coefficients,
        None if document.inference is None else document.inference.model_dump(exclude_unset=True),
    )


def _json(value: object) -> bytes:
    return (json.dumps(value, indent=2, allow_nan=False) + "\n").encode()
