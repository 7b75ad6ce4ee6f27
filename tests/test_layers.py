"""What may import what, and what no file may contain: rules over syntax trees, and snippets that break each of them."""

from __future__ import annotations

import ast
import re
import sys
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = ("protocols", "smc_dp")

# What an auditor of any protocol sees: the rooms that know no protocol, and the list in which all are looked up.
AUDITOR = (
    *("protocols.arithmetic", "protocols.crypto", "protocols.errors", "protocols.programs", "protocols.runtime"),
)
# Folder or file -> what of ours it may import. The longest entry that fits decides; a folder is open to its own files.
TABLE: dict[str, tuple[str, ...]] = {
    "protocols": (),
    "protocols.arithmetic": ("protocols.errors",),
    "protocols.curator": ("protocols.errors", "protocols.runtime.message"),
    "protocols.crypto": ("protocols.arithmetic", "protocols.errors"),
    "protocols.runtime": ("protocols.arithmetic", "protocols.crypto", "protocols.errors"),
    "protocols.comparison": ("ROLE",),
    "protocols.pathak2010": ("ROLE", "protocols.comparison", "protocols.curator"),
    "protocols.comparison.ideal": ("ROLE", "protocols.runtime.claims"),
    "protocols.comparison.conversation": ("ROLE", "protocols.runtime.conversation"),
    "protocols.comparison.limits": ("protocols.runtime.limits",),
    "protocols.pathak2010.ideal": ("ROLE", "protocols.comparison", "protocols.curator", "protocols.runtime.claims"),
    "protocols.pathak2010.as_printed": (
        *("ROLE", "protocols.comparison", "protocols.curator", "protocols.runtime.claims"),
    ),
    "protocols.pathak2010.boundary": ("ROLE", "protocols.curator", "protocols.runtime.claims"),
    **dict.fromkeys(
        (f"protocols.pathak2010.{name}" for name in ("conversation", "printed_conversation")),
        ("ROLE", "protocols.comparison", "protocols.curator", "protocols.runtime.conversation"),
    ),
    "protocols.pathak2010.limits": ("protocols.runtime.limits",),
    "protocols.pathak2010.sentences": ("protocols.comparison.sentences", "protocols.runtime.quoted"),
    **dict.fromkeys(
        (f"protocols.{room}.sentences" for room in ("comparison", "linear", "secure_sum")),
        ("protocols.runtime.quoted",),
    ),
    "protocols.linear": ("ROLE", "protocols.curator", "protocols.comparison.garbled", "protocols.pathak2010.values"),
    "protocols.linear.ideal": ("ROLE", "protocols.comparison.garbled", "protocols.curator", "protocols.runtime.claims"),
    "protocols.linear.boundary": ("ROLE", "protocols.curator", "protocols.runtime.claims"),
    "protocols.linear.checkable": ("ROLE", "protocols.runtime.claims"),
    "protocols.linear.conversation": (
        *("ROLE", "protocols.comparison.garbled", "protocols.curator", "protocols.runtime.conversation"),
    ),
    "protocols.linear.limits": ("protocols.runtime.limits",),
    "protocols.secure_sum": ("ROLE", "protocols.curator"),
    "protocols.secure_sum.ideal": ("ROLE", "protocols.curator", "protocols.runtime.claims"),
    "protocols.secure_sum.boundary": ("ROLE", "protocols.curator", "protocols.runtime.claims"),
    "protocols.secure_sum.checkable": ("ROLE", "protocols.curator", "protocols.runtime.claims"),
    "protocols.secure_sum.conversation": ("ROLE", "protocols.curator", "protocols.runtime.conversation"),
    "protocols.secure_sum.limits": ("protocols.runtime.limits",),
    "protocols.programs": ("protocols",),
    # A row for every room of smc_dp; none is open to all.
    "smc_dp.arrays": (),
    "smc_dp.errors": (),
    "smc_dp.notices": (),
    "smc_dp.unit_ball": ("smc_dp.arrays",),
    "smc_dp.version": (),
    "smc_dp.files": ("smc_dp.errors",),
    "smc_dp.pages": ("smc_dp.errors", "smc_dp.files"),
    "smc_dp.data": ("smc_dp.arrays", "smc_dp.errors", "smc_dp.files", "smc_dp.notices", "smc_dp.unit_ball"),
    "smc_dp.learning": ("smc_dp.arrays", "smc_dp.errors", "smc_dp.unit_ball", "protocols.arithmetic.rng"),
    "smc_dp.privacy": ("smc_dp.arrays", "smc_dp.errors", "protocols.arithmetic.rng"),
    "smc_dp.aggregation": (
        *("smc_dp.errors", "protocols.arithmetic", "protocols.crypto.identity", "protocols.errors"),
        *("protocols.curator", "protocols.linear", "protocols.pathak2010", "protocols.runtime"),
        "protocols.secure_sum",
    ),
    "smc_dp.ledger": ("smc_dp.errors", "smc_dp.files", "smc_dp.privacy"),
    "smc_dp.ledger.dataset": ("smc_dp.data",),
    "smc_dp.methods": (
        *("smc_dp.aggregation", "smc_dp.arrays", "smc_dp.data", "smc_dp.errors", "smc_dp.learning"),
        *("smc_dp.privacy", "smc_dp.unit_ball", "protocols.arithmetic.rng"),
    ),
    "smc_dp.estimators": (
        *("smc_dp.arrays", "smc_dp.data", "smc_dp.errors", "smc_dp.ledger", "smc_dp.methods", "smc_dp.notices"),
        *("smc_dp.privacy", "smc_dp.unit_ball", "protocols.arithmetic.rng"),
    ),
    "smc_dp.run": (
        *("smc_dp.aggregation", "smc_dp.arrays", "smc_dp.data", "smc_dp.errors", "smc_dp.files", "smc_dp.ledger"),
        *("smc_dp.methods", "smc_dp.pages", "smc_dp.privacy", "protocols.arithmetic.rng", "protocols.crypto.identity"),
        *("protocols.curator", "protocols.errors", "protocols.programs", "protocols.runtime"),
        *("smc_dp.notices", "smc_dp.version"),
        "smc_dp.plans.outlook",  # the figures that were to be expected, which know no run
    ),
    # The settings of each protocol: the only place in `run` that knows one by its name.
    "smc_dp.run.terms": (
        *("smc_dp.aggregation", "smc_dp.data", "smc_dp.errors", "smc_dp.files", "smc_dp.methods", "smc_dp.privacy"),
        *("protocols.arithmetic.rng", "protocols.errors", "protocols.pathak2010.parameters", "protocols.programs"),
        "protocols.secure_sum.parameters",
    ),
    # A verifier of role code: it knows protocols and nothing of learning.
    "smc_dp.audit.code": (*AUDITOR, "protocols.comparison"),
    "smc_dp.audit.matrix_picture": ("smc_dp.version", "smc_dp.audit.code", "smc_dp.pages"),
    "smc_dp.audit.epsilon": (
        *("smc_dp.aggregation", "smc_dp.arrays", "smc_dp.data", "smc_dp.errors", "smc_dp.methods", "smc_dp.privacy"),
        *("smc_dp.audit.code.executions", "protocols.arithmetic", "protocols.curator", "protocols.pathak2010"),
        *("protocols.runtime", "protocols.secure_sum"),
    ),
    "smc_dp.audit.run": (
        *("smc_dp.version", "smc_dp.arrays", "smc_dp.audit.code", "smc_dp.data", "smc_dp.errors", "smc_dp.files"),
        *("smc_dp.learning", "smc_dp.ledger", "smc_dp.pages", "smc_dp.privacy", "smc_dp.run", "protocols.curator"),
        *AUDITOR,
    ),
    "smc_dp.lecture": (
        *("smc_dp.version", "smc_dp.audit.code", "smc_dp.audit.run", "smc_dp.errors", "smc_dp.pages", *AUDITOR),
    ),
    "smc_dp.attacks": (
        *("smc_dp.version", "smc_dp.arrays", "smc_dp.audit.code", "smc_dp.audit.epsilon", "smc_dp.data"),
        *("smc_dp.errors", "smc_dp.learning", "smc_dp.methods", "smc_dp.pages", "smc_dp.privacy"),
        *("protocols.arithmetic", "protocols.comparison.garbled", "protocols.crypto", "protocols.curator"),
        *("protocols.errors", "protocols.linear", "protocols.pathak2010", "protocols.runtime", "protocols.secure_sum"),
    ),
    "smc_dp.lecture.attacks_on": ("smc_dp.attacks", "smc_dp.pages", "protocols.arithmetic.rng", "protocols.programs"),
    # What public numbers say beforehand; runs say it too.
    "smc_dp.plans": (
        *("smc_dp.data", "smc_dp.errors", "smc_dp.methods", "smc_dp.privacy", "smc_dp.run"),
        *("protocols.errors", "protocols.programs", "protocols.runtime.conversation"),
    ),
    # It measures the operations that programs declare.
    "smc_dp.plans.operation_costs": (
        *("protocols.arithmetic", "protocols.comparison", "protocols.crypto", "protocols.runtime"),
    ),
    "smc_dp.plans.outlook": ("smc_dp.plans.band", "smc_dp.plans.signal", "smc_dp.privacy"),
    "smc_dp.plans.signal": ("smc_dp.errors", "smc_dp.methods", "smc_dp.privacy"),
    "smc_dp.plans.band": ("smc_dp.plans.signal", "smc_dp.privacy"),
    "smc_dp.compare": (
        *("smc_dp.version", "smc_dp.arrays", "smc_dp.data", "smc_dp.errors", "smc_dp.files", "smc_dp.learning"),
        *("smc_dp.methods", "smc_dp.privacy", "protocols.arithmetic.rng"),
    ),
    "smc_dp.reproduce": ("smc_dp.compare", "smc_dp.data", "smc_dp.errors", "smc_dp.privacy"),
    # One site's part of a study: above runs and audits, below the command line, and no protocol by its name.
    "smc_dp.deploy": (
        *("smc_dp.aggregation", "smc_dp.audit.run", "smc_dp.data", "smc_dp.errors", "smc_dp.files"),
        *("smc_dp.ledger", "smc_dp.privacy", "smc_dp.run", "protocols.arithmetic.rng"),
        *("protocols.crypto.identity", "protocols.curator", "protocols.errors", "protocols.programs"),
        "protocols.runtime",
    ),
    # A list of types from all over, above all of their rooms.
    "smc_dp.schemas": (
        *("smc_dp.audit.run", "smc_dp.data", "smc_dp.deploy", "smc_dp.errors", "smc_dp.files", "smc_dp.run"),
    ),
    "smc_dp.cli": (
        *("smc_dp.attacks", "smc_dp.audit", "smc_dp.compare", "smc_dp.data", "smc_dp.deploy"),
        *("smc_dp.errors", "smc_dp.schemas"),
        *("smc_dp.files", "smc_dp.ledger", "smc_dp.methods", "smc_dp.privacy", "smc_dp.reproduce", "smc_dp.run"),
        *("smc_dp.lecture", "smc_dp.notices", "smc_dp.pages", "smc_dp.plans"),
        *("protocols.arithmetic.rng", "protocols.crypto.identity", "protocols.errors", "protocols.programs"),
    ),
    "smc_dp.audit": (),
    "smc_dp": (
        *("smc_dp.audit.run", "smc_dp.data", "smc_dp.errors", "smc_dp.estimators", "smc_dp.methods"),
        *("smc_dp.notices", "smc_dp.plans", "smc_dp.privacy", "smc_dp.run", "smc_dp.version"),
    ),
}
# What a file of roles sees of us: numbers, keys, errors, and the half of the runtime that a role may know.
ROLE = (
    *("protocols.arithmetic", "protocols.crypto", "protocols.errors"),
    *("protocols.runtime.endpoint", "protocols.runtime.message", "protocols.runtime.session"),
)
COMMAND_LINE = ("smc_dp.cli",)
# Imports by a fixed table, which a test holds against the imports that it shows to type checkers.
LAZY = "smc_dp"
ROLE_FOLDERS = ("protocols.comparison", "protocols.linear", "protocols.pathak2010", "protocols.secure_sum")

