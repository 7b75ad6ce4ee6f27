"""The rules of the source tree: what may import what, and what no file may contain.

`python tests/layers.py` prints the import graph: rooms, arrows and cycles. `test_layers.py` holds every rule and breaks
each one on purpose. Protocols are ruled by pattern: a new folder of `protocols` needs no new rule.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = ("protocols", "smc_dp")

# The half of `protocols` that a role may know: numbers, keys, errors, and what a role says to its engine.
ROLE = (
    *("protocols.arithmetic", "protocols.crypto", "protocols.errors"),
    *("protocols.runtime.endpoint", "protocols.runtime.message", "protocols.runtime.session"),
)
# The half of `protocols` that knows no protocol by name, and the list in which all protocols are looked up.
GENERIC = (
    *("protocols.arithmetic", "protocols.crypto", "protocols.errors", "protocols.programs", "protocols.runtime"),
)
# Folders of `protocols` that hold no protocol, and its single files -> what they may import.
FOUNDATIONS: Mapping[str, tuple[str, ...]] = {
    "protocols": (),
    "protocols.arithmetic": ("protocols.errors",),
    "protocols.crypto": ("protocols.arithmetic", "protocols.errors"),
    "protocols.curator": ("protocols.errors", "protocols.runtime.message"),
    "protocols.errors": (),
    "protocols.programs": ("protocols",),
    "protocols.runtime": ("protocols.arithmetic", "protocols.crypto", "protocols.errors"),
}
PROTOCOL = (*ROLE, "protocols.curator")
# A protocol that uses a part of another one names it here.
SHARED: Mapping[str, tuple[str, ...]] = {
    "protocols.linear": (
        *("protocols.comparison.garbled", "protocols.pathak2010.noisy_sum", "protocols.pathak2010.noisy_sum_claims"),
        "protocols.pathak2010.values",
    ),
    "protocols.pathak2010": ("protocols.comparison",),
}
# Name of a file in a protocol's folder -> what it may import besides: claims, declarations and quotations are no roles.
BY_FILE: Mapping[str, str] = {
    **dict.fromkeys(
        ("as_published", "ideal", "limitations", "noisy_sum_claims", "opening", "public_verification"),
        "protocols.runtime.claims",
    ),
    **dict.fromkeys(("conversation", "conversation_as_published"), "protocols.runtime.conversation"),
    "protocol": "protocols.runtime.protocol",
    "sentences": "protocols.runtime.citations",
}

# Room of smc_dp, or a part of a room with rules of its own -> what it may import. The longest entry that fits decides.
# A part may import its own files only, unless its entry says more, and a room that is named opens none of its parts.
TABLE: Mapping[str, tuple[str, ...]] = {
    "smc_dp.core": ("protocols.errors",),
    "smc_dp.leakage": (*GENERIC, "protocols.comparison"),
    "smc_dp.pages": ("smc_dp.core",),
    "smc_dp.privacy": ("smc_dp.core", "protocols.arithmetic.rng"),
    "smc_dp.privacy.ledger": ("smc_dp.core", "smc_dp.pages", "smc_dp.privacy", "protocols.crypto.identity"),
    "smc_dp.data": ("smc_dp.core", "smc_dp.pages"),
    "smc_dp.methods": (
        *("smc_dp.core", "smc_dp.data", "smc_dp.methods.functionality", "smc_dp.privacy"),
        *("smc_dp.methods.sums.party_limits", "smc_dp.methods.training", "protocols.arithmetic.rng"),
    ),
    "smc_dp.methods.functionality": ("protocols.arithmetic",),
    "smc_dp.methods.sums.party_limits": (
        *("smc_dp.core", "protocols.secure_sum.graph", "protocols.secure_sum.parameters"),
    ),
    "smc_dp.methods.training": ("smc_dp.core", "protocols.arithmetic.rng"),
    "smc_dp.estimators": (
        *("smc_dp.core", "smc_dp.data", "smc_dp.methods", "smc_dp.privacy", "protocols.arithmetic.rng"),
        *("smc_dp.privacy.ledger", "smc_dp.run.coefficient_intervals", "smc_dp.run.coefficient_rows"),
    ),
    "smc_dp.run": (
        *("smc_dp.core", "smc_dp.data", "smc_dp.methods", "smc_dp.pages", "smc_dp.privacy", "smc_dp.run.protocols"),
        *("protocols.arithmetic.rng", "protocols.crypto.identity", "protocols.curator", "protocols.errors"),
        *("protocols.programs", "protocols.runtime"),
        *(
            "smc_dp.methods.functionality",
            "smc_dp.privacy.ledger",
        ),
    ),
    # The only place in `run` that knows protocols by name.
    "smc_dp.run.protocols": (
        *("smc_dp.core", "smc_dp.data", "smc_dp.methods", "smc_dp.privacy"),
        *("protocols.arithmetic.rng", "protocols.crypto.identity", "protocols.curator", "protocols.errors"),
        *("protocols.crypto.sealing", "protocols.linear", "protocols.pathak2010", "protocols.programs"),
        *("protocols.runtime", "protocols.secure_sum"),
        "smc_dp.methods.functionality",
    ),
    "smc_dp.audit": (),
    "smc_dp.audit.epsilon": (
        *("smc_dp.core", "smc_dp.data", "smc_dp.leakage", "smc_dp.methods", "smc_dp.pages", "smc_dp.privacy"),
        *(
            "smc_dp.run.protocols",
            "protocols.arithmetic",
            "protocols.curator",
            "protocols.pathak2010",
            "protocols.runtime",
        ),
        "protocols.secure_sum",
        *("smc_dp.methods.functionality",),
    ),
    "smc_dp.audit.run": (
        *("smc_dp.core", "smc_dp.data", "smc_dp.leakage", "smc_dp.methods.training", "smc_dp.pages"),
        *("smc_dp.privacy", "smc_dp.run", "protocols.curator", *GENERIC),
        *(
            "smc_dp.privacy.ledger",
            "smc_dp.run.protocols",
        ),
    ),
    "smc_dp.deploy": (
        *("smc_dp.core", "smc_dp.data", "smc_dp.pages", "smc_dp.privacy", "smc_dp.run"),
        *("protocols.arithmetic.rng", "protocols.crypto.identity", "protocols.curator", "protocols.errors"),
        *("protocols.programs", "protocols.runtime"),
        *(
            "smc_dp.privacy.ledger",
            "smc_dp.run.protocols",
        ),
    ),
    "smc_dp.planning": (
        *("smc_dp.core", "smc_dp.data", "smc_dp.methods", "smc_dp.pages", "smc_dp.privacy", "smc_dp.run"),
        *("protocols.arithmetic", "protocols.comparison", "protocols.crypto", "protocols.errors"),
        *("protocols.programs", "protocols.runtime"),
    ),
    "smc_dp.experiments": (
        *("smc_dp.core", "smc_dp.data", "smc_dp.methods", "smc_dp.pages", "smc_dp.privacy"),
        *("smc_dp.methods.training", "protocols.arithmetic.rng"),
    ),
    "smc_dp.attacks": (
        *("smc_dp.audit.epsilon", "smc_dp.core", "smc_dp.data", "smc_dp.leakage", "smc_dp.methods", "smc_dp.pages"),
        *("smc_dp.privacy", "protocols.arithmetic", "protocols.comparison.garbled", "protocols.crypto"),
        *("protocols.curator", "protocols.errors", "protocols.linear", "protocols.pathak2010", "protocols.runtime"),
        "protocols.secure_sum",
        *("smc_dp.methods.training",),
    ),
    "smc_dp.walkthrough": (
        *("smc_dp.audit.run", "smc_dp.core", "smc_dp.leakage", "smc_dp.pages", "smc_dp.walkthrough.attacks_on"),
        *GENERIC,
    ),
    "smc_dp.walkthrough.attacks_on": (
        *("smc_dp.attacks", "smc_dp.pages", "protocols.arithmetic.rng", "protocols.programs"),
    ),
    "smc_dp.cli": (
        *("smc_dp.attacks", "smc_dp.core", "smc_dp.data", "smc_dp.deploy", "smc_dp.experiments"),
        *("smc_dp.leakage", "smc_dp.methods", "smc_dp.pages", "smc_dp.planning", "smc_dp.privacy", "smc_dp.run"),
        *("smc_dp.walkthrough", "protocols.arithmetic.rng", "protocols.crypto.identity", "protocols.errors"),
        "protocols.programs",
        *(
            "smc_dp.audit.epsilon",
            "smc_dp.audit.run",
            "smc_dp.privacy.ledger",
        ),
    ),
    "smc_dp.__main__": ("smc_dp.cli",),
    # The face of the package: the names of the public API, each imported when it is first used.
    "smc_dp": (
        *("smc_dp.audit.run", "smc_dp.core", "smc_dp.data", "smc_dp.estimators", "smc_dp.methods"),
        *("smc_dp.planning", "smc_dp.privacy", "smc_dp.run"),
    ),
}
COMMAND_LINE, AS_MODULE = "smc_dp.cli", "smc_dp.__main__"

# Folder of `protocols` -> the packages of others that it may import, beside the standard library and what types need.
LIBRARIES: Mapping[str, tuple[str, ...]] = {
    "protocols": (),
    "protocols.arithmetic.modular": ("gmpy2",),
    "protocols.arithmetic.rng": ("cryptography",),
    **{f"protocols.arithmetic.{name}": ("numpy",) for name in ("ring", "shamir", "words")},
    "protocols.crypto": ("cryptography", "phe"),
    **{f"protocols.crypto.{name}": ("cryptography", "numpy") for name in ("garbling", "half_gates", "masking")},
    "protocols.crypto.circuit": ("numpy",),
    "protocols.crypto.identity": ("cryptography", "nacl"),
    "protocols.crypto.oblivious": ("cryptography", "nacl", "numpy"),
    "protocols.runtime": ("cbor2",),
}
NOWHERE = {"pickle", "marshal", "shelve", "dill", "cloudpickle", "joblib", "multiprocessing"}
# It pickles between processes of one run, and never reads a file of others: only the grid of experiments uses it.
EXCEPT = {"joblib": ("smc_dp.experiments.compare",)}
NEVER_IN_ROLES = {
    *("random", "secrets", "os", "time", "datetime", "threading", "asyncio", "logging", "multiprocessing"),
    *("numpy", "gmpy2", "socket", "subprocess", "concurrent", "uuid"),
}
# Protocols whose roles compute in the open, which is what they are kept for.
COMPUTES_IN_ROLES = ("protocols.pathak2010.as_published",)
# Who may log: files that see names, envelopes and charges. What a role may know is not among them, nor a role itself.
# The connection to a relay only quiets the log of another library, and FLARE's jobs keep ours from FLARE's.
LOGS = {
    "smc_dp.deploy.flare.private_log",
    *("smc_dp.deploy.nats.connection", "protocols", "protocols.runtime.events", "smc_dp", "smc_dp.cli.verbose"),
    *("smc_dp.deploy.session_driver", "smc_dp.privacy.ledger.ledger", "smc_dp.run.simulation"),
}
# The one file that imports by a name from a table of its own: the face of the package.
IMPORTS_BY_NAME = {"smc_dp"}
RELATIVE = "a relative import"
HIDDEN_IMPORTS = {"import_module", "__import__"}
OPERATORS = (
    *(ast.Add, ast.Sub, ast.Mult, ast.Div, ast.FloorDiv, ast.Mod, ast.Pow, ast.MatMult),
    *(ast.LShift, ast.RShift, ast.BitAnd, ast.BitOr, ast.BitXor),
)
OPTION = re.compile(r"(?<![\w-])--[a-z]")
IMPURE = {"open", "print", "input", "id", "hash", "eval", "exec", "__import__"}
CHANGERS = {
    *("append", "add", "update", "setdefault", "pop", "popitem", "clear", "extend", "insert", "remove", "discard"),
}


def fits(module: str, prefix: str) -> bool:
    """Return whether the module is this folder or file, or inside it."""
    return module == prefix or module.startswith(prefix + ".")


def entry(module: str, table: Mapping[str, tuple[str, ...]]) -> str:
    """Return the longest entry of the table that the module falls under."""
    return max((key for key in table if fits(module, key)), key=len, default="")


def is_protocol(module: str) -> bool:
    """Return whether the module is in the folder of a protocol, by pattern."""
    return fits(module, "protocols") and entry(module, FOUNDATIONS) == "protocols" != module


def allowed(module: str) -> tuple[str, ...]:
    """Return what of ours the module may import, beside its own folder."""
    if not is_protocol(module):
        return {**FOUNDATIONS, **TABLE}[entry(module, {**FOUNDATIONS, **TABLE}) or "protocols"]
    folder, _, file = module.removeprefix("protocols.").partition(".")
    besides = (BY_FILE[file],) if file in BY_FILE else ()
    return (*PROTOCOL, *SHARED.get(f"protocols.{folder}", ()), *besides)


def own_folder(module: str) -> str:
    """Return the folder that is open to the module: its protocol, its foundation, its part of a room."""
    if fits(module, "smc_dp"):
        return entry(module, TABLE)
    return module if module == "protocols" else ".".join(module.split(".")[:2])


def room(module: str) -> str:
    """Return the room of a module: the first folder below smc_dp, or the top-level folder."""
    parts = module.split(".")
    return ".".join(parts[:2]) if parts[0] == "smc_dp" else parts[0]


@cache
def parsed(source: str) -> ast.Module:
    """Return the tree of a file; each rule and several tests look at the same one."""
    return ast.parse(source)


@cache
def nodes(tree: ast.AST) -> tuple[ast.AST, ...]:
    """Return all that is in a tree."""
    return tuple(ast.walk(tree))


def statements(tree: ast.AST) -> list[ast.AST]:
    """Return the tree, all statements in it, and handlers and cases: a few of all nodes."""
    found = [tree]
    for node in found:
        for inner in ("body", "handlers", "orelse", "finalbody", "cases"):
            below = getattr(node, inner, ())
            found += below if isinstance(below, list) else ()
    return found


def imports(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Yield line and full name of every import at any depth, TYPE_CHECKING too, names of `from` imports in full."""
    for node in statements(tree):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = RELATIVE if node.level else node.module
            yield from ((node.lineno, f"{base}.{alias.name}") for alias in node.names)


