"""Export of the model of a run into one new file, in one of several formats."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from os import PathLike
from pathlib import Path
from types import MappingProxyType

from smc_dp.core.errors import InputError, shown
from smc_dp.core.writing import write_new
from smc_dp.run.export.exported_model import ExportedModel, read_model
from smc_dp.run.export.json_model import write_json_model
from smc_dp.run.export.sql_model import write_sql_model


def _write_onnx(model: ExportedModel) -> bytes:
    try:
        from smc_dp.run.export.onnx_model import write_onnx_model
    except ImportError as error:
        raise InputError("export.not_installed", format="onnx", package=error.name or "onnx") from None
    return write_onnx_model(model)


WRITERS: Mapping[str, Callable[[ExportedModel], bytes]] = MappingProxyType(
    {"json": write_json_model, "sql": write_sql_model, "onnx": _write_onnx}
)
"""Name of a format -> function that returns the file."""


def export_run(run: str | PathLike[str], to: str, out: str | PathLike[str]) -> ExportedModel:
    """Verify the release of a run, write its model into the new file `out` in the format `to`, and return it.

    Raises InputError for another format, for a release that cannot be used or that the format cannot carry, and for a
    file that exists or cannot be written.
    """
    if to not in WRITERS:
        raise InputError("export.unknown_format", formats=list(WRITERS), got=shown(to))
    model = read_model(Path(run))
    if model.waves is not None and to != "json":
        raise InputError("export.of_features")
    write_new(Path(out), WRITERS[to](model), f"out: {out}")
    return model
