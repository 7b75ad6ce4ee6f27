"""Read the wire record of a run as a sequence diagram: who sent what to whom, and how many bytes.

Without an argument you will see a real run of three hospitals (3072-bit keys), made now and thrown away; with the
folder of a run of `smc-dp run`, that run. Nothing in the record depends on a secret: look at `Relay`, where every
party writes to each other party although only one letter of each matters. The script ends by checking, as an audit
does, the hash chain that ties every line to the one before and the signatures that tie it to the participants, and
that a changed number shows.

    python read_a_transcript.py [RUN] [--mermaid] [--svg FILE]

`--mermaid` prints the text of a Mermaid sequenceDiagram instead, for a page that draws it; `--svg FILE` draws it here.
"""

from __future__ import annotations

import argparse
import json
import shutil
import sys
import tempfile
from pathlib import Path

from protocols.runtime.diagram import arrows, mermaid
from smc_dp import run_protocol
from smc_dp.audit.run import conformity, report
from smc_dp.audit.run.evidence import Evidence, load_evidence
from smc_dp.audit.run.sequence import sequence
from smc_dp.core.errors import InputError
from smc_dp.core.writing import write_new
from smc_dp.data import sources
from smc_dp.run.release import TRANSCRIPT


def main() -> None:
    """Draw the transcript and check it."""
    parser = argparse.ArgumentParser(description="A run's transcript.jsonl as a sequence diagram.")
    parser.add_argument("run", nargs="?", type=Path, metavar="RUN", help="a run folder [default: make a run now]")
    parser.add_argument("--mermaid", action="store_true", help="print Mermaid text")
    parser.add_argument("--svg", type=Path, metavar="FILE", help="write a picture as well, a new file")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        run = options.run or fresh_run(Path(folder) / "run")
        evidence = load_evidence(run)
        if wrong := fault(evidence):
            raise SystemExit(wrong)
        lines = [evidence.head, *evidence.lines]
        print(mermaid(lines) if options.mermaid else arrows(lines))
        if options.svg:
            write_new(options.svg, sequence(lines).svg.document().encode(), "--svg")

        middle = len(lines) // 2
        lines[middle]["number"] += 1
        forged = shutil.copytree(run, Path(folder) / "forged")
        text = "".join(json.dumps(line, sort_keys=True, separators=(",", ":")) + "\n" for line in lines)
        (forged / TRANSCRIPT).write_text(text)
        if not (caught := fault(load_evidence(forged))) or not caught.startswith(f"line {middle} "):
            raise SystemExit(f"line {middle} was changed, and the check says: {caught}")
        print(f"Chain and signatures hold over {len(lines)} lines; with one number changed, {caught}.", file=sys.stderr)


def fault(evidence: Evidence) -> str | None:
    """Return the first fault in the chain and signatures of the lines."""
    found = report.audit_evidence(evidence, conformity.LINK_CHECKS).first_fault
    return f"line {found.outcome.line} {found.outcome.detail}" if found else None


def fresh_run(run: Path) -> Path:
    """Make a run now."""
    print("Three hospitals run the protocol at 3072 bits ...", file=sys.stderr)
    data = sources.dataset("breast_cancer", parties=3)
    run_protocol(data.federation, bounds=data.bounds, test=data.test, out=run)
    return run


if __name__ == "__main__":
    try:
        main()
    except InputError as error:
        raise SystemExit(str(error)) from error
