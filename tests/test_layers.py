"""Every source file keeps the rules of `layers.py`, and each rule catches a file that breaks it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

import smc_dp
from tests import layers
from tests.layers import (
    BY_FILE,
    FOUNDATIONS,
    GENERIC,
    LIBRARIES,
    LOGS,
    NEVER_IN_ROLES,
    ROLE,
    SHARED,
    TABLE,
    faults,
    files,
    fits,
)

# Every room that reports something makes blocks of `pages`, and an estimator names coefficients as a release does.
MOST_ROOMS, MOST_ARROWS = 20, 105
CORE = ("arithmetic", "crypto", "runtime")  # the folders of `protocols` that hold no protocol
SOURCES = {module: path.read_text(encoding="utf-8") for module, path in files().items()}


def test_file_keeps_the_rules() -> None:
    """One test of all files: each of more than 600 tests cost as much as its own file."""
    found = {module: faults(source, module) for module, source in SOURCES.items()}
    assert {module: said for module, said in found.items() if said} == {}


def test_the_rules_are_about_files_that_exist() -> None:
    assert set(SOURCES) >= LOGS | set(layers.COMPUTES_IN_ROLES)
    assert not any(fits(module, seen) for module in LOGS for seen in ROLE)
    for name in (*TABLE, *FOUNDATIONS, *LIBRARIES, *ROLE, *SHARED, *(a for row in TABLE.values() for a in row)):
        assert any(fits(module, name) for module in SOURCES), name
    for file in BY_FILE:
        assert any(module.endswith(f".{file}") for module in SOURCES if layers.is_protocol(module)), file


def test_no_row_allows_what_its_room_does_not_use() -> None:
    graph = layers.import_graph(SOURCES)
    used: dict[str, set[str]] = {name: set() for name in TABLE}
    for module, others in graph.items():
        if fits(module, "smc_dp"):
            used[layers.entry(module, TABLE)] |= others
    unused = {(name, a) for name, row in TABLE.items() for a in row if not any(layers.opens(a, x) for x in used[name])}
    assert {(name, a) for name, a in unused if a not in GENERIC} == set()


# The import graph: no cycles, and no more rooms and arrows than fit into a head.


def test_no_import_cycle_between_files() -> None:
    """Imports under TYPE_CHECKING and inside functions count."""
    assert layers.cycles(layers.import_graph(SOURCES)) == []


CYCLES = {
    "two files": {"smc_dp.a": "import smc_dp.b", "smc_dp.b": "from smc_dp.a import x"},
    "under TYPE_CHECKING": {
        "smc_dp.a": "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from smc_dp.b import B",
        "smc_dp.b": "from smc_dp import a",
    },
    "inside a function": {"smc_dp.a": "def f():\n    from smc_dp.b import g", "smc_dp.b": "import smc_dp.a"},
    "through a package": {"smc_dp.p": "from smc_dp.p.a import x", "smc_dp.p.a": "from smc_dp.p import y"},
}


@pytest.mark.parametrize("name", CYCLES)
def test_a_cycle_is_caught(name: str) -> None:
    assert layers.cycles(layers.import_graph(CYCLES[name])) == sorted(CYCLES[name])


def test_a_chain_is_no_cycle() -> None:
    chain = {"smc_dp.a": "import smc_dp.b", "smc_dp.b": "import smc_dp.c", "smc_dp.c": ""}
    assert layers.cycles(layers.import_graph(chain)) == []


def test_the_table_of_rooms_has_no_arrow_upwards() -> None:
    """The rooms can be put on floors, each above all that it may import; a room that may import one above it cannot."""
    rooms = layers.allowed_rooms()
    assert layers.cycles(rooms) == []
    assert "smc_dp.data" in layers.cycles({**rooms, "smc_dp.data": {"smc_dp.methods"}})


def test_the_house_stays_small() -> None:
    lines = layers.picture().splitlines()
    rooms, arrows, tied = (int(word) for word in lines[-1].split() if word.isdigit())
    assert (rooms <= MOST_ROOMS, arrows <= MOST_ARROWS, tied) == (True, True, 0), lines
    assert rooms == len(lines) - 1
    assert arrows == sum(len(line.partition(": ")[2].replace("-", "").split()) for line in lines[:-1])


# One engine runs parties in process.

ALL_ACTORS = {"protocols.runtime.actor", "protocols.runtime.actor.actors", "protocols.runtime.simulate.overdue"}


def engines(sources: Mapping[str, str]) -> list[str]:
    """Return the modules that make all actors of a session, or tell them that nobody can move."""
    return sorted(module for module, source in sources.items() if ALL_ACTORS & layers.imported(source))


def test_exactly_one_in_process_engine_ships() -> None:
    assert engines(SOURCES) == ["protocols.runtime.simulate"]
    # The mutant: a second one is shipped too.
    second = SOURCES["protocols.runtime.simulate"]
    assert engines(SOURCES | {"protocols.runtime.x": second}) == ["protocols.runtime.simulate", "protocols.runtime.x"]


def test_the_face_of_the_package_imports_its_own_files_only() -> None:
    assert set(smc_dp._MODULES.values()) <= {m for m in SOURCES if fits(m, "smc_dp") and m != "smc_dp"}


# What stands beside the rules: packages that the wheel contains, and the notes of every protocol.


def without_notes(root: Path) -> list[str]:
    """Return the protocols that have no NOTES.md."""
    folders = sorted(p.parent for p in (root / "protocols").glob("*/__init__.py") if p.parent.name not in CORE)
    return [folder.name for folder in folders if not (folder / "NOTES.md").is_file()]


def unpackaged(root: Path) -> list[str]:
    """Return the folders of source files that have no `__init__.py`, so that no package is found there."""
    parents = {path.parent for name in layers.PACKAGES for path in (root / name).rglob("*.py")}
    return sorted(str(folder.relative_to(root)) for folder in parents if not (folder / "__init__.py").is_file())


def test_every_protocol_has_its_notes_and_every_folder_is_a_package(tmp_path: Path) -> None:
    assert (without_notes(layers.ROOT), unpackaged(layers.ROOT)) == ([], [])
    for folder in ("protocols/new", "smc_dp/cellar"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "protocols/new/__init__.py").write_text("")
    (tmp_path / "smc_dp/cellar/x.py").write_text("")
    assert (without_notes(tmp_path), unpackaged(tmp_path)) == (["new"], ["smc_dp/cellar"])


# One mutant for each rule.

BROKEN = {
    "a room without a row": ("smc_dp.cellar.x", "import math"),
    "core knows a room": ("smc_dp.core.x", "from smc_dp.data import table"),
    "the verifier knows a room of smc_dp": ("smc_dp.leakage.x", "from smc_dp.core.errors import InputError"),
    "the verifier knows a protocol": ("smc_dp.leakage.matrix", "from protocols.pathak2010 import as_published"),
    "pages know a subject": ("smc_dp.pages.x", "from smc_dp.run import folder"),
    "privacy knows its ledger": ("smc_dp.privacy.x", "from smc_dp.privacy.ledger.ledger import Ledger"),
    "the walkthrough knows attacks": ("smc_dp.walkthrough.x", "from smc_dp.attacks import attack"),
    "the ledger knows rows": ("smc_dp.privacy.ledger.x", "from smc_dp.data.table import Table"),
    "methods know a run": ("smc_dp.methods.x", "from smc_dp.run.agreement import Agreement"),
    "methods know a protocol": ("smc_dp.methods.x", "from protocols import pathak2010"),
    "the functionality knows privacy": ("smc_dp.methods.functionality", "from smc_dp.privacy.grid import Grid"),
    "training knows methods": ("smc_dp.methods.training.x", "from smc_dp.methods import registry"),
    "bindings know the run": ("smc_dp.run.protocols.x", "from smc_dp.run import agreement"),
    "a run knows the auditor": ("smc_dp.run.x", "from smc_dp.audit.run import evidence"),
    "a run knows a protocol": ("smc_dp.run.x", "from protocols.pathak2010.parameters import Parameters"),
    "an audit of a run knows a protocol": ("smc_dp.audit.run.evidence", "from protocols.pathak2010 import protocol"),
    "a group of checks knows a protocol": ("smc_dp.audit.run.hygiene.keys", "from protocols import pathak2010"),
    "protocols knows learning": ("protocols.crypto.x", "import smc_dp"),
    "arithmetic knows crypto": ("protocols.arithmetic.x", "from protocols.crypto import paillier"),
    "a relative import": ("protocols.arithmetic.x", "from . import ring"),
    "gmpy2 in crypto": ("protocols.crypto.paillier", "from gmpy2 import mpz"),
    "numpy in protocols": ("protocols.crypto.x", "import numpy as np"),
    "runtime knows a protocol": ("protocols.runtime.x", "from protocols.pathak2010 import PROGRAM"),
    "runtime uses phe": ("protocols.runtime.x", "import phe"),
    "role names its engine": ("protocols.pathak2010.stage1", "from protocols.runtime.simulate import simulate"),
    "role reads the transcript": ("protocols.comparison.roles", "from protocols.runtime.transcript import link"),
    "role reads the claims": ("protocols.pathak2010.stage1", "from protocols.runtime.claims import View"),
    "claims read the declaration": ("protocols.new.ideal", "from protocols.runtime import conversation"),
    "a new protocol knows another one": ("protocols.new.roles", "from protocols.pathak2010 import values"),
    "a new protocol's role computes": ("protocols.new.roles", "async def party(me, a, b):\n    return a + b"),
    "a nested role computes": ("protocols.new.roles", "def f():\n    async def party(me, a):\n        return a + 1"),
    "the linear path runs the comparison": ("protocols.linear.selection", "from protocols.comparison import roles"),
    "a sum knows the comparison": ("protocols.secure_sum.steps", "from protocols.comparison import garbled"),
    **{f"role imports {name}": ("protocols.pathak2010.x", f"import {name}") for name in sorted(NEVER_IN_ROLES)},
    "what a role may know logs": ("protocols.runtime.endpoint", "import logging"),
    "a library logs": ("smc_dp.methods.x", "import logging"),
    "role imports a part": ("protocols.pathak2010.x", "from concurrent.futures import Future"),
    "role imports inside": ("protocols.pathak2010.x", "def f():\n    import time"),
    "pickle": ("smc_dp.data.x", "import pickle"),
    "joblib": ("smc_dp.methods.training.x", "import joblib"),
    "worker processes elsewhere": ("protocols.runtime.replay", "import multiprocessing"),
    "pickle in the experiments": ("smc_dp.experiments.compare.runner", "import pickle"),
    "hidden import": ("smc_dp.data.x", "import importlib\nimportlib.import_module('pickle')"),
    "data knows protocols": ("smc_dp.data.x", "from protocols.arithmetic.rng import Stream"),
    "privacy knows training": ("smc_dp.privacy.x", "from smc_dp.methods.training import solver"),
    "privacy knows crypto": ("smc_dp.privacy.x", "from protocols import crypto"),
    "somebody knows the command line": ("smc_dp.methods.x", "from smc_dp import cli"),
    "somebody uses the command line": ("smc_dp.run.folder", "from smc_dp.cli.main import main"),
    "assert": ("smc_dp.run.folder", "def f(x):\n    assert x"),
    "bare except": ("protocols.runtime.x", "try:\n    f()\nexcept:\n    pass"),
    "global": ("protocols.runtime.x", "def f():\n    global x\n    x = 1"),
    "module state": ("protocols.runtime.x", "cache = {}"),
    "module state, made": ("smc_dp.data.x", "from collections import defaultdict\nseen = defaultdict(list)"),
    "module state, comprehension": ("smc_dp.data.x", "table = [i for i in range(3)]"),
    "constant that changes": ("smc_dp.data.x", "SEEN = []\ndef f(x):\n    SEEN.append(x)"),
    "constant that is written": ("smc_dp.data.x", "SEEN = {}\ndef f(x):\n    SEEN[x] = 1"),
    **{
        f"role computes {op}": ("protocols.pathak2010.stage1", f"async def party(me, a, b):\n    c = a {op} b")
        for op in ("+", "-", "*", "/", "//", "%", "**", "<<", ">>", "&", "|", "^", "@")
    },
    "role computes outside": ("protocols.pathak2010.stage1", "SIX = 2 * 3\nasync def party(me): ..."),
    "role negates": ("protocols.comparison.roles", "async def f(a):\n    return -a"),
    "role computes in a context": (
        "protocols.pathak2010.setup",
        "def _context(a, b):\n    return a ^ b\nasync def party(me): ...",
    ),
    "an option in a message": ("smc_dp.data.x", "raise ValueError('--split: wanted percentages')"),
    "an option inside a message": ("smc_dp.methods.x", "def f(x):\n    return f'{x}: wanted --key-bits'"),
    "an option in a docstring": ("protocols.runtime.x", "def f():\n    'What `--json` prints.'"),
    "possessive group": ("smc_dp.data.x", "import re\nROWS = re.compile(r'(?:a|b)*+')"),
    "role prints": ("protocols.pathak2010.stage2", "async def f(a):\n    print(a)"),
    "role opens a file": ("protocols.pathak2010.stage2", "async def f(a):\n    open(a)"),
    "role tries": (
        "protocols.pathak2010.stage2",
        "async def f(a):\n    try:\n        await a\n    except ValueError:\n        pass",
    ),
}


@pytest.mark.parametrize("name", BROKEN)
def test_broken_snippet_is_caught(name: str) -> None:
    module, source = BROKEN[name]
    assert faults(source, module)


FINE = {
    "the standard library": ("protocols.crypto.x", "import hashlib, json"),
    "own folder": ("protocols.pathak2010.stage1", "from protocols.pathak2010 import minimum"),
    "the comparison's roles": ("protocols.pathak2010.stage1", "from protocols.comparison import roles"),
    "a new protocol": ("protocols.new.roles", "from protocols.curator import CURATOR_NAME\nasync def party(me): ..."),
    "a new protocol's claims": ("protocols.new.ideal", "from protocols.runtime.claims import View"),
    "types": ("protocols.pathak2010.stage3", "async def f(psi: tuple[int, ...] | None) -> int | None:\n    return psi"),
    "bytes joined": ("protocols.pathak2010.setup", "async def f(a):\n    return b'x' + a"),
    "context": (
        "protocols.pathak2010.setup",
        "def _context(me, a):\n    return me.session_id + a.encode()\nasync def party(me): ...",
    ),
    "numbers beside the roles": ("protocols.pathak2010.values", "def f(a, b):\n    return a + b"),
    "constants": ("smc_dp.data.x", "LINKS = {'lan': 1}\n__all__ = ['LINKS']"),
    "joblib in the experiments": ("smc_dp.experiments.compare.runner", "import joblib"),
    "numpy in training": ("smc_dp.methods.training.x", "import numpy as np"),
    "the stream in privacy": ("smc_dp.privacy.x", "from protocols.arithmetic.rng import Stream"),
    "an option in the command line": ("smc_dp.cli.options", "raise ValueError('--split: wanted percentages')"),
    "dashes": ("smc_dp.data.x", "'A dash -- so -- and a rule ---, and a--b.'"),
    "an auditor looks a protocol up": ("smc_dp.audit.run.evidence", "from protocols import programs"),
    "both halves": (
        "smc_dp.run.protocols.x",
        "from protocols.pathak2010 import PROGRAM\nfrom smc_dp.core.errors import InputError",
    ),
}


@pytest.mark.parametrize("name", FINE)
def test_allowed_snippet_passes(name: str) -> None:
    module, source = FINE[name]
    assert faults(source, module) == []
