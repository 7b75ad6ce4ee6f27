"""Paths of a site's files of one study. The number of its newest state lies where no backup may reach."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from smc_dp.deploy.store import DATABASE

_STATE, _APPROVAL = "state", "approval"


def state_folder(study: Path, name: str) -> Path:
    """Return the usual folder of a participant's state, beside the study."""
    return study.with_name(f"{study.stem}.{name}.{_STATE}")


def approval_file(study: Path, name: str) -> Path:
    """Return the usual file of a participant's approval, beside the study."""
    return study.with_name(f"{study.stem}.{name}.{_APPROVAL}")


def states(study: Path) -> Iterator[Path]:
    """Yield the folders of states that lie beside a study."""
    yield from sorted(path.parent for path in study.parent.glob(f"{study.stem}.*.{_STATE}/{DATABASE}"))


def states_of(study: Path, name: str) -> Iterator[tuple[Path, Path]]:
    """Yield the folders of a participant's states that lie beside a study, each with the file of its own study.

    That file ends as this study's does, or else in .toml. A folder that this user may not enter is one as well.
    """
    ending = f".{name}.{_STATE}"
    for state in sorted(path for path in study.parent.glob(f"*.{_STATE}") if path.name.endswith(ending)):
        if stem := state.name.removesuffix(ending):
            file = state.with_name(f"{stem}{study.suffix}")
            yield state, file if file.is_file() else state.with_name(f"{stem}.toml")


def counter_folder() -> Path:
    """Return the usual folder of counters of this user. It must be left out of backups."""
    base = os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state"
    return Path(base) / "smc-dp" / "counters"
