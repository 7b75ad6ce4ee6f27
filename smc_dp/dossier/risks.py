"""What could be learnt, by whom, and what nobody promises: sentences about risks, the worst first."""

from __future__ import annotations

from smc_dp.dossier.facts import ApprovedStudy, NoiseBy
from smc_dp.privacy.statement import PrivacyStatement

_ASSUMED, _INSECURE = "It assumes ", "INSECURE: "


def insecure(marks: tuple[str, ...]) -> tuple[str, ...]:
    """Why the run protects nobody."""
    return tuple(f"{_INSECURE}{reason}." for reason in marks)


def at_worst(guarantee: PrivacyStatement) -> str:
    """The guarantee in plain words; against whom, and what it does not cover, are sentences of their own."""
    return guarantee.promise.removesuffix(f" This holds against {guarantee.adversary}.")


def against_whom(guarantee: PrivacyStatement) -> str | None:
    """Whom the guarantee is about, and that it is about nobody else."""
    if guarantee.kind == "none":
        return None
    return f"The guarantee holds against {guarantee.adversary}. Against anybody else nothing is guaranteed."


def not_covered(guarantee: PrivacyStatement) -> tuple[str, ...]:
    """What the guarantee does not cover, or should be known, but for what is assumed and what makes it void."""
    return tuple(caveat for caveat in guarantee.caveats if not caveat.startswith((_ASSUMED, _INSECURE)))


def assumed(guarantee: PrivacyStatement) -> tuple[str, ...]:
    """What it rests on."""
    return tuple(caveat for caveat in guarantee.caveats if caveat.startswith(_ASSUMED))


def rests_on_ciphers(guarantee: PrivacyStatement) -> str | None:
    """The same for whoever does not judge ciphers."""
    if not assumed(guarantee):
        return None
    return "It rests on ciphers and generators that are held to be strong; the impact assessment names them."


def coalitions(unclaimed: tuple[str, ...]) -> tuple[str, ...]:
    """What those who work together learn or spoil beyond the release, in the protocol's own words."""
    return unclaimed


def in_one_process(study: ApprovedStudy | None) -> str | None:
    """That a simulation protects nobody from whoever ran it."""
    if study is not None:
        return None
    return (
        "What is said of participants who cannot read each other's rows describes the protocol, and not this run: in a "
        "simulation the one who runs it holds all rows, keys and coins."
    )


def who_knows_the_noise(noise_by: NoiseBy) -> str:
    """Who can take some of the noise off."""
    if noise_by == "the smallest party":
        return "The noise in the release is that of the party with the fewest rows, who knows it and can subtract it."
    if noise_by == "shares of all":
        return "Each party drew a share of the noise: nobody knows all of it, and each can subtract its own."
    return "Each party put noise on its own model before it left: each can subtract its own."


def withdrawal(guarantee: PrivacyStatement, weights: int) -> str:
    """What cannot be taken back."""
    whose = "A record" if guarantee.unit == "record" else "What a party entered"
    return (
        f"{whose} cannot be taken out of a release: the {weights:,} published numbers stay as they are, and whoever "
        "has a copy keeps it. To withdraw keeps it out of later runs only."
    )


def adding_up(guarantee: PrivacyStatement) -> str | None:
    """That releases add up."""
    if guarantee.epsilon is None:
        return None
    return (
        f"Every further release of the same rows adds to what can be learnt; this one counts as epsilon "
        f"{guarantee.epsilon:.6g} for {_change(guarantee)}."
    )


def _change(guarantee: PrivacyStatement) -> str:
    return {
        "replace": "one record that is replaced by another",
        "addremove": "one record more or less",
        "party": "all records of one party",
    }[guarantee.adjacency]
