"""Access rights of files that anybody may read, as this process's umask lets them be."""

from __future__ import annotations

import os


def public_mode() -> int:
    """Return the mode of a new file that its maker did not make secret."""
    umask = os.umask(0o077)
    os.umask(umask)
    return 0o666 & ~umask
