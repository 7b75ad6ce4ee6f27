"""Data sets kept in a folder, encoded, and checked by SHA-256 each time they are loaded.

The digest of the file `kdd99.<SHA-256>.npz` is in its name: the file is whole and recorded at once, or absent.
"""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
from collections.abc import Mapping
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
import scipy

from smc_dp.core import reading
from smc_dp.core.arrays import Array
from smc_dp.core.errors import InputError
from smc_dp.data.dataset import Features, Points, Pool
from smc_dp.data.dataset_info import DATASET_INFO
from smc_dp.data.known_files import SHA256

_FORMAT = 1


def write_cache(pool: Pool, folder: Path, *, ordinal: bool = False) -> Path:
    """Write the pool into the folder, in place of an earlier version; return its path, raise InputError on failure."""
    key = _key(pool.name, ordinal=ordinal)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        path = _written(_arrays(pool, ordinal=ordinal), folder, key)
        for other in folder.glob(f"{key}.*.npz"):
            if other != path:
                other.unlink()
    except OSError as error:
        raise InputError("cache.not_written", why=error.strerror).within(f"cache folder {folder}") from error
    return path


def read_cache(name: str, folder: Path, *, ordinal: bool = False) -> Pool | None:
    """Return the pool kept in the folder, None if there is none; raise InputError for a file that has changed."""
    found = list(folder.glob(f"{_key(name, ordinal=ordinal)}.*.npz"))
    if not found:
        return None
    path = max(found, key=lambda one: one.stat().st_mtime)  # two only after a crash
    try:
        with reading.open_plain_file(path, f"cache file {path}") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
        if path.name.split(".")[1] != digest:
            raise InputError("cache.changed", got=digest).within(f"cache file {path}")
        with np.load(path, allow_pickle=False) as arrays:
            return _pool(dict(arrays), path, _source(name, ordinal=ordinal))
    except OSError as error:
        raise InputError("cache.unreadable", why=error.strerror).within(f"cache file {path}") from error


def _key(name: str, *, ordinal: bool) -> str:
    return f"{name}-ordinal" if ordinal else name


def _source(name: str, *, ordinal: bool) -> dict[str, Any]:
    """Return all that determines the rows of a pool: the files, the bounds, and the format of the cache."""
    bounds = files("smc_dp.data").joinpath(f"{name}.toml")
    digest = hashlib.sha256(bounds.read_bytes()).hexdigest() if bounds.is_file() else None
    sums = {file: SHA256.get(file) for file in DATASET_INFO[name].files}
    return {"format": _FORMAT, "bounds": digest, "files": sums, "ordinal": ordinal}


def _written(arrays: Mapping[str, Any], folder: Path, key: str) -> Path:
    """Write the arrays to a file named by its digest; leave nothing behind on failure."""
    handle, name = tempfile.mkstemp(dir=folder, prefix=".", suffix=".part")
    try:
        with os.fdopen(handle, "w+b") as file:
            np.savez(file, **arrays)
            file.flush()
            os.fsync(file.fileno())
            file.seek(0)
            digest = hashlib.file_digest(file, "sha256").hexdigest()
        path = folder / f"{key}.{digest}.npz"
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
    return path


def _arrays(pool: Pool, *, ordinal: bool) -> dict[str, Any]:
    about = {
        "source": _source(pool.name, ordinal=ordinal),
        "name": pool.name,
        "classes": pool.classes,
        "coordinate": pool.coordinate,
        "bias": pool.bias,
        "holder": pool.holder,
        "notes": pool.notes,
    }
    arrays: dict[str, Any] = {"about": np.array(json.dumps(about))}
    for part, points in (("train", pool.train), ("test", pool.test)):
        if points is not None:
            arrays |= {f"{part}_y": points.y, **_parts(f"{part}_X", points.X)}
    if pool.public is not None:
        arrays["public"] = pool.public
    return arrays


def _parts(name: str, X: Features) -> dict[str, Any]:
    if isinstance(X, np.ndarray):
        return {name: X}
    return {f"{name}_{part}": np.asarray(getattr(X, part)) for part in ("data", "indices", "indptr", "shape")}


def _pool(arrays: Mapping[str, Any], path: Path, source: Mapping[str, Any]) -> Pool:
    about = json.loads(str(arrays["about"]))
    if about["source"] != source:
        raise InputError("cache.outdated").within(f"cache file {path}")
    public: Array | None = arrays.get("public")
    return Pool(
        about["name"],
        Points(_joined("train_X", arrays), arrays["train_y"]),
        Points(_joined("test_X", arrays), arrays["test_y"]) if "test_y" in arrays else None,
        tuple(about["classes"]),
        public=public,
        coordinate=about["coordinate"],
        bias=about["bias"],
        holder=about["holder"],
        notes=tuple(about["notes"]),
    )


def _joined(name: str, arrays: Mapping[str, Any]) -> Features:
    if name in arrays:
        X: Array = arrays[name]
        return X
    parts = [arrays[f"{name}_{part}"] for part in ("data", "indices", "indptr")]
    return scipy.sparse.csr_array(tuple(parts), shape=tuple(arrays[f"{name}_shape"].tolist()))
