"""Reports of a plan and of the expected accuracy of a run: first what to do, then the figures."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING

from smc_dp.methods.expected_accuracy import ExpectedAccuracy
from smc_dp.methods.expected_gain import METHOD_OF_GAIN, ExpectedGain, GainAdvice, expected_gain
from smc_dp.methods.usual_lambda import ASSUMED_ROWS
from smc_dp.pages.blocks import Bullets, PageBlock, PageTable, Prose, coded_prose, format_counts
from smc_dp.planning import recommendation
from smc_dp.planning.candidate import Candidate, Circumstances
from smc_dp.privacy.statement import PrivacyStatement, short_delta, short_figure
from smc_dp.run.settings import RunSettings

if TYPE_CHECKING:
    from smc_dp.planning.cost import SessionCost
    from smc_dp.planning.plan import Plan, PlannedMethod
    from smc_dp.run.agreement import Agreement

_HEADINGS = (
    *("method", "protects", "signal", "lost to noise", "leave out", "may be malicious", "knows the noise"),
    *("messages", "bytes"),
)
_BY_ADVICE: Mapping[GainAdvice, str] = MappingProxyType(
    {
        "stay alone": "plan.better_alone",
        "as good alone": "plan.as_good_alone",
        "take part": "plan.better_together",
    }
)
_NAMED = 5  # of more parties it is said how many there are
_SMALL, _MANY = 100, 50  # rows of a party, and parties, from which on whole parties are what to protect


def blocks(plan: Plan, *, cost: bool = False) -> Iterator[PageBlock]:
    """Yield the report of a plan; with `cost` its figures by stage and by role too."""
    yield from recommendation_blocks(plan)
    yield PageTable("Methods", _HEADINGS, tuple(_methods(plan)), numbers=(2, 7, 8))
    yield Prose("The signal compares the sum with its noise: more is better.")
    if (lam := getattr(plan.candidate.method, "lam", None)) is not None:
        yield coded_prose("plan.regularised", method=plan.method, lam=lam)
        if (other := plan.candidate.study_lambda) != lam:
            yield coded_prose("plan.lambda_of_study", lam=lam, other=other, rows=ASSUMED_ROWS)
    if refused := tuple(_missing(m.method, m.refused) for m in plan.methods if m.refused is not None):
        yield Bullets(refused)
    yield Prose(f"The guarantee of {plan.method} holds against {plan.holds_against} It needs {plan.needs}")
    yield Bullets(plan.must_not_collude)
    found = plan.cost
    counted = f"{found.messages:,} messages, {found.bytes:,} bytes, {found.rounds:,} rounds"
    yield Prose(f"Cost of {plan.method} by {found.protocol} among {len(plan.stay)}: {counted}.")
    if cost:
        yield from cost_blocks(found)


def recommendation_blocks(plan: Plan) -> Iterator[Prose]:
    """Yield what to do and why, each sentence with its code."""
    found = plan.planned
    hopeless = found.staying is not None and found.staying.interval.high >= recommendation.HOPELESS
    if found.staying is not None and hopeless:
        yield coded_prose("plan.do_not_begin", lost=found.staying.interval.high)
    pointless = bool(plan.gains) and all(one.advice != "take part" for one in plan.gains.values())
    if pointless:
        yield coded_prose("plan.nobody_gains")
    who = _those(plan.stay, plan.parties)
    if plan.method == plan.advised:
        take = "If you run it all the same, take" if hopeless or pointless else "Take"
        yield coded_prose("plan.advised_method", take=take, method=plan.method, who=who, why=str(plan.why))
    else:
        instead = "" if plan.advised is None else f" {plan.advised} is recommended. {plan.why}"
        yield coded_prose("plan.named_method", method=plan.method, who=who, instead=instead)
    if found.staying is not None:
        yield Prose(f"What to expect: {_lost(found.staying)}{_needed(found)}", "plan.expected_loss")
        yield _gain(plan, found.staying)
        yield from gain_blocks(plan.gains)
        if plan.gains:
            yield coded_prose("plan.gains_are_estimates")
    if (count := recommendation.features_to_offer(plan.candidate)) is not None:
        yield coded_prose("plan.features_may_pay", count=count)
    if plan.candidate.circumstances.weighted:
        yield coded_prose("plan.rows_have_weights")
    if plan.leaving:
        yield coded_prose("plan.bounds_leave_rows_out", columns=_some(plan.leaving))
    yield from _who(plan, found)
    yield from _by_party(plan)


def _missing(method: str, refused: str) -> str:
    """Return why a method is not in the plan; a refusal that begins with the method's own name becomes a sentence."""
    own = f"method: {method} "
    if refused.startswith(own):
        return f"{method} is not in this plan. It {refused.removeprefix(own)}"
    return f"{method} is not in this plan: {refused}"


