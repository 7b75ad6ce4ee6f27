"""Two of the documents: an annex for a data-protection impact assessment, and a sheet for an ethics committee.

Headings and blanks are the form; all that is said of the run are sentences, each tied to facts.
"""

from __future__ import annotations

from dataclasses import dataclass

from smc_dp.dossier import measures, processing, risks
from smc_dp.dossier.facts import RunFacts
from smc_dp.dossier.sentences import Blank, DossierPart, Unless, part


@dataclass(frozen=True)
class Paper:
    """A document for people."""

    title: str
    parts: tuple[DossierPart, ...]


def annex(facts: RunFacts) -> Paper:
    """What a run can know of what Art. 35(7) GDPR asks for, point by point."""
    title = "Annex to a data-protection impact assessment: facts of one release"
    return Paper(title, (*_description(facts), _necessity(facts), _risks(facts), *_measures(facts), _decision()))


def sheet(facts: RunFacts) -> Paper:
    """What an ethics committee is told, in plain words."""
    title = "For an ethics committee: a model learnt together"
    return Paper(title, (*_what_was_done(facts), *_what_could_go_wrong(facts), _to_sign()))


def _description(facts: RunFacts) -> tuple[DossierPart, ...]:
    described = part(
        facts,
        "1. The processing, described (Art. 35(7)(a))",
        *(processing.taking_part, processing.set_up, processing.records, processing.dropped_rows),
        *(processing.public_rows_besides, processing.learned, processing.without_whom, processing.published),
        *(measures.which_release, measures.which_session),
        Blank("Controller or joint controllers, and their arrangement (Art. 26)"),
        Blank("Whose data: which persons, how many, of which time"),
    )
    purposes = part(
        facts,
        "2. The purposes (Art. 35(7)(a))",
        Unless(processing.purpose, Blank("Purposes of the processing")),
        Blank("Legal basis (Art. 6, Art. 9); legitimate interest, where that is it"),
    )
    return described, purposes


def _necessity(facts: RunFacts) -> DossierPart:
    return part(
        facts,
        "3. Necessity and proportionality (Art. 35(7)(b))",
        *(processing.least_data, processing.leaving, processing.numbers_of_rows),
        Blank("Why these columns, and why no less data would do"),
        Blank("Where the ranges of the columns come from, which must not be the rows"),
        Blank("How long rows, records and the release are kept, and where"),
    )


def _risks(facts: RunFacts) -> DossierPart:
    return part(
        facts,
        "4. Risks to the persons (Art. 35(7)(c))",
        *(risks.insecure, risks.in_one_process, risks.at_worst, risks.against_whom, risks.not_covered),
        *(risks.assumed, risks.who_knows_the_noise, risks.coalitions, risks.withdrawal, risks.adding_up),
        Blank("How likely and how severe each of these is for the persons concerned"),
    )


def _measures(facts: RunFacts) -> tuple[DossierPart, ...]:
    taken = part(
        facts,
        "5. Measures (Art. 35(7)(d))",
        *(measures.guaranteed, measures.noise_added, measures.sealed, measures.held_against),
        *(measures.keeping_to_the_rules, measures.approved, measures.budget),
        Blank("Further measures of each site: access, logging, training, contracts"),
    )
    checked = part(
        facts,
        "6. What was checked, and what not",
        *(measures.audited, measures.assured, measures.not_assured, measures.open_checks, measures.authentic),
        measures.replayed,
    )
    return taken, checked


def _decision() -> DossierPart:
    return DossierPart(
        "7. Advice and decision",
        (
            Blank("Views of the persons concerned, or why they were not sought (Art. 35(9))"),
            Blank("Advice of the data-protection officer (Art. 35(2))"),
            Blank("Decision; prior consultation, where it is needed (Art. 36)"),
            Blank("Name, date, signature"),
        ),
    )


def _what_was_done(facts: RunFacts) -> tuple[DossierPart, ...]:
    whose = part(
        facts,
        "Whose data, and what for",
        *(processing.taking_part, processing.records, processing.public_rows_besides, processing.learned),
        processing.purpose,
    )
    leaves = part(facts, "What leaves a hospital", processing.set_up, processing.leaving, processing.published)
    return whose, leaves


def _what_could_go_wrong(facts: RunFacts) -> tuple[DossierPart, ...]:
    worst = part(facts, "What an attacker could learn at worst", risks.at_worst)
    trust = part(
        facts,
        "Who must be trusted",
        *(risks.against_whom, measures.keeping_to_the_rules),
    )
    rest = part(facts, "What is not protected", risks.not_covered, risks.rests_on_ciphers, risks.adding_up)
    withdrawal = part(facts, "If somebody withdraws", risks.withdrawal)
    checks = part(facts, "Who looked", measures.audited, measures.assured, measures.which_release)
    return worst, trust, rest, withdrawal, checks


def _to_sign() -> DossierPart:
    return DossierPart(
        "To fill in",
        (
            Blank("Title and purpose of the project; number of its vote"),
            Blank("Which persons; what they were told and agreed to"),
            Blank("Who answers; whom to write to, to withdraw"),
            Blank("Name, date, signature"),
        ),
    )
