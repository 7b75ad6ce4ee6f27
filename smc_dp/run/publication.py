"""Publication of a run: the files that everybody or an auditor needs, and nothing else."""

from __future__ import annotations

import os
from pathlib import Path

from smc_dp.core.errors import InputError
from smc_dp.core.writing import is_empty_folder, write_folder
from smc_dp.run.cosigned_transcript import CosignedTranscript
from smc_dp.run.folder import read_content, read_release_file, read_run_files
from smc_dp.run.release import AUXILIARY, COSIGNED, RELEASE, SHARES, STUDY, TRANSCRIPT
from smc_dp.run.run_files import has_file
from smc_dp.run.verify_release import read_release_evidence, verify_release

PUBLISHED_FILES = (RELEASE, SHARES, AUXILIARY, STUDY, TRANSCRIPT, COSIGNED)
"""Files that may be published; anything else in a run folder stays there."""


def publish_run(run: Path, to: Path) -> tuple[str, ...]:
    """Copy the files of a run that may be published into the folder `to`, all or none; return their names.

    Raises InputError where `to` is not empty, one folder lies in the other, a file is missing, or the release
    contradicts its transcript, or the cosigned head beside it is another one's.
    """
    if os.path.lexists(to) and not is_empty_folder(to):
        raise InputError("folder.not_empty", to=str(to))
    here, new = run.resolve(), to.resolve()
    if here == new or here in new.parents or new in here.parents:
        raise InputError("folder.in_the_run", run=str(run), got=str(to))
    read = read_run_files(run)
    found = verify_release(read)
    if found.missing_files_text:
        raise InputError("run.not_whole", run=str(run), missing=found.missing_files_text)
    wanted = {RELEASE, *read_release_file(read).digests.named, *([COSIGNED] if has_file(read, COSIGNED) else ())}
    files = {name: read_content(read, name) for name in PUBLISHED_FILES if name in wanted}
    if COSIGNED in files:
        try:
            CosignedTranscript.read(files[COSIGNED]).cosigners(
                read_release_evidence(files[TRANSCRIPT]).session, files[TRANSCRIPT]
            )
        except InputError as error:
            raise error.within(str(run / COSIGNED)) from None
    write_folder(to, {name: [content] for name, content in files.items()}, 0o777, in_place_of_empty=True)
    return tuple(files)
