"""The published schemas against what the program writes and reads, with another validator as the judge.

Every schema takes what was really written, and refuses it with anything taken away, added or of another kind; and what
a schema refuses, the reader refuses.
"""

from __future__ import annotations

import copy
import datetime
import json
import tomllib
from collections.abc import Iterator
from itertools import compress
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from jsonschema import Draft202012Validator
from support import studies
from support.audited import toy_run
from support.audits import audit
from support.clear import shared

from protocols.arithmetic.rng import Stream
from protocols.runtime.transcript import Transcript
from smc_dp.cli.main import main
from smc_dp.cli.schemas import SCHEMAS, json_schema
from smc_dp.core.documents import validate_document
from smc_dp.core.errors import InputError
from smc_dp.data.bounds import parse_bounds
from smc_dp.data.federation import Federation, Rows
from smc_dp.methods.pathak2010.mean import PathakMean
from smc_dp.privacy.target import Target
from smc_dp.run import folder as run_folder
from smc_dp.run.agreement import DEFAULT_SIMULATION, Agreement
from smc_dp.run.protocols.cost import Execution, Outcome
from smc_dp.run.release import RELEASE, SHARES
from smc_dp.run.run_protocol import run_protocol
from tests.smc_dp.run.test_own_columns import COLUMNS

Place = tuple[str | int, ...]
BOUNDS = (
    COLUMNS.replace('age = "leave out"', "age = 50")
    .replace('outcome = "leave out"\n', "")
    .replace("clip = 3\n", "clip = 3\ncenter = false\n")
    .replace("yes = [1]", "yes = [1, true]")
)
PLAIN_BOUNDS = "[columns]\na = [0, 1]\n[label]\nclasses = [0, 1, 2]\n"
OTHERS: tuple[Any, ...] = (None, True, 7, -0.5, "x", [], ["x"], {}, {"x": 1})
"""Values of every kind: whatever stands somewhere, one of them is of another kind."""
NAMES = ("study", "approval", "policy", "bounds", "file", "release", "shares", "audit")


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[Any]]:
    """Documents of every kind, as the program wrote them, or as a person writes them."""
    at = tmp_path_factory.mktemp("written")
    run = toy_run(at / "two", (12, 8, 20)).run
    three = Federation(tuple(Rows(np.array([[0.1, 0.2], [0.3, 0.1], [0.2, 0.4]]), np.arange(3)) for _ in range(3)), 3)
    run_protocol(three, method="newton", target=5.0, out=at / "three")
    approved = studies.approvals(studies.study())["north"]
    return {
        "study": [tomllib.loads(studies.text()), tomllib.loads(studies.by_curator())],
        "approval": [json.loads(approved.encode())],
        "policy": [tomllib.loads(studies.SITE_POLICY)],
        "bounds": [tomllib.loads(text) for text in (BOUNDS, PLAIN_BOUNDS)],
        "file": [
            {"file": {}},
            {"file": {"separator": ";", "missing": ["NA"], "dates": "dd.mm.yyyy"}, "aliases": {"sex": {"f": ["F", 1]}}},
        ],
        "release": [
            json.loads((folder / RELEASE).read_text()) for folder in (unusual(at / "unusual"), run, at / "three")
        ],
        "shares": [json.loads((run / SHARES).read_text())],
        "audit": [json.loads(audit(str(run), "--json").out)],
    }


def unusual(folder: Path) -> Path:
    """A run folder with every kind of column; nobody computed anything."""
    agreed = Agreement(PathakMean(0.1), Target(1), parties=("north", "south"), bounds=parse_bounds(BOUNDS))
    rng, value = Stream.insecure_from_seed(1), tuple(range(agreed.bounds.dimension))
    session = agreed.session(rng).session
    execution = Execution(
        shared(value, session.names, 64, rng), 1 << 64, (session.parties,), (), None, Transcript(session)
    )
    run_folder.write_run(
        folder, run_folder.make_release(Outcome(value, execution), agreed, DEFAULT_SIMULATION), execution
    )
    return folder


