"""Nothing private enters a page to be shared: every number that only a party or a role knew is looked for."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from support.audited import Folders, hospitals, toy_run
from support.page_makers import OF_A_RUN
from support.told import forms, parts, short_forms

SIZES = (1013, 2137, 1559)  # each tells itself from a count
DIMENSION, SEED, LOOKED_AT = 3, 1, 200


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Folders:
    """One run with its views."""
    return toy_run(tmp_path_factory.mktemp("private"), SIZES, DIMENSION, seed=SEED, key_bits=256)


@pytest.fixture(scope="module")
def secret(made: Folders) -> dict[str, str]:
    """What gives a secret away, and what it is: rows, sizes, and all that roles were given, drew, opened and held."""
    data = hospitals(SIZES, DIMENSION, SEED)
    found = {f"{n}": "a size" for n in SIZES} | {f"{n:,}": "a size" for n in SIZES}
    evidence = made.evidence()
    private: dict[str, object] = {"a cell": [rows.X[:LOOKED_AT] for rows in data.federation.parties]}
    for name, view in evidence.views.items():
        held = evidence.recomputed[name]
        private |= {
            f"an input of {name}": [one for one in view.inputs if one is not evidence.session.parameters],
            f"coins of {name}": view.seed,
            f"mail of {name}": view.messages,
            f"what {name} held": [held.view.results, held.keys, held.decrypted],
        }
    for what, value in private.items():
        for part in parts(value, set()):
            found |= dict.fromkeys([*forms(part), *short_forms(part)], what)
    public = "".join((made.run / name).read_text() for name in ("release.json", "shares.json", "transcript.jsonl"))
    return {form: what for form, what in found.items() if what == "a size" or form not in public}


def betrayed(text: str, secret: dict[str, str]) -> dict[str, str]:
    """The secrets in the text. A size counts where it stands as a number of its own."""
    sizes = [form for form, what in secret.items() if what == "a size"]
    shown = {n for n in sizes if re.search(rf"(?<![0-9a-fA-F.,]){n}(?![0-9a-fA-F])", text)}
    return {form: what for form, what in secret.items() if form in shown or (what != "a size" and form in text)}


def test_no_page_of_a_run_holds_what_is_private(made: Folders, secret: dict[str, str], tmp_path: Path):
    for name, make in OF_A_RUN.items():
        (tmp_path / name).mkdir()
        assert betrayed(make(made, tmp_path / name).read_text(), secret) == {}, name


def test_a_page_that_holds_one_value_is_caught_in_whichever_notation(secret: dict[str, str]):
    kinds = {what: [form for form, found in secret.items() if found == what] for what in set(secret.values())}
    assert {"a size", "a cell", "coins of charlie", "an input of north-0", "what north-2 held"} <= set(kinds)
    for what, notations in kinds.items():
        for form in notations[:8]:
            assert what in betrayed(f"<p>{form}</p>", secret).values()
    assert betrayed("<p>1,024 bytes, 10130 and a1013b of north-0</p>", secret) == {}
