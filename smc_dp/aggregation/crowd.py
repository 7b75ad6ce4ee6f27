"""Who can add up by a secure sum: how many parties there can be, how many of them may collude, and how many vanish."""

from __future__ import annotations

from protocols.secure_sum.parameters import MOST_PARTIES, most_dropouts
from smc_dp.errors import InputError

FEWEST_PARTIES = 2


def check_crowd(K: int, t: int, D: int) -> None:
    """Raises InputError, with the nearest that works, unless t of K parties may collude while D vanish."""
    for name, count in (("colluders", t), ("dropouts", D)):
        if count < 0:
            raise InputError(f"{name}: wanted at least 0, got {count}")
    if K > MOST_PARTIES:
        raise InputError(f"number of parties: wanted at most {MOST_PARTIES}, got {K}")
    if K < FEWEST_PARTIES:
        raise InputError(f"number of parties: wanted at least {FEWEST_PARTIES}, got {K}: a sum of one hides nothing")
    if t >= K:
        raise InputError(f"colluders: wanted at most {K - 1} of {K} parties, got {t}: some must be honest")
    if most_dropouts(K, t) >= D:
        return
    ways = [f"at most {most_dropouts(K, t)}"]
    fewer = [s for s in range(t) if most_dropouts(K, s) >= D]
    if fewer:
        ways.append(f"`colluders` at most {fewer[-1]}")
    more = next((n for n in range(K + 1, MOST_PARTIES + 1) if most_dropouts(n, t) >= D), None)
    if more is not None:
        ways.append(f"{more} parties")
    wanted = ", or ".join(ways)
    raise InputError(f"dropouts: for {K} parties of whom {t} may collude wanted {wanted}, got {D}")
