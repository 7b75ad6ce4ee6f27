"""Sentences for the methods section of a paper that prints the figures of a release."""

from __future__ import annotations

from collections.abc import Iterator

from smc_dp.core.version import __version__
from smc_dp.pages.blocks import PageBlock, Prose
from smc_dp.run.coefficient_intervals_table import kind_of_regression, what_intervals_cover
from smc_dp.run.description_table import COVERS_ROWS
from smc_dp.run.release import PublishedRelease


def methods_section(release: PublishedRelease, *, at_sites: bool) -> Iterator[PageBlock]:
    """Yield what was computed and how, the guarantee and against whom it holds, and what the intervals cover.

    Nothing for a model without intervals, and for a release without a guarantee. `at_sites`: the release is that of a
    study; any other one is that of a simulation.
    """
    agreement, bounds = release.agreement, release.bounds
    if agreement.statement.kind == "none" or release.insecure:
        return
    if (described := release.description) is not None:
        figures: str = agreement.method.figures
        if any(column.quantiles for column in described.columns):
            figures += ", and medians and quartiles from the counts of bins"
        what, covers = f"{figures[:1].upper()}{figures[1:]}{', are' if ',' in figures else ' are'}", COVERS_ROWS
    elif release.inference is not None:
        figures = "Odds ratios" if bounds.outcome is None else "Coefficients"
        what = f"{figures} are those of a {kind_of_regression(bounds)},"
        kept = "Rows that lie far from the average of all rows, which was estimated with noise, are left out."
        covers = (
            f"{kept} {'No interval is stated.' if release.inference['obstacles'] else what_intervals_cover(bounds)}"
        )
    else:
        return
    parties = len(agreement.parties)
    limits = agreement.terms.summary(agreement.spec, parties)
    *needs, last = limits.needs.rstrip(".").split("; ")
    assumed = f"{', '.join(needs)}, and {last}"
    cryptography = limits.rests_on.replace("; computational", ", with computational")
    rehearsed = "" if at_sites else " One process played all parties, and had the rows of all."
    yield Prose(
        f"{what} computed from the rows of {parties} parties by a secure-sum protocol (smc-dp {__version__}), in which "
        f"each party adds noise to its sums.{rehearsed} The release is differentially private, with "
        f"{agreement.statement.figures} The guarantee holds against {limits.holds_against} It assumes {assumed}. "
        f"It rests on {cryptography} {covers}"
    )
    yield Prose(
        "State every release of the same rows. Their guarantees add up, and a ledger of each party computes the total."
    )