# Folder -> the packages of others that it may import, beside the standard library.
LIBRARIES: dict[str, tuple[str, ...]] = {
    "protocols": (),
    "protocols.arithmetic.modular": ("gmpy2",),
    "protocols.arithmetic.rng": ("cryptography",),
    "protocols.arithmetic.words": ("numpy",),
    "protocols.crypto": ("cryptography", "phe"),
    **{f"protocols.crypto.{name}": ("cryptography", "numpy") for name in ("garbling", "half_gates", "masking")},
    "protocols.crypto.circuit": ("numpy",),
    "protocols.crypto.oblivious": ("cryptography", "nacl", "numpy"),
    "protocols.runtime": ("cbor2",),
}
NOWHERE = {"pickle", "marshal", "shelve", "dill", "cloudpickle", "joblib", "multiprocessing"}
# Both pickle between processes of one run, and never read a file of others: only the grid of experiments uses joblib,
# and only the simulator's workers use multiprocessing.
EXCEPT = {"joblib": ("smc_dp.compare",), "multiprocessing": ("protocols.runtime.worker", "protocols.runtime.workers")}
NEVER_IN_ROLES = {
    *("random", "secrets", "os", "time", "datetime", "threading", "asyncio", "logging", "multiprocessing"),
    *("numpy", "gmpy2", "socket", "subprocess", "concurrent", "uuid"),
}
# Role files: they move messages and call functions, so that the same file can run over symbols.
ROLE_FILES = {
    "protocols.comparison.roles",
    "protocols.comparison.signs",
    *(f"protocols.pathak2010.{name}" for name in ("setup", "stage1", "stage2", "stage3")),
    *(f"protocols.linear.{name}" for name in ("setup", "submission", "selection", "publication")),
    *(f"protocols.secure_sum.{name}" for name in ("setup", "seating", "steps", "sums", "complete", "publishing")),
}
# Who may log: files that see names, envelopes and charges. What a role may know is not among them, nor a role itself.
# The connection to a relay only quiets the log of another library.
LOGS = {
    *("smc_dp.deploy.nats.connection", "protocols", "protocols.runtime.events", "smc_dp", "smc_dp.cli.verbose"),
    *("smc_dp.deploy.participation", "smc_dp.ledger.ledger", "smc_dp.run.simulation"),
}
OPERATORS = (
    *(ast.Add, ast.Sub, ast.Mult, ast.Div, ast.FloorDiv, ast.Mod, ast.Pow, ast.MatMult),
    *(ast.LShift, ast.RShift, ast.BitAnd, ast.BitOr, ast.BitXor),
)
OPTION = re.compile(r"(?<![\w-])--[a-z]")
IMPURE = {"open", "print", "input", "id", "hash", "eval", "exec", "__import__"}


