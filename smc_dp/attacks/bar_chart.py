"""Bar chart of the outcome of an attack: a bar for each variant, with its interval and the rate of a guess."""

from __future__ import annotations

from collections.abc import Sequence

from smc_dp.attacks.attack import AttackOutcome, AttackResult, Variant
from smc_dp.pages.blocks import Drawing
from smc_dp.pages.svg import Fill, Svg

_WIDTH, _LEFT, _RIGHT = 350.0, 8.0, 342.0
_ROW, _BAR, _TOP = 64.0, 18.0, 14.0
_FILLS: dict[AttackOutcome, Fill] = {"succeeds": "solid", "fails": "paper", "undecided": "hatched"}
_READING = (
    "Each bar is as long as the share of trials in which the attack succeeded: dark where it succeeds, hatched where "
    "that is undecided. The line under it is the 95 % interval, the dashed mark what a guess would reach."
)


def draw_bars(title: str, measured: Sequence[tuple[Variant, AttackResult]]) -> Drawing:
    """Return a bar for each variant, after a sentence for each."""
    svg = Svg(_WIDTH, _TOP + _ROW * len(measured))
    for i, (variant, result) in enumerate(measured):
        _bar(svg, _TOP + _ROW * i, variant, result)
    return Drawing(svg, title, (*(describe_result(v, r) for v, r in measured), _READING))


def describe_result(variant: Variant, result: AttackResult) -> str:
    """Return a sentence on the outcome of an attack on a variant."""
    low, high = result.interval
    fix = ", and no fix is known" if result.no_fix_yet and result.outcome == "succeeds" else ""
    return (
        f"Against {variant.about}: succeeded in {result.successes} of {result.trials} trials, 95 % interval "
        f"{low:.3f} to {high:.3f}. A guess succeeds with probability {result.chance:.3g}. Outcome of the attack: "
        f"{result.outcome}{fix}."
    )


def _bar(svg: Svg, y: float, variant: Variant, result: AttackResult) -> None:
    low, high = result.interval
    svg.text(_LEFT, y, f"{variant.target}, {variant.name}", size=12)
    svg.rect(_LEFT, y + 6, _RIGHT - _LEFT, _BAR, "paper")
    rate = result.successes / result.trials
    if rate:
        svg.rect(_LEFT, y + 6, _at(rate) - _LEFT, _BAR, _FILLS[result.outcome])
    svg.line(_at(low), y + 30, _at(high), y + 30)
    for end in (low, high):
        svg.line(_at(end), y + 27, _at(end), y + 33)
    if result.chance >= 1 / (_RIGHT - _LEFT):
        svg.line(_at(result.chance), y + 2, _at(result.chance), y + 34, "dashed")
    shown = f"{result.successes} of {result.trials}, {result.outcome}"
    inside = rate > 1 / 2
    svg.text(_LEFT + 6 if inside else _RIGHT - 6, y + 19, shown, "start" if inside else "end", size=12, light=inside)


def _at(rate: float) -> float:
    return _LEFT + rate * (_RIGHT - _LEFT)
