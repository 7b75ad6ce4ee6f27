"""What the entry for a public registry says beside what the other documents say: short sentences and choices."""

from __future__ import annotations

from smc_dp.dossier.facts import ApprovedStudy, RunFacts
from smc_dp.privacy.statement import PrivacyStatement, short_figure

VARIANTS = {"pure": "Pure DP", "approx": "Approximate DP", "zcdp": "Zero-concentrated DP"}
"""What the registry calls the kinds of a guarantee; one of kind none it has no place for."""
_NEIGHBOURS = {
    "replace": "Two data sets are adjacent if one record of one party is replaced by any other record; the number of "
    "records of each party is the same.",
    "addremove": "Two data sets are adjacent if one of them has one record more, at one party.",
    "party": "Two data sets are adjacent if all records of one party are replaced by any others.",
}


def entry_name(study: ApprovedStudy | None) -> str | None:
    """The name of the data product."""
    return study.title if study else None


def variant(guarantee: PrivacyStatement) -> str | None:
    """One of the registry's names."""
    return VARIANTS.get(guarantee.kind)


def unit_of_privacy(guarantee: PrivacyStatement) -> str:
    """What is protected, in a few words."""
    return "One record (row) of one party." if guarantee.unit == "record" else "All records of one party."


def adjacent(guarantee: PrivacyStatement) -> str:
    """What neighbours are."""
    return _NEIGHBOURS[guarantee.adjacency]


def curve(guarantee: PrivacyStatement) -> str | None:
    """Figures for which the registry has no field."""
    if guarantee.rho is None:
        return None
    gaussian = "" if guarantee.mu is None else f" By the curve of a Gaussian mu = {short_figure(guarantee.mu)}."
    return (
        f"rho = {short_figure(guarantee.rho)}: epsilon is the one that belongs to this delta, and every other delta "
        f"has its own.{gaussian}"
    )


def as_deployed(study: ApprovedStudy | None, curator: bool) -> str:
    """How much of a deployment it was."""
    if study is None:
        return (
            "Federated by its protocol. This run was a simulation of it in one process, which held all rows: it is no "
            "deployment, and whoever ran it was trusted with everything."
        )
    middle = "Charlie, who is not trusted with them, adds up" if curator else "all add up by themselves"
    return f"Rows stay with the parties; {middle}. All had approved of the study by signature beforehand."


def composed(sums: int, guarantee: PrivacyStatement) -> str:
    """How the figures of one release come about."""
    figure = "no epsilon" if guarantee.epsilon is None else f"epsilon = {guarantee.epsilon:.6g}"
    if sums == 1:
        return f"One sum with noise makes the release, and {figure} is for it."
    return (
        f"{sums} sums with noise make the release, each asked for in view of those before; {figure} is for all "
        "together."
    )


def epsilon(guarantee: PrivacyStatement) -> str | None:
    """The number."""
    return None if guarantee.epsilon is None else repr(guarantee.epsilon)


def delta(guarantee: PrivacyStatement) -> str | None:
    """The number, where there is one."""
    return repr(guarantee.delta) if guarantee.delta else None


def rho(guarantee: PrivacyStatement) -> str | None:
    """The number, where there is one."""
    return None if guarantee.rho is None else repr(guarantee.rho)


def has_entry(facts: RunFacts) -> bool:
    """Whether there is a guarantee that could be registered, of a run that nothing makes insecure."""
    return facts.guarantee.kind in VARIANTS and not facts.marks
