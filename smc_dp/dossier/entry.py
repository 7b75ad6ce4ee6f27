"""A draft of an entry for the public registry of differential-privacy deployments, by its published schema.

What is no fact of the run is marked TO BE FILLED; a few choices are the same for whatever this program releases.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, TypeAlias

from smc_dp.dossier import measures, processing, registration, risks
from smc_dp.dossier.facts import RunFacts
from smc_dp.dossier.sentences import Blank, DossierPart, Unless, Wanted, part

REGISTRY = "opendp/deployments-registry-data"
SCHEMA = "schemas/deployments-schema.yaml"
COMMIT = "3e9c812a924cf01d228f26f6c462c59c391c3f2a"
"""The version of the registry's schema that an entry keeps to."""


@dataclass(frozen=True)
class FormChoice:
    """A choice of the registry's form that is the same for every release of this program."""

    value: str | int


@dataclass(frozen=True)
class ListField:
    """A field that holds a list of texts."""

    of: EntryField


@dataclass(frozen=True)
class NumberField:
    """A field that holds a number, which the words say."""

    of: DossierPart


@dataclass(frozen=True)
class DateField:
    """A field for a date that a person fills in: until then a day on which nothing was published."""

    blank: Blank
    until_then: str = "1900-01-01"


@dataclass(frozen=True)
class OmittedField:
    """A field that the schema does not need, and that only a person can fill in, from a list."""

    blank: Blank


EntryField: TypeAlias = FormChoice | DossierPart | ListField | NumberField | DateField | OmittedField
EntryTree: TypeAlias = dict[str, Any]
"""By name an `EntryField`, or a tree of its own: a type that names itself is none that API pages can show."""


def entry(facts: RunFacts) -> EntryTree:
    """All fields of the entry, in the registry's order."""
    return {
        "url_slug": _field(facts, "url_slug", Blank("a short name of the entry, for its address")),
        "status": FormChoice("Draft"),
        "tier": FormChoice(3),
        "deployment": {
            "basic": _basic(facts),
            "dp_variant": _variant(facts),
            "privacy_loss": _loss(facts),
            "deployment_model": _model(facts),
            "accounting": _accounting(facts),
            "implementation": _implementation(facts),
            "administrative": _administrative(facts),
        },
    }


def leaves(tree: EntryTree, path: str = "") -> Iterator[tuple[str, EntryField]]:
    """Every field with its path."""
    for name, value in tree.items():
        where = f"{path}/{name}"
        if isinstance(value, dict):
            yield from leaves(value, where)
        else:
            yield where, value


def said_in(field: EntryField) -> DossierPart | None:
    """The sentences and blanks of a field, where it has some."""
    if isinstance(field, ListField):
        return said_in(field.of)
    if isinstance(field, NumberField):
        return field.of
    if isinstance(field, DateField | OmittedField):
        return DossierPart("", (field.blank,))
    return field if isinstance(field, DossierPart) else None


def _field(facts: RunFacts, name: str, *wanted: Wanted) -> DossierPart:
    return part(facts, name, *wanted)


def _basic(facts: RunFacts) -> EntryTree:
    publisher = Blank("the organisations that publish the release, one a line")
    region = Blank("which region the rows describe, and whose law applies")
    return {
        "name": _field(facts, "name", Unless(registration.entry_name, Blank("name of the data product"))),
        "data_curators": ListField(_field(facts, "data_curators", publisher)),
        "intended_use": _field(facts, "intended_use", Unless(processing.purpose, Blank("what the model is for"))),
        "data_product_type": FormChoice("Machine learning model"),
        "data_product_region": _field(facts, "data_product_region", region),
        "description": _field(facts, "description", processing.taking_part, processing.learned, processing.published),
        "publication_date": DateField(Blank("the day of publication")),
        "data_product_sector": OmittedField(
            Blank("one of Technology, Healthcare, Education, Government, Energy, Finance")
        ),
    }


def _variant(facts: RunFacts) -> EntryTree:
    open_quantities = (processing.numbers_of_rows, processing.public_rows_besides, risks.not_covered)
    return {
        "variant_name": _field(facts, "variant_name", registration.variant),
        "data_domain": _field(facts, "data_domain", processing.records, processing.dropped_rows),
        "unprotected_quantities": _field(facts, "unprotected_quantities", *open_quantities),
    }


def _loss(facts: RunFacts) -> EntryTree:
    figures = ("epsilon", registration.epsilon), ("delta", registration.delta), ("rho", registration.rho)
    numbers = {name: NumberField(_field(facts, name, words)) for name, words in figures}
    return {
        "privacy_unit": _field(facts, "privacy_unit", registration.unit_of_privacy),
        "privacy_unit_details": _field(facts, "privacy_unit_details", registration.adjacent),
        "privacy_parameters": {name: number for name, number in numbers.items() if number.of.items},
        "privacy_parameters_details": _field(facts, "details", risks.at_worst, registration.curve),
    }


def _model(facts: RunFacts) -> EntryTree:
    actors = (processing.taking_part, risks.against_whom, risks.assumed, risks.who_knows_the_noise, risks.coalitions)
    future = Blank("whether the same rows are used again, and how the loss is kept then")
    return {
        "model_name": FormChoice("Federated"),
        "model_name_details": _field(facts, "model_name_details", registration.as_deployed),
        "actors": _field(facts, "actors", *actors),
        "release_type": FormChoice("One release"),
        "release_type_details": _field(facts, "release_type_details", future, risks.adding_up),
        "data_source_type": FormChoice("Static"),
        "access_type": FormChoice("Non-interactive"),
    }


def _accounting(facts: RunFacts) -> EntryTree:
    return {
        "post_processing": _field(facts, "post_processing", Blank("what was done with the model after its release")),
        "composition": _field(facts, "composition", registration.composed, measures.budget),
    }


def _implementation(facts: RunFacts) -> EntryTree:
    tuned = Blank("how columns, ranges, method and figures were chosen, and whether rows had a say in it")
    how = (measures.guaranteed, measures.noise_added, measures.sealed, processing.leaving)
    return {
        "preprocessing_and_hyperparameter_tuning": _field(facts, "tuning", processing.dropped_rows, tuned),
        "mechanisms": _field(facts, "mechanisms", *how),
        "justification": _field(facts, "justification", Blank("why these choices")),
    }


def _administrative(facts: RunFacts) -> EntryTree:
    found = (measures.audited, measures.assured, measures.not_assured)
    notes = (risks.insecure, *found, measures.which_release, measures.which_session)
    return {
        "sources": _field(facts, "sources", Blank("where release and record are published, papers, reports")),
        "notes": _field(facts, "notes", *notes),
        "registry_authors": ListField(_field(facts, "registry_authors", Blank("who filled in this entry"))),
    }