@cache
def imported(source: str) -> frozenset[str]:
    """Return the names that a file imports at any depth; several tests look at the graph."""
    return frozenset(name for _, name in imports(ast.parse(source)))


def called(node: ast.Call) -> str:
    """Return the last name of what is called, empty where it has none."""
    return str(getattr(node.func, "attr", getattr(node.func, "id", "")))


def known(top: str, module: str) -> bool:
    """Return whether this package of others may be imported here; `smc_dp` is free to choose."""
    libraries = (*LIBRARIES[entry(module, LIBRARIES)], "typing_extensions") if fits(module, "protocols") else (top,)
    return top in sys.stdlib_module_names or top in libraries


def forbidden(top: str, module: str) -> bool:
    """Return whether nobody, or nobody but another folder, may use this package of others."""
    return top in NOWHERE and not any(fits(module, place) for place in EXCEPT.get(top, ()))


def wrong_imports(tree: ast.AST, module: str) -> Iterator[str]:
    """Yield the imports that the tables do not allow."""
    if entry(module, TABLE) == "smc_dp" != module:
        yield f"{module} stands in a room without a row"
    folder = own_folder(module)
    for node in nodes(tree):
        if isinstance(node, ast.Call) and called(node) in HIDDEN_IMPORTS and module not in IMPORTS_BY_NAME:
            yield f"{module}:{node.lineno} imports what the tree does not show"
    for line, name in imports(tree):
        top = name.split(".")[0]
        if top in PACKAGES:
            inside = folder not in PACKAGES and opens(folder, name)
            if not inside and not any(opens(one, name) for one in allowed(module)):
                yield f"{module}:{line} imports {name}"
            if fits(name, COMMAND_LINE) and module != AS_MODULE and not fits(module, COMMAND_LINE):
                yield f"{module}:{line} imports the command line"
        elif forbidden(top, module) or not known(top, module):
            yield f"{module}:{line} imports {name}"
        if is_protocol(module) and top in NEVER_IN_ROLES:
            yield f"{module}:{line}: a role file imports {name}"
        if top == "logging" and module not in LOGS:
            yield f"{module}:{line} logs"


