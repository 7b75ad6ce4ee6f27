"""The part of the command `audit` that signs what was found."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from smc_dp.cli.identities import warn_exposed
from smc_dp.cli.options import refuse
from smc_dp.errors import InputError, one_line

if TYPE_CHECKING:
    from protocols.crypto.identity import Identity
    from smc_dp.audit.run.report import AuditReport


def auditor(receipt: Path | None, key: Path | None) -> Identity | None:
    """Who signs, if anybody is to; looked at before the audit, which may take long."""
    if receipt is None:
        refuse({"--key": key}, "goes with --receipt, and none was given")
        return None
    if key is None:
        raise InputError("--key: is missing, wanted the auditor's secret key for --receipt")
    from smc_dp.run.identities import read_key

    found = read_key(key)
    warn_exposed([key])
    return found


def write(path: Path, report: AuditReport, signer: Identity) -> None:
    """The receipt as a new file; a line on standard error says where it is, or why there is none."""
    from smc_dp.audit.run.receipt import receipt
    from smc_dp.files.writing import write_new

    try:
        made = receipt(report, signer)
    except InputError as error:
        print(one_line(f"no {error}"), file=sys.stderr)
        return
    write_new(path, made.encode(), f"--receipt: {path}")
    print(f"Receipt: {path}, signed by {signer.public.hex()}.", file=sys.stderr)
