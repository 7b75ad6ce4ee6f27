"""A plan: expected accuracy, cost and recommendation of a run, before anything is spent."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from os import PathLike
from pathlib import Path
from typing import Any

from smc_dp.core.errors import Fault, InputError, shown
from smc_dp.data.bounds import Bounds, read_bounds
from smc_dp.methods.expected_accuracy import ExpectedAccuracy
from smc_dp.methods.expected_gain import ExpectedGain
from smc_dp.planning import recommendation
from smc_dp.planning.candidate import Candidate, Circumstances, check_columns, planned_by_width
from smc_dp.planning.cost import SessionCost, party_names, session_cost
from smc_dp.planning.expected_intervals import METHODS_WITH_INTERVALS
from smc_dp.run.agreement import DEFAULT_METHOD, PROTOCOLS_BY_METHOD, secure_method
from smc_dp.run.settings import RunSettings


@dataclass(frozen=True)
class PlannedMethod:
    """Figures of one method; `refused` says why there are none.

    `left_out`: the parties that do the others harm; `without`: the expected accuracy without them. `least_rows`: the
    fewest rows with which one more party does no harm, None where no number is enough. `rows_needed`: the number of all
    rows that would lose little, None where none would. `may_deviate`: the number of parties that may be malicious with
    Charlie, None where all have to be semi-honest. `noise_known_to`: the party that knows all of the noise. Messages,
    bytes and rounds are those of a run among the parties that stay.
    """

    method: str
    refused: str | None = None
    protocol: str | None = None
    protects: str | None = None
    expected: ExpectedAccuracy | None = None
    left_out: tuple[str, ...] = ()
    without: ExpectedAccuracy | None = None
    least_rows: int | None = None
    rows_needed: int | None = None
    may_deviate: int | None = None
    noise_known_to: str | None = None
    messages: int | None = None
    bytes: int | None = None
    rounds: int | None = None

    @property
    def staying(self) -> ExpectedAccuracy | None:
        """Expected accuracy among the parties that stay."""
        return self.expected if self.without is None else self.without

    def as_dict(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        plain = {name: getattr(self, name) for name in self.__dataclass_fields__}
        accuracies = {
            name: found and found.as_dict() for name, found in plain.items() if isinstance(found, ExpectedAccuracy)
        }
        return {**plain, **accuracies, "left_out": list(self.left_out)}


@dataclass(frozen=True)
class Plan:
    """A recommendation, and the figures from which it follows.

    `method`: the one that the plan is about, the recommended one (`advised`, None where no method can be) unless
    another was named. `why`: the rule of the recommendation. `stay`: the parties that take part, with their rows.
    `holds_against`, `needs` and `must_not_collude`: claim and limitations of the protocol among them. `cost`: of their
    run, with `cpu_seconds` if they were asked for. `gains`: what each of them gains against a model of its own rows.
    `candidate`: the method among them. `leaving`: the columns whose empty cells have a row left out by the bounds.
    """

    parties: Mapping[str, int]
    dimension: int
    classes: int
    epsilon: float
    method: str
    advised: str | None
    why: Fault
    stay: Mapping[str, int]
    methods: tuple[PlannedMethod, ...]
    holds_against: str
    needs: str
    must_not_collude: tuple[str, ...]
    cost: SessionCost
    gains: Mapping[str, ExpectedGain]
    candidate: Candidate = field(repr=False, compare=False)
    leaving: tuple[str, ...] = ()

    def of(self, method: str) -> PlannedMethod:
        """Return the figures of this method."""
        return next(found for found in self.methods if found.method == method)

    @property
    def planned(self) -> PlannedMethod:
        """Figures of the method that the plan is about."""
        return self.of(self.method)

    def as_dict(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        plain = {name: getattr(self, name) for name in self.__dataclass_fields__ if name != "candidate"}
        return {
            **plain,
            "parties": dict(self.parties),
            "why": str(self.why),
            "why_code": self.why.code,
            "stay": dict(self.stay),
            "methods": [found.as_dict() for found in self.methods],
            "must_not_collude": list(self.must_not_collude),
            "leaving": list(self.leaving),
            "cost": self.cost.as_dict(),
            "gains": {name: found.as_dict() for name, found in self.gains.items()},
            "lambda": getattr(self.candidate.method, "lam", None),
            "study_lambda": self.candidate.study_lambda,
        }


def plan(
    sizes: Sequence[int] | Mapping[str, int],
    columns: int | None = None,
    *,
    classes: int | None = None,
    bounds: str | PathLike[str] | Bounds | None = None,
    cost: bool = False,
    **settings: Any,
) -> Plan:
    """Plan a run of parties with so many rows each: the expected accuracy, and what to do, from these numbers alone.

    Parameters
    ----------
    sizes : sequence of int or mapping of names to int
        Number of rows of each party; without names they are called party-1, party-2 ...
    columns : int, default=None
        Number of features of an encoded row (a list of categories is one for each), without the constant.
    classes : int, default=None
        Number of classes, 2 where nothing says it.
    bounds : path or Bounds, default=None
        Public bounds, or a file of them, in place of `columns` and `classes`.
    cost : bool, default=False
        Estimate the protocol's processor time, too (about a second): `cost.cpu_seconds`.
    **settings : str, int, float or Fraction
        Settings of the run, by the names of the options of `smc-dp plan` (lambda is `lam`): `method` is what the plan
        is about, else the recommended one.

    Returns
    -------
    Plan
        Figures of each method, and what to do; `smc_dp.planning.report.recommendation_blocks` says it in sentences.
        `cost` holds messages, bytes and rounds, by stage and by role.

    Raises
    ------
    InputError
        For what no run has.

    Examples
    --------
    >>> from smc_dp import plan
    >>> found = plan({"north": 5000, "south": 800, "clinic": 30}, columns=12, method="prr_mean")
    >>> found.planned.left_out
    ('clinic',)
    >>> found.cost.messages, found.cost.rounds
    (53, 15)

    """
    requested = RunSettings.from_options(**settings)
    return plan_for(sizes, columns, requested, classes=classes, bounds=bounds, cost=cost)


def plan_for(
    sizes: Sequence[int] | Mapping[str, int],
    columns: int | None,
    settings: RunSettings,
    *,
    classes: int | None = None,
    bounds: str | PathLike[str] | Bounds | None = None,
    cost: bool = False,
) -> Plan:
    """Plan a run with these settings; the other parameters are those of `plan`."""
    public = read_bounds(Path(bounds)) if isinstance(bounds, str | PathLike) else bounds
    known = replace(_circumstances(sizes, columns, classes, public), settings=settings)
    method, protocol = settings.method.name, settings.protocol.name
    if method in METHODS_WITH_INTERVALS:
        raise planned_by_width(str(method))
    if method is not None:
        secure_method(method, protocol or PROTOCOLS_BY_METHOD.get(method, ("",))[0])
        settings.settle(len(known.names))  # refuses what a run of this method refuses
    elif protocol is not None:
        raise InputError("plan.protocol_alone")
    found = _planned(known, method, protocol, cost)
    return found if public is None else replace(found, leaving=public.leaving)


def _planned(known: Circumstances, method: str | None, protocol: str | None, measure: bool) -> Plan:
    found: dict[str, Candidate] = {}
    refused: dict[str, str] = {}
    for name in PROTOCOLS_BY_METHOD:
        try:
            found[name] = Candidate.build(name, known, protocol if name == method else None)
        except InputError as error:
            if name == method:
                raise
            refused[name] = str(error)
    if method is None and DEFAULT_METHOD in refused and {"colluders", "dropouts"} & {*known.settings.protocol.given()}:
        raise InputError(
            "plan.no_method", refused=refused[DEFAULT_METHOD]
        )  # without them, it is not what was asked for
    best = recommendation.recommend(list(found.values()))
    name = method or (best.method.name if best else "")
    if not name:
        raise InputError("plan.no_method", refused=refused[DEFAULT_METHOD])
    looked = {one: _look(candidate) for one, candidate in found.items()}
    stay = looked[name][1]
    summary = stay.terms.summary(stay.spec, len(stay.circumstances.names))
    return Plan(
        parties=dict(zip(known.names, known.sizes, strict=True)),
        dimension=known.dimension,
        classes=known.classes,
        epsilon=float(stay.target.wanted),
        method=name,
        advised=best.method.name if best else None,
        why=recommendation.recommendation_reason(best, list(found.values())),
        stay=dict(zip(stay.circumstances.names, stay.circumstances.sizes, strict=True)),
        methods=tuple(
            looked[one][0] if one in looked else PlannedMethod(one, refused[one]) for one in PROTOCOLS_BY_METHOD
        ),
        holds_against=summary.holds_against,
        needs=summary.needs,
        must_not_collude=tuple(unclaimed(stay)),
        cost=session_cost(stay.session, measure=measure),
        gains=stay.gains,
        candidate=stay,
    )


def _look(candidate: Candidate) -> tuple[PlannedMethod, Candidate]:
    """Return the figures of a method, and the candidate among the parties that stay."""
    places, known = recommendation.parties_to_leave_out(candidate), candidate.circumstances
    stay = candidate.restricted_to(set(range(len(known.sizes))) - set(places)) if places else candidate
    cost = session_cost(stay.session)
    looked = PlannedMethod(
        candidate.method.name, None, candidate.protocol, candidate.method.protects, candidate.expected,
        tuple(known.names[j] for j in places), stay.expected if places else None, recommendation.least_rows(stay),
        recommendation.rows_needed(stay),
        candidate.malicious, recommendation.SMALLEST if candidate.spec.smallest_sets_noise else recommendation.NOBODY,
        cost.messages, cost.bytes, cost.rounds,
    )  # fmt: skip
    return looked, stay


def unclaimed(candidate: Candidate) -> Iterator[str]:
    """Yield the limitations of the protocol among these parties that are about collusion, the worst first.

    Sentences after the last that has an attack are about other things. An attack for which these parties are too few
    is left out.
    """
    claim, p = candidate.program.claim, candidate.session.parameters
    if claim is None:
        return
    about = [said.attack is not None for said in claim.limitations]
    last = len(about) - 1 - about[::-1].index(True) if True in about else -1
    for said in claim.limitations[: last + 1]:
        if said.applies(p) and (said.attack is None or said.attack.coalitions(p)):
            yield said.sentence


def _circumstances(
    sizes: Sequence[int] | Mapping[str, int], columns: int | None, classes: int | None, bounds: Bounds | None
) -> Circumstances:
    if isinstance(sizes, Mapping):
        names, rows = tuple(sizes), tuple(sizes.values())
    else:
        names, rows = party_names(len(sizes)), tuple(sizes)
    check_columns(columns, classes, bounds)
    if bounds is None:
        return Circumstances(names, rows, (columns or 0) + 1, 2 if classes is None else classes)
    bounds.require_label()
    if not bounds.classes:
        raise InputError("plan.of_number", label=shown(bounds.label))
    return Circumstances(names, rows, bounds.dimension, len(bounds.classes), weighted=bounds.weights is not None)