def opens(target: str, name: str) -> bool:
    """Return whether this target of a row opens the name: it does not open a part with rules of its own."""
    return fits(name, target) and entry(name, TABLE) == entry(target, TABLE)


_POSSESSIVE_GROUP = ")*+"


def wrong_statements(tree: ast.AST, module: str) -> Iterator[str]:
    """Yield assertions, handlers of everything, names rebound from outside, and patterns that old versions misread."""
    for node in nodes(tree):
        # Python below 3.11.5 matches possessive groups wrongly; an atomic group is right everywhere.
        if isinstance(node, ast.Constant) and _POSSESSIVE_GROUP in str(node.value):
            yield f"{module}:{node.lineno} has a possessive group"
        if isinstance(node, ast.Assert):
            yield f"{module}:{node.lineno} asserts"
        if isinstance(node, ast.ExceptHandler) and node.type is None:
            yield f"{module}:{node.lineno} catches everything"
        if isinstance(node, ast.Global | ast.Nonlocal):
            yield f"{module}:{node.lineno} rebinds a name from outside"


def mutable_state(tree: ast.Module, module: str) -> Iterator[str]:
    """Yield module-level names bound to a dict, list or set, unless written in capitals, which nobody changes."""
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
    """Yield constants in capitals that a function of their module changes after all."""
    for node in nodes(tree):
        place = None
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in CHANGERS:
            place = node.func.value
        elif isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store | ast.Del):
            place = node.value
        if isinstance(place, ast.Name) and place.id.isupper() and len(place.id) > 1:
            yield f"{module}:{getattr(node, 'lineno', 0)} changes {place.id}"