def _methods(plan: Plan) -> Iterator[tuple[str, ...]]:
    """Yield a row of text under `_HEADINGS` for every method that was not refused."""
    for found in plan.methods:
        if found.expected is not None:
            accuracy = found.staying or found.expected
            who = (_some(found.left_out) or recommendation.NOBODY, recommendation.describe_malicious(found.may_deviate))
            noise = (f"{accuracy.signal:.3g}", _within(accuracy))
            counted = (f"{found.messages:,}", f"{found.bytes:,}")
            yield found.method, found.protects or "", *noise, *who, found.noise_known_to or "", *counted


def cost_blocks(found: SessionCost) -> Iterator[PageBlock]:
    """Yield the cost by stage and by role, and the meaning of its figures."""
    counts = ((s.stage, s.messages, s.bytes, s.rounds) for s in found.by_stage)
    everything = ("all", found.messages, found.bytes, found.rounds)
    stages = tuple((stage, *format_counts(*numbers)) for stage, *numbers in (*counts, everything))
    yield PageTable("Cost by stage", ("stage", "messages", "bytes", "rounds"), stages, numbers=(1, 2, 3))
    of_roles = ((r.participants, r.messages, r.bytes, r.received_messages, r.received_bytes) for r in found.by_role)
    roles = tuple((r.role, *format_counts(*counts)) for r, counts in zip(found.by_role, of_roles, strict=True))
    headings = ("role", "participants", "sends", "bytes sent", "receives", "bytes received")
    yield PageTable("Cost by role", headings, roles, numbers=(1, 2, 3, 4, 5))
    yield Prose("Messages, bytes and rounds are exact for parties of these names, if nobody drops out.")
    yield Prose("The protocol has its default settings, but for the planned colluders and drop-outs.")
    if found.cpu_seconds is not None:
        about = f"{found.cpu_seconds:,.0f}" if found.cpu_seconds >= 10 else f"{found.cpu_seconds:.2g}"
        yield Prose(
            f"Processor time of the protocol: about {about} s on this machine, all roles together, without training, "
            "without drawing noise and without the answers of parties between sums. This is an estimate: the time of "
            "this part of a run may be four times more or less."
        )


def _lost(accuracy: ExpectedAccuracy) -> str:
    """Return the accuracy interval in a sentence."""
    return f"the noise lowers the accuracy by {_within(accuracy)}, against the same method and rows without noise."


def _gain(plan: Plan, accuracy: ExpectedAccuracy) -> Prose:
    """Return what a party that stays gains and gives up, from the planned numbers of rows and the privacy statement."""
    stay, rows = plan.stay, sum(plan.stay.values())
    lost, cost = _within(accuracy), _cost(plan.candidate.spec.statement)
    largest, smallest = max(stay, key=lambda name: stay[name]), min(stay, key=lambda name: stay[name])
    most, least = stay[largest], stay[smallest]
    if most == least:
        return coded_prose("plan.gain_of_equal_parties", rows=rows, own=most, lost=lost, cost=cost)
    return coded_prose(
        "plan.gain_of_parties", rows=rows, largest=largest, most=most, smallest=smallest, least=least, lost=lost,
        cost=cost,
    )  # fmt: skip


def gain_blocks(gains: Mapping[str, ExpectedGain]) -> Iterator[Prose]:
    """Yield the parties that are better alone, as good alone, and better together, and the expected gain of each."""
    for advice, code in _BY_ADVICE.items():
        found = {name: one.gain for name, one in gains.items() if one.advice == advice}
        if found:
            least, most = (f"{abs(gain):.2f}" for gain in sorted((min(found.values()), max(found.values())), key=abs))
            by = least if least == most else f"{least} to {most}"
            yield coded_prose(code, names=_some(tuple(found)).rstrip(","), gain=by)


def _cost(statement: PrivacyStatement) -> str:
    """Return epsilon and delta of a release in words."""
    epsilon = "none" if statement.epsilon is None else short_figure(statement.epsilon)
    return f"epsilon {epsilon} and delta {short_delta(statement.delta)}"


def _within(accuracy: ExpectedAccuracy) -> str:
    """Return the accuracy interval in figures."""
    return f"{max(0.0, accuracy.interval.low):.2f} to {accuracy.interval.high:.2f}"


