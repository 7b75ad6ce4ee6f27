"""A plan: what to expect of learning together, and what to do, before anything is spent."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from os import PathLike
from pathlib import Path
from typing import Any

from smc_dp.core.errors import Fault, InputError, shown
from smc_dp.data.bounds import Bounds, read_bounds
from smc_dp.methods.expected_accuracy import Outlook
from smc_dp.planning import recommendation
from smc_dp.planning.candidate import Candidate, Circumstances
from smc_dp.planning.cost import SessionCost, party_names, session_cost
from smc_dp.run.agreement import PROTOCOLS_BY_METHOD, default_method, secure_method
from smc_dp.run.settings import RunSettings


@dataclass(frozen=True)
class PlannedMethod:
    """What one method comes to; of one that cannot be, `refused` says why, and the rest is None.

    `left_out`: the parties that do the others harm; `without`: what to expect once they are left out. `least_rows`: the
    fewest with which one more party does no harm to those who stay, None where no number is enough. `rows_needed`: how
    many of theirs in all would lose little, None where no number would. `may_deviate`: how many parties may break the
    rules with Charlie, None where all have to keep to them. `noise_known_to`: who knows all of the noise. Messages,
    bytes and rounds are those of a run among those who stay.
    """

    method: str
    refused: str | None = None
    protocol: str | None = None
    protects: str | None = None
    expected: Outlook | None = None
    left_out: tuple[str, ...] = ()
    without: Outlook | None = None
    least_rows: int | None = None
    rows_needed: int | None = None
    may_deviate: int | None = None
    noise_known_to: str | None = None
    messages: int | None = None
    bytes: int | None = None
    rounds: int | None = None

    @property
    def staying(self) -> Outlook | None:
        """What to expect of those who stay."""
        return self.expected if self.without is None else self.without

    def as_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        plain = {name: getattr(self, name) for name in self.__dataclass_fields__}
        ahead = {name: found and found.as_dict() for name, found in plain.items() if isinstance(found, Outlook)}
        return {**plain, **ahead, "left_out": list(self.left_out)}


@dataclass(frozen=True)
class Plan:
    """What to do, and the figures that it follows from.

    `method`: the one that the plan is about, which is the advised one unless another was named; `advised` is None where
    no method can be. `usual`: the one that a run takes if nobody names one. `why`: by which rule it is advised.
    `stay`: who takes part, with how many rows. `holds_against` and `must_not_collude`: what the protocol claims among
    those who stay, and what it does not. `cost`: of their run; its `cpu_seconds` are None where none were asked for.
    `prospect`: the method among those who stay, of which the figures are. `leaving`: the columns of which an empty cell
    has a row left out by the bounds.
    """

    parties: Mapping[str, int]
    dimension: int
    classes: int
    epsilon: float
    method: str
    advised: str | None
    why: Fault
    usual: str
    stay: Mapping[str, int]
    methods: tuple[PlannedMethod, ...]
    holds_against: str
    must_not_collude: tuple[str, ...]
    cost: SessionCost
    prospect: Candidate = field(repr=False, compare=False)
    leaving: tuple[str, ...] = ()

    def of(self, method: str) -> PlannedMethod:
        """What this method comes to."""
        return next(found for found in self.methods if found.method == method)

    @property
    def planned(self) -> PlannedMethod:
        """The one that the plan is about."""
        return self.of(self.method)

    def picture(self, kind: str) -> bytes:
        """The band over epsilon, among those who stay: "png", "svg" or "pdf"."""
        from smc_dp.planning.figure import render_figure

        return render_figure(self.prospect, kind)

    def as_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        plain = {name: getattr(self, name) for name in self.__dataclass_fields__ if name != "prospect"}
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
    """What to expect of learning together with so many rows each, and what to do, from these numbers alone.

    Parameters
    ----------
    sizes : sequence of int or mapping of names to int
        How many rows each party has; without names they are called party-1, party-2 ...
    columns : int, default=None
        How many features a row has once it is encoded, a list of categories one for each, without the constant.
    classes : int, default=None
        How many classes there are, 2 where nothing says it.
    bounds : path or Bounds, default=None
        A file of public bounds, or what one says, in place of `columns` and `classes`.
    cost : bool, default=False
        Whether to estimate the protocol's processor time (about a second): `cost.cpu_seconds`.
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
    asked = RunSettings.from_options(**settings)
    return plan_for(sizes, columns, asked, classes=classes, bounds=bounds, cost=cost)


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
    if method is not None:
        secure_method(method, protocol or PROTOCOLS_BY_METHOD.get(method, ("",))[0])
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
    best = recommendation.recommend(list(found.values()))
    name = method or (best.method.name if best else "")
    if not name:
        raise InputError("plan.no_method", refused=refused[default_method(known.classes)])
    looked = {one: _look(prospect) for one, prospect in found.items()}
    stay = looked[name][1]
    return Plan(
        parties=dict(zip(known.names, known.sizes, strict=True)),
        dimension=known.dimension,
        classes=known.classes,
        epsilon=float(stay.target.wanted),
        method=name,
        advised=best.method.name if best else None,
        why=recommendation.recommendation_reason(best, list(found.values())),
        usual=default_method(known.classes),
        stay=dict(zip(stay.circumstances.names, stay.circumstances.sizes, strict=True)),
        methods=tuple(
            looked[one][0] if one in looked else PlannedMethod(one, refused[one]) for one in PROTOCOLS_BY_METHOD
        ),
        holds_against=stay.form.statement.adversary,
        must_not_collude=tuple(unclaimed(stay)),
        cost=session_cost(stay.session, measure=measure),
        prospect=stay,
    )


