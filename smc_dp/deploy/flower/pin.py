"""Pin of a SuperNode: Flower's programs install and load the bundle whose digest is beside this file, and no other.

In the kit this file is `pin/sitecustomize.py`, which Python loads before any program if `pin` is on PYTHONPATH. Flower
takes the folder of a bundle from the version that the bundle states, and the folder that it loads from the version that
the SuperLink names. Both can lead anywhere, so no folder that is write-protected keeps a program out.
"""

from __future__ import annotations

import hashlib
import os
import sys
from pathlib import Path
from typing import Any


def pin_bundle(digest: Path) -> None:
    """Have Flower install the bundle with the SHA-256 in this file, and load it from there; refuse any other."""
    from flwr.cli import install
    from flwr.common import config

    pinned, _ = digest.read_text(encoding="utf-8").split()  # the line of one bundle
    install_any, folder_of = install.install_from_fab, config.get_project_dir
    installed: list[Path] = []

    def install_pinned(fab_file: Path | bytes, *rest: Any, **named: Any) -> Any:
        content = fab_file if isinstance(fab_file, bytes) else fab_file.read_bytes()
        if hashlib.sha256(content).hexdigest() != pinned:
            raise ValueError("bundle refused by the pin")
        installed.append(install_any(content, *rest, **named))
        return installed[-1]

    def pinned_folder(*bundle: Any, **named: Any) -> Any:
        if (found := folder_of(*bundle, **named)) not in installed:
            raise ValueError("folder refused by the pin")
        return found

    install.install_from_fab, config.get_project_dir = install_pinned, pinned_folder


if __name__ == "sitecustomize":
    try:
        pin_bundle(Path(__file__).with_name("digest"))
    except BaseException as error:  # Python would go on without the pin
        print(f"pin of the bundle: {error}", file=sys.stderr, flush=True)
        os._exit(1)
