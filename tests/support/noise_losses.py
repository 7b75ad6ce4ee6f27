"""What releases lost in many settings, and how often a band had it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass
from fractions import Fraction
from functools import cached_property, partial
from math import sqrt
from multiprocessing import get_context
from pathlib import Path
from statistics import median

from threadpoolctl import threadpool_limits

from smc_dp.methods.expected_accuracy import AccuracyInterval, accuracy_interval
from smc_dp.methods.signal import PublicNumbers, method_signal
from smc_dp.methods.sums.threat_model import ThreatModel
from smc_dp.privacy.target import Target
from support.drawn_settings import SEEN, drawn
from support.noise_trials import tried


@dataclass(frozen=True)
class NoiseLoss:
    """The public numbers of a setting, where its rows came from, and what its release lost."""

    number: int
    method: str
    source: str
    sizes: tuple[int, ...]
    dimension: int
    classes: int
    epsilon: float
    delta: float
    colluders: int
    dropouts: int
    lam: float
    lost: float

    @property
    def target(self) -> Target:
        """What was wanted."""
        return Target(Fraction(repr(self.epsilon)), delta=Fraction(repr(self.delta)))

    @cached_property
    def signal(self) -> float:
        """As a plan says it."""
        return method_signal(self.method, self.public)

    @cached_property
    def band(self) -> AccuracyInterval:
        """As a plan says it."""
        return accuracy_interval(self.method, self.public)

    @property
    def public(self) -> PublicNumbers:
        """What a plan goes by."""
        among = ThreatModel(len(self.sizes), self.colluders, self.dropouts)
        return PublicNumbers(self.sizes, self.dimension, self.classes, self.target, among, self.lam)

    @property
    def honest(self) -> float:
        """H/K."""
        return 1 - (self.colluders + self.dropouts) / len(self.sizes)

    @cached_property
    def clear(self) -> bool:
        """Whether n mu/sqrt(d(k-1)) is above 100 in a method that goes by it."""
        return self.method in ("newton", "gd") and self.signal / sqrt(self.honest) > 100


def measured(kind: str, number: int) -> NoiseLoss:
    """One setting, tried."""
    s, federation, test = drawn(kind, number)
    lost = tried(s, federation, test).lost
    return NoiseLoss(
        number, s.method, s.source, s.sizes, federation.dimension, federation.classes, s.epsilon, s.delta,
        s.colluders, s.dropouts, s.lam, lost,
    )  # fmt: skip


def all_measured(kind: str, numbers: Sequence[int], workers: int = 2) -> Iterator[NoiseLoss]:
    """These settings, on so many processors."""
    with ProcessPoolExecutor(workers, mp_context=get_context("spawn"), initializer=_on_one_thread) as pool:
        yield from pool.map(partial(measured, kind), numbers)


def _on_one_thread() -> None:
    threadpool_limits(1)


def kept(kind: str, count: int, path: Path) -> list[NoiseLoss]:
    """The first so many settings of a kind, of which those that stand in the file are not tried again."""
    lines = path.read_text(encoding="utf-8").splitlines() if path.is_file() else []
    found = [_read(line) for line in lines]
    done = {loss.number for loss in found}
    with path.open("a", encoding="utf-8") as file:
        for loss in all_measured(kind, [i for i in range(count) if i not in done]):
            file.write(json.dumps(asdict(loss)) + "\n")
            file.flush()  # whoever is stopped goes on from here
            found.append(loss)
    return sorted((loss for loss in found if loss.number < count), key=lambda loss: loss.number)


def _read(line: str) -> NoiseLoss:
    fields = json.loads(line)
    return NoiseLoss(**{**fields, "sizes": tuple(fields["sizes"])})


def coverage(
    losses: Sequence[NoiseLoss], of: Callable[[NoiseLoss], AccuracyInterval] = lambda loss: loss.band
) -> float:
    """The part of the losses that lies in its band."""
    return sum(loss.lost in of(loss) for loss in losses) / len(losses)


def tables(losses: Sequence[NoiseLoss]) -> Iterator[str]:
    """Rows of Markdown: coverage and width by method, by source, and by signal."""
    yield from _table("all", losses, lambda loss: "all settings")
    yield from _table("half", losses, lambda loss: "seen sources" if loss.source in SEEN else "unseen sources")
    yield from _table("classes", losses, lambda loss: "two" if loss.classes == 2 else "three to ten")
    yield from _table("signal", losses, _range)
    yield from _table("above 100", [loss for loss in losses if loss.clear], lambda loss: _classes(loss))
    yield from _table("method", losses, lambda loss: loss.method)
    yield from _table("source", losses, lambda loss: loss.source)


def _classes(loss: NoiseLoss) -> str:
    return "two classes" if loss.classes == 2 else "more classes"


def _range(loss: NoiseLoss) -> str:
    ends = ((3, "1: below 3"), (30, "2: 3 to 30"), (100, "3: 30 to 100"))
    return next((name for end, name in ends if loss.signal < end), "4: above 100")


def _table(title: str, losses: Sequence[NoiseLoss], key: Callable[[NoiseLoss], str]) -> Iterator[str]:
    yield f"| {title} | settings | in the band | width, median | widest | lost, median |"
    yield "|---|---|---|---|---|---|"
    for name in sorted({key(loss) for loss in losses}):
        some = [loss for loss in losses if key(loss) == name]
        widths = [loss.band.width for loss in some]
        yield (
            f"| {name} | {len(some)} | {coverage(some):.3f} | {median(widths):.3f} | {max(widths):.3f} "
            f"| {median(loss.lost for loss in some):.3f} |"
        )
    yield ""
