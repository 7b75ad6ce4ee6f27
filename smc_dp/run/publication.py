"""What of a run folder may be published: what everybody needs and what an auditor needs, and nothing else."""

from __future__ import annotations

import os
from pathlib import Path

from smc_dp.core.errors import InputError
from smc_dp.core.writing import is_empty_folder, write_folder
from smc_dp.run.folder import read_content, read_release_file, read_run_files
from smc_dp.run.release import AUXILIARY, RELEASE, SHARES, STUDY, TRANSCRIPT
from smc_dp.run.verify_release import verify_release

PUBLISHED_FILES = (RELEASE, SHARES, AUXILIARY, STUDY, TRANSCRIPT)
"""The files that may be published; whatever else lies in a run folder stays there."""


def publish_run(run: Path, to: Path) -> tuple[str, ...]:
    """Copy what may be published of a run into the folder `to`, which is then there whole or not at all; their names.

    Raises InputError, and copies nothing, when `to` holds anything or lies in the run folder (or that in it), and when
    the run is not whole or its release contradicts its record.
    """
    if os.path.lexists(to) and not is_empty_folder(to):
        raise InputError("folder.not_empty", to=str(to))
    here, new = run.resolve(), to.resolve()
    if here == new or here in new.parents or new in here.parents:
        raise InputError("folder.in_the_run", run=str(run), got=str(to))
    read = read_run_files(run)
    found = verify_release(read)
    if found.unaudited:
        raise InputError("run.not_whole", run=str(run), missing=found.unaudited)
    stated = read_release_file(read).digests.named
    files = {name: read_content(read, name) for name in PUBLISHED_FILES if name in {RELEASE, *stated}}
    write_folder(to, {name: [content] for name, content in files.items()}, 0o777, in_place_of_empty=True)
    return tuple(files)