def _look(prospect: Candidate) -> tuple[PlannedMethod, Candidate]:
    """What a method comes to, and the same among those who stay."""
    places, known = recommendation.parties_to_leave_out(prospect), prospect.circumstances
    stay = prospect.among(set(range(len(known.sizes))) - set(places)) if places else prospect
    cost = session_cost(stay.session)
    looked = PlannedMethod(
        prospect.method.name, None, prospect.protocol, prospect.method.protects, prospect.ahead,
        tuple(known.names[j] for j in places), stay.ahead if places else None, recommendation.least_rows(stay),
        recommendation.rows_needed(stay),
        prospect.deviating, recommendation.SMALLEST if prospect.form.smallest_sets_noise else recommendation.NOBODY,
        cost.messages, cost.bytes, cost.rounds,
    )  # fmt: skip
    return looked, stay


def unclaimed(prospect: Candidate) -> Iterator[str]:
    """What the protocol does not claim among these parties, the worst first, as far as it is about who colludes.

    Sentences after the last that has an attack are about other things; one whose attack has nobody to make it here says
    nothing here.
    """
    claim, p = prospect.program.claim, prospect.session.parameters
    if claim is None:
        return
    about = [said.attack is not None for said in claim.limitations]
    last = len(about) - 1 - about[::-1].index(True) if True in about else -1
    for said in claim.limitations[: last + 1]:
        if said.attack is None or said.attack.coalitions(p):
            yield said.sentence


def _circumstances(
    sizes: Sequence[int] | Mapping[str, int], columns: int | None, classes: int | None, bounds: Bounds | None
) -> Circumstances:
    if isinstance(sizes, Mapping):
        names, rows = tuple(sizes), tuple(sizes.values())
    else:
        names, rows = party_names(len(sizes)), tuple(sizes)
    if bounds is None:
        if type(columns) is not int or columns < 1:
            raise InputError("plan.no_columns", got=shown(columns))
        k = 2 if classes is None else classes
        if type(k) is not int or k < 2:
            raise InputError("plan.no_classes", got=shown(k))
        return Circumstances(names, rows, columns + 1, k)
    for name, value in (("columns", columns), ("classes", classes)):
        if value is not None:
            raise InputError("plan.said_by_bounds", name=name)
    return Circumstances(names, rows, bounds.dimension, len(bounds.classes))
