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


def pin_bundle(digest: Path) -> None:
    """Have Flower install the bundle with the SHA-256 in this file, and refuse any other before it is unpacked."""
    from flwr.cli import install

    pinned = digest.read_text(encoding="utf-8").split()[0]
    install_any = install.install_from_fab

    def install_pinned(fab_file: Path | bytes, *rest: Any, **named: Any) -> Any:
        content = fab_file if isinstance(fab_file, bytes) else fab_file.read_bytes()
        if hashlib.sha256(content).hexdigest() != pinned:
            raise PermissionError("this bundle is not the pinned one")
        return install_any(content, *rest, **named)

    install.install_from_fab = install_pinned


if __name__ == "sitecustomize":
    try:
        pin_bundle(Path(__file__).with_name("digest"))
    except BaseException as error:  # Python would go on without the pin
        print(f"pin of the bundle: {error}", file=sys.stderr, flush=True)
        os._exit(1)
