"""Five offices learn to read digits from sums that nobody sees into, and one of them drops out on the way.

You will see the advised method on ten classes: eight sums, each asked for in view of those before, of what single
images contribute, with noise that nobody knows. The third office breaks down between two sums; the others go on, and
its part of the later sums is missing. What to expect is a public figure, known before anybody trains. At the end the
script checks that what was learnt is far above chance, and that an auditor who was not there accepts the record.

    python learn_from_sums.py
"""

from __future__ import annotations

import tempfile
from pathlib import Path

from smc_dp import audit_run, run_protocol
from smc_dp.data import sources

BETWEEN_TWO_SUMS = 16  # letters that the third office sends: 6 of set-up, 3 for each sum that it is in


def main() -> None:
    """Learn with one that drops out, audit, check."""
    data = sources.dataset("digits", parties=5)
    with tempfile.TemporaryDirectory() as place:
        run = Path(place) / "run"
        report = run_protocol(
            data.federation, method="newton", target=2.0, bounds=data.bounds, test=data.test, out=run,
            colluders=1, dropouts=1, drop_out={data.federation.names[2]: BETWEEN_TWO_SUMS},
        )  # fmt: skip
        passed = audit_run(run).passed
    there, found, cost = report.present, report.comparison, report.cost
    if there is None or found is None or cost is None or report.signal is None:
        raise SystemExit("the run does not say who took part, or what it was worth")
    print(f"What to expect: {report.signal:.3g}, where 3 is nothing and 100 nearly all of what there is to learn.")
    print(f"Dropped out on the way: {', '.join(there.dropped_out)}. The others came to an end:")
    for stage in cost.by_stage:
        print(f"  {stage.stage:<11}{stage.messages:>4} messages, {stage.bytes:>9,} bytes")
    print(f"\nOf new images {found.accuracy:.1%} are read rightly; one guess for all would be right for", end=" ")
    print(f"{found.majority:.1%}, a model of all images without privacy for {found.pooled:.1%}.")
    print(f"One image of an office is protected, with epsilon {report.privacy.epsilon:g}, against")
    print(f"  {report.privacy.adversary}")
    print(f"An auditor who was not there {'accepts' if passed else 'refuses'} the record.")
    if not passed or len(there.dropped_out) != 1 or found.accuracy < 3 * found.majority:
        raise SystemExit("the demo is wrong: see above")


if __name__ == "__main__":
    main()
