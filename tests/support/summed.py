"""Runs at small sizes as folders with everybody's views, for tests of audits: of the secure sum, or of any session."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from protocols.arithmetic.rng import Stream
from protocols.runtime.session import Program
from protocols.runtime.simulate import DropOutAfter, Run
from protocols.secure_sum import PROGRAM, ideal
from protocols.secure_sum.parameters import SHARES, Block, Parameters
from smc_dp.run.agreement import SEEDED
from smc_dp.run.documents import RELEASE_FORMAT
from smc_dp.run.release import RELEASE, TRANSCRIPT
from smc_dp.run.release import SHARES as SHARES_FILE
from support.audited import Folders
from support.sessions import Setup, names, start

OF_THE_RELEASE = {"files", "release", "agreed", "cost", "mechanism", "statement", "insecure-markers", "noise", "models"}
"""Checks of what these runs do not have: a release that states something."""


def summing(
    K: int = 3, t: int = 0, D: int = 1, lengths: tuple[int, ...] = (2,), program: Program = PROGRAM, **settings: Any
) -> Setup:
    """A session of sums of these lengths; everything follows from the numbers."""
    p = Parameters(names(K), t, D, tuple((Block(length, "none"),) for length in lengths), **settings)
    drawn = Stream.insecure_from_seed(f"numbers of {K}")
    return start(program, p, ideal.inputs(p, lambda name, bits: drawn.bits(bits)))


def simulated(made: Setup, **vanish: int) -> Run:
    """One run; `vanish`: so many letters of whom."""
    return made.simulate(marks=(SEEDED,), views=True, drop_outs={name: DropOutAfter(n) for name, n in vanish.items()})


def recorded(folder: Path, made: Setup, **vanish: int) -> Folders:
    """One run as a folder, with everybody's views."""
    p = made.session.parameters
    return written(folder, made, simulated(made, **vanish), p.ring.modulus if p.output == SHARES else None)


def written(folder: Path, made: Setup, done: Run, modulus: int | None) -> Folders:
    """A run as a folder with its views, whatever became of it; the release states nothing.

    Without a modulus nobody publishes shares, and there is no file of them.
    """
    found = Folders(folder / "run", folder / "views")
    found.run.mkdir(parents=True)
    found.views.mkdir()
    (found.run / RELEASE).write_text(json.dumps({"format": RELEASE_FORMAT, "digests": {}}))
    if modulus is not None:
        shares = {name: [str(y) for y in published.y] for name, published in done.published.items()}
        (found.run / SHARES_FILE).write_text(
            json.dumps({"modulus": str(modulus), "fraction_bits": 0, "shares": shares})
        )
    (found.run / TRANSCRIPT).write_text(done.transcript.dumps())
    for name, view in done.recorded.items():
        (found.views / f"{name}.view").write_bytes(view.dumps(made.session))
    return found
