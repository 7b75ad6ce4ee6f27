"""The run folder: what a run publishes, written whole or not at all, and read back with suspicion.

`shares.json` and `release.json` are what Dave needs, `transcript.jsonl` is what an auditor needs, `timings.json` says
what the run cost and is for the participants alone (`publish` leaves it out). Where the sum itself is published, and no
shares of it, there is no `shares.json`. Where the method is on public rows, these are in `auxiliary.json`, which Dave
needs to see that the weights follow from the sum. Where each organisation ran its own part, `study.json` is what all of
them approved of. Nothing in the folder was computed from private rows outside the protocol: no baseline, no accuracy.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from protocols.runtime.network import LINKS, TOPOLOGIES
from smc_dp.aggregation import Execution, Outcome
from smc_dp.aggregation.functionality import Vector, added
from smc_dp.data.bounds import Bounds, CategoricalColumn, Column, NumericColumn
from smc_dp.data.partition import check_names
from smc_dp.errors import InputError, shown
from smc_dp.files import reading
from smc_dp.files.writing import write_folder
from smc_dp.methods.model import Weights
from smc_dp.privacy.statement import PrivacyStatement
from smc_dp.run.agreement import REASONS, Agreement
from smc_dp.run.auxiliary import AuxiliaryRows

SHARES, RELEASE, TRANSCRIPT, TIMINGS = "shares.json", "release.json", "transcript.jsonl", "timings.json"
AUXILIARY, STUDY = "auxiliary.json", "study.json"
NOT_PUBLIC = "not_for_publication"
"""The first field of timings.json, which says why."""
_WHY = "Seconds depend on secret operands, such as keys and coins: this file is for the participants of the run alone."
_MOST_BYTES = {
    RELEASE: 1 << 27,
    SHARES: 1 << 27,
    TIMINGS: 1 << 27,
    TRANSCRIPT: 1 << 30,
    AUXILIARY: 1 << 25,
    STUDY: 1 << 25,
}
_DIGESTED = (SHARES, AUXILIARY, STUDY, TRANSCRIPT, TIMINGS)
_KEYS = {
    "weights",
    "privacy",
    "parameters",
    "columns",
    "categories",
    "bounds",
    "clip",
    "bias",
    "classes",
    "digests",
}
SIMULATED = ("topology", "link")
"""How a run was simulated: beside the parameters of a release, and nothing that the parties agreed on."""
_ADDED = {*SIMULATED, "agreed", "label", "center"}  # to the parameters that the parties agreed on


@dataclass(frozen=True)
class PublishedRelease:
    """What Dave needs to classify: the weights, the public bounds; and what is guaranteed.

    `weights`: d floats for two classes, d for each of more. `agreement` is what the parties agreed on. `privacy` and
    `parameters` are JSON objects; `insecure` holds the reasons why the run protects nobody, if any.
    """

    weights: Weights
    agreement: Agreement
    privacy: Mapping[str, Any]
    parameters: Mapping[str, Any]
    insecure: tuple[str, ...] = ()

    @property
    def bounds(self) -> Bounds:
        """What is publicly known of the columns; the label is set."""
        return self.agreement.bounds


def make(outcome: Outcome, agreement: Agreement, simulated: Mapping[str, str]) -> PublishedRelease:
    """The release of an outcome, as anybody may make it; `simulated`: how the run was simulated, SIMULATED by name."""
    return _release(agreement.weights(outcome.value), agreement, simulated)


def check_readable(agreement: Agreement, simulated: Mapping[str, str]) -> None:
    """Raises InputError unless what would be written of it is read back as the same: before anything is charged."""
    try:
        document = json.loads(json.dumps(_as_json(_release((), agreement, simulated), {}), allow_nan=False))
        found = agreed(document, {"fraction_bits": agreement.grid.fraction_bits}, agreement.auxiliary)
    except InputError:
        raise
    except (TypeError, ValueError) as error:
        raise InputError(f"agreement: cannot be published: {error}") from None
    if found.digest != agreement.digest:
        raise InputError("agreement: cannot be published: what would be read back is another one")


def _release(weights: Weights, agreement: Agreement, simulated: Mapping[str, str]) -> PublishedRelease:
    bounds = agreement.bounds
    return PublishedRelease(
        weights=weights,
        agreement=agreement,
        privacy=agreement.statement.as_dict(),
        parameters={
            **agreement.parameters,
            **{name: simulated[name] for name in SIMULATED},
            **{"agreed": agreement.bound(simulated), "label": bounds.label, "center": bounds.center},
        },
        insecure=tuple(REASONS[mark] for mark in agreement.marks),
    )


def write(folder: Path, release: PublishedRelease, execution: Execution, study: bytes | None = None) -> None:
    """Write the run folder, whole or not at all; raises InputError when it exists by now or cannot be written.

    `study`: the document of which everybody approved, where there is one.
    """
    write_folder(folder, _contents(release, execution, study), 0o777)


def write_views(folder: Path, execution: Execution) -> None:
    """Write each participant's view into a folder of its own that nobody else may read, whole or not at all.

    Files are numbered, because names of parties are no names of files. Raises InputError as `write` does.
    """
    views = execution.views.values()
    write_folder(folder, {f"{number}.view": [view] for number, view in enumerate(views, start=1)}, 0o700)


def read(folder: Path) -> PublishedRelease:
    """The release in a run folder, its weights recomputed from the shares.

    Raises InputError when anything is missing, malformed, unknown, out of range, or when shares, weights
    and digests do not agree.
    """
    document = read_document(folder)
    try:
        return _checked(folder, document)
    except InputError as error:
        raise InputError(f"run folder {folder}: {error}") from error


def document(release: PublishedRelease, execution: Execution, study: bytes | None = None) -> dict[str, Any]:
    """What would stand in release.json."""
    (content,) = _contents(release, execution, study)[RELEASE]
    return reading.parse_object(content, RELEASE)


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
    document = {
        "weights": list(release.weights),
        "privacy": dict(release.privacy),
        "parameters": dict(release.parameters),
        "columns": [column.name for column in columns],
        "categories": {c.name: list(c.categories) for c in columns if isinstance(c, CategoricalColumn)},
        "bounds": {c.name: [c.low, c.high] for c in columns if isinstance(c, NumericColumn)},
        "clip": release.bounds.clip,
        "bias": release.bounds.bias,
        "classes": list(release.bounds.classes),
        "digests": dict(digests),
    }
    return document | ({"insecure": list(release.insecure)} if release.insecure else {})


def read_document(folder: Path) -> dict[str, Any]:
    """The JSON object in release.json; InputError when there is none."""
    return reading.parse_object(reading.read_file(folder / RELEASE, _MOST_BYTES[RELEASE]), str(folder / RELEASE))


def beside(folder: Path, document: Mapping[str, Any], name: str) -> bytes:
    """The file of this name beside a release, if it has the digest that the release states; InputError otherwise."""
    digests = digests_of(document)
    content = reading.read_file(folder / name, _MOST_BYTES[name])
    if digests[name] != hashlib.sha256(content).hexdigest():
        raise InputError(f"{name} does not have the digest that {RELEASE} states")
    return content


def digests_of(document: Mapping[str, Any]) -> dict[str, Any]:
    """The digests of the files beside a release, by name; there is one of shares.json where there are shares, one of
    auxiliary.json where the method is on public rows, and one of study.json where everybody approved of a study.
    """
    digests = reading.mapping("digests", document.get("digests"))
    reading.keys("digests", digests, {TRANSCRIPT, TIMINGS}, {SHARES, AUXILIARY, STUDY})
    return digests


def auxiliary(folder: Path, document: Mapping[str, Any]) -> AuxiliaryRows | None:
    """The public rows beside a release that states some; InputError where they are missing, changed or malformed."""
    if AUXILIARY not in digests_of(document):
        return None
    return AuxiliaryRows.read(beside(folder, document, AUXILIARY), AUXILIARY)


def study(folder: Path, document: Mapping[str, Any]) -> bytes | None:
    """The study beside a release that states one; InputError where it is missing or changed."""
    return beside(folder, document, STUDY) if STUDY in digests_of(document) else None


def _checked(folder: Path, document: dict[str, Any]) -> PublishedRelease:
    shares = beside(folder, document, SHARES)
    for name in (TRANSCRIPT, TIMINGS):  # one at a time: a transcript may be large
        if os.path.lexists(folder / name):
            beside(folder, document, name)
    return opened(document, reading.parse_object(shares, SHARES), auxiliary(folder, document))


def opened(document: dict[str, Any], shares: dict[str, Any], rows: AuxiliaryRows | None = None) -> PublishedRelease:
    """The release in two JSON objects, its weights recomputed from the shares; digests are not looked at.

    Raises InputError when anything is missing, malformed, unknown, out of range, or when shares and weights do not
    agree.
    """
    found = stated(document, {"fraction_bits": shares.get("fraction_bits")}, rows)
    length = found.agreement.form.length
    by_name, total = _sum_of(shares, found.agreement)
    if {len(values) for values in by_name.values()} != {length}:
        raise InputError(f"wanted {found.bounds.dimension} weights and {length} numbers in each share")
    if found.agreement.weights(total) != found.weights:
        raise InputError(f"the weights in {RELEASE} are not the sum of the shares in {SHARES}")
    return found


def stated(
    document: dict[str, Any], shares: Mapping[str, Any] | None = None, rows: AuxiliaryRows | None = None
) -> PublishedRelease:
    """What a release states, its weights as they stand there; InputError when it is none. The rest: as in `agreed`."""
    reading.keys(RELEASE, document, _KEYS, optional={"insecure"})
    agreement = agreed(document, shares or {}, rows)
    if (SHARES in reading.mapping("digests", document["digests"])) != agreement.publishes_shares:
        some = "one" if agreement.publishes_shares else "none"
        raise InputError(f"digests: wanted {some} of {SHARES} for what {agreement.protocol} publishes")
    weights = _weights(document["weights"], agreement.bounds)
    privacy = _privacy(reading.mapping("privacy", document["privacy"]))
    parameters, insecure = document["parameters"], tuple(document.get("insecure", []))
    return PublishedRelease(weights, agreement, privacy, parameters, insecure)


def _weights(value: object, bounds: Bounds) -> Weights:
    """The weights as they are published for these classes, each of them a finite number."""
    names = bounds.classes
    if len(names) == 2:
        return _row(value, bounds.dimension, "")
    rows = reading.items("weights", value)
    if len(rows) != len(names):
        raise InputError(f"wanted weights of {len(names)} classes, got {len(rows)}")
    named = zip(names, rows, strict=True)
    return tuple(_row(row, bounds.dimension, f" of class {shown(name)}") for name, row in named)


def _row(value: object, dimension: int, of: str) -> tuple[float, ...]:
    found = reading.numbers(f"weights{of}", value)
    if len(found) != dimension:
        raise InputError(f"wanted {dimension} weights{of}, got {len(found)}")
    return tuple(found)


def agreed(document: Mapping[str, Any], shares: Mapping[str, Any], rows: AuxiliaryRows | None = None) -> Agreement:
    """What the parties agreed on, as the release states it, and the grid of the shares if they state one.

    `rows`: the public rows beside it, if there are any. InputError if that cannot be.
    """
    parameters = reading.mapping("parameters", document.get("parameters"))
    bounds = _bounds(document, parameters)
    check_names(reading.texts("parties", parameters.get("parties")))
    for name, choices in zip(SIMULATED, (TOPOLOGIES, LINKS), strict=True):
        if parameters.get(name) not in tuple(choices):
            raise InputError(f"{name}: wanted one of {', '.join(choices)}, got {shown(parameters.get(name))}")
    reasons = reading.texts("insecure", document.get("insecure", []))
    known = {reason: mark for mark, reason in REASONS.items()}
    if unknown := [reason for reason in reasons if reason not in known]:
        raise InputError(f"insecure: wanted known reasons, got {shown(unknown[0])}")
    record = {
        "parameters": {name: value for name, value in parameters.items() if name not in _ADDED},
        **({"fraction_bits": shares["fraction_bits"]} if "fraction_bits" in shares else {}),
        "insecure": [known[reason] for reason in reasons],
    }
    return Agreement.from_dict(record, bounds, rows)


def _privacy(document: dict[str, Any]) -> dict[str, Any]:
    """The statement as it was, once it has been seen to be one."""
    reading.keys("privacy", document, {field.name for field in fields(PrivacyStatement)} - {"rho", "mu"}, {"rho", "mu"})
    caveats = tuple(reading.texts("privacy caveats", document["caveats"]))
    for name in ("kind", "unit", "adjacency", "adversary"):
        reading.text(f"privacy {name}", document[name])
    for name in ("epsilon", "delta", "rho", "mu"):
        reading.numbers(f"privacy {name}", [value for value in [document.get(name)] if value is not None])
    try:
        return PrivacyStatement(**{**document, "caveats": caveats}).as_dict()
    except (TypeError, ValueError) as error:
        raise InputError(f"privacy: {str(error)[:200]}") from None


def _sum_of(document: dict[str, Any], agreement: Agreement) -> tuple[dict[str, list[int]], Vector]:
    """Every participant's share, and their sum as integers nearest to zero."""
    reading.keys(SHARES, document, {"modulus", "fraction_bits", "shares"})
    modulus = reading.integer("modulus", document["modulus"])
    if modulus != 1 << agreement.grid.ring_bits:
        raise InputError(f"modulus: wanted 2**{agreement.grid.ring_bits}, got {shown(modulus)}")
    by_name = reading.mapping("shares", document["shares"])
    reading.keys("shares", by_name, set(agreement.participants))
    shares = {
        name: [reading.integer(f"shares of {name}", text) for text in reading.items(f"shares of {name}", values)]
        for name, values in by_name.items()
    }
    if any(share >= modulus for values in shares.values() for share in values):
        raise InputError("shares: wanted numbers below the modulus")
    if len({len(values) for values in shares.values()}) > 1:
        return shares, ()
    half = modulus // 2
    return shares, tuple((total + half) % modulus - half for total in added(list(shares.values())))


def _bounds(document: Mapping[str, Any], parameters: Mapping[str, Any]) -> Bounds:
    names = reading.texts("columns", document["columns"])
    categories = reading.mapping("categories", document["categories"])
    ranges = reading.mapping("bounds", document["bounds"])
    if sorted([*categories, *ranges]) != sorted(names):
        raise InputError("columns: wanted each column in categories or in bounds, and no other there")
    columns: list[Column] = []
    for name in names:
        where = f"column {shown(name)}"
        if name in categories:
            columns.append(CategoricalColumn(name, tuple(reading.texts(where, categories[name]))))
        else:
            columns.append(NumericColumn(name, *reading.pair(where, reading.numbers(where, ranges[name]))))
    center, label = parameters.get("center"), parameters.get("label")
    if not isinstance(center, bool) or not isinstance(label, str):
        raise InputError("parameters: wanted center, true or false, and label, a column's name")
    clip, bias = reading.numbers("clip and bias", [document["clip"], document["bias"]])
    classes = reading.texts("classes", document["classes"])
    return Bounds(tuple(columns), tuple(classes), label, clip, bias, center)


def _json(value: object) -> bytes:
    return (json.dumps(value, indent=2, allow_nan=False) + "\n").encode()
