"""Role code with faults: the text of some of its functions is another one for a while."""

from __future__ import annotations

import inspect
import sys
import textwrap
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from typing import Any
from unittest.mock import patch

from protocols.runtime.message import Message
from protocols.runtime.session import Program

Patch = tuple[Callable[..., Any], str, str]
"""A function of a role, or of a property; a text that stands in it once, and what stands there instead."""


@contextmanager
def planted(protocol: Any, patches: Sequence[Patch], kinds: tuple[type[Message], ...] = ()) -> Iterator[Program]:
    """The program of this package of a protocol, while these patches are in the code of its roles.

    It knows these kinds of messages as well.
    """
    texts: dict[Callable[..., Any], str] = {}
    for function, old, new in patches:
        text = texts.get(function) or textwrap.dedent(inspect.getsource(function))
        if text.count(old) != 1:
            raise ValueError(f"{function.__name__}: {old!r} stands there {text.count(old)} times")
        texts[function] = text.replace(old, new)
    with ExitStack() as stack:
        for function, text in texts.items():
            module, made = sys.modules[function.__module__], dict[str, Any]()
            exec(compile(text, inspect.getfile(function), "exec"), vars(module), made)
            owner = getattr(module, function.__qualname__.rpartition(".")[0], module)
            stack.enter_context(patch.object(owner, function.__name__, made[function.__name__]))
        program: Program = protocol.PROGRAM
        roles = {kind: getattr(sys.modules[role.__module__], role.__name__) for kind, role in program.roles.items()}
        yield replace(program, roles=roles, kinds=(*program.kinds, *kinds))
