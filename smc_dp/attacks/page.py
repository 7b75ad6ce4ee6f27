"""What attacks came to as a page: each with its step as printed beside what stands in its place, and its measurement.

An attack that was not measured has no numbers, and a sentence that says so.
"""

from __future__ import annotations

from collections.abc import Sequence

from smc_dp.attacks.attack import AttackOutcome, AttackResult, MeasuredAttack, Variant
from smc_dp.attacks.report import RULE, AttackReport, figures, powers, surprises
from smc_dp.attacks.step_code import noted, place, source
from smc_dp.core.version import __version__
from smc_dp.pages.blocks import (
    Banner,
    Bullets,
    Drawing,
    FactList,
    Page,
    PageBlock,
    PageTable,
    Prose,
    Section,
    SideBySide,
    Verbatim,
)
from smc_dp.pages.svg import Fill, Svg

WIDTH, LEFT, RIGHT = 350.0, 8.0, 342.0
ROW, BAR, TOP = 64.0, 18.0, 14.0
FILLS: dict[AttackOutcome, Fill] = {"succeeds": "solid", "fails": "paper", "undecided": "hatched"}
READ = (
    "Each bar is as long as the share of trials in which the attack succeeded: dark where it succeeds, hatched where "
    "that is undecided. The line under it is the 95 % interval, the dashed mark what a guess would reach."
)


def bars(title: str, measured: Sequence[tuple[Variant, AttackResult]]) -> Drawing:
    """A bar for each form, after a sentence for each."""
    svg = Svg(WIDTH, TOP + ROW * len(measured))
    for i, (variant, result) in enumerate(measured):
        _bar(svg, TOP + ROW * i, variant, result)
    return Drawing(svg, title, (*(told(v, r) for v, r in measured), READ))


def told(variant: Variant, result: AttackResult) -> str:
    """What it came to, in a sentence."""
    low, high = result.interval
    fix = ", and no fix is known" if result.no_fix_yet and result.outcome == "succeeds" else ""
    return (
        f"Against {variant.about}: succeeded in {result.successes} of {result.trials} trials, 95 % interval "
        f"{low:.3f} to {high:.3f}, where a guess has {result.chance:.3g}: {result.outcome}{fix}."
    )


def _bar(svg: Svg, y: float, variant: Variant, result: AttackResult) -> None:
    low, high = result.interval
    svg.text(LEFT, y, f"{variant.target}, {variant.name}", size=12)
    svg.rect(LEFT, y + 6, RIGHT - LEFT, BAR, "paper")
    rate = result.successes / result.trials
    if rate:
        svg.rect(LEFT, y + 6, _at(rate) - LEFT, BAR, FILLS[result.outcome])
    svg.line(_at(low), y + 30, _at(high), y + 30)
    for end in (low, high):
        svg.line(_at(end), y + 27, _at(end), y + 33)
    if result.chance >= 1 / (RIGHT - LEFT):
        svg.line(_at(result.chance), y + 2, _at(result.chance), y + 34, "dashed")
    shown = f"{result.successes} of {result.trials}, {result.outcome}"
    inside = rate > 1 / 2
    svg.text(LEFT + 6 if inside else RIGHT - 6, y + 19, shown, "start" if inside else "end", size=12, light=inside)


def _at(rate: float) -> float:
    return LEFT + rate * (RIGHT - LEFT)


AS_PRINTED, RULES_BROKEN = "as printed", "attacked"
IN_ITS_PLACE, CONTROL = "what stands here in its place", "the control"
NO_FIX = (
    "Inside the paper's design there is no fix: the attack is known to succeed against {forms} as well. What mends it "
    "is another function."
)
HEADINGS = ("run against", "outcome", "succeeded", "95 % interval", "a guess")


def page(reports: Sequence[AttackReport]) -> Page:
    """All of them, those with an outcome that is not on record named first."""
    wrong = tuple(Banner(sentence, "failed") for sentence in surprises(reports))
    good = () if wrong else (Banner("Every outcome is the one on record.", "good"),)
    title = "Attacks on printed steps, and on what stands in their place"
    return Page(title, tuple(map(of_report, reports)), (*wrong, *good), _made(reports))


