"""Demos in the process of a test, where what they import is loaded already."""

from __future__ import annotations

import runpy
import sys
from pathlib import Path

import pytest

DEMOS = Path(__file__).resolve().parents[2] / "demos"


def here(demo: str, *options: str) -> None:
    """Run the demo with these options."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "argv", [demo, *options])
        runpy.run_path(str(DEMOS / demo), run_name="__main__")
