"""The entry for the registry: valid by its published schema, and no text of a stranger is read as markup."""

from __future__ import annotations

import html
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml
from jsonschema import Draft7Validator
from support.dossiers import HONEST, HOSTILE, literal_of, with_hostile_names

from smc_dp.dossier.dossier import ENTRY, Dossier, dossier_of
from smc_dp.dossier.entry import COMMIT, EntryTree, FormChoice, leaves
from smc_dp.dossier.literal import literal
from smc_dp.dossier.registration import VARIANTS
from smc_dp.dossier.yaml_text import TO_FILL, yaml_text

HERE = Path(__file__).parent / "registry"
SCHEMA = yaml.safe_load((HERE / "deployments-schema.yaml").read_text(encoding="utf-8"))
KINDS = ("newton", "by sites", "linear", "of a party", "sizes released", "three classes")


@pytest.fixture(scope="module")
def dossiers(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Dossier]:
    folder = tmp_path_factory.mktemp("entry")
    return {name: HONEST[name](folder / name.replace(" ", "-")).dossier for name in KINDS}


def faults(content: bytes) -> list[str]:
    """What the registry's own checks refuse, those that ask for addresses apart: there are none to ask for."""
    text = content.decode()
    validator = Draft7Validator(SCHEMA, format_checker=Draft7Validator.FORMAT_CHECKER)
    found = [error.message for error in validator.iter_errors(yaml.safe_load(text))]
    styles = {token.style for token in yaml.scan(text) if hasattr(token, "style")}
    found += [f"style {style}" for style in styles - {None, "|", '"', "'"}]
    for path, value in values(yaml.safe_load(text)):
        found += [f"{path}: escape" for _ in re.findall(r"\\\\[^()]", value)]
        found += [f"{path}: address" for _ in re.findall(r'https?://[^ \t\n,;)"]+', value)]
    return found


def values(node: Any, path: str = "") -> list[tuple[str, str]]:
    if isinstance(node, dict | list):
        items = node.items() if isinstance(node, dict) else enumerate(node)
        return [found for name, each in items for found in values(each, f"{path}/{name}")]
    return [(path, node)] if isinstance(node, str) else []


def test_entries_are_valid_and_say_what_the_run_says(dossiers: dict[str, Dossier]) -> None:
    for dossier in dossiers.values():
        content = dossier.files[ENTRY]
        assert faults(content) == []
        found, guarantee = yaml.safe_load(content), dossier.facts.guarantee
        loss = found["deployment"]["privacy_loss"]["privacy_parameters"]
        figures = (guarantee.epsilon, guarantee.delta, guarantee.rho)
        assert (loss["epsilon"], loss.get("delta", 0.0), loss.get("rho")) == figures
        assert found["deployment"]["dp_variant"]["variant_name"] == VARIANTS[guarantee.kind]
        assert (found["status"], found["deployment"]["deployment_model"]["model_name"]) == ("Draft", "Federated")
        assert COMMIT in content.decode()


def test_a_broken_entry_is_refused(dossiers: dict[str, Dossier]) -> None:
    """Twins of the entry and of its text that the registry's checks refuse."""
    content = dossiers["newton"].files[ENTRY]
    for before, after in (
        (b"Federated", b"Federation"),
        (b"1900-01-01", b"some day"),
        (b"status: Draft\n", b""),
        (b"epsilon: 1.0", b"epsilon: one"),
        (b"tier: 3", b"tier: 3\nsurprise: 1"),
        (b": |\n", b": >\n"),
        (b"TO BE FILLED: why", b"http://example.com"),
    ):
        assert faults(content.replace(before, after)) != []


def test_what_is_no_fact_is_marked_to_be_filled(dossiers: dict[str, Dossier]) -> None:
    dossier = dossiers["newton"]
    text = dossier.files[ENTRY].decode()
    asked = [blank.asks for file, blank in dossier.blanks if file == ENTRY]
    assert len(asked) > 10
    assert all(f"{TO_FILL}: {ask}" in text for ask in asked)
    assert text.count(f"{TO_FILL}:") == len(asked)
    choices = {path: field.value for path, field in leaves(dossier.entry or {}) if isinstance(field, FormChoice)}
    assert len(choices) == 7


def test_texts_of_strangers_stay_text_in_yaml(dossiers: dict[str, Dossier]) -> None:
    facts = with_hostile_names(dossiers["newton"].facts)
    content = dossier_of(facts).files[ENTRY]
    assert faults(content) == []
    found = yaml.safe_load(content)
    assert found.keys() == yaml.safe_load(dossiers["newton"].files[ENTRY]).keys()
    said = html.unescape(found["deployment"]["dp_variant"]["data_domain"])
    for name in HOSTILE:
        assert " ".join(literal_of(name).split()) in " ".join(said.split())
    assert html.unescape(found["deployment"]["basic"]["name"]) == HOSTILE[4]


@pytest.mark.parametrize("name", HOSTILE)
def test_a_literal_shows_as_itself_and_holds_no_markup(name: str) -> None:
    assert html.unescape(literal(name)) == literal_of(name)
    assert not re.search(r"[\\`*\[\]<>$|~{}]|https?://|(?i:www\.)|&(?!#\d+;)", literal(name))


def test_without_quoting_a_stranger_would_write_the_entry() -> None:
    """The broken twin: the same words put between the lines as they are."""
    with pytest.raises(yaml.YAMLError):
        yaml.safe_load(f"name: {HOSTILE[2]}\nother: {HOSTILE[3]}")


def test_small_figures_are_numbers_to_the_registry(dossiers: dict[str, Dossier]) -> None:
    """YAML 1.1 takes 1e-05 for a text."""
    facts = dossiers["newton"].facts
    small = replace(facts, guarantee=replace(facts.guarantee, epsilon=1e-5, mu=None))
    tree: EntryTree = dossier_of(small).entry or {}
    loss = yaml.safe_load(yaml_text(tree))["deployment"]["privacy_loss"]["privacy_parameters"]
    assert (loss["epsilon"], loss["delta"]) == (1e-5, 1e-5)
    assert yaml.safe_load("epsilon: 1e-05") == {"epsilon": "1e-05"}


def test_a_run_that_is_marked_insecure_has_no_entry(dossiers: dict[str, Dossier]) -> None:
    """Toy keys leave the figures of the release as they are, and protect nobody's letters."""
    facts = dossiers["newton"].facts
    assert ENTRY in dossier_of(facts).files  # the twin
    marked = dossier_of(replace(facts, marks=("the keys are test keys, too short to protect anything",)))
    assert ENTRY not in marked.files
    assert marked.entry is None
