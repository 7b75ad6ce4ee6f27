"""What a key leaves in the memory of its process when it goes: public values, and nothing with p or q in it."""

from __future__ import annotations

import gc
import sys
import weakref
from collections.abc import Callable, Iterator
from math import gcd
from types import ModuleType
from typing import Any

import gmpy2
import pytest
from broken.paillier_twins import encrypt_with_tables_of_the_process

from protocols.arithmetic import modular
from protocols.arithmetic.rng import Stream
from protocols.crypto import dgk, paillier


def reachable() -> Iterator[Any]:
    """Every object that can be reached from the state of the modules of `protocols`, other modules left out."""
    mine = [vars(module) for name, module in sys.modules.items() if name.partition(".")[0] == "protocols"]
    seen = {id(vars(module)) for module in list(sys.modules.values())}
    todo: list[Any] = list(mine)
    while todo:
        for found in gc.get_referents(todo.pop()):
            if id(found) not in seen and not isinstance(found, ModuleType):
                seen.add(id(found))
                todo.append(found)
                yield found


def numbers() -> set[int]:
    """The long integers among them."""
    return {int(x) for x in reachable() if isinstance(x, int | gmpy2.mpz) and int(x).bit_length() > 64}


def give_away(numbers: set[int], n: int) -> list[int]:
    """Those that have a factor in common with n, but not all of n."""
    return [x for x in numbers if gcd(x, n) not in (1, n)]


def used_paillier(encrypt: Callable[[paillier.PrivateKey, int, Stream], Any]) -> int:
    """The modulus of a key that was made, used until its tables were made, and dropped."""
    rng = Stream.from_system()
    key = paillier.generate(256, rng)
    sent = [encrypt(key, m, rng) for m in range(10)]
    assert [key.decrypt(c) for c in sent] == list(range(len(sent)))
    key.public.encrypt(1, rng)
    return key.public.n


def used_dgk() -> int:
    """The same for a comparison key."""
    rng = Stream.from_system()
    key = dgk.generate(256, 17, rng)
    assert [key.is_zero(key.encrypt(m, rng)) for m in (0, 1)] == [True, False]
    key.public.encrypt(1, rng)
    return key.public.n


@pytest.mark.parametrize(
    ("use", "kept"),
    [
        (lambda: used_paillier(paillier.PrivateKey.encrypt), False),
        (lambda: used_paillier(encrypt_with_tables_of_the_process), True),
        (used_dgk, False),
    ],
    ids=["Paillier", "Paillier, tables of the process", "DGK"],
)
def test_no_secret_of_a_key_that_is_gone_can_be_reached(use: Callable[[], int], kept: bool) -> None:
    n = use()
    gc.collect()
    found = numbers()
    modular.public_fixed_base.cache_clear()
    assert found & {n, n * n}  # what is public is there, so the walk gets to the tables
    assert bool(give_away(found, n)) == kept


@pytest.mark.parametrize("make", [lambda rng: paillier.generate(256, rng), lambda rng: dgk.generate(256, 17, rng)])
def test_tables_of_secret_moduli_go_with_their_key(make: Callable[[Stream], Any]) -> None:
    rng = Stream.from_system()
    key = make(rng)
    key.encrypt(1, rng)
    tables = [weakref.ref(table) for table in key._tables]
    assert all(table() is not None for table in tables)
    del key
    gc.collect()
    assert all(table() is None for table in tables)
