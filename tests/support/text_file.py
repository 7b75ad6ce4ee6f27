"""Keep texts of reports in snapshot files, one a subject; `pytest --snapshot-update` renews them."""

from __future__ import annotations

from syrupy.extensions.single_file import SingleFileSnapshotExtension, WriteMode

from smc_dp.pages.blocks import PageBlock
from smc_dp.pages.text import block_lines

WIDTH = 120


class TextFile(SingleFileSnapshotExtension):
    """Keep a snapshot as a plain text of its own."""

    _write_mode = WriteMode.TEXT
    file_extension = "txt"


def as_text(*blocks: PageBlock) -> str:
    """Return blocks as a screen shows them."""
    return "\n".join([*block_lines(blocks, WIDTH, WIDTH), ""])