def on_paper(value: Any) -> Any:
    """The value as JSON can have it: a date is a text."""
    if isinstance(value, dict):
        return {key: on_paper(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [on_paper(inner) for inner in value]
    return value.isoformat() if isinstance(value, datetime.date) else value


def short(value: Any) -> Any:
    """The value with one thing in each list that is longer than a pair: a validator looks at all of them, as `places`
    does not.
    """
    if isinstance(value, dict):
        return {key: short(inner) for key, inner in value.items()}
    return [short(inner) for inner in (value if len(value) < 3 else value[:1])] if isinstance(value, list) else value


def judge(name: str) -> Draft202012Validator:
    return Draft202012Validator(json_schema(name))


def reads(name: str, document: Any) -> bool:
    """Whether the type that the schema is of takes it."""
    try:
        validate_document(SCHEMAS[name], document, name)
    except InputError:
        return False
    return True


def refused(name: str, document: Any, by: Draft202012Validator) -> bool:
    """Whether schema and reader refuse it both."""
    return not by.is_valid(on_paper(document)) and not reads(name, document)


def places(document: Any, here: Place = ()) -> Iterator[Place]:
    """Where something stands in it, at any depth; of a pair both, and of a longer list the first."""
    steps: Any = ()
    if isinstance(document, dict):
        steps = document.items()
    elif isinstance(document, list):
        steps = enumerate(document[: 2 if len(document) == 2 else 1])
    for step, value in steps:
        yield (*here, step)
        yield from places(value, (*here, step))


def put(document: Any, place: Place, value: Any) -> Any:
    """A copy with this value there; what stands elsewhere is not copied."""
    if not place:
        return value
    step, *more = place
    changed = copy.copy(document)
    changed[step] = put(document[step] if more else None, tuple(more), value)
    return changed


def test_the_command_lists_the_schemas_and_prints_each(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["lab", "schema"]) == 0
    assert tuple(capsys.readouterr().out.split()) == NAMES == tuple(SCHEMAS)
    for name in NAMES:
        assert main(["lab", "schema", name]) == 0
        printed = json.loads(capsys.readouterr().out)
        assert printed == json_schema(name)
        assert printed["additionalProperties"] is False
        Draft202012Validator.check_schema(printed)
    assert main(["lab", "schema", "ledger"]) == 2
    assert f"NAME: wanted one of {', '.join(NAMES)}, got 'ledger'" in capsys.readouterr().err


@pytest.mark.parametrize("name", NAMES)
def test_what_was_written_fits_its_schema_and_its_reader(name: str, written: dict[str, list[Any]]) -> None:
    for document in written[name]:
        assert list(judge(name).iter_errors(on_paper(document))) == []
        assert reads(name, document)


@pytest.mark.parametrize("name", NAMES)
def test_a_schema_refuses_what_lacks_something_or_has_something_else(name: str, written: dict[str, list[Any]]) -> None:
    document, validator = written[name][0], judge(name)
    paper = short(on_paper(document))
    assert validator.is_valid(paper)
    for key in json_schema(name).get("required", ()):
        without = {k: v for k, v in document.items() if k != key}
        assert refused(name, without, validator), key
    for place in ((), *((key,) for key, value in document.items() if isinstance(value, dict))):
        more = put(document, (*place, "unheard of"), None)
        assert refused(name, more, validator), place
    for place in places(document):
        taken = [reads(name, put(document, place, other)) for other in OTHERS]
        # The validator is slow: of what the reader refuses it refuses something, which one is soon found.
        fit = (validator.is_valid(put(paper, place, o)) for o, read in zip(OTHERS, taken, strict=True) if not read)
        assert not all(fit), f"{place} may be anything"
        for other in compress(OTHERS, taken):
            assert validator.is_valid(put(paper, place, other)), (place, other)
