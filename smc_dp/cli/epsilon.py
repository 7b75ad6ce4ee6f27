"""Command `lab epsilon`: lower bounds on epsilon, with confidence."""

from __future__ import annotations

import json
from fractions import Fraction
from typing import TYPE_CHECKING, Annotated, Any, get_args

import typer

from smc_dp.cli import screen
from smc_dp.cli.options import AsJson, read_choice, read_integer, read_positive, refuse_options
from smc_dp.core.errors import InputError, shown
from smc_dp.privacy.target import Calibration, NoiseName

if TYPE_CHECKING:
    from protocols.arithmetic.rng import Stream
    from smc_dp.audit.epsilon.plan import PlannedCase, Request
    from smc_dp.audit.epsilon.power import Effort, MeasuredPower, MutantPower
    from smc_dp.run.simulation import HearProgress

_MUTANTS = (
    "half-noise|exponential-radius|float-sampler|half-variance|half-sensitivity|k-times-integer|all-honest|silent-party|"
    "stripped|unclipped-weight"
)
_MOST = 10**6  # draws that a person may ask for: they are held in memory
# Of the processor, for the draws, which are most of the work.
_SECONDS, _SECONDS_OF_VECTORS, _SECONDS_OF_ALL = 40.0, 60.0, 130.0
_MOST_DIMENSIONS = 2000
_REPEATS, _FEWER_REPEATS = 10, 5  # of an audit, to measure its power; fewer of all methods, and where draws take long


def bound_epsilon(
    method: Annotated[
        str | None, typer.Argument(metavar="METHOD", help="A method, a noise (knorm, laplace, gauss), or all.")
    ] = None,
    epsilon: Annotated[str, typer.Option(metavar="NUMBER", help="Epsilon that the release claims.")] = "1",
    calibration: Annotated[
        str | None, typer.Option(metavar="proven|paper", help="Only this calibration of the noise.")
    ] = None,
    noise: Annotated[
        str | None,
        typer.Option(
            metavar="knorm|laplace|gauss|ddg|vg|self",
            help="Only this noise; the last three with wsum --protocol, ddg with the other methods by secure sums.",
        ),
    ] = None,
    trials: Annotated[
        str | None, typer.Option(metavar="INTEGER", help="Draws from each neighbour; else what a minute allows.")
    ] = None,
    confidence: Annotated[
        str, typer.Option(metavar="NUMBER", help="Probability that all bounds hold together.")
    ] = "0.99",
    through_protocol: Annotated[
        bool, typer.Option("--protocol", help="Run the whole protocol, with short keys.")
    ] = False,
    mutant: Annotated[
        str | None, typer.Option(metavar=_MUTANTS, help="Audit a mechanism that is broken on purpose.")
    ] = None,
    dimension: Annotated[
        str | None,
        typer.Option(metavar="INTEGER", help="Audit at this dimension, with neighbours that are searched for."),
    ] = None,
    lam: Annotated[
        str | None, typer.Option("--lambda", metavar="NUMBER", help="Regularisation there, 0.001 unless given.")
    ] = None,
    as_list: Annotated[bool, typer.Option("--list", help="List methods, noises and mutants, and stop.")] = False,
    as_json: AsJson = False,
) -> int:
    """Bound epsilon from below by a test. The test has to distinguish the releases of two neighbouring data sets.

    The audit draws many releases of two neighbours that differ as much as they can. A bound above the claim refutes
    it; a bound below proves nothing. Therefore the same audit is repeated 10 times with half the noise (5 times for
    `all` or --dimension), and the report says how often that was caught. Without --trials each repetition has fewer
    draws, so that all of them take as long as the audit itself. A mutant is audited as often.

    Methods are audited at d = 1 on neighbours made by hand. --dimension searches for a pair, and the report says how
    much of the claimed sensitivity it reaches (prr_mean, central, local, wsum, wsum_ar).

    --protocol makes whole runs: of prr_mean by the curator protocol, and of wsum, describe, newton, gd, logistic and
    linear by the secure sum. One of three parties colludes with Charlie and deviates in six ways. Of the last four
    methods all sums are audited, with --protocol and without, with a Charlie whose lies make them reveal as much as
    they can.

    Exit code 0: nothing contradicts the claim; 1: a bound exceeds what is claimed; 2: bad input.

    \b
    Examples:
      smc-dp lab epsilon knorm
      smc-dp lab epsilon prr_mean --calibration proven --noise knorm --trials 5000
      smc-dp lab epsilon central --noise gauss --dimension 124 --lambda 0.01 --epsilon 8
      smc-dp lab epsilon prr_mean --protocol
      smc-dp lab epsilon wsum --protocol --noise ddg
      smc-dp lab epsilon laplace --mutant float-sampler
      smc-dp lab epsilon all --json
    """
    if as_list:
        refuse_options({"METHOD": method}, "option.not_with_list")
        return _list(as_json)
    if method is None:
        raise InputError("options.no_audit_subject")

    from smc_dp.audit.epsilon.mutants import MutantName
    from smc_dp.audit.epsilon.plan import Request, plan_cases

    request = Request(
        method,
        read_positive("--epsilon", epsilon),
        None if calibration is None else read_choice("--calibration", calibration, get_args(Calibration)),
        None if noise is None else read_choice("--noise", noise, get_args(NoiseName)),
        None if mutant is None else read_choice("--mutant", mutant, get_args(MutantName)),
        through_protocol,
        None if dimension is None else _dimension(dimension),
        None if lam is None else float(read_positive("--lambda", lam)),
    )
    number, sure = _trials(trials), _confidence(confidence)
    plans = plan_cases(request)
    if not plans:
        raise InputError("options.no_noise_to_halve", method=method)
    return _run(request, plans, number, sure, as_json)


