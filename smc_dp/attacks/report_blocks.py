"""Report of attacks: each with its step as published beside what stands in its place, and its measurement.

An attack that was not measured has no numbers, and a sentence that says so.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from smc_dp.attacks.attack import FAILS_BELOW, SUCCEEDS_ABOVE, AttackResult, MeasuredAttack, Variant
from smc_dp.attacks.report import AttackReport
from smc_dp.attacks.step_code import function_place, function_source, step_notes
from smc_dp.pages.blocks import (
    Banner,
    Bullets,
    FactList,
    PageBlock,
    PageTable,
    Prose,
    Section,
    SideBySide,
    Verbatim,
)

_RULE = (
    "Succeeds: the lower limit of the 95 % interval (Clopper-Pearson) has an advantage over guessing above 1/2, as a "
    "fraction of the best possible one. Fails: the upper limit has one below 1/4. Undecided: neither. A failed attack "
    "is a measurement of this attack, and no proof that there is none better."
)
AS_PUBLISHED, RULES_BROKEN = "as published", "attacked"
IN_ITS_PLACE, CONTROL = "with the fix, or another method", "the control"
NO_FIX = "Inside the paper's design there is no fix: the attack is known to succeed against {versions} as well."
TRIALS = "Successes in trials from fresh randomness"
_HEADINGS = ("run against", "outcome", "succeeded", "95 % interval", "by mere guessing")


def attack_table(attacks: Iterable[MeasuredAttack]) -> PageTable:
    """Return the table of attacks, with what each is run against."""
    rows = ((one.name, one.breaks, "; ".join(variant.name for variant in one.variants)) for one in attacks)
    return PageTable("Attacks", ("attack", "what it breaks", "run against"), tuple(rows))


def measured_sections(reports: Sequence[AttackReport]) -> tuple[Section, ...]:
    """Return the section of one attack, or that of a table of several."""
    if len(reports) == 1:
        return (attack_section(reports[0]),)
    each = ((report, row) for report in reports for row in _rows(report))
    rows = tuple((one.attack.name, one.attack.breaks, one.attack.attacker, *row) for one, row in each)
    when = tuple(f"{report.attack.name}: {report.attack.when}." for report in reports)
    table = PageTable(TRIALS, ("attack", "breaks", "attacker", *_HEADINGS), rows, numbers=(5, 6, 7))
    said = Prose("An attack that succeeds needs these conditions:")
    return (Section("All attacks", (table, said, Bullets(when))),)


def blocks(reports: Sequence[AttackReport]) -> tuple[PageBlock, ...]:
    """Return what a command prints: the verdict last, for the end of a text stays in sight."""
    return (*measured_sections(reports), *map(Prose, (_RULE, *describe_power(reports))), *attack_verdicts(reports))


def attack_verdicts(reports: Sequence[AttackReport]) -> tuple[Banner, ...]:
    """Return a banner for every outcome that is not the one on record, or one that says that all are."""
    wrong = (
        f"NOT AS EXPECTED: {m.attack} against {m.variant}: {m.outcome}. The outcome on record is: {m.expected}"
        for report in reports
        for m in report.measured
        if not m.as_expected
    )
    good = Banner("All outcomes are as expected.", "good", "attack.as_expected")
    return tuple(Banner(said, "failed", "attack.not_as_expected") for said in wrong) or (good,)


def attack_section(report: AttackReport) -> Section:
    """Return the section of an attack with its measurement."""
    keys = f"{report.key_bits} bits; the attack does not depend on their length"
    table = PageTable(TRIALS, _HEADINGS, tuple(_rows(report)), numbers=(2, 3, 4))
    return _section(report.attack, () if report.key_bits is None else (("Keys", keys),), report.results, (table,))


def without_numbers(attack: MeasuredAttack, why: str) -> Section:
    """Return the section of an attack without numbers, and why there are none."""
    return _section(attack, (), {}, (Banner(why),))


def _section(
    attack: MeasuredAttack,
    more: tuple[tuple[str, str], ...],
    results: dict[str, AttackResult],
    figured: tuple[PageBlock, ...],
) -> Section:
    facts = FactList(
        (
            ("Flaw as published" if attack.is_of_publication else "Flaw", attack.flaw),
            ("Attacker", attack.attacker),
            ("Knowledge used", attack.takes),
            ("Success", attack.success),
            ("When it works", attack.when),
            *more,
        )
    )
    reading = (Prose(attack.reading),) if attack.reading else ()
    notes = tuple(map(Prose, step_notes(attack)))
    return Section(
        f"{attack.name}: {attack.breaks}",
        (
            facts,
            Section(f"How {attack.name} goes", (Bullets(attack.steps, numbered=True),)),
            Section(f"Result of {attack.name}", (*figured, *_without_fix(attack), *reading)),
            *_code(attack, results),
            *((Section(f"{attack.name}: notes on the step", notes, details=True),) if notes else ()),
        ),
        new_sheet=True,
    )


def _without_fix(attack: MeasuredAttack) -> tuple[PageBlock, ...]:
    """Return a sentence that names the fixed protocols against which an attack on a publication succeeds as well."""
    others = [v.about for v in attack.variants if v.no_fix_yet] if attack.is_of_publication else []
    return (Prose(NO_FIX.format(versions=" and ".join(others))),) if others else ()


def _code(attack: MeasuredAttack, results: dict[str, AttackResult]) -> tuple[PageBlock, ...]:
    """Return the code of the step on both sides."""
    if not attack.attacked or not attack.fixed:
        return ()
    left, right = (AS_PUBLISHED, IN_ITS_PLACE) if attack.is_of_publication else (RULES_BROKEN, CONTROL)
    left, right = (f"{attack.name}: {side}" for side in (left, right))  # no two landmarks of a page have one name
    beside = SideBySide(_side(left, attack.attacked, results), _side(right, attack.fixed, results))
    return (Section(f"{attack.name}: code of the step", (beside,), details=True),)


def _side(heading: str, variants: Sequence[Variant], results: dict[str, AttackResult]) -> Section:
    found: list[PageBlock] = []
    for variant in variants:
        result = results.get(variant.name)
        found.append(
            Prose(f"{variant.target}: {variant.about}." if result is None else _describe_result(variant, result))
        )
        for function in variant.code:
            found += (Prose(function_place(function)), Verbatim(function_source(function), function_place(function)))
    return Section(heading, tuple(found))


def _rows(report: AttackReport) -> Iterator[tuple[str, ...]]:
    """Yield a row under `_HEADINGS` for every variant that was measured."""
    variants = {variant.name: variant for variant in report.attack.variants}
    for m in report.measured:
        variant = variants[m.variant]
        known = ", not fixed in this protocol" if m.no_fix_yet and m.outcome == "succeeds" else ""
        low, high = m.interval
        figures = (f"{m.successes} of {m.trials}", f"{low:.3f} to {high:.3f}", _format_chance(m.chance))
        yield f"{variant.target}, {variant.name}", f"{m.outcome}{known}", *figures


def _format_chance(chance: float) -> str:
    return f"{chance:.3g}" if chance else "next to 0"


def _describe_result(variant: Variant, result: AttackResult) -> str:
    """Return a sentence on the outcome of an attack on a variant."""
    low, high = result.interval
    fix = ", and this protocol has no fix" if result.no_fix_yet and result.outcome == "succeeds" else ""
    return (
        f"Against {variant.about}: succeeded in {result.successes} of {result.trials} trials, 95 % interval "
        f"{low:.3f} to {high:.3f}. Probability that a guess succeeds: {_format_chance(result.chance)}. Outcome of "
        f"the attack: {result.outcome}{fix}."
    )


def describe_power(reports: Iterable[AttackReport]) -> list[str]:
    """Return a sentence on what a failure is worth, from the worst figures of all that failed; nothing if none did."""
    failed = [m for report in reports for m in report.measured if m.outcome == "fails"]
    if not failed:
        return []
    quarter, half = (max(m.missed(real) for m in failed) for real in (FAILS_BELOW, SUCCEEDS_ABOVE))
    return [
        f"Each attack that failed was tried {min(m.trials for m in failed)} times or more. An attack with an advantage "
        f"of 1/4 would have counted as a failure with probability {quarter:.2g} at most, one with 1/2 with {half:.1g}."
    ]
