"""Step 1.6 in one garbled circuit between P_1 and Charlie, in place of comparisons [N12].

P_1 garbles, with all a~; Charlie evaluates, with all b~, and is told the place of the smallest and nothing else, not
even the answer of a single comparison. P_1 learns nothing, and no place from Charlie.
"""

from __future__ import annotations

from protocols.comparison.garbled import Choices, Extension, Tables, cut, joined
from protocols.crypto import garbled_place, oblivious
from protocols.errors import DecodeError, LocalError
from protocols.pathak2010.parameters import Parameters
from protocols.pathak2010.values import CuratorKeys, Halves, PartyKeys
from protocols.runtime.endpoint import Endpoint


async def first(me: Endpoint, p: Parameters, keys: PartyKeys, a: list[int]) -> None:
    """P_1 with all blinded halves a~. Learns nothing: the extension hides all b~."""
    if keys.choice is None:
        raise LocalError(f"{me.name} garbles without having chosen in the base transfers")
    me.send(me.curator, Choices(keys.choice.points))
    extension = await me.receive(me.curator, Extension)
    tables = garbled_place.garble(me.session_id, keys.choice, extension.u, p.compared.vector(a), p.compared.bits)
    for part in cut(tables):
        me.send(me.curator, Tables(part))


async def curator(me: Endpoint, p: Parameters, keys: CuratorKeys, halves: Halves) -> int:
    """Charlie: the place j~ of the smallest size behind both permutations, and nothing of the sizes."""
    garbler = me.parties[0]
    if keys.offer is None:
        raise LocalError(f"{me.name} evaluates without having offered transfers")
    choices = await me.receive(garbler, Choices)
    bits = garbled_place.chosen(p.compared.vector(halves.b_tilde), p.compared.bits)
    try:
        extension = oblivious.extend(me.session_id, keys.offer, choices.R, bits)
    except DecodeError as error:
        me.refuse(garbler, f"sent an unusable point: {error}")
    me.send(garbler, Extension(extension.u))
    parts = [(await me.receive(garbler, Tables)).part for _ in range(p.table_parts)]
    try:
        tables = joined(parts, p.table_bytes)
        return garbled_place.evaluate(me.session_id, extension.labels, p.K, p.compared.bits, tables)
    except DecodeError as error:
        me.refuse(garbler, f"garbled what tells no place: {error}")
