"""No object that holds a secret prints it."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
from support import byte_steps
from support.pathak import trial

from protocols.arithmetic.rng import Stream
from protocols.crypto import dgk, paillier
from protocols.crypto.identity import Identity
from protocols.runtime.actor import actors
from protocols.runtime.inbox import InboxEntry
from protocols.runtime.simulate import Setting
from smc_dp.data.federation import Rows
from smc_dp.methods.functionality import Contribution

CANARY = 271828182845904523


def forms(value: int) -> set[str]:
    return {str(value), f"{value:x}", repr(value.to_bytes(8, "big"))}


def test_values_of_a_run() -> None:
    t = trial([CANARY % 2**32, 7], 1, weights=[[CANARY], [1]], noise=[[CANARY], [1]])
    run = t.run(Setting(views=True))
    session, identities, seeds, inputs = t.setup
    first = byte_steps.begin(session, "P1", identities["P1"], seeds["P1"], inputs["P1"])
    shown = [*t.inputs, run, *run.views.values(), *run.transcript.envelopes, first, *run.published.values()]
    shown += [
        *run.recorded.values(),
        *actors(*t.setup, {}).values(),
        InboxEntry("P1", 1, "Half", "stage1", 2, b"%d" % CANARY),
    ]
    for value in shown:
        assert not forms(CANARY) & set(repr(value).split("'")), type(value)
        assert str(CANARY) not in repr(value), type(value)
    assert repr(t.seeds["P1"].key)[2:-1] not in repr(first)
    for view in run.views.values():
        for result in filter(dataclasses.is_dataclass, view.results):
            assert all(len(number) < 20 for number in _numbers(repr(result))), type(result)


def _numbers(text: str) -> list[str]:
    return "".join(c if c.isdigit() else " " for c in text).split()


def test_keys_and_private_inputs() -> None:
    key, compare = paillier.generate(256, Stream.from_system()), dgk.generate(256, 17, Stream.from_system())
    seen: list[Any] = [
        Stream.from_system(),
        Identity.generate(Stream.from_system()),
        Contribution(CANARY, (CANARY,), (CANARY,)),
        Rows(np.full((1, 1), 0.271828), np.ones(1, dtype=np.int64)),
        *(
            key,
            key.public,
            key.public.encrypt(5, Stream.from_system()),
            compare,
            compare.encrypt(1, Stream.from_system()),
        ),
    ]
    for value in seen:
        text = repr(value)
        assert str(CANARY) not in text
        assert "0.271828" not in text
        secrets = [getattr(value, f.name) for f in dataclasses.fields(value)] if dataclasses.is_dataclass(value) else []
        assert not [s for s in secrets if isinstance(s, int) and s > 2**64 and str(s) in text]
        assert not [s for s in secrets if isinstance(s, bytes) and repr(s) in text]
