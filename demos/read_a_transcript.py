"""Read the wire record of a run as a sequence diagram: who sent what to whom, and how many bytes.

Without an argument you will see a real run of three hospitals (3072-bit keys), made now and thrown away; with the
folder of a run of `smc-dp run`, that run. Nothing in the record depends on a secret: look at `Relay`, where every
party writes to each other party although only one letter of each matters. The script ends by checking the hash chain
that ties every line to the one before and the signatures that tie it to the participants, and that a changed byte
shows.

    python read_a_transcript.py [RUN] [--mermaid]

`--mermaid` prints the text of a Mermaid sequenceDiagram instead, for a page that draws it.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from pathlib import Path

from protocols.arithmetic.rng import Stream
from protocols.runtime.diagram import arrows, mermaid
from protocols.runtime.record import fault
from smc_dp import release
from smc_dp.aggregation import ProtocolSettings
from smc_dp.data import sources
from smc_dp.methods.pathak2010 import Settings
from smc_dp.simulation import simulate


def main() -> None:
    """Draw the record and check it."""
    parser = argparse.ArgumentParser(description="A run's transcript.jsonl as a sequence diagram.")
    parser.add_argument("run", nargs="?", type=Path, metavar="RUN", help="a run folder [default: make a run now]")
    parser.add_argument("--mermaid", action="store_true", help="print Mermaid text")
    options = parser.parse_args()
    text = transcript(options.run) if options.run else fresh_transcript()

    if wrong := fault(text):
        raise SystemExit(wrong)
    lines = [json.loads(line) for line in text.splitlines()]
    try:
        print(mermaid(lines) if options.mermaid else arrows(lines))
    except ValueError as error:
        raise SystemExit(f"not a record of a run: {error}") from error

    middle = len(lines) // 2
    lines[middle]["size"] += 1
    caught = fault("".join(json.dumps(line, sort_keys=True, separators=(",", ":")) + "\n" for line in lines))
    if not caught or not caught.startswith(f"line {middle} "):
        raise SystemExit(f"line {middle} was changed, and the check says: {caught}")
    print(f"Chain and signatures hold over {len(lines)} lines; with one byte changed, {caught}.", file=sys.stderr)


def transcript(run: Path) -> str:
    """The record in a run folder."""
    try:
        return (run / release.TRANSCRIPT).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise SystemExit(f"{run / release.TRANSCRIPT} cannot be read: {error}") from error


def fresh_transcript() -> str:
    """The record of a run made now."""
    print("Three hospitals run the protocol at 3072 bits ...", file=sys.stderr)
    case, settings = sources.dataset("breast_cancer", parties=3), Settings()
    protocol = ProtocolSettings(dimension=case.bounds.dimension, ring_bits=settings.grid.ring_bits)
    with tempfile.TemporaryDirectory() as folder:
        simulate(case, settings, protocol, Stream.from_system(), Path(folder) / "run")
        return transcript(Path(folder) / "run")


if __name__ == "__main__":
    main()
