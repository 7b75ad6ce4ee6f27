"""An honest run and three tampered ones before the auditor: who is caught, by which check, at which line.

Three hospitals run the protocol with real keys. You will see every check of the honest run; then somebody doubles a
published weight, somebody cuts a message out of the transcript and makes its hash chain anew, and a hospital tells the
auditor of other data than it put in. The last shows because a view (input, randomness and messages of one participant)
is enough to make every message that it sent again.
"""

from __future__ import annotations

import json
import shutil
import tempfile
from dataclasses import replace
from pathlib import Path

from protocols.runtime.transcript import encode_line, link, read_envelope
from protocols.runtime.view import RecordedView
from smc_dp import audit_run, run_protocol
from smc_dp.audit.run.evidence import load_evidence
from smc_dp.audit.run.report_blocks import blocks
from smc_dp.cli import screen
from smc_dp.data import sources


def double_a_weight(run: Path, views: Path) -> None:
    """Double a weight of the release."""
    release = json.loads((run / "release.json").read_text())
    release["weights"][0] *= 2
    (run / "release.json").write_text(json.dumps(release))


def cut_out_a_message(run: Path, views: Path) -> None:
    """Cut one message out; number and chain every line after it anew, as anybody could."""
    head, *rest = [json.loads(line) for line in (run / "transcript.jsonl").read_text().splitlines()]
    before, lines = bytes.fromhex(head["digest"]), [head]
    for n, line in enumerate(rest[:40] + rest[41:], start=1):
        digest = link(before, read_envelope(bytes.fromhex(head["session"]), line).digest)
        lines.append({**line, "n": n, "prev": before.hex(), "digest": digest.hex()})
        before = digest
    text = "".join(encode_line(line).decode() + "\n" for line in lines)
    (run / "transcript.jsonl").write_text(text)


def tell_of_other_data(run: Path, views: Path) -> None:
    """Claim one record more in the second hospital's view."""
    session, path = load_evidence(run).session, views / "2.view"
    view = RecordedView.loads(path.read_bytes(), session)
    parameters, mine = view.inputs
    path.write_bytes(replace(view, inputs=(parameters, replace(mine, n=mine.n + 1))).dumps(session))


def main() -> None:
    """Audit one honest run, and three copies of it that were tampered with."""
    data = sources.dataset("breast_cancer", parties=3)
    with tempfile.TemporaryDirectory() as folder:
        run, views = Path(folder) / "run", Path(folder) / "views"
        run_protocol(data.federation, method="prr_mean", bounds=data.bounds, out=run, views=views)
        honest = audit_run(run, views=views)
        screen.print_blocks(blocks(honest))
        if not honest.passed:
            raise SystemExit("an honest run was accused")
        for tamper in (double_a_weight, cut_out_a_message, tell_of_other_data):
            there, theirs = (Path(shutil.copytree(path, f"{path}-{tamper.__name__}")) for path in (run, views))
            tamper(there, theirs)
            found = audit_run(there, views=theirs)
            caught = [finding.check.name for finding in found.findings if finding.outcome.status == "failed"]
            print(f"\n{tamper.__name__}: caught by {', '.join(caught)}")
            if found.first_fault is None:
                raise SystemExit("nobody noticed")
            print(f"  first: {found.first_fault.outcome.detail}")


if __name__ == "__main__":
    main()
