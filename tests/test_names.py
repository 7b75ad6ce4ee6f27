"""The vocabulary: one name for one thing, no term that the glossary replaced, docstrings that name their object."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from itertools import chain
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import typer
import typer.main

from smc_dp.cli.main import app
from tests.codes import sources
from tests.layers import nodes, parsed

ROOT = Path(__file__).resolve().parents[1]
# The symbolic engine puts its own keys in place of the real ones, by their names; a wire message keeps its name.
SAME_ON_PURPOSE: set[str] = set()
PROTOCOL_ROOMS = {f"protocols/{name}" for name in ("comparison", "linear", "pathak2010", "secure_sum")}
# Names that more than one module defines, because the qualified name carries the meaning: `audit.audit`, `plan.plan`.
QUALIFIED = {
    *("curator", "party", "conversation", "PROGRAM", "MODEL", "hygiene_masks"),  # of each protocol, and of its stages
    *("ATTACK", "CHECKS", "blocks"),  # of each attack, of each group of checks, of the subject of a report
    *(
        "and_count",
        "canonical",
        "choose",
        "first",
        "generate",
        "most_dropouts",
        "multiply",
        "opened",
        "public_key",
        "smallest",
    ),
    *(
        "security_bits",
        "verify",
    ),  # of a scheme of cryptography: `garbling.and_count`, `paillier.generate`, `identity.verify`
    *("KEY_BYTES", "SEED_BYTES", "TAG_BYTES"),  # the same
    *("main", "shown"),
}
# Words of names that the glossary of protocols/README.md replaced, each with the term to write.
REPLACED = {
    "letter": "message or envelope",
    "letters": "messages or envelopes",
    "mail": "envelope or message",
    "mailbox": "inbox",
    "parcel": "frame",
    "parcels": "frames",
    "keeper": "curator",
    "vanish": "drop_out",
    "vanished": "dropped_out",
    "vanishing": "drop_out",
    "gone": "dropped_out",
    "coins": "randomness",
    "crowd": "party_limits",
    "law": "distribution",
    "laws": "distributions",
    "boundary": "limitations",
    "checkable": "public_verification",
    "mend": "fix",
    "mended": "fixed",
    "printed": "as_published",
    "twin": "mutant",
    "twins": "mutants",
    "toy": "dry_run or small_instance",
    "lecture": "walkthrough",
    "rung": "level",
    "rungs": "levels",
    "looks": "format_hints",
    "guises": "format_hints",
    "kit": "provisioning_kit",
    "outlook": "expected_accuracy",
    "band": "accuracy_interval",
    "prospect": "candidate",
    "asked": "query",
    "told": "answer",
    "workshop": "operation_costs",
    "book": "data_dictionary",
    "price": "cost or charge",
    "desk": "role_state",
    "quoted": "citations",
    "seating": "neighbour_graph",
    "circle": "sparse_graph",
    "watched": "observed",
    "dealt": "partition",
    "deviates": "malicious",
    "utils": "the subject of the file",
}
# Names that stay: kinds of messages on the wire, keys of published documents, options, or another sense of the word.
OTHER_SENSE = {
    *("PrintedInput", "PrintedShare", "PrintedCuratorShare", "PrintedSlot", "PrintedSelected", "PrintedMasked"),
    "Circle",
    *("coins", "Coins", "AgreedCoins", "Tape.coins", "Tape.coins_of"),  # of the symbolic engine, which computes proofs
    "Svg.circle",
}
# Keys and fields that stay: a key of saved states, names of earlier versions, and a protocol's name, which signatures
# bind.
KEPT_KEYS = {"mail", "pathak2010-as-printed-insecure"}
FORBIDDEN_FIRST = ("What", "Whether", "How", "Who", "All", "As", "The same", "Called")

Names = dict[str, list[str]]


class Said(NamedTuple):
    """Names and first lines of docstrings in a file.

    `defined`: public names that are bound at its top: classes, functions, constants and aliases of types. `members`:
    public methods, properties and fields of its public classes. `keys` of all mappings that it writes out; those of
    documents and of the fields of codes are among them. `summaries` of modules, classes and functions.
    """

    defined: tuple[str, ...]
    members: tuple[str, ...]
    keys: tuple[str, ...]
    summaries: tuple[str, ...]


@cache
def said_in(source: str) -> Said:
    """What a file says, read once for all tests."""
    tree = parsed(source)
    keys, summaries = list[str](), list[str]()
    for node in nodes(tree):
        if isinstance(node, ast.Dict):
            keys += [k.value for k in node.keys if isinstance(k, ast.Constant) and isinstance(k.value, str)]
        elif isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            summaries.append((ast.get_docstring(node) or "").split("\n")[0])
    return Said(tuple(_defined(tree)), tuple(_members(tree)), tuple(keys), tuple(summaries))


def _defined(tree: ast.Module) -> Iterator[str]:
    for node in tree.body:
        targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
        named = isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)
        names = [node.name] if named else [t.id for t in targets if isinstance(t, ast.Name)]
        yield from (n for n in names if not n.startswith("_"))


def _members(tree: ast.Module) -> Iterator[str]:
    for node in tree.body:
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
            for item in node.body:
                name = getattr(item, "name", getattr(getattr(item, "target", None), "id", "_"))
                if not name.startswith("_"):
                    yield f"{node.name}.{name}"


def are_of_protocols(places: list[str]) -> bool:
    """Whether each is of another protocol: each has its own conversation, and nobody reads two at once."""
    rooms = [str(Path(place).parent) for place in places]
    return len(set(rooms)) == len(rooms) and set(rooms) <= PROTOCOL_ROOMS


def twice(texts: Mapping[str, str]) -> Names:
    found: Names = defaultdict(list)
    for place, source in texts.items():
        for name in said_in(source).defined:
            found[name].append(place)
    return {name: places for name, places in found.items() if len(set(places)) > 1 and not are_of_protocols(places)}


def words(name: str) -> list[str]:
    return [word.lower() for word in re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z0-9]+", name)]


def replaced_terms(texts: Mapping[str, str]) -> list[str]:
    found = []
    for place, source in texts.items():
        names = [Path(place).stem, *said_in(source).defined, *said_in(source).members]
        found += [
            f"{place}: {n}" for n in names if set(words(n.split(".")[-1])) & set(REPLACED) and n not in OTHER_SENSE
        ]
    return found


def fields_of_codes(text: str) -> Iterator[str]:
    """Fields that the sentences of a `faults.toml` name."""
    yield from re.findall(r"\{(\w+)", text)


def typed_names(command: Any, name: str = "") -> Iterator[str]:
    """Names that a person types: commands, options and arguments, and what stands for their values."""
    yield name
    for parameter in command.params:
        yield from (str(parameter.name), *parameter.opts, *parameter.secondary_opts, str(parameter.metavar or ""))
    for own_name, own_command in getattr(command, "commands", {}).items():
        yield from typed_names(own_command, own_name)


def replaced_of(names: Iterable[str]) -> set[str]:
    return {name for name in names if set(words(name)) & set(REPLACED)}


def without_object(texts: Mapping[str, str]) -> list[str]:
    """Docstrings whose first words say that an object follows and not which."""
    first = re.compile(rf"({'|'.join(FORBIDDEN_FIRST)})\b")
    summaries = ((place, text) for place, source in texts.items() for text in said_in(source).summaries)
    return [f"{place}: {text}" for place, text in summaries if first.match(text)]


def test_no_public_name_stands_in_two_files() -> None:
    found = set(twice(sources()))
    assert found - QUALIFIED - SAME_ON_PURPOSE == set()
    assert found >= QUALIFIED | SAME_ON_PURPOSE
    assert len(found) < 60


def test_a_name_in_two_files_is_noticed() -> None:
    assert twice({"a": "class Report:\n    pass", "b": "Report = dict[str, int]", "c": "_Report = REPORT = 1"}) == {
        "Report": ["a", "b"]
    }
    assert set(
        twice({"a": "def plan(): ...\nMOST = 1\n_a = 1", "b": "async def plan(): ...\nMOST: int = 2\n_a = 2"})
    ) == {
        "plan",
        "MOST",
    }
    rooms = ("protocols/pathak2010/messages.py", "protocols/secure_sum/messages.py", "protocols/secure_sum/values.py")
    assert twice({place: "class Masked:\n    pass" for place in rooms[:2]}) == {}
    assert twice({place: "class Masked:\n    pass" for place in rooms}) == {"Masked": list(rooms)}
    assert twice({place: "class Masked:\n    pass" for place in (rooms[0], "protocols/runtime/a.py")}) != {}


def test_no_file_or_public_name_uses_a_replaced_term() -> None:
    assert replaced_terms(sources()) == []
    names = {Path(place).stem for place in sources()}
    for said in map(said_in, sources().values()):
        names.update(said.defined, said.members)
    assert names >= OTHER_SENSE


def test_a_replaced_term_is_noticed() -> None:
    source = "class EarlyMail:\n    letters: int\n    def is_gone(self): ...\n    _told = 1\nLAWS = _book = 1"
    assert replaced_terms({"smc_dp/x/kit.py": source}) == [
        f"smc_dp/x/kit.py: {name}" for name in ("kit", "EarlyMail", "LAWS", "EarlyMail.letters", "EarlyMail.is_gone")
    ]


def test_no_key_or_field_of_a_code_uses_a_replaced_term() -> None:
    texts = [
        path.read_text("utf-8")
        for package in ("protocols", "smc_dp")
        for path in ROOT.glob(f"{package}/**/faults.toml")
    ]
    found = replaced_of(chain(*(said_in(s).keys for s in sources().values()), *map(fields_of_codes, texts)))
    assert found == KEPT_KEYS


def test_no_option_or_command_uses_a_replaced_term() -> None:
    kit = {"provisioning_kit", "--provisioning-kit"}  # the glossary's own term
    assert replaced_of(typed_names(typer.main.get_command(app))) == kit


def test_a_replaced_key_field_or_option_is_noticed() -> None:
    def command(vanish: Annotated[str, typer.Option("--gone", metavar="BOOK")] = "") -> None: ...

    made = typer.Typer()
    made.command("twin")(command)
    made.command("other")(command)
    assert replaced_of(said_in("def f(x): return {'vanished': 1, 'sites': {'parcel-1': x}}").keys) == {
        "vanished",
        "parcel-1",
    }
    assert replaced_of(fields_of_codes('gone = "{told!r} of {n}"')) == {"told"}
    assert replaced_of(typed_names(typer.main.get_command(made))) == {"twin", "vanish", "--gone", "BOOK"}


def test_every_docstring_names_its_object() -> None:
    assert without_object(sources()) == []


def test_a_docstring_without_an_object_is_noticed() -> None:
    said = ("What it is.", "The same, once.", "Whether so.", "All of it.", "As they are.", "Allow it.", "Return it.")
    texts = {"a": "\n".join(f'def f{i}():\n    """{text}"""' for i, text in enumerate(said))}
    assert without_object(texts) == [f"a: {text}" for text in said[:5]]
