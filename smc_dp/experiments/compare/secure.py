"""Entries of a plan in which nobody is trusted: their parties, their public cap on rows, and their notes on a page."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from smc_dp.data.federation import Federation
from smc_dp.experiments.compare.plan import GridEntry, GridPlan
from smc_dp.experiments.compare.results import Trial
from smc_dp.methods.sums.simulated_sum import SimulatedSum
from smc_dp.methods.sums.threat_model import ThreatModel

_DIGITS = 2

HOW = (
    "Secure curves trust nobody. Each party enters its own integers and noise that it draws itself, and a release is "
    "the sum of them, as the secure sum adds them up in a run. Nothing else is simulated, and no noise is drawn for "
    "the sum. The noise is calibrated for the H honest parties who must be left. Nobody drops out here, so the sum has "
    "all K shares of the noise. The curves leave out the cost of a run, its own assumptions and its statistical "
    "distance."
)
CAP = (
    "In secure curves no party may have more rows than a public cap. Here the cap is the size of the "
    "largest party, rounded up to two digits. Before a run the parties would have to agree on a cap."
)

UNLIKE = (
    "the secure curve has a δ above 0, and the curve with a trusted aggregator is pure (δ = 0). Part of the difference "
    "between the two comes from the kind of guarantee and of noise, and not from the protocol."
)


def local_model(entry: GridEntry, federation: Federation) -> SimulatedSum:
    """Return the parties' local models, with the limits of collusion and drop-outs of the entry."""
    cap = rounded_up(int(federation.sizes.max()))
    return SimulatedSum.of(entry.make(), federation, entry.threat_model(len(federation.parties)), cap)


def rounded_up(n: int) -> int:
    """Return the least number of at most two digits and zeros that is not below n."""
    unit: int = 10 ** max(0, len(str(n)) - _DIGITS)
    return -(-n // unit) * unit


def secure_sum_notes(plan: GridPlan) -> Iterator[str]:
    """Yield notes on the secure curves of this plan, adversaries first; none without such curves."""
    threat_models: dict[ThreatModel, list[str]] = {}
    for setting in plan.settings:
        for entry in plan.entries:
            if entry.shown_trust == "secure" and entry.runs_on(setting):
                names = threat_models.setdefault(entry.threat_model(setting.deal.parties), [])
                names += [] if setting.name in names else [setting.name]
    if not threat_models:
        return
    yield HOW
    for threat_model, names in threat_models.items():
        yield f"Secure on {', '.join(names)}: a run holds against {threat_model.adversary}."
    yield CAP


def guarantee_difference(plan: GridPlan, trials: Sequence[Trial]) -> str:
    """Describe the methods whose two curves differ by more than the protocol; empty where there are none.

    The delta asked for counts as well: noise of a seed guarantees nothing, and is of its kind all the same.
    """
    methods = {entry.label: entry.method for entry in plan.entries}
    deltas: dict[tuple[str, str], list[float]] = {}
    for t in trials:
        if t.calibration == "proven" and t.epsilon < math.inf:
            deltas.setdefault((methods[t.method], t.trust), []).append(max(t.delta, t.guaranteed_delta or 0.0))
    names = [
        name
        for name in dict.fromkeys(methods.values())
        if max(deltas.get((name, "secure"), [0.0])) > 0 and min(deltas.get((name, "aggregator"), [1.0])) == 0
    ]
    return f"{', '.join(names)}: {UNLIKE}" if names else ""