def fits(module: str, prefix: str) -> bool:
    return module == prefix or module.startswith(prefix + ".")


def entry(module: str, table: dict[str, tuple[str, ...]]) -> str:
    """The longest entry of the table that this module falls under."""
    return max((key for key in table if fits(module, key)), key=len, default="")


def imports(tree: ast.AST, module: str) -> Iterator[tuple[int, str]]:
    """Line and full name of whatever is imported, at any depth; names of `from` imports are spelt out."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            parent = ".".join(module.split(".")[: -node.level]) + "." if node.level else ""
            base = (parent + (node.module or "")).rstrip(".")
            yield from ((node.lineno, f"{base}.{alias.name}") for alias in node.names)
        elif (
            isinstance(node, ast.Call)
            and getattr(node.func, "attr", getattr(node.func, "id", "")) in (*("import_module", "__import__"),)
            and module != LAZY
        ):
            yield node.lineno, "an import that the tree does not show"


def known(top: str, module: str) -> bool:
    """Whether this package of others may be imported here; `smc_dp` is free to choose."""
    libraries = LIBRARIES[entry(module, LIBRARIES)] if fits(module, "protocols") else (top,)
    return top in sys.stdlib_module_names or top in libraries


def forbidden(top: str, module: str) -> bool:
    """Whether nobody, or nobody but another folder, may use this package of others."""
    return top in NOWHERE and not any(fits(module, place) for place in EXCEPT.get(top, ()))


def wrong_imports(tree: ast.AST, module: str) -> Iterator[str]:
    place = entry(module, TABLE)
    allowed = [a for name in TABLE[place] for a in (ROLE if name == "ROLE" else (name,))]
    folder = place if fits(module, "smc_dp") else module if module == "protocols" else ".".join(module.split(".")[:2])
    if place == "smc_dp" != module:
        yield f"{module} stands in a room without a row"
    for line, name in imports(tree, module):
        top = name.split(".")[0]
        if top in PACKAGES:
            inside = fits(name, folder) and folder not in PACKAGES
            if not inside and not any(fits(name, a) for a in allowed):
                yield f"{module}:{line} imports {name}"
            mine = any(fits(module, part) for part in COMMAND_LINE)
            if not mine and any(fits(name, part) for part in COMMAND_LINE):
                yield f"{module}:{line} imports the command line"
        elif forbidden(top, module) or "tree does not show" in name or not known(top, module):
            yield f"{module}:{line} imports {name}"
        if any(fits(module, folder) for folder in ROLE_FOLDERS) and top in NEVER_IN_ROLES:
            yield f"{module}:{line}: a role file imports {name}"
        if top == "logging" and module not in LOGS:
            yield f"{module}:{line} logs"


def wrong_statements(tree: ast.AST, module: str) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Assert):
            yield f"{module}:{node.lineno} asserts"
        if isinstance(node, ast.ExceptHandler) and node.type is None:
            yield f"{module}:{node.lineno} catches everything"
        if isinstance(node, ast.Global | ast.Nonlocal):
            yield f"{module}:{node.lineno} rebinds a name from outside"


def mutable_state(tree: ast.Module, module: str) -> Iterator[str]:
    """Module-level names bound to a dict, list or set, unless written in capitals, which nobody changes."""
    displays = (ast.Dict, ast.List, ast.Set, ast.DictComp, ast.ListComp, ast.SetComp)
    for node in tree.body:
        targets = (
            node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
        )
        value = getattr(node, "value", None)
        made = isinstance(value, ast.Call) and getattr(value.func, "id", getattr(value.func, "attr", "")) in (
            *("dict", "list", "set", "defaultdict", "deque", "Counter", "OrderedDict", "bytearray"),
        )
        for target in targets:
            names = [n.id for n in ast.walk(target) if isinstance(n, ast.Name)]
            if (isinstance(value, displays) or made) and not all(n.isupper() or n == "__all__" for n in names):
                yield f"{module}:{node.lineno} holds state in {', '.join(names)}"


def changed_constants(tree: ast.Module, module: str) -> Iterator[str]:
    """A constant in capitals that a function of its module changes after all."""
    changers = {
        "append",
        "add",
        "update",
        "setdefault",
        "pop",
        "popitem",
        "clear",
        "extend",
        "insert",
        "remove",
        "discard",
    }
    for node in ast.walk(tree):
        place = None
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in changers:
            place = node.func.value
        elif isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store | ast.Del):
            place = node.value
        if isinstance(place, ast.Name) and place.id.isupper() and len(place.id) > 1:
            yield f"{module}:{getattr(node, 'lineno', 0)} changes {place.id}"


def arithmetic(tree: ast.AST, module: str, inside: str = "") -> Iterator[str]:
    """Operators in a role file, but for text joined by functions called `_context`, and impure calls."""
    if module not in ROLE_FILES:
        return
    for node in ast.iter_child_nodes(tree):
        name = node.name if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) else inside
        operator = getattr(node, "op", None)
        if isinstance(node, ast.BinOp | ast.AugAssign) and isinstance(operator, OPERATORS):
            joins = any(isinstance(c, ast.Constant) and isinstance(c.value, str | bytes) for c in ast.walk(node))
            text = isinstance(operator, ast.Add) and (joins or inside.startswith("_context"))
            if not text and not is_annotation(node):
                yield f"{module}:{node.lineno} computes: {ast.unparse(node)}"
        if isinstance(node, ast.UnaryOp) and isinstance(operator, ast.USub | ast.Invert):
            yield f"{module}:{node.lineno} computes: {ast.unparse(node)}"
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in IMPURE:
            yield f"{module}:{node.lineno} calls {node.func.id}"
        if isinstance(node, ast.Try) and any(isinstance(n, ast.Await) for s in node.body for n in ast.walk(s)):
            yield f"{module}:{node.lineno} tries around a receive"
        yield from arithmetic(node, module, name)


def flags(tree: ast.AST, module: str) -> Iterator[str]:
    """Texts that name an option of the command line, outside of it: what is below names its own parameters."""
    if any(fits(module, part) for part in COMMAND_LINE):
        return
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and OPTION.search(node.value):
            yield f"{module}:{node.lineno} names an option"


def is_annotation(node: ast.AST) -> bool:
    """Whether this is a union of types, such as `Vector | None`."""
    return (
        isinstance(node, ast.BinOp)
        and isinstance(node.op, ast.BitOr)
        and any(isinstance(c, ast.Constant) and c.value is None for c in ast.walk(node))
    )


def faults(source: str, module: str) -> list[str]:
    """Everything that is wrong with a file."""
    tree = ast.parse(source)
    checks = (wrong_imports, wrong_statements, mutable_state, changed_constants, arithmetic, flags)
    return [fault for check in checks for fault in check(tree, module)]


def files() -> list[Path]:
    return sorted(path for package in PACKAGES for path in (ROOT / package).rglob("*.py"))


def module_of(path: Path) -> str:
    return ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


@pytest.mark.parametrize("path", files(), ids=module_of)
def test_file_keeps_the_rules(path: Path) -> None:
    assert faults(path.read_text(encoding="utf-8"), module_of(path)) == []


def test_the_rules_are_about_files_that_exist() -> None:
    modules = {module_of(path) for path in files()}
    assert modules >= ROLE_FILES | LOGS
    assert not any(fits(module, seen) for module in LOGS for seen in ROLE)
    for name in (*TABLE, *LIBRARIES, *ROLE, *ROLE_FOLDERS):
        assert name == "ROLE" or any(fits(module, name) for module in modules), name


def arrows() -> dict[str, set[str]]:
    """For every row of smc_dp, what its files really import, as names of modules."""
    found: dict[str, set[str]] = {name: set() for name in TABLE if fits(name, "smc_dp")}
    for path in files():
        module = module_of(path)
        if fits(module, "smc_dp"):
            tree = ast.parse(path.read_text(encoding="utf-8"))
            found[entry(module, TABLE)] |= {name for _, name in imports(tree, module)}
    return found


def without_a_row(modules: set[str]) -> list[str]:
    """Files that stand beside rooms, where there should be rooms only."""
    return sorted(module for module in modules if entry(module, TABLE) in ("smc_dp", "smc_dp.audit") != module)


def test_every_file_of_smc_dp_stands_in_a_room() -> None:
    modules = {module_of(path) for path in files()}
    assert [m for m in without_a_row(modules) if m not in ("smc_dp", "smc_dp.audit")] == []
    assert without_a_row({"smc_dp.audit.tools", "smc_dp.tools"}) == ["smc_dp.audit.tools", "smc_dp.tools"]


def test_no_row_allows_what_its_room_does_not_use() -> None:
    unused = {
        (room, allowed)
        for room, used in arrows().items()
        for allowed in TABLE[room]
        if not any(fits(name, allowed) for name in used)
    }
    assert {(room, allowed) for room, allowed in unused if allowed not in AUDITOR} == set()


def circle(rows: dict[str, tuple[str, ...]]) -> list[str]:
    """Rooms that cannot be put on floors, each above what it may import; empty when there is no circle."""
    left = {room: {a for a in allowed if a in rows and a != room} for room, allowed in rows.items()}
    while free := [room for room, below in left.items() if not below & set(left)]:
        for room in free:
            del left[room]
    return sorted(left)


def test_the_rooms_of_smc_dp_stand_on_floors() -> None:
    """No circle and no arrow upwards: every room stands above all that it may import."""
    rows = {room: allowed for room, allowed in TABLE.items() if fits(room, "smc_dp") and room != "smc_dp"}
    whole = {room: tuple(b for a in allowed for b in rows if fits(b, a)) for room, allowed in rows.items()}
    assert circle(whole) == []
    assert circle({**whole, "smc_dp.data": ("smc_dp.methods",)}) != []  # the broken twin


# One engine runs parties in process.

ALL_ACTORS = {"protocols.runtime.actor", "protocols.runtime.actor.actors", "protocols.runtime.actor.overdue"}


def engines(sources: Mapping[str, str]) -> list[str]:
    """Return the modules that make all actors of a session, or tell them that nobody can move."""
    return sorted(
        module
        for module, source in sources.items()
        if ALL_ACTORS & {name for _, name in imports(ast.parse(source), module)}
    )


def test_exactly_one_in_process_engine_ships() -> None:
    shipped = {module_of(path): path.read_text(encoding="utf-8") for path in files()}
    second = (ROOT / "tests" / "support" / "asyncio_actors.py").read_text(encoding="utf-8")
    assert engines(shipped) == ["protocols.runtime.simulate"]
    # The mutant: the engine of the tests is shipped too.
    assert engines(shipped | {"protocols.runtime.x": second}) == ["protocols.runtime.simulate", "protocols.runtime.x"]


# What stands beside the rules: the list of packages, and every protocol under them.

CORE = ("arithmetic", "crypto", "runtime")  # the rooms of `protocols` that are no protocols
# Its roles compute in the open, which is what they are kept for; a program's own roles only name its stages.
NO_ROLE_FILES = ("protocols.pathak2010.as_printed",)


def packages(root: Path) -> set[str]:
    """Every folder with an `__init__.py`."""
    found = (path.parent.relative_to(root) for name in PACKAGES for path in (root / name).rglob("__init__.py"))
    return {".".join(folder.parts) for folder in found}


def unnamed_packages(root: Path) -> set[str]:
    """What setuptools would leave out of the wheel, or look for in vain."""
    stated = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))
    return packages(root) ^ set(stated["tool"]["setuptools"]["packages"])


def protocol_folders(root: Path) -> list[Path]:
    """The folders of `protocols` that hold a protocol."""
    return sorted(p.parent for p in (root / "protocols").glob("*/__init__.py") if p.parent.name not in CORE)


def without_notes(root: Path) -> list[str]:
    return [folder.name for folder in protocol_folders(root) if not (folder / "NOTES.md").is_file()]


def ungoverned(root: Path) -> Iterator[str]:
    """Protocols and role files that the rules above do not speak of."""
    for folder in protocol_folders(root):
        name = f"protocols.{folder.name}"
        if name not in TABLE:
            yield f"{name} has no row in the table"
        if name not in ROLE_FOLDERS:
            yield f"{name} is not among the folders of roles"
        for path in sorted(folder.glob("*.py")):
            module, tree = f"{name}.{path.stem}", ast.parse(path.read_text(encoding="utf-8"))
            has_role = any(isinstance(node, ast.AsyncFunctionDef) for node in tree.body)
            if has_role and path.stem != "__init__" and module not in (*ROLE_FILES, *NO_ROLE_FILES):
                yield f"{module} has a role and is not among the role files"


def test_every_package_is_named_in_pyproject() -> None:
    assert unnamed_packages(ROOT) == set()


def test_every_protocol_has_its_notes() -> None:
    assert len(protocol_folders(ROOT)) >= 2
    assert without_notes(ROOT) == []


def test_every_protocol_is_under_the_rules() -> None:
    assert list(ungoverned(ROOT)) == []


def test_a_protocol_that_nobody_registered_is_noticed(tmp_path: Path) -> None:
    (tmp_path / "smc_dp").mkdir()
    (tmp_path / "protocols" / "new").mkdir(parents=True)
    for name, text in (("__init__.py", ""), ("roles.py", "async def party(me): ...\n")):
        (tmp_path / "protocols" / "new" / name).write_text(text)
    (tmp_path / "pyproject.toml").write_text('[tool.setuptools]\npackages = ["smc_dp.gone"]\n')
    assert unnamed_packages(tmp_path) == {"protocols.new", "smc_dp.gone"}
    assert without_notes(tmp_path) == ["new"]
    assert [fault.split(" ", 1)[1] for fault in ungoverned(tmp_path)] == [
        "has no row in the table",
        "is not among the folders of roles",
        "has a role and is not among the role files",
    ]


BROKEN = {
    "a room without a row": ("smc_dp.cellar.x", "import math"),
    "a file without a row": ("smc_dp.tools", "import math"),
    "the verifier knows a page": ("smc_dp.audit.code.words", "from smc_dp.pages.blocks import Page"),
    "one room of the audit knows another": ("smc_dp.audit.code.x", "from smc_dp.audit.run import evidence"),
    "methods know a run": ("smc_dp.methods.x", "from smc_dp.run.agreement import Agreement"),
    "methods know a protocol": ("smc_dp.methods.x", "from protocols import pathak2010"),
    "the seam knows a run": ("smc_dp.aggregation.x", "from smc_dp.run import agreement"),
    "the seam knows privacy": ("smc_dp.aggregation.x", "from smc_dp.privacy.grid import Grid"),
    "a run knows the auditor": ("smc_dp.run.x", "from smc_dp.audit.run import evidence"),
    "a run knows a protocol": ("smc_dp.run.x", "from protocols.pathak2010.parameters import Parameters"),
    "an auditor knows a protocol, in privacy": ("smc_dp.audit.run.privacy.x", "from protocols.pathak2010 import ideal"),
    "protocols knows learning": ("protocols.crypto.x", "import smc_dp"),
    "protocols knows learning, deep": ("protocols.runtime.x", "def f():\n    from smc_dp.privacy import noise"),
    "arithmetic knows crypto": ("protocols.arithmetic.x", "from protocols.crypto import paillier"),
    "arithmetic knows crypto, relative": ("protocols.arithmetic.x", "from ..crypto import paillier"),
    "arithmetic knows the runtime": ("protocols.arithmetic.ring", "import protocols.runtime.message"),
    "gmpy2 elsewhere": ("protocols.arithmetic.ring", "import gmpy2"),
    "gmpy2 in crypto": ("protocols.crypto.paillier", "from gmpy2 import mpz"),
    "numpy in protocols": ("protocols.crypto.x", "import numpy as np"),
    "crypto knows the runtime": ("protocols.crypto.x", "from protocols.runtime.message import Message"),
    "runtime knows a protocol": ("protocols.runtime.x", "from protocols.pathak2010 import PROGRAM"),
    "runtime uses phe": ("protocols.runtime.x", "import phe"),
    "role names its engine": ("protocols.pathak2010.stage1", "from protocols.runtime.simulate import simulate"),
    "role names replay": ("protocols.pathak2010.stage1", "from protocols.runtime import replay"),
    "role names the channel": ("protocols.comparison.roles", "import protocols.runtime.channel"),
    "role reads the transcript": ("protocols.comparison.roles", "from protocols.runtime.transcript import link"),
    "role reads the claims": ("protocols.pathak2010.stage1", "from protocols.runtime.claims import View"),
    "comparison knows pathak": ("protocols.comparison.steps", "from protocols.pathak2010 import minimum"),
    **{f"role imports {name}": ("protocols.pathak2010.x", f"import {name}") for name in sorted(NEVER_IN_ROLES)},
    "what a role may know logs": ("protocols.runtime.endpoint", "import logging"),
    "a driver logs": ("protocols.runtime.simulate", "from logging import getLogger"),
    "a library logs": ("smc_dp.methods.x", "import logging"),
    "role imports a part": ("protocols.pathak2010.x", "from concurrent.futures import Future"),
    "role imports inside": ("protocols.pathak2010.x", "def f():\n    import time"),
    "an audit of a run knows a protocol": ("smc_dp.audit.run.evidence", "from protocols.pathak2010 import limits"),
    "a group of checks knows a protocol": ("smc_dp.audit.run.hygiene.keys", "from protocols import pathak2010"),
    "an audit of code knows a protocol": ("smc_dp.audit.code.matrix", "from protocols.pathak2010 import as_printed"),
    "pickle": ("smc_dp.data.x", "import pickle"),
    "pickle by name": ("protocols.runtime.state", "from pickle import loads"),
    "joblib": ("smc_dp.learning.x", "import joblib"),
    "joblib beside the experiments": ("smc_dp.estimators", "from joblib import Parallel"),
    "worker processes elsewhere": ("protocols.runtime.replay", "import multiprocessing"),
    "pickle in the experiments": ("smc_dp.compare.runner", "import pickle"),
    "hidden import": ("smc_dp.data.x", "import importlib\nimportlib.import_module('pickle')"),
    "hidden import, built in": ("smc_dp.data.x", "__import__('pickle')"),
    "data knows protocols": ("smc_dp.data.x", "from protocols.arithmetic.rng import Stream"),
    "data knows privacy": ("smc_dp.data.x", "from smc_dp.privacy import grid"),
    "data knows learning": ("smc_dp.data.x", "from smc_dp.learning import solver"),
    "learning knows data": ("smc_dp.learning.x", "import smc_dp.data.datasets"),
    "learning knows protocols": ("smc_dp.learning.x", "import protocols"),
    "privacy knows learning": ("smc_dp.privacy.x", "from smc_dp.learning import solver"),
    "privacy knows more than the stream": ("smc_dp.privacy.x", "from protocols.arithmetic.ring import Ring"),
    "privacy knows crypto": ("smc_dp.privacy.x", "from protocols import crypto"),
    "somebody knows the command line": ("smc_dp.methods.x", "from smc_dp import cli"),
    "somebody knows its options": ("smc_dp.compare.plan", "from smc_dp.cli.options import positive"),
    "somebody uses the command line": ("smc_dp.run.folder", "from smc_dp.cli.main import main"),
    "assert": ("smc_dp.run.folder", "def f(x):\n    assert x"),
    "bare except": ("protocols.runtime.x", "try:\n    f()\nexcept:\n    pass"),
    "global": ("protocols.runtime.x", "def f():\n    global x\n    x = 1"),
    "module state": ("protocols.runtime.x", "cache = {}"),
    "module state, typed": ("protocols.runtime.x", "cache: dict[str, int] = {}"),
    "module state, made": ("smc_dp.data.x", "from collections import defaultdict\nseen = defaultdict(list)"),
    "module state, comprehension": ("smc_dp.data.x", "table = [i for i in range(3)]"),
    "constant that changes": ("smc_dp.data.x", "SEEN = []\ndef f(x):\n    SEEN.append(x)"),
    "constant that is written": ("smc_dp.data.x", "SEEN = {}\ndef f(x):\n    SEEN[x] = 1"),
    **{
        f"role computes {op}": ("protocols.pathak2010.stage1", f"async def party(me, a, b):\n    c = a {op} b")
        for op in ("+", "-", "*", "/", "//", "%", "**", "<<", ">>", "&", "|", "^", "@")
    },
    "role computes outside": ("protocols.pathak2010.stage1", "SIX = 2 * 3"),
    "role computes in place": ("protocols.comparison.roles", "def f(a, b):\n    a += b"),
    "role negates": ("protocols.comparison.roles", "def f(a):\n    return -a"),
    "role computes in a call": ("protocols.pathak2010.setup", "def f(me, a):\n    me.send(a, [x * 2 for x in a])"),
    "role computes in a context": ("protocols.pathak2010.setup", "def _context(a, b):\n    return a ^ b"),
    "an option in a message": ("smc_dp.data.x", "raise ValueError('--split: wanted percentages')"),
    "an option inside a message": ("smc_dp.aggregation", "def f(x):\n    return f'{x}: wanted --key-bits'"),
    "an option in a docstring": ("protocols.runtime.x", "def f():\n    'What `--json` prints.'"),
    "role prints": ("protocols.pathak2010.stage2", "def f(a):\n    print(a)"),
    "role opens a file": ("protocols.pathak2010.stage2", "def f(a):\n    open(a)"),
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
    "another protocol's roles": ("protocols.pathak2010.stage1", "from protocols.comparison import roles"),
    "types": ("protocols.pathak2010.stage3", "async def f(psi: tuple[int, ...] | None) -> int | None:\n    return psi"),
    "bytes joined": ("protocols.pathak2010.setup", "def f(a):\n    return b'x' + a"),
    "context": ("protocols.pathak2010.setup", "def _context(me, a):\n    return me.session_id + a.encode()"),
    "constants": ("smc_dp.data.x", "LINKS = {'lan': 1}\n__all__ = ['LINKS']"),
    "worker processes": ("protocols.runtime.workers", "import multiprocessing"),
    "joblib in the experiments": ("smc_dp.compare.runner", "import joblib"),
    "numpy in learning": ("smc_dp.learning.x", "import numpy as np"),
    "the stream in privacy": ("smc_dp.privacy.x", "from protocols.arithmetic.rng import Stream"),
    "an option in the command line": ("smc_dp.cli.options", "raise ValueError('--split: wanted percentages')"),
    "dashes": ("smc_dp.data.x", "'A dash -- so -- and a rule ---, and a--b.'"),
    "an auditor looks a protocol up": ("smc_dp.audit.run.evidence", "from protocols import programs"),
    "both halves": (
        "smc_dp.aggregation.x",
        "from protocols.pathak2010 import PROGRAM\nfrom smc_dp.errors import InputError",
    ),
}


@pytest.mark.parametrize("name", FINE)
def test_allowed_snippet_passes(name: str) -> None:
    module, source = FINE[name]
    assert faults(source, module) == []
