"""Files that a site or the server names in its own FLARE folder: `local/smc_dp/<digest of the study>/`.

A job names a digest and no more, so what its owner has not written there cannot be reached by a job.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NoReturn

from pydantic import AfterValidator, Field, PrivateAttr

from smc_dp.core.documents import Document, read_document
from smc_dp.core.errors import InputError, shown
from smc_dp.deploy.fields import Duration, SiteName

if TYPE_CHECKING:  # the relay does without them
    from smc_dp.deploy.join import SiteFiles
    from smc_dp.deploy.study import JointStudy

# Words that FLARE's job at the server and its job at a site have in common.
CHANNEL = "smc_dp"
TASK = "take_part"
END_CODE = "smc_dp_code"
DONE, STOPPED, REFUSED, FAILED = CODES = ("done", "stopped", "refused", "failed")
"""Under the name `END_CODE` a site tells the job how its part ended: one of these, never a text."""
FOLDER = "smc_dp"
RELAY_FILE = "relay.toml"
_DIGEST = re.compile("[0-9a-f]{64}")
_FLARE_NAME = re.compile("[A-Za-z0-9_-]{1,64}")


def _flare_names(found: dict[str, str]) -> dict[str, str]:
    for name in found:
        if not _FLARE_NAME.fullmatch(name):
            raise InputError("flare.no_names", got=shown(name))
    if len(set(found.values())) != len(found):
        raise InputError("flare.name_twice")
    return found


class RelayPlace(Document):
    """Settings of the relay in the server's own file: sites behind FLARE's names, the folder of frames, longest times.

    `rest`: for how long a job stays for others, from when the last site that has ended has said so.
    """

    sites: Annotated[dict[str, SiteName], Field(min_length=2), AfterValidator(_flare_names)]
    folder: str = "frames"
    longest: Duration = 28 * 86_400.0
    rest: Duration = 86_400.0
    _beside: Path = PrivateAttr(default=Path())

    @classmethod
    def read(cls, local: Path, study: str) -> RelayPlace:
        """Read the server's file of this study. InputError where there is none."""
        path = _own(local, study) / RELAY_FILE
        found = read_document(cls, path, "relay")
        found._beside = path.parent
        return found

    @property
    def store_folder(self) -> Path:
        """Folder of the relay's store. A relative path starts at the file's folder."""
        return self._beside / self.folder


class SitePlace(Document):
    """Files of a site in its own file, as `smc-dp join` or `serve` would get them. Paths are relative to the file's
    folder.
    """

    study: str
    key: str
    policy: str | None = None
    data: str | None = None
    ledger: str | None = None
    out: str | None = None
    approval: str | None = None
    state: str
    counters: str | None = None
    views: str | None = None
    auxiliary: str | None = None
    passphrase: str | None = None


def details(local: Path, study: object, who: str) -> Path | None:
    """Return the file of its owner for what FLARE's log must not have; None where the owner has no such study."""
    known = isinstance(study, str) and _DIGEST.fullmatch(study) and _FLARE_NAME.fullmatch(who)
    folder = local / FOLDER / f"{study}"
    return folder / f"{who}.details" if known and folder.is_dir() else None


def site_files(local: Path, study: str, site: str) -> tuple[Path, SiteFiles]:
    """Return the file of the study and the site's own files; raise InputError, also where the study is another one."""
    from smc_dp.deploy.join import SiteFiles  # a second that the relay need not wait
    from smc_dp.deploy.study import JointStudy

    if not _FLARE_NAME.fullmatch(site):
        raise InputError("flare.no_names", got=shown(site))
    path = _own(local, study) / f"{site}.toml"
    found = read_document(SitePlace, path, "site")
    files = {name: path.parent / value for name, value in found.model_dump(exclude_none=True).items()}
    study_file = files.pop("study")
    if (there := JointStudy.read(study_file).digest) != study:
        raise InputError("job.other_study", path=str(path), file=str(study_file), got=there[:16], wanted=study[:16])
    return study_file, SiteFiles(**files)


def refuse_command(study: JointStudy, name: str, credentials: Path | None) -> NoReturn:
    """Refuse a carrier to a site's commands: FLARE starts the site's part itself."""
    raise InputError("relay.of_flare")


def _own(local: Path, study: object) -> Path:
    """Return the folder that its owner made for this study."""
    if not isinstance(study, str) or not _DIGEST.fullmatch(study):
        raise InputError("job.no_study", got=shown(study))
    folder = local / FOLDER / study
    if not folder.is_dir():
        raise InputError("job.unknown_study", study=study[:16], file=str(local / FOLDER))
    return folder
