"""The whole protocol against the port on phe, whose cost at this size is units times counts."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from protocols.arithmetic.rng import Stream
from protocols.pathak2010.parameters import Parameters
from smc_dp.aggregation import SumWithSmallestNoise
from smc_dp.bench import port
from smc_dp.bench.apart import Measured, alone
from smc_dp.bench.clocks import agreed
from smc_dp.bench.goals import GoalRow, HearStep, at_least
from smc_dp.bench.protocol import made_up
from smc_dp.bench.whole_run import CURATOR_PROTOCOL, LINEAR, names

GROUP = "whole"
FULL, QUICK = (50, 124, 3072), (5, 8, 2048)  # K, d, bits of the keys
CHECKED = (5, 8)  # K and d at which the port is run whole, to check its formula
KERNELS, RUN = "smc_dp.bench.linear_kernels", "smc_dp.bench.whole_run"


def rows(quick: bool, hear: HearStep) -> Iterator[GoalRow]:
    """Every path over the port."""
    K, d, bits = QUICK if quick else FULL
    rng = Stream.from_system()
    hear("measuring the port's operations")
    p = Parameters(names(K), d, bits)
    prices = port.prices(p, rng)
    hear("running the port at a small size")
    check = formula_check(prices, bits, rng)
    theirs = {c: prices.of(port.operations(K, d, c)) for c in (port.ALL_PAIRS, port.TOURNAMENT)}
    parts = {f"port_{name}_seconds": value for name, value in prices.as_dict().items()}
    parts |= {"port_seconds": theirs[port.ALL_PAIRS], "port_with_a_tournament_seconds": theirs[port.TOURNAMENT]}
    parts |= {"formula_over_run": check}
    note = f"the port by units x counts, all pairs compared; the formula over its run at K = {CHECKED[0]}: {check:.2f}"
    at = f"K = {K}, d = {d}, {bits} bits, over the port on phe"
    line = partial(GoalRow, GROUP, note=note, quick=quick)

    def row(what: str, bound: float, found: Measured) -> GoalRow:
        ours = found["seconds"] - found.get("keys", 0.0)  # the port's prices have no key generation either
        over = {"ours_seconds": ours, "over_the_port_with_a_tournament": theirs[port.TOURNAMENT] / ours}
        return line(f"{what}, {at}", at_least(bound), theirs[port.ALL_PAIRS] / ours, parts={**parts, **found, **over})

    run = partial(alone, RUN, parties=K, dimension=d)
    hear("running the linear protocol")
    yield row("linear, whole", 300, run(protocol=LINEAR))
    hear("running the linear protocol's cryptography")
    yield row("linear, cryptography alone", 3000, alone(KERNELS, parties=K, dimension=d))
    hear("running the curator protocol")
    yield row("curator protocol", 30, run(protocol=CURATOR_PROTOCOL, key_bits=bits))


def formula_check(prices: port.PortPrices, bits: int, rng: Stream) -> float:
    """The formula over a whole run of the port, at a small size; all pairs."""
    K, d = CHECKED
    p = Parameters(names(K), d, bits, comparison=port.ALL_PAIRS)
    given = made_up(K, d, rng)
    run, total = port.run_port(given, p, rng)
    agreed("the port", p.weights.vector(SumWithSmallestNoise().compute(given, rng)), total)
    return prices.of(port.operations(K, d)) / sum(run.values())
