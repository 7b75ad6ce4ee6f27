"""Where a site keeps its things of one study: the state, and the number of its newest, which no backup may have."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from smc_dp.deploy.store import DATABASE

_STATE, _APPROVAL = "state", "approval"


def state_folder(study: Path, name: str) -> Path:
    """Beside the study, unless somebody says otherwise."""
    return study.with_name(f"{study.stem}.{name}.{_STATE}")


def approval_file(study: Path, name: str) -> Path:
    """Beside the study, unless somebody says otherwise."""
    return study.with_name(f"{study.stem}.{name}.{_APPROVAL}")


def states(study: Path) -> Iterator[Path]:
    """The folders of states that lie beside a study."""
    yield from sorted(path.parent for path in study.parent.glob(f"{study.stem}.*.{_STATE}/{DATABASE}"))


def counter_folder() -> Path:
    """The folder of counters of whoever runs the program; to be left out of backups."""
    base = os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state"
    return Path(base) / "smc-dp" / "counters"
