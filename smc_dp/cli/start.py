"""Entry point of the program `smc-dp`: Ctrl-C is one line also while the command line is still loading."""

from __future__ import annotations

import sys


def main() -> int:
    """Load the command line and run it; return its exit code."""
    try:
        from smc_dp.cli.main import main as command_line
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return 130
    return command_line()
