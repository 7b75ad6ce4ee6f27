"""The roles of the curator protocol with any of their stages replaced: what the twins of role code are made with.

Every stage is given the party's whole input, so that each can tell anything of it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from protocols.pathak2010 import PROGRAM, setup, stage1, stage2, stage3
from protocols.runtime.message import CURATOR, PARTY
from protocols.runtime.session import Program

Stage = Callable[..., Any]


class Bent:
    """An object with some of its attributes replaced."""

    def __init__(self, of: Any, **replaced: Any) -> None:
        self.__dict__.update(replaced, _of=of)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._of, name)


def party_of(
    home: str,
    *,
    toss: Stage | None = None,
    size: Stage | None = None,
    noise: Stage | None = None,
    weights: Stage | None = None,
) -> Program:
    """The protocol with these stages of every party. `home` is the module that they stand in; `weights` is given what
    `size` left behind as well.
    """

    async def party(me: Any, p: Any, mine: Any) -> Any:
        keys = await me.stage(*((toss, p, mine) if toss else (setup.party, p)), name="setup")
        left = await me.stage(*((size, p, keys, mine) if size else (stage1.party, p, keys, mine.n)), name="stage1")
        psi = await me.stage(*((noise, p, keys, mine) if noise else (stage2.party, p, keys, mine.eta)), name="stage2")
        last = (weights, p, keys, mine, psi, left) if weights else (stage3.party, p, keys, mine.w, psi)
        return await me.stage(*last, name="stage3")

    party.__module__ = home  # what is run over symbols is the module of a role
    return replace(PROGRAM, roles={**PROGRAM.roles, PARTY: party})


def curator_of(
    home: str,
    blinding: Stage = stage1.curator,
    smallest: Stage = stage1.smallest,
    selection: Stage = stage2.curator,
    name: Callable[[Any, int], str] = lambda halves, smallest: "stage2",
) -> Program:
    """The protocol with these stages of Charlie; `name` is that of his stage 2."""

    async def curator(me: Any, p: Any) -> Any:
        keys = await me.stage(setup.curator, p)
        halves = await me.stage(blinding, p, keys, name="stage1")
        found = await me.stage(smallest, p, keys, halves, name="stage1")
        await me.stage(selection, p, keys, halves, found, name=name(halves, found))
        return await me.stage(stage3.curator, p, keys)

    curator.__module__ = home
    return replace(PROGRAM, roles={**PROGRAM.roles, CURATOR: curator})
