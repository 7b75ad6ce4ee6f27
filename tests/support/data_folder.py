"""The folder of the papers' data sets, and the mark of tests that need it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

DATA = Path(os.environ.get("SMC_DP_DATA", "/nowhere"))
needs_data = pytest.mark.skipif(
    "SMC_DP_DATA" not in os.environ, reason="a9a and the other papers' data: SMC_DP_DATA names no folder of data sets"
)