def expected_in_simulation(agreement: Agreement, sizes: Mapping[str, int]) -> Iterator[Prose]:
    """Yield the expected accuracy of a simulation, and the parties whose rows spoil it.

    A simulation has all rows and so all sizes; in a run between organisations nobody knows them.
    """
    rows, bounds = tuple(sizes.values()), agreement.bounds
    accuracy = agreement.expected_accuracy(rows)
    if accuracy is None or agreement.target.epsilon is None:
        return
    if accuracy.interval.high >= recommendation.HOPELESS:
        yield coded_prose("plan.may_lose_much", lost=accuracy.interval.high)
    yield Prose(f"What to expect: {_lost(accuracy)}", "plan.expected_loss")
    if not agreement.spec.smallest_sets_noise:
        return
    settings = RunSettings.from_options(epsilon=agreement.target.epsilon)
    known = Circumstances(tuple(sizes), rows, bounds.dimension, len(bounds.classes), settings)
    candidate = Candidate(**agreement.settled, circumstances=known)
    if places := recommendation.parties_to_leave_out(candidate):
        stay = candidate.expected_with([n for j, n in enumerate(rows) if j not in places])
        names = [list(sizes)[j] for j in places]
        harm = _harm(names, [rows[j] for j in places], sum(rows))
        without = f"Without {_some(names)} {_within(stay)} is lost. Sizes are known to a simulation alone;"
        yield Prose(f"{harm} {without} `smc-dp plan` says more.", "plan.leave_parties_out")


def expected_at_site(agreement: Agreement, rows: int) -> Iterator[Prose]:
    """Yield the expected accuracy at a site, which knows its own number of rows alone."""
    parties = len(agreement.parties)
    accuracy = agreement.expected_accuracy([rows] * parties)
    lost = "an unknown part"
    if accuracy is not None:
        alike = f"What to expect if all {parties} parties have as many rows as this site: {_lost(accuracy)}"
        yield Prose(alike, "plan.expected_loss")
        lost = _within(accuracy)
    cost = _cost(agreement.statement)
    yield coded_prose("plan.gain_of_site", rows=rows * parties, own=rows, lost=lost, cost=cost)
    if accuracy is not None and agreement.method.name == METHOD_OF_GAIN and agreement.features is None:
        d, k = agreement.bounds.dimension, len(agreement.bounds.classes)
        yield from gain_blocks({"this site": expected_gain(rows, rows * parties, d, k, accuracy.signal)})
    if agreement.spec.smallest_sets_noise:
        yield coded_prose("plan.smallest_party_sets_noise")


def _needed(found: PlannedMethod) -> str:
    """Return the number of rows that would lose little, where more may be lost."""
    if found.staying is None or found.staying.interval.high <= recommendation.LITTLE:
        return ""
    little = f"{recommendation.LITTLE:.2f} at most"
    if found.rows_needed is None:
        return f" No number of rows makes it {little}: take a larger epsilon, or fewer columns."
    rows = f"With {found.rows_needed:,} rows in all, divided as here"
    return f" {rows}, it would be {little}. A larger epsilon or fewer columns also help."


def _who(plan: Plan, found: PlannedMethod) -> Iterator[Prose]:
    """Yield the parties to leave out, and the rows that another party should have."""
    if found.left_out:
        yield Prose(_leaving(plan, found), "plan.leave_parties_out")
    if found.noise_known_to == recommendation.NOBODY and not found.left_out:
        yield coded_prose("plan.small_party_harmless")
    elif found.least_rows is None:
        yield coded_prose("plan.another_party_harmful")
    elif found.least_rows > 1:
        yield coded_prose("plan.another_party_from", rows=found.least_rows)


def _leaving(plan: Plan, found: PlannedMethod) -> str:
    sizes = [plan.parties[name] for name in found.left_out]
    now, then = found.expected, found.without
    both = "" if now is None or then is None else f" With them {_within(now)} is lost, without them {_within(then)}."
    harm = _harm(found.left_out, sizes, sum(plan.parties.values()))
    who = "it" if len(sizes) == 1 else "each"
    least = "" if found.least_rows is None else f", or have {who} join with at least {found.least_rows:,} rows"
    return f"{harm}{both} Leave {_some(found.left_out)} out{least}."


def _harm(names: Sequence[str], sizes: Sequence[int], n: int) -> str:
    """Return the sentence that these parties set the noise for all."""
    if len(names) == 1:
        return f"The {sizes[0]:,} rows of {names[0]} set the noise for all {n:,}."
    return f"The smallest of {_some(names)}, with {min(sizes):,} to {max(sizes):,} rows, set the noise for all {n:,}."


def _by_party(plan: Plan) -> Iterator[Prose]:
    """Yield the advice to protect whole parties, where parties are many and small."""
    found = [one.method for one in plan.methods if one.protects == "party"]
    sizes = sorted(plan.parties.values())
    if found and len(sizes) >= _MANY and sizes[len(sizes) // 2] <= _SMALL and plan.method not in found:
        yield coded_prose("plan.protect_whole_parties", parties=len(sizes), methods=_some(found))


def _those(stay: Mapping[str, int], everybody: Mapping[str, int]) -> str:
    if len(stay) == len(everybody):
        return f"all {len(stay)} parties"
    if len(stay) <= _NAMED:
        return " and ".join(", ".join(stay).rsplit(", ", 1))
    return f"{len(stay)} of {len(everybody)} parties"


def _some(names: Sequence[str]) -> str:
    if len(names) <= _NAMED:
        return ", ".join(names)
    return f"{len(names)} parties, from {names[0]} to {names[-1]},"
