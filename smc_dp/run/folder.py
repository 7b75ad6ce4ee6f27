"""The run folder: what a run publishes, written whole or not at all, and read back with suspicion.

`shares.json` and `release.json` are what Dave needs, `transcript.jsonl` is what an auditor needs, `timings.json` says
what the run cost. Nothing in the folder was computed from private rows outside the protocol:
no baseline, no accuracy.
"""

from __future__ import annotations

import hashlib
import json
import os
import secrets
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

from protocols.runtime.transcript import canonical
from smc_dp.aggregation import CURATOR, MIN_KEY_BITS, Outcome
from smc_dp.data.bounds import Bounds, CategoricalColumn, Column, NumericColumn
from smc_dp.data.partition import check_names
from smc_dp.errors import InputError, shown
from smc_dp.files import reading
from smc_dp.files.writing import sync
from smc_dp.methods.pathak2010.curator import open_release
from smc_dp.privacy.grid import Grid
from smc_dp.privacy.statement import PrivacyStatement

SHARES, RELEASE, TRANSCRIPT, TIMINGS = "shares.json", "release.json", "transcript.jsonl", "timings.json"
_DIGESTED = (SHARES, TRANSCRIPT, TIMINGS)
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
_MAX_RING_BITS, _MAX_FRACTION_BITS = 4096, 1024


@dataclass(frozen=True)
class PublishedRelease:
    """What Dave needs to classify: the weights (d floats), the public bounds; and what is guaranteed.

    `privacy` and `parameters` are JSON objects; `insecure` holds the reasons why the run protects nobody,
    if any.
    """

    weights: tuple[float, ...]
    bounds: Bounds
    privacy: Mapping[str, Any]
    parameters: Mapping[str, Any]
    insecure: tuple[str, ...] = ()


def make(
    outcome: Outcome, grid: Grid, bounds: Bounds, privacy: PrivacyStatement, parameters: Mapping[str, Any],
    insecure: Sequence[str] = (),
) -> PublishedRelease:  # fmt: skip
    """The release of an outcome: the shares are added, as anybody may."""
    return PublishedRelease(
        weights=tuple(open_release(outcome.shares, grid)),
        bounds=bounds,
        privacy=privacy.as_dict(),
        parameters={**parameters, "label": bounds.label, "center": bounds.center},
        insecure=tuple(insecure),
    )


def agreed(parameters: Mapping[str, Any], bounds: Bounds, fraction_bits: int, marks: Sequence[str] = ()) -> str:
    """The digest of all that the parties agreed on, as hexadecimals: `fraction_bits` of their grid and the `marks` of
    an insecure run included.

    It enters the session, so that no two of them can mean different things, and nobody can take a mark off later.
    """
    everything = {
        "parameters": dict(parameters),
        "bounds": asdict(bounds),
        "fraction_bits": fraction_bits,
        "insecure": list(marks),
    }
    return hashlib.sha256(json.dumps(everything, sort_keys=True).encode()).hexdigest()


def refuse_existing(folder: Path) -> None:
    """Raises InputError when `folder` exists, or when it could not be made where it is wanted."""
    if os.path.lexists(folder):
        raise InputError(f"run folder {folder}: exists already, wanted a new one")
    above = next(parent for parent in folder.absolute().parents if parent.exists())
    if not above.is_dir() or not os.access(above, os.W_OK | os.X_OK):
        raise InputError(f"run folder {folder}: cannot be made, {above} is not a folder that can be written to")


def write(folder: Path, release: PublishedRelease, outcome: Outcome, fraction_bits: int) -> None:
    """Write the run folder under a temporary name beside it, then rename it: it is there whole or not at all.

    Raises InputError when the folder exists by now or cannot be written.
    """
    _write_folder(folder, _contents(release, outcome, fraction_bits), 0o777)


def write_views(folder: Path, outcome: Outcome) -> None:
    """Write each participant's view into a folder of its own that nobody else may read, whole or not at all.

    Files are numbered, because names of parties are no names of files. Raises InputError as `write` does.
    """
    views = [outcome.views[name] for name in outcome.views]
    _write_folder(folder, {f"{number}.view": view for number, view in enumerate(views, start=1)}, 0o700)


def _write_folder(folder: Path, contents: Mapping[str, bytes], mode: int) -> None:
    partial = folder.parent / f".{folder.name}.{secrets.token_hex(4)}.partial"
    try:
        partial.parent.mkdir(parents=True, exist_ok=True)
        partial.mkdir(mode)
        try:
            for name, content in contents.items():
                _write_file(partial / name, content, mode & 0o666)
            sync(partial)
            refuse_existing(folder)  # an empty folder made since then would be replaced silently
            partial.rename(folder)
            sync(folder.parent)
        finally:
            shutil.rmtree(partial, ignore_errors=True)
    except OSError as error:
        raise InputError(f"run folder {folder}: cannot be written: {error.strerror}") from error


def read(folder: Path) -> PublishedRelease:
    """The release in a run folder, its weights recomputed from the shares.

    Raises InputError when anything is missing, malformed, unknown, out of range, or when shares, weights
    and digests do not agree.
    """
    release = reading.parse_object(reading.read_file(folder / RELEASE), str(folder / RELEASE))
    try:
        return _checked(folder, release)
    except InputError as error:
        raise InputError(f"run folder {folder}: {error}") from error


