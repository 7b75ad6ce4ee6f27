"""Whole runs from seeds, byte for byte: transcript and views are those whose digests are in `vectors/runs.json`.

After a change on the wire, `python tests/test_vectors.py` writes the digests, and `vectors/README.md` says why.
"""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parents[1]))  # before tests/, whose protocols/ is another folder

from support.linear_path import linear
from support.sessions import PRINTED, Setup, setup
from support.sums import made, parameters

FILE = Path(__file__).parent / "vectors" / "runs.json"
GONE: Mapping[str, Any] = {"drop_outs": {"P2": 6}}
RUNS: dict[str, tuple[Callable[[int], Setup], Mapping[str, Any]]] = {
    "pathak2010": (lambda seed: setup(3, 2, seed=seed), {}),
    "pathak2010, all pairs": (lambda seed: setup(3, 2, "all-pairs", seed=seed), {}),
    "pathak2010, as published": (lambda seed: setup(3, 2, seed=seed, program=PRINTED), {}),
    "linear": (lambda seed: linear([5, 3, 3, 9], seed=seed), {}),
    "secure_sum": (lambda seed: made(parameters(3, 2, 0, (2, 1)), seed), {}),
    "secure_sum, a drop-out": (lambda seed: made(parameters(4, 0, 1, (2, 1)), seed), GONE),
    "secure_sum, shares": (lambda seed: made(parameters(3, 1, 0, output="shares"), seed), {}),
    "secure_sum, verifiable": (lambda seed: made(parameters(4, 0, 1, (1, 2), verifiable=True), seed), {}),
    "secure_sum, a circle": (
        lambda seed: made(parameters(6, 1, 1, degree=4), seed), {},
    ),
    "secure_sum, a circle without drop-outs": (
        lambda seed: made(parameters(6, 1, 0, (2, 1), degree=2), seed), {},
    ),
}  # fmt: skip


def digests(name: str, seed: int) -> dict[str, str]:
    """Return the digests of the transcript and of all views of a run."""
    make, setting = RUNS[name]
    session = make(seed)
    run = session.simulate(views=True, **setting)
    views = b"".join(view.dumps(session.session) for _, view in sorted(run.recorded.items()))
    parts = {"transcript": run.transcript.dumps().encode(), "views": views}
    return {part: hashlib.sha256(content).hexdigest() for part, content in parts.items()}


@pytest.mark.parametrize("name", RUNS)
def test_a_run_has_the_bytes_that_it_had(name: str) -> None:
    known = json.loads(FILE.read_text(encoding="utf-8"))
    assert known.keys() == RUNS.keys()
    assert digests(name, 1) == known[name]
    other = digests(name, 2)
    assert all(other[part] != digest for part, digest in known[name].items())


if __name__ == "__main__":
    FILE.write_text(json.dumps({name: digests(name, 1) for name in RUNS}, indent=1) + "\n", encoding="utf-8")
