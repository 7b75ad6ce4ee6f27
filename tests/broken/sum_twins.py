"""The secure sum with one thing left out or said twice, as patches of role code: some coalition learns more."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager

from support.planted_roles import Patch
from support.planted_roles import planted as planted_in

from protocols import secure_sum
from protocols.runtime.session import Program
from protocols.secure_sum import dealing, masks, roster, steps, unmasking
from protocols.secure_sum.parameters import Parameters


def planted(name: str) -> AbstractContextManager[Program]:
    """The program, while the code of its roles is that of this twin."""
    return planted_in(secure_sum, TWINS[name])


DRAWN, ONE = "tuple(rng.bytes(SEED_BYTES) for _ in range(p.R))", "(rng.bytes(SEED_BYTES),) * p.R"
SELF_MASK = "minus.append(masking.self_mask(context, i, seed, length, p.width))"
ANSWER = "me.ask(vault.values)"
TWINS: Mapping[str, Sequence[Patch]] = {
    "T := t": [(Parameters.T.fget, "return self.Q", "return self.t")],  # type: ignore[attr-defined]
    "no self mask": [
        (masks.mask_openly, "plus.append(masking.self_mask(context, index, b, len(z), p.width))", ""),
        (masks.unmask_sum, SELF_MASK, "pass"),
    ],
    "both kinds of shares": [
        (unmasking.shares_to_unmask, "tuple(dealing.share_digest(share) for share in hidden)", "hidden"),
        (unmasking.is_committed_share, "got.siblings[at]", "dealing.share_digest(got.siblings[at])"),
    ],
    "one mask key for all sums": [
        (dealing.deal_seeds, f"s = {DRAWN}", f"s = {ONE}"),
        (roster.mask_key_fault, 'return name, Fault("mask_key.twice")', "continue"),
    ],
    "one seed for all sums": [(dealing.deal_seeds, f"b = {DRAWN}", f"b = {ONE}")],
    "no noise": [(steps.masked_input, "p.ring.add_vectors(mine.numbers[r], mine.noise[r])", "mine.numbers[r]")],
    "no noise in what is asked for": [
        (secure_sum._known, ANSWER, f"Addends({ANSWER}.numbers, ((0,) * p.length(r),))"),
    ],
    "digests that can be tried": [(roster.inputs_digest, '_number(i) + b"".join(masked[i])', "masked[i][0]")],
    "one context for all sums": [(roster.sum_context, "_number(r) + query", "_number(0) + first_query(session)")],
    "shares under a key that Charlie has": [
        (dealing.encrypt_shares, "dealer, holder, agreed, [", "dealer, holder, context, ["),
        (
            dealing.decrypt_shares,
            "dealer, holder, agreed, body)\n    except",
            "dealer, holder, context, body)\n    except",
        ),
    ],
}
