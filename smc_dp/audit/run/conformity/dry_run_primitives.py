"""Primitives of a dry run: agreements and shares that hide nothing, and give the same conversation in less time.

Nobody attacks a dry run, and it follows the schedule of honest roles. There both ends of an agreement find the same
string, another pair finds another one, and enough shares open their secret. More is not asked of them.
"""

from __future__ import annotations

import builtins
import hashlib
from collections.abc import Mapping, Sequence
from types import SimpleNamespace

from protocols.arithmetic import shamir
from protocols.arithmetic.rng import Stream
from protocols.crypto import masking
from protocols.runtime.session import Program
from smc_dp.leakage.symbolic.rebind import Rebinding


class _OnQuickPrimitives(Rebinding):
    """Copies of role modules that catch errors as the real ones do."""

    BUILTINS = vars(builtins)


def on_quick_primitives(program: Program) -> Program:
    """Return the program with roles and a greeting that make no real agreement and no real share."""
    return _OnQuickPrimitives({masking: _MASKING, shamir: _SHARING}, frozenset()).program(program)


def _public_key(secret: bytes) -> bytes:
    return hashlib.sha256(b"key" + secret).digest()


def _agree_with_all(secret: bytes, peers: Sequence[bytes]) -> tuple[bytes, ...]:
    own = _public_key(secret)
    return tuple([own + peer if own < peer else peer + own for peer in peers])


def _deal(secret: bytes, threshold: int, count: int, rng: Stream) -> tuple[bytes, ...]:
    return (secret,) * count


def _combine(shares: Mapping[int, bytes]) -> bytes:
    return next(iter(shares.values()))


_SHARING = SimpleNamespace(**{**vars(shamir), "deal": _deal, "combine": _combine})
_MASKING = SimpleNamespace(
    **{
        **vars(masking),
        "public_key": _public_key,
        "agree_with_all": _agree_with_all,
        "agree": lambda secret, peer: _agree_with_all(secret, (peer,))[0],
        "agreeing": lambda key: key,
        "closed_key": lambda secret: _public_key(secret.secret),
        "closed_pairs": lambda secret, index, keys: masking.ClosedPairs(index, _agree_with_all(secret.secret, keys)),
    }
)
