"""Digest of the code on which a check of a protocol's role code depends.

It covers the files of the package `protocols` that define the roles, the trials and the attacks of the claim, those
that execute a session in one process, and all that they import inside of `protocols`, at any depth. An import inside of
a function counts, and so does the `__init__` file of each package on the way. The digest covers names of modules and
the bytes of their files, so no folder outside of `protocols` changes it. The checks themselves are no part of it.
"""

from __future__ import annotations

import ast
import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
from functools import cache
from importlib.resources import files
from numbers import Number
from pathlib import Path
from types import FunctionType
from typing import Any

from protocols.programs import Protocol

PACKAGE = "protocols"
_ENGINE = (f"{PACKAGE}.runtime.simulate", f"{PACKAGE}.runtime.claims")  # execute a session, and read its views


def code_digest(protocol: Protocol) -> str:
    """Return the SHA-256 of the protocol's code, in hexadecimal digits."""
    found = hashlib.sha256()
    for name, content in code_files(protocol).items():
        found.update(f"{name} {hashlib.sha256(content).hexdigest()}\n".encode())
    return found.hexdigest()


def code_files(protocol: Protocol) -> Mapping[str, bytes]:
    """Return the files that the digest covers, by the names of their modules in order.

    Roles and trials from elsewhere count by the name of their module, which no protocol of the package has.
    """
    return _closure(tuple(sorted({*_ENGINE, *_roots(protocol)})), Path(str(files(PACKAGE))))


def _roots(protocol: Protocol) -> Iterator[str]:
    """Yield the modules of the roles, and of all functions in the trials and the attacks of the claim."""
    claim = protocol.claim
    declared = [claim.trials, *claim.limitations] if claim else []
    for function in _functions([protocol.program.roles, declared]):
        yield function.__module__


def _functions(declared: Any) -> Iterator[FunctionType]:
    """Yield the functions in a declaration; raise TypeError for a value that may hide the module of a function."""
    if isinstance(declared, FunctionType):
        yield declared
    elif isinstance(declared, Mapping):
        yield from _functions([*declared, *declared.values()])
    elif isinstance(declared, list | tuple | set | frozenset):
        for value in declared:
            yield from _functions(value)
    elif is_dataclass(declared) and not isinstance(declared, type):
        yield from _functions([getattr(declared, field.name) for field in fields(declared)])
    elif not isinstance(declared, str | bytes | Number | None):
        raise TypeError(f"wanted plain functions and values in a claim, got {declared!r}")


@cache
def _closure(roots: tuple[str, ...], folder: Path) -> Mapping[str, bytes]:
    """Return these modules and all that they import inside of the package in this folder."""
    found: dict[str, bytes] = {}
    waiting = list(roots)
    while waiting:
        name = waiting.pop()
        if name in found:
            continue
        file = _file(name, folder)
        found[name] = b"" if file is None else file.read_bytes()
        if file is not None:
            imported = _imported(found[name], name if file.name == "__init__.py" else name.rpartition(".")[0])
            waiting += [one for one in (*_packages(name), *imported) if _file(one, folder)]
    return dict(sorted(found.items()))


def _packages(name: str) -> list[str]:
    """Return the packages that the module is in."""
    parts = name.split(".")
    return [".".join(parts[:i]) for i in range(1, len(parts))]


@cache
def _imported(content: bytes, package: str) -> tuple[str, ...]:
    """Return all that may be a module in the imports of a file in this package."""
    return tuple(dict.fromkeys(_named(ast.parse(content), package)))


def _named(tree: ast.Module, package: str) -> Iterator[str]:
    below: list[ast.AST] = [tree]
    for node in below:
        if not isinstance(node, ast.expr):  # in which no import stands
            below += ast.iter_child_nodes(node)
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            above = package.split(".")[: len(package.split(".")) + 1 - node.level] if node.level else []
            base = ".".join([*above, *([node.module] if node.module else [])])
            yield from (base, *(f"{base}.{alias.name}" for alias in node.names))


def _file(name: str, folder: Path) -> Path | None:
    """Return the file of a module; None for what is no module of the package in this folder."""
    package, *inside = name.split(".")
    if package != PACKAGE:
        return None
    stem = folder.joinpath(*inside)
    return next((file for file in (stem / "__init__.py", stem.with_suffix(".py")) if file.is_file()), None)
