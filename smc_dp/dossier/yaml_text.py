"""The entry as YAML: every text quoted or a block by itself, so that nothing in it is taken for structure."""

from __future__ import annotations

import io
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.comments import CommentedMap
from ruamel.yaml.representer import RoundTripRepresenter
from ruamel.yaml.scalarstring import DoubleQuotedScalarString, LiteralScalarString

from smc_dp.dossier.entry import (
    COMMIT,
    REGISTRY,
    SCHEMA,
    DateField,
    EntryField,
    EntryTree,
    FormChoice,
    ListField,
    NumberField,
    OmittedField,
)
from smc_dp.dossier.literal import literal
from smc_dp.dossier.sentences import Blank, DossierPart, Item

TO_FILL = "TO BE FILLED"
_WIDTH = 1 << 20  # no line is folded
_HEAD = f"""A draft by {REGISTRY}, {SCHEMA} at commit {COMMIT}.
What is marked {TO_FILL} no run can know: a person fills it in, and takes the mark away.
Every other text follows from the run; whoever changes one answers for it."""


def _with_a_point(writer: RoundTripRepresenter, number: float) -> Any:
    """All digits of it. Without a point YAML 1.1, which the registry reads, takes 1e-05 for a text."""
    digits, exponent, power = repr(number).partition("e")
    text = f"{digits if '.' in digits else f'{digits}.0'}{exponent}{power}"
    return writer.represent_scalar("tag:yaml.org,2002:float", text)


def _representer() -> Any:
    """The library's, with numbers as above: a class of its own, for what is added to one is added for everybody."""
    made: Any = type("WithPoints", (RoundTripRepresenter,), {})
    made.add_representer(float, _with_a_point)
    return made


def yaml_text(tree: EntryTree) -> bytes:
    """The text of an entry."""
    writer = YAML()
    writer.Representer = _representer()
    writer.width = _WIDTH
    writer.indent(mapping=2, sequence=4, offset=2)
    document = _mapping(tree)
    document.yaml_set_start_comment(_HEAD)
    found = io.BytesIO()
    writer.dump(document, found)
    return found.getvalue()


def _mapping(tree: EntryTree) -> Any:
    made, omitted = CommentedMap(), []
    for name, value in tree.items():
        if isinstance(value, OmittedField):
            omitted.append(f"{name}: {_blank(value.blank)}")
            continue
        made[name] = _mapping(value) if isinstance(value, dict) else _value(value)
        if isinstance(value, DateField):
            made.yaml_add_eol_comment(_blank(value.blank), name)
    if omitted:
        made.yaml_set_comment_before_after_key(next(iter(made)), before="\n".join(omitted), indent=4)
    return made


def _value(field: EntryField) -> Any:
    if isinstance(field, FormChoice):
        return field.value
    if isinstance(field, ListField):
        return [_value(field.of)]
    if isinstance(field, NumberField):
        return float(field.of.sentences[0].text)
    if isinstance(field, DossierPart):
        return _text(field)
    return _quoted(field.until_then if isinstance(field, DateField) else "")


def _text(field: DossierPart) -> Any:
    texts = [_item(item) for item in field.items]
    if len(texts) <= 1:
        return _quoted("".join(texts))
    return LiteralScalarString("".join(f"- {text}\n" for text in texts))


def _quoted(text: str) -> Any:
    return DoubleQuotedScalarString(text)


def _item(item: Item) -> str:
    return _blank(item) if isinstance(item, Blank) else literal(item.text)


def _blank(blank: Blank) -> str:
    return f"{TO_FILL}: {blank.asks}"