def _contents(release: PublishedRelease, outcome: Outcome, fraction_bits: int) -> dict[str, bytes]:
    shares = {
        "modulus": str(outcome.modulus),
        "fraction_bits": fraction_bits,
        "shares": {name: [str(share) for share in values] for name, values in outcome.shares.items()},
    }
    timings = outcome.cost.as_dict() if outcome.cost else {}
    files = {
        SHARES: _json(shares),
        TRANSCRIPT: b"".join(canonical(line) + b"\n" for line in outcome.transcript or []),
        TIMINGS: _json(timings),
    }
    digests = {name: hashlib.sha256(content).hexdigest() for name, content in files.items()}
    return {**files, RELEASE: _json(_as_json(release, digests))}


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


def _checked(folder: Path, document: dict[str, Any]) -> PublishedRelease:
    digests = reading.mapping("digests", document.get("digests"))
    reading.keys("digests", digests, set(_DIGESTED))
    present = [name for name in _DIGESTED if name == SHARES or (folder / name).exists()]
    shares = b""
    for name in present:  # one at a time: a transcript may be large
        content = reading.read_file(folder / name)
        if digests[name] != hashlib.sha256(content).hexdigest():
            raise InputError(f"{name} does not have the digest that {RELEASE} states")
        shares = content if name == SHARES else shares
    return opened(document, reading.parse_object(shares, SHARES))


def opened(document: dict[str, Any], shares: dict[str, Any]) -> PublishedRelease:
    """The release in two JSON objects, its weights recomputed from the shares; digests are not looked at.

    Raises InputError when anything is missing, malformed, unknown, out of range, or when shares and weights do not
    agree.
    """
    reading.keys(RELEASE, document, _KEYS, optional={"insecure"})
    parameters = reading.mapping("parameters", document["parameters"])
    bounds = _bounds(document, parameters)
    weights = reading.numbers("weights", document["weights"])
    parties = reading.texts("parties", parameters.get("parties"))
    by_name, grid = _shares(shares, parties)
    if {len(values) for values in by_name.values()} != {bounds.dimension} or len(weights) != bounds.dimension:
        raise InputError(f"wanted {bounds.dimension} weights and as many numbers in each share")
    try:
        total = open_release(by_name, grid)
    except OverflowError:
        raise InputError("shares: their sum is too large for a weight") from None
    if total != weights:
        raise InputError(f"the weights in {RELEASE} are not the sum of the shares in {SHARES}")
    insecure = reading.texts("insecure", document.get("insecure", []))
    privacy = _privacy(reading.mapping("privacy", document["privacy"]))
    if not insecure and (parameters.get("as_printed") or _has_test_keys(parameters)):
        raise InputError("insecure: is missing, though the parameters are those of an insecure run")
    return PublishedRelease(tuple(weights), bounds, privacy, parameters, tuple(insecure))


def _has_test_keys(parameters: Mapping[str, Any]) -> bool:
    key_bits = parameters.get("key_bits")
    return isinstance(key_bits, int) and key_bits < MIN_KEY_BITS


def _privacy(document: dict[str, Any]) -> dict[str, Any]:
    """The statement as it was, once it has been seen to be one."""
    reading.keys("privacy", document, {field.name for field in fields(PrivacyStatement)} - {"rho"}, {"rho"})
    caveats = tuple(reading.texts("privacy caveats", document["caveats"]))
    try:
        return PrivacyStatement(**{**document, "caveats": caveats}).as_dict()
    except (TypeError, ValueError) as error:
        raise InputError(f"privacy: {str(error)[:200]}") from None


def _shares(document: dict[str, Any], parties: list[str]) -> tuple[dict[str, list[int]], Grid]:
    check_names(parties)
    reading.keys(SHARES, document, {"modulus", "fraction_bits", "shares"})
    modulus, fraction_bits = reading.integer("modulus", document["modulus"]), document["fraction_bits"]
    ring_bits = modulus.bit_length() - 1
    if modulus != 1 << ring_bits or not 2 <= ring_bits <= _MAX_RING_BITS:
        raise InputError(f"modulus: wanted a power of two, at most 2**{_MAX_RING_BITS}, got {shown(modulus)}")
    if type(fraction_bits) is not int or not 0 <= fraction_bits <= _MAX_FRACTION_BITS:
        raise InputError(f"fraction_bits: wanted 0 to {_MAX_FRACTION_BITS}, got {shown(fraction_bits)}")
    by_name = reading.mapping("shares", document["shares"])
    reading.keys("shares", by_name, {*parties, CURATOR})
    shares = {
        name: [reading.integer(f"shares of {name}", text) for text in reading.items(f"shares of {name}", values)]
        for name, values in by_name.items()
    }
    if any(share >= modulus for values in shares.values() for share in values):
        raise InputError("shares: wanted numbers below the modulus")
    return shares, Grid(fraction_bits, ring_bits)


def _bounds(document: dict[str, Any], parameters: dict[str, Any]) -> Bounds:
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
    classes = reading.pair("classes", reading.texts("classes", document["classes"]))
    return Bounds(tuple(columns), classes, label, clip, bias, center)


def _write_file(path: Path, content: bytes, mode: int) -> None:
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode), "wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())


def _json(value: object) -> bytes:
    return (json.dumps(value, indent=2, allow_nan=False) + "\n").encode()