def _run(request: Request, plans: list[PlannedCase], trials: int | None, sure: Fraction, as_json: bool) -> int:
    from protocols.arithmetic.rng import Stream
    from smc_dp.audit.epsilon.mutants import MUTANT_FAULTS
    from smc_dp.audit.epsilon.power import MeasuredPower, MutantPower, audit_mutant, audit_with_power

    rng, found, mutants = Stream.from_system(), list[MeasuredPower](), list[MutantPower]()
    with screen.progress_bar(quiet=as_json) as hear:
        effort = _effort(request, plans, trials, sure, rng)
        for plan in plans:
            if request.mutant is None:
                draws = effort.draws(1) + (0 if plan.half is None else effort.for_half.draws(effort.repeats))
                found.append(audit_with_power(plan.case, plan.half, effort, rng, _Tick(plan.case.name, draws, hear)))
            else:
                tick = _Tick(plan.case.name, effort.draws(effort.repeats), hear)
                mutants.append(audit_mutant(MUTANT_FAULTS[request.mutant], plan.case, effort, rng, tick))
    return _report_mutants(mutants, sure, as_json) if mutants else _report(found, request, sure, as_json)


def _effort(request: Request, plans: list[PlannedCase], trials: int | None, sure: Fraction, rng: Stream) -> Effort:
    """Return the effort of every case; all their tests share the confidence."""
    from smc_dp.audit.epsilon.audit import TESTS
    from smc_dp.audit.epsilon.plan import ALL_METHODS, affordable_draws
    from smc_dp.audit.epsilon.power import Effort

    seconds, repeats = _SECONDS, _REPEATS
    if request.method == ALL_METHODS:
        seconds, repeats = _SECONDS_OF_ALL, _FEWER_REPEATS
    elif request.dimension is not None:
        seconds, repeats = _SECONDS_OF_VECTORS, _FEWER_REPEATS
    own, of_half = trials, None
    if own is None:
        own, of_half = affordable_draws(plans, seconds if request.mutant is None else seconds / repeats, repeats, rng)
    return Effort(own, float(1 - sure) / (len(plans) * len(TESTS)), repeats, float(sure), of_half)


class _Tick:
    """Counter of the draws of one case, for the progress bar."""

    def __init__(self, name: str, total: int, hear: HearProgress | None) -> None:
        self._name, self._total, self._hear, self._done = name, total, hear, 0

    def __call__(self, draws: int) -> None:
        self._done += draws
        if self._hear is not None:
            self._hear(self._name, self._done, self._total)


def _report(found: list[MeasuredPower], request: Request, sure: Fraction, as_json: bool) -> int:
    from smc_dp.audit.epsilon import report
    from smc_dp.audit.epsilon.plan import SCOPE_SENTENCES

    refuted = any(measured.audited.refuted for measured in found)
    if as_json:
        audits = [{**m.as_dict(), "code": report.verdict_banner(m.audited).code} for m in found]
        _print_json({"confidence": float(sure), "refuted": refuted, "audits": audits})
    else:
        scope = SCOPE_SENTENCES[request.method] if request.through_protocol else None
        screen.print_blocks(report.blocks(found, float(sure), scope))
    return int(refuted)


def _report_mutants(found: list[MutantPower], sure: Fraction, as_json: bool) -> int:
    from smc_dp.audit.epsilon import report

    refuted = any(mutant.power.caught for mutant in found)
    if as_json:
        mutants = [{**mutant.as_dict(), "code": report.verdict_banner(mutant.example).code} for mutant in found]
        _print_json({"confidence": float(sure), "refuted": refuted, "mutants": mutants})
    else:
        screen.print_blocks(report.mutant_blocks(found, float(sure)))
    return int(refuted)


def _list(as_json: bool) -> int:
    from smc_dp.audit.epsilon.mechanisms import MECHANISMS
    from smc_dp.audit.epsilon.mutants import MUTANT_FAULTS
    from smc_dp.audit.epsilon.secure_sum import NEIGHBOURS
    from smc_dp.methods.registry import METHODS, STATISTICS

    methods = {
        name: method.audit_pair(method.calibrations[0] if method.calibrations else "proven").text
        for name, method in METHODS.items()
    } | {name: NEIGHBOURS[name] for name in STATISTICS}
    listed: dict[str, dict[str, str]] = {
        "methods": methods,
        "noises": {str(name): text for name, text in MECHANISMS.items()},
        "mutants": {str(name): text for name, text in MUTANT_FAULTS.items()},
    }
    if as_json:
        _print_json(listed)
        return 0
    width = max(len(name) for part in listed.values() for name in part)
    for title, part in listed.items():
        print(title)
        print("\n".join(f"  {name:<{width}}  {text}" for name, text in part.items()))
    return 0


def _print_json(value: dict[str, Any]) -> None:
    print(json.dumps(value, allow_nan=False))


def _trials(text: str | None) -> int | None:
    from smc_dp.audit.epsilon.plan import FEWEST

    if text is None:
        return None
    number = read_integer("--trials", text)
    if not FEWEST <= number <= _MOST:
        raise InputError("options.trials_out_of_range", wanted=FEWEST, most=_MOST, got=number)
    return number


def _dimension(text: str) -> int:
    number = read_integer("--dimension", text)
    if not 2 <= number <= _MOST_DIMENSIONS:
        raise InputError("options.dimension_out_of_range", most_dimensions=_MOST_DIMENSIONS, got=number)
    return number


def _confidence(text: str) -> Fraction:
    value = read_positive("--confidence", text)
    if not Fraction(1, 2) <= value <= 1 - Fraction(1, 10**9):
        raise InputError("options.confidence_out_of_range", got=shown(text))
    return value