def has_role(tree: ast.Module, module: str) -> bool:
    """Return whether the file is one of roles: a file in the folder of a protocol that defines a coroutine."""
    is_face = module.count(".") == 1  # a program's own roles only name its stages
    is_coroutine = any(isinstance(node, ast.AsyncFunctionDef) for node in nodes(tree))
    return is_protocol(module) and not is_face and is_coroutine and module not in COMPUTES_IN_ROLES


def arithmetic(tree: ast.Module, module: str) -> Iterator[str]:
    """Yield what a role file computes itself: it only moves messages and calls functions, to run over symbols too."""
    if has_role(tree, module):
        yield from _computed(tree, module, "")


def _computed(tree: ast.AST, module: str, inside: str) -> Iterator[str]:
    """Yield operators, but for text joined by functions called `_context`, impure calls, and handlers of a receive."""
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
        yield from _computed(node, module, name)


def is_annotation(node: ast.AST) -> bool:
    """Return whether this is a union of types, such as `Vector | None`."""
    return (
        isinstance(node, ast.BinOp)
        and isinstance(node.op, ast.BitOr)
        and any(isinstance(c, ast.Constant) and c.value is None for c in ast.walk(node))
    )


def flags(tree: ast.AST, module: str) -> Iterator[str]:
    """Yield texts that name an option of the command line, outside of it: the library names its own parameters."""
    if fits(module, COMMAND_LINE):
        return
    for node in nodes(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and OPTION.search(node.value):
            yield f"{module}:{node.lineno} names an option"


def faults(source: str, module: str) -> list[str]:
    """Return everything that is wrong with a file."""
    tree = parsed(source)
    checks = (wrong_imports, wrong_statements, mutable_state, changed_constants, arithmetic, flags)
    return [fault for check in checks for fault in check(tree, module)]


def files(root: Path = ROOT, packages: tuple[str, ...] = PACKAGES) -> dict[str, Path]:
    """Return every source file by the name of its module."""
    found = (path for package in packages for path in sorted((root / package).rglob("*.py")))
    return {".".join(path.relative_to(root).with_suffix("").parts).removesuffix(".__init__"): path for path in found}


def import_graph(sources: Mapping[str, str]) -> dict[str, set[str]]:
    """Return, for each module of these sources, the modules of them that it imports at any depth."""
    graph: dict[str, set[str]] = {}
    for module, source in sources.items():
        found = {_module_in(name, sources) for name in imported(source)}
        graph[module] = found - {"", module}
    return graph


def _module_in(name: str, modules: Mapping[str, object]) -> str:
    while name and name not in modules:
        name = name.rpartition(".")[0]
    return name


def cycles(graph: Mapping[str, set[str]]) -> list[str]:
    """Return the nodes that lie on a cycle or above one that cannot be resolved; empty for a graph without cycles."""
    left = {node: {other for other in found if other in graph and other != node} for node, found in graph.items()}
    while free := [node for node, below in left.items() if not below & set(left)]:
        for node in free:
            del left[node]
    while tops := [node for node in left if not any(node in below for below in left.values())]:
        for node in tops:
            del left[node]
    return sorted(left)


def room_graph(graph: Mapping[str, set[str]]) -> dict[str, set[str]]:
    """Return the arrows between rooms: room -> the other rooms that its files import."""
    found: dict[str, set[str]] = {room(module): set() for module in graph}
    for module, others in graph.items():
        found[room(module)] |= {room(other) for other in others} - {room(module)}
    return found


def allowed_rooms() -> dict[str, set[str]]:
    """Return the arrows between rooms of smc_dp that the table allows, the face of the package left out."""
    found: dict[str, set[str]] = {}
    for name, targets in TABLE.items():
        if name != "smc_dp":
            others = {room(target) for target in targets} - {room(name)}
            found.setdefault(room(name), set()).update(others)
    return found


def picture() -> str:
    """Return the import graph as text: a line for each room with the rooms that it imports, then arrows and cycles."""
    graph = import_graph({module: path.read_text(encoding="utf-8") for module, path in files().items()})
    others = {"demos": "demos", ".ci": ".ci"}
    rooms = room_graph(graph)
    for name, folder in others.items():
        named = {f"{name}.{i}": path.read_text(encoding="utf-8") for i, path in enumerate((ROOT / folder).glob("*.py"))}
        found = {_module_in(target, graph) for module, s in named.items() for target in imported(s)}
        rooms[name] = {room(target) for target in found if target}
    lines = [f"{name}: {', '.join(sorted(below)) or '-'}" for name, below in sorted(rooms.items())]
    tied = cycles(graph)
    counts = f"{len(rooms)} rooms, {sum(map(len, rooms.values()))} arrows, {len(tied)} files on import cycles"
    return "\n".join([*lines, *(f"on a cycle: {module}" for module in tied), counts])


if __name__ == "__main__":
    print(picture())