def of_report(report: AttackReport) -> Section:
    """An attack with its measurement."""
    by_name = {result.variant: result for result in report.measured}
    measured = [(v, by_name[v.name]) for v in report.attack.variants]
    keys = "" if report.key_bits is None else f"{report.key_bits} bits; the attack does not depend on their length"
    drawn = () if report.drawing is None else (report.drawing,)
    figured = (bars("How often it succeeded", measured), _table(measured), *drawn)
    return _section(report.attack, (("Keys", keys),) if keys else (), by_name, figured)


def unmeasured(attack: MeasuredAttack, why: str) -> Section:
    """An attack without numbers, and why there are none."""
    return _section(attack, (), {}, (Banner(why),))


def _section(
    attack: MeasuredAttack,
    more: tuple[tuple[str, str], ...],
    results: dict[str, AttackResult],
    figured: tuple[PageBlock, ...],
) -> Section:
    facts = FactList(
        (
            ("Attacker", f"{attack.attacker}; it has {attack.takes}, and nothing else"),
            ("Success", attack.success),
            ("It works", attack.when),
            *more,
        )
    )
    reading = (Prose(attack.reading),) if attack.reading else ()
    return Section(
        f"{attack.name}: {attack.breaks}",
        (
            Prose(attack.flaw),
            facts,
            Section(f"How {attack.name} goes", (Bullets(attack.steps, numbered=True),)),
            Section(f"What {attack.name} came to", (*figured, *reading)),
            *_code(attack, results),
            *_noted(attack),
        ),
        new_sheet=True,
    )


def _code(attack: MeasuredAttack, results: dict[str, AttackResult]) -> tuple[PageBlock, ...]:
    """The step on both sides; what succeeds in forms that are not shown is named."""
    if not attack.attacked or not attack.mended:
        return ()
    left, right = (AS_PRINTED, IN_ITS_PLACE) if attack.is_on_print else (RULES_BROKEN, CONTROL)
    left, right = (f"{attack.name}: {side}" for side in (left, right))  # no two landmarks of a page have one name
    beside = SideBySide(_side(left, attack.attacked, results), _side(right, attack.mended, results))
    others = [v.about for v in attack.variants if v.no_fix_yet] if attack.is_on_print else []
    fix = (Prose(NO_FIX.format(forms=" and ".join(others))),) if others else ()
    return (Section(f"{attack.name}: the step, and the code that runs", (*fix, beside)),)


def _side(heading: str, variants: Sequence[Variant], results: dict[str, AttackResult]) -> Section:
    return Section(heading, tuple(block for variant in variants for block in _form(variant, results.get(variant.name))))


def _form(variant: Variant, result: AttackResult | None) -> tuple[PageBlock, ...]:
    said = f"{variant.target}: {variant.about}." if result is None else told(variant, result)
    shown = [(Prose(place(function)), Verbatim(source(function), place(function))) for function in variant.code]
    return (Prose(said), *(block for pair in shown for block in pair))


def _noted(attack: MeasuredAttack) -> tuple[PageBlock, ...]:
    paragraphs = noted(attack)
    return (Section(f"{attack.name}: what is noted of the step", tuple(map(Prose, paragraphs))),) if paragraphs else ()


def _table(measured: Sequence[tuple[Variant, AttackResult]]) -> PageTable:
    rows = tuple((f"{variant.target}, {variant.name}", *figures(result)) for variant, result in measured)
    return PageTable("Successes in trials from fresh randomness", HEADINGS, rows, numbers=(2, 3, 4))


def _made(reports: Sequence[AttackReport]) -> tuple[str, ...]:
    return (
        RULE,
        *powers(reports),
        "All data, keys and secrets were made up for the purpose, and nothing here is anybody's.",
        "The code is the source of the functions that ran in these trials, as it stood in their files.",
        f"Made by smc-dp {__version__}.",
    )
