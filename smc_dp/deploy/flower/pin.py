"""Pin of a SuperNode: Flower's programs install the bundle whose digest is in the file beside this one, and no other.

In the kit this file is `pin/sitecustomize.py`, which Python loads before any program if `pin` is on PYTHONPATH. Flower
takes the folder of a bundle from the version that the bundle states, which can lead anywhere, so no folder that is
write-protected keeps one out.
"""

from __future__ import annotations

import hashlib
import os
import sys
from pathlib import Path
from typing import Any

try:
    from flwr.cli import install

    PINNED = Path(__file__).with_name("digest").read_text(encoding="utf-8").split()[0]
    _install = install.install_from_fab
except BaseException as error:  # Python would go on without this file
    print(f"pin of the bundle: {error}", file=sys.stderr, flush=True)
    os._exit(1)


def install_pinned(fab_file: Path | bytes, *rest: Any, **named: Any) -> Path:
    """Install the pinned bundle as Flower does, and raise PermissionError for any other, before it is unpacked."""
    content = fab_file if isinstance(fab_file, bytes) else fab_file.read_bytes()
    if hashlib.sha256(content).hexdigest() != PINNED:
        raise PermissionError("this bundle is not the pinned one")
    installed: Path = _install(content, *rest, **named)
    return installed


install.install_from_fab = install_pinned
