"""The vectors of the secure sum: what `make_vectors.py` puts into `secure_sum.json`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from protocols.crypto import sealing
from support import sum_ops

if TYPE_CHECKING:
    from make_vectors import VectorFile

PARAMETERS: dict[str, Any] = {
    **{"parties": ["P1", "P2", "P3"], "colluders": 0, "dropouts": 1, "sums": [[[2, "none"]], [[1, "none"]]]},
    **{"ring_bits": 16},
}


def fill(vectors: VectorFile) -> None:
    """All cases."""
    _shares(vectors)
    _masks(vectors)
    _digests(vectors)
    _parameters(vectors, PARAMETERS)
    _statements(vectors)
    _runs(vectors, PARAMETERS)


def _shares(vectors: VectorFile) -> None:
    secret = bytes(range(32))
    for threshold, count in ((2, 3), (1, 2), (3, 5)):
        shares = vectors.add("shamir_deal", secret=secret, threshold=threshold, count=count, seed=f"shares {threshold}")
        vectors.add("shamir_combine", shares=[[x, shares[x - 1]] for x in range(count, count - threshold, -1)])
        vectors.add("shamir_combine", shares=list(enumerate(shares, start=1)))
    vectors.add("shamir_combine", shares=[[1, shares[0]], [2, shares[1]]])  # one too few: another string
    vectors.add(
        "shamir_combine", shares=[[1, shares[0]], [2, shares[1]], [3, bytes(32)]]
    )  # a wrong one: another string
    vectors.add("shamir_combine", shares=[[254, "57"], [255, "83"]])
    vectors.add("shamir_deal", "LocalError", secret=secret, threshold=4, count=3, seed="shares")
    for threshold, count in ((0, 3), (4, 3), (2, 256)):
        given = {"secret": secret, "threshold": threshold, "count": count, "seed": "shares"}
        vectors.add("refused", what="shamir_deal", given=given)
    for wrong in ([], [[0, "aa"]], [[256, "aa"]], [[1, "aa"], [2, "aabb"]]):
        vectors.add("refused", what="shamir_combine", given={"shares": wrong})


def _masks(vectors: VectorFile) -> None:
    context, secret, other = bytes(32), bytes(range(32)), bytes(range(1, 33))
    agreed = vectors.add("mask_agree", secret=secret, peer=sealing.public_key(other))["agreed"]
    vectors.add("mask_agree", secret=other, peer=sealing.public_key(secret))
    for small in (bytes(32), b"\1" + bytes(31), (2**255 - 20).to_bytes(32, "little"), bytes(31)):
        vectors.add("refused", what="mask_agree", given={"secret": secret, "peer": small})
    for length, width in ((1, 1), (3, 2), (2, 8), (1, 128)):
        vectors.add("self_mask", context=context, index=1, seed=secret, length=length, width=width)
        for one, another in ((0, 1), (1, 0), (0, 199)):
            given = {"context": context, "one": one, "other": another, "agreed": agreed}
            vectors.add("pair_mask", **given, length=length, width=width)
    vectors.add("combined_masks", plus=["ffffff", "010203"], minus=["000001"], length=3, width=1)
    vectors.add("combined_masks", plus=[], minus=["0001ffff"], length=2, width=2)
    secrets = [bytes([i]) * 32 for i in range(3)]
    keys = [sealing.public_key(s) for s in secrets]
    y = []
    for i, z in enumerate(([1, 2], [10, 20], [65535, 300])):
        y.append(vectors.add("blinded", z=z, context=context, index=i, b=bytes([10 + i]) * 32, s=secrets[i], keys=keys))
    vectors.add("blinded", z=[1, 2], context=context, index=1, b=None, s=secrets[1], keys=keys)
    seeds = [bytes([10 + i]) * 32 for i in range(3)]
    vectors.add("lifted", context=context, y=list(enumerate(y)), seeds=seeds, keys=keys)
    vectors.add("lifted", context=context, y=[[0, y[0]], [2, y[2]]], seeds=[seeds[0], secrets[1], seeds[2]], keys=keys)
    vectors.add(
        "lifted", context=bytes([1]) * 32, y=list(enumerate(y)), seeds=seeds, keys=keys
    )  # another query: no sum
    _closed_masks(vectors, secrets, keys)


def _closed_masks(vectors: VectorFile, secrets: list[bytes], keys: list[bytes]) -> None:
    context, small = bytes(32), bytes(32)
    for key, length, width in ((bytes(32), 12, 8), (secrets[1], 3, 2), (secrets[1], 1, 128), (secrets[2], 5, 3)):
        vectors.add("expanded", key=key, length=length, width=width)
    mine = {"secret": secrets[0], "index": 0, "context": context}
    for over, other, width in ((0, 1, 8), (0, 2, 8), (1, 1, 8), (2, 1, 3), (0, 1, 1)):
        vectors.add("closed_mask", **mine, keys=keys, over=over, other=other, length=2, width=width)
    vectors.add(
        "closed_mask", **mine | {"secret": secrets[1], "index": 1}, keys=keys, over=1, other=0, length=2, width=8
    )
    for other, theirs in ((0, keys), (1, [keys[0], small, keys[2]])):  # its own, and one of small order
        refused = {**mine, "keys": theirs, "over": 0, "other": other, "length": 2, "width": 8}
        vectors.add("refused", what="closed_mask", given=refused)
    for i, z in enumerate(([1, 2], [10, 20], [65535, 300])):
        for over in (0, 1):
            vectors.add("covered", z=z, secret=secrets[i], index=i, keys=keys, over=over, context=context)


def _digests(vectors: VectorFile) -> None:
    held = [["aa" * 32, "bb" * 32], ["cc" * 32, "dd" * 32], ["ee" * 32, "ff" * 32]]
    for r in range(3):
        vectors.add("share_path", dealer=1, holder=2, r=r, held=held)
    vectors.add("sum_greeting", name="P2", seed="greeting")
    first = vectors.add("sum_context", session=bytes(32), greeted=bytes([1]) * 32, r=0, query=None)
    query = vectors.add("next_query", session=bytes(32), r=0, query=first["query"], members=5, S=[1, 65535])
    vectors.add("sum_context", session=bytes(32), greeted=bytes([1]) * 32, r=1, query=query)
    for listed in (0, 5, 7):
        vectors.add("sum_members", listed=listed)
    vectors.add("refused", what="sum_members", given={"listed": 13})


def _parameters(vectors: VectorFile, p: dict[str, Any]) -> None:
    for change in ({}, {"dropouts": 0}, {"dropouts": 0, "colluders": 2}, {"ring_bits": 1024}):
        vectors.add("sum_parameters", given=p | change)
    for change in (
        *({"dropouts": 2}, {"colluders": 1}, {"colluders": 3}, {"ring_bits": 12}, {"parties": ["P1"]}),
        *({"sums": []}, {"sums": [[]]}, {"output": "shares"}, {"output": "file"}),
    ):
        vectors.add("refused", what="sum_parameters", given={"given": p | change})
    written = sum_ops.read(p).as_dict()
    vectors.add("sum_parameters_read", stated=written)
    for changed in ({"quorum": 3}, {"honest": "2"}, {"colluders": True}, {"more": 1}, {"sums": [[[2]]]}):
        vectors.add("refused", what="sum_parameters_read", given={"stated": written | changed})


def _statements(vectors: VectorFile) -> None:
    at = {"context": bytes([2]) * 32}
    where = {"seed": "statements", "nonce": bytes(32)}
    for name, kind, content in (
        ("P1", "Input", at | {"digest": bytes([3]) * 32}),
        ("charlie", "Listed", at | {"members": 5, "inputs": bytes([4]) * 32}),
        ("P3", "Agreed", at | {"number": 1, "members": 5, "inputs": bytes([4]) * 32}),
        ("charlie", "Ended", at | {"members": 5, "digest": bytes([5]) * 32}),
    ):
        signed = vectors.add("sum_statement", name=name, kind=kind, content=content, **where)
        holds = {"kind": kind, "content": content, "signature": signed["signature"]}
        for change in (
            *({}, {"content": content | {"context": bytes(32)}}, {"signature": bytes(64)}),
            *({"nonce": bytes([1]) * 32}, {"seed": "others"}),
        ):
            vectors.add("sum_statement_holds", **{"name": name} | holds | where | change)
    other = {"name": "P1", "kind": "Listed", "content": at | {"members": 5, "inputs": bytes(32)}, **where}
    vectors.add("refused", what="sum_statement", given=other)


def _runs(vectors: VectorFile, p: dict[str, Any]) -> None:
    how = {"seed": "sum", "nonce": bytes(range(32)), "z": [[[1, 2], [3]], [[10, 20], [-30]], [[65535, 300], [4]]]}
    for vanish in ({}, {"P2": 4}, {"P2": 5}, {"P1": 7, "P2": 5}, {"P3": 3}):
        vectors.add("sum_run", given=p, vanish=vanish, **how)
    vectors.add("sum_run", given=p | {"dropouts": 0, "colluders": 2}, vanish={}, **how)
    shares = how | {"z": [[[1, 2]], [[10, 20]], [[-1, 300]]]}
    one = p | {"dropouts": 0, "sums": [[[2, "none"]]]}
    vectors.add("sum_run", given=one | {"output": "shares"}, vanish={}, **shares)
    open_to_all = p | {"verifiable": True}
    vectors.add("sum_run", given=open_to_all, vanish={"P2": 4}, **how)
    for change in (
        *(None, ["S", 0, 1], ["members", 0, 7], ["members", 1, 13], ["members", 0, 1]),
        *(["y", 0, 0], ["y", 2, 1], ["inputs", 0, bytes(64)], ["agreed", 0, bytes(64)], ["agreed", 1, b"\1" * 64]),
        *(["seeds", 0, bytes(32)], ["seeds", 1, bytes(32)]),
    ):
        vectors.add("sum_opening_fault", given=open_to_all, vanish={"P2": 4}, change=change, **how)
    vectors.add("sum_run", "LocalError", given=p | {"dropouts": 2}, vanish={}, **how)
