"""Write the known-answer vectors: `python tests/make_vectors.py`, or `--check` to compare with the committed files.

Each file in `vectors/` holds `source`, `comment`, `shared` (keys, where cases need them) and `cases`; each case an `op`
(a function of `vector_ops.py`), its `input`, what to `expect` ("ok" or the class of the error), and the `output`.
Everything follows from insecure seeds.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))  # before tests/, whose protocols/ is another folder

from support import garbled_vectors, sum_vectors, vector_ops
from support.vector_ops import Json, out, run

from protocols.arithmetic import modular
from protocols.arithmetic.rng import Stream
from protocols.comparison.messages import DGK
from protocols.comparison.steps import plaintext_modulus
from protocols.crypto import dgk, paillier
from protocols.crypto.paillier import PrivateKey
from protocols.pathak2010 import KINDS
from protocols.pathak2010.messages import XI, ZETA
from protocols.runtime import message as codec

FOLDER = Path(__file__).parent / "vectors"


class VectorFile:
    """The cases of one file; `add` runs each and notes what came."""

    def __init__(self, comment: str, shared: dict[str, Any] | None = None) -> None:
        self.comment, self.shared = comment, out(shared or {})
        self.cases: list[dict[str, Json]] = []

    def add(self, op: str, expect: str = "ok", **given: Any) -> Any:
        """Add a case and return its output; the outcome must be the one expected."""
        case = {"op": op, "input": out(given)}
        outcome, output = run(self.shared, case)
        if outcome != expect:
            raise SystemExit(f"{op} {given}: wanted {expect}, got {outcome}")
        self.cases.append({**case, "expect": expect, **({"output": output} if expect == "ok" else {})})
        return output

    def text(self) -> str:
        """The file, one case to a line."""
        head = {"source": "tests/make_vectors.py", "comment": self.comment, "shared": self.shared}
        lines = [f'"{key}": {json.dumps(value, sort_keys=True)},' for key, value in head.items()]
        cases = ",\n".join(json.dumps(case, sort_keys=True) for case in self.cases)
        return "{\n" + "\n".join(lines) + '\n"cases": [\n' + cases + "\n]\n}\n"


def sharing() -> VectorFile:
    vectors = VectorFile("Random streams, shares in Z_M, permutations, slots.")
    for forks in ([], ["a"], ["a", "b"], ["b"]):
        vectors.add("stream_bytes", seed="stream", forks=forks, n=80)
    vectors.add("stream_bits", seed="bits", widths=[0, 1, 7, 8, 9, 64, 77, 200])
    vectors.add("stream_bits", "ValueError", seed="bits", widths=[-1])
    vectors.add("stream_below", seed="below", bounds=[1, 2, 3, 10, 257, 10**6, 3**60])
    vectors.add("stream_below", "ValueError", seed="below", bounds=[0])
    for bits, x in ((8, 0), (8, 255), (64, 1), (77, 2**77 - 1)):
        vectors.add("split", bits=bits, x=x, seed="split")
    for count in (1, 2, 5):
        vectors.add("split_vector", bits=64, x=[0, 1, 2**64 - 1], count=count, seed="vector")
    vectors.add("add_vectors", bits=64, vectors=[[2**63, -1, 5], [2**63, -1, 5], [1, 1, -10]])
    vectors.add("add_vectors", "ValueError", bits=64, vectors=[[1, 2], [1]])
    for size in (1, 2, 5, 20):
        vectors.add("random_permutation", size=size, seed="permutation")
    vectors.add("permute", images=[2, 0, 1], values=["a", "b", "c"])
    vectors.add("unpermute", images=[2, 0, 1], values=["c", "a", "b"])
    vectors.add("permute", "ValueError", images=[0, 0, 1], values=["a", "b", "c"])
    vectors.add("permute", "ValueError", images=[0, 1], values=["a", "b", "c"])
    vectors.add("toss", coins=["00" * 32, "11" * 32, "22" * 32])
    vectors.add("toss", coins=["11" * 32, "00" * 32, "22" * 32])
    packs = vectors.add("pack", slot_bits=131, slots=3, values=[0, 1, 2**131 - 1, 2**64, 5])
    vectors.add("unpack", slot_bits=131, slots=3, length=5, packs=packs)
    vectors.add("pack", "ValueError", slot_bits=8, slots=3, values=[256])
    vectors.add("pack", "ValueError", slot_bits=8, slots=3, values=[-1])
    return vectors


def secret(key: PrivateKey) -> dict[str, Any]:
    return {"p": key.p, "q": key.q, "bits": key.public.bits}


def paillier_vectors() -> VectorFile:
    key = paillier.generate(512, Stream.insecure_from_seed("paillier"))
    other = paillier.generate(512, Stream.insecure_from_seed("another"))
    vectors = VectorFile("Paillier under `key`; shorter than any key for data.", {"key": secret(key)})
    n = key.public.n
    vectors.add("paillier_generate", bits=512, seed="paillier")
    vectors.add("paillier_generate", "ValueError", bits=255, seed="paillier")
    vectors.add("paillier_assemble", **secret(key))
    vectors.add("paillier_assemble", "ValueError", **secret(key) | {"q": key.p})
    vectors.add("paillier_assemble", "ValueError", **secret(key) | {"q": key.q + 4})
    vectors.add("paillier_assemble", "ValueError", **secret(key) | {"bits": 510})
    made = [
        vectors.add("paillier_encrypt", m=m, seed=f"m {i}") for i, m in enumerate((0, 1, n - 1, 12345, -12345, n // 2))
    ]
    vectors.add("paillier_encrypt_as_owner", m=12345, seed="m 3")
    for c in made:
        vectors.add("paillier_decrypt", c=c)
    blinded = vectors.add("paillier_blind", c=made[3], r=2**140, seed="blind")
    vectors.add("paillier_decrypt", c=blinded)
    total = vectors.add("paillier_add", cs=made[1:4])
    vectors.add("paillier_decrypt", c=total)
    for c in vectors.add("paillier_scale", c=made[3], factors=[0, 1, 2, 2**300]):
        vectors.add("paillier_decrypt", c=c)
    vectors.add("paillier_scale", "ValueError", c=made[3], factors=[-1])
    minus = next(x for x in range(2, 99) if modular.jacobi(x, n) == -1)
    for c in (0, n, n * n, n * n + 1, key.p, key.q**2, minus, pow(minus, n, n * n)):
        vectors.add("paillier_decrypt", "DecodeError", c=c)
    vectors.add("paillier_decrypt_under", "LocalError", n=other.public.n, c=made[0])
    vectors.add("paillier_public", n=n)
    for bad in (0, 1, -3, n - 1, n + 2, key.p):
        vectors.add("paillier_public", "ValueError", n=bad)
    context = b"session and holder"
    proof = vectors.add("admission_prove", context=context)
    for bits, shown, read in (
        *((512, proof, context), (512, proof, b"another"), (3072, proof, context)),
        *((512, proof[:5], context), (512, [*proof[1:], proof[0]], context)),
    ):
        vectors.add("admission_verify", bits=bits, proof=shown, context=read, seed="coins")
    return vectors


def comparison() -> VectorFile:
    key = vector_ops.dgk_generate({}, bits=256, u=17, seed="dgk")
    vectors = VectorFile("The comparison of x and y under the holder's `key`; 4 bits, toy size.", {"key": key})
    vectors.add("dgk_generate", bits=256, u=17, seed="dgk")
    vectors.add("dgk_generate", "ValueError", bits=256, u=15, seed="dgk")
    for m in (0, 1, 16, 17):
        c = vectors.add("dgk_encrypt", m=m, seed=f"m {m}")
        vectors.add("dgk_is_zero", c=c)
    for c in (0, key["p"], key["p"] * key["q"], key["p"] * key["q"] + 1):
        vectors.add("dgk_is_zero", "DecodeError", c=c)
    for length in (1, 4, 76, 100):
        vectors.add("plaintext_modulus", length=length)
    for x, y in ((0, 0), (15, 15), (7, 8), (8, 7), (15, 0), (0, 15)):
        offered = vectors.add("offered_bits", y=y, length=4, seed=f"y {y}")
        for delta_a in (0, 1):
            c = vectors.add("differences", x=x, y=offered, delta_a=delta_a, seed=f"x {x} {delta_a}")
            for flip in (0, 1):
                vectors.add("at_most", c=c, delta=delta_a ^ flip)
    vectors.add("differences", "DecodeError", x=1, y=[*offered[:3], 0], delta_a=0, seed="bad")
    for d_p, d_c in ((0, 0), (31, 0), (0, 31), (16, 15), (15, 16), (20, 27), (3, 9), (16, 1)):
        vectors.add("halves_of_a_difference", bits=5, d_p=d_p, d_c=d_c)
    return vectors


def sealing_vectors() -> VectorFile:
    vectors = VectorFile("Link keys, seals, signatures, commitments, and the header that they bind.")
    a, b = (Stream.insecure_from_seed(name).bytes(32) for name in ("a", "b"))
    public = {name: vectors.add("x25519_public", secret=secret) for name, secret in (("a", a), ("b", b))}
    link = {"session": bytes(range(32)), "me": "north", "other": "south"}
    key = vectors.add("link_keys", secret=a, peer=public["b"], **link)["outgoing"]
    vectors.add("link_keys", secret=b, peer=public["a"], **link | {"me": "south", "other": "north"})
    vectors.add("link_keys", secret=a, peer=public["b"], **link | {"other": "east"})
    vectors.add("link_keys", secret=a, peer=public["b"], **link | {"session": bytes(32)})
    for peer in (bytes(32), bytes([1]) + bytes(31), (2**255 - 20).to_bytes(32, "little"), bytes(31)):
        vectors.add("link_keys", "DecodeError", secret=a, peer=peer, **link)
    sealed = {"key": key, "number": 3, "header": b"header"}
    body = bytes.fromhex(vectors.add("seal", **sealed, payload=b"payload"))
    vectors.add("seal", **sealed, payload=b"")
    vectors.add("unseal", **sealed, body=body)
    for change in (
        *({"body": body[:-1] + bytes([body[-1] ^ 1])}, {"body": body[1:]}, {"body": b""}, {"body": body + b"\x00"}),
        *({"header": b"headers"}, {"number": 4}, {"key": bytes(32)}),
    ):
        vectors.add("unseal", "DecodeError", **sealed | {"body": body} | change)
    signed = vectors.add("sign", secret=a, message=b"message")
    for message, public_key in (
        (b"message", signed["public"]),
        (b"messages", signed["public"]),
        (b"message", bytes(32)),
    ):
        vectors.add("verify", public=public_key, message=message, signature=signed["signature"])
    vectors.add("verify", public=signed["public"], message=b"message", signature=signed["signature"][2:])
    c, opening = vectors.add("commit", context=b"session P1", value=b"coin", seed="commit")
    for context, value, o in (
        (b"session P1", b"coin", opening),
        (b"session P2", b"coin", opening),
        (b"session P1", b"coins", opening),
        (b"session P1", b"coin", bytes(32)),
    ):
        vectors.add("opens", commitment_=c, context=context, value=value, opening=o)
    envelope = {"session": bytes(32), "sender": "P1", "to": "charlie", "kind": "Slot", "stage": "stage1"}
    vectors.add("envelope_header", **envelope, number=7, round=12, prev=bytes(32))
    return vectors


def messages() -> VectorFile:
    p = {"parties": ["P1", "P2", "P3"], "dimension": 3, "key_bits": 512}
    owners = {name: paillier.generate(512, Stream.insecure_from_seed(name)) for name in (XI, ZETA)}
    u = plaintext_modulus(vector_ops.parameters(p).compared_bits)
    compare = dgk.generate(512, u, Stream.insecure_from_seed(DGK)).public
    keys: dict[str, Any] = {name: {"n": key.public.n} for name, key in owners.items()}
    keys[DGK] = {name: getattr(compare, name) for name in ("n", "g", "h", "u", "t")}
    vectors = VectorFile("Every kind of message, and bytes that are none.", {"parameters": p, "keys": keys})
    layout, public = vector_ops.parameters(p).layout(), vector_ops.admitted(vectors.shared)
    for kind in KINDS:
        name, rng = kind.__name__, Stream.insecure_from_seed(kind.__name__)
        vectors.add("message_size", kind=name)
        content = {slot.name: _content(slot, layout, public, rng) for slot in kind.slots}
        encoded = bytes.fromhex(vector_ops.out(vector_ops.encode(vectors.shared, name, out(content))))
        vectors.add("decode", kind=name, data=encoded)
        if len(encoded) < 1000:
            vectors.add("encode", kind=name, content=content)
            for data in (encoded[:-1], encoded + b"\x00", bytes([encoded[0] ^ 1]) + encoded[1:], bytes(len(encoded))):
                vectors.add("decode", "DecodeError", kind=name, data=data)
    _refused(vectors, owners)
    return vectors


def _content(slot: codec.FieldSpec, layout: codec.Layout, keys: codec.Keys, rng: Stream) -> Any:
    def value() -> Any:
        width = layout[slot.protection.width]
        if slot.type is bytes:
            return rng.bytes(width)
        if slot.type in (int, bool):
            return rng.bits(1 if slot.type is bool else 8 * width)
        return keys[slot.protection.width].encrypt(rng.bits(1), rng).value

    return value() if slot.count is None else [value() for _ in range(layout[slot.count])]


def _refused(vectors: VectorFile, owners: dict[str, PrivateKey]) -> None:
    zeta, rng = owners[ZETA], Stream.insecure_from_seed("refused")
    n, c = zeta.public.n, zeta.public.encrypt(1, rng).value
    minus = next(x for x in range(2, 99) if modular.jacobi(x, owners[XI].public.n) == -1)
    half = "0000000000000000" + "0102"
    vectors.add("encode", kind="Relay", content={"a": 7, "b": None})
    vectors.add("decode", kind="Relay", data="824a" + "00" * 9 + "07" + "5880" + "00" * 128)
    vectors.add("encode", "LocalError", kind="Relay", content={"a": 7, "b": c}, fresh=False)
    vectors.add("encode", "LocalError", kind="Blinded", content={"a": None})
    returned = owners[XI].public.encrypt(1, rng).value
    vectors.add("encode", kind="Blinded", content={"a": returned})
    vectors.add("encode", "LocalError", kind="Blinded", content={"a": returned}, uniform=False)
    vectors.add("encode_under_another_key", "LocalError", kind="Blinded", n=n, c=c)
    for a in (-1, 2**80):
        vectors.add("encode", "LocalError", kind="Half", content={"a_tilde": a})
    vectors.add("encode", "LocalError", kind="Reshare", content={"x": [1, 2]})
    vectors.add("encode", "LocalError", kind="Commitment", content={"commitment": "00" * 31})
    for value in (0, owners[XI].p, owners[XI].public.n, owners[XI].public.n ** 2, minus):
        vectors.add("decode", "DecodeError", kind="Blinded", data="815880" + value.to_bytes(128, "big").hex())
    for data in ("81580a" + half, "9f4a" + half + "ff", "815f4a" + half + "ff", "c1814a" + half, "1b" + "00" * 8):
        vectors.add("decode", "DecodeError", kind="Half", data=data)


def whole_run() -> VectorFile:
    vectors = VectorFile(
        "A whole run: SHA-256 of header and body of every envelope on each link in order, shares, and their sum."
    )
    given = {"parties": ["P1", "P2", "P3"], "dimension": 2, "key_bits": 512}
    trial = {
        "seed": "whole run",
        "nonce": bytes(range(32)),
        "sizes": [70, 30, 50],
        "weights": [[1, -1], [2**40, -(2**40)], [2**63, 5]],
        "noise": [[100, 200], [-3, 2**62], [7, 7]],
    }
    vectors.add("whole_run", given=given, **trial)
    vectors.add("whole_run", given=given | {"comparison": "all-pairs"}, **trial)
    vectors.add("whole_run", given=given, **trial | {"noise": [[100, 200], [-3, 1000], [7, 7]]}, printed=True)
    for n, do, expect in (
        *((1, "flip", "PeerError"), (30, "flip", "PeerError"), (60, "flip", "PeerError")),
        *((12, "drop", "PeerError"), (30, "repeat", "PeerError")),
    ):
        vectors.add("whole_run", expect, given=given, **trial, tamper={"n": n, "do": do})
    vectors.add("whole_run", "LocalError", given=given | {"key_bits": 100}, **trial)
    return vectors


def sums() -> VectorFile:
    comment = "The secure sum: shares, masks, digests, statements, whole runs; and why some are refused."
    vectors = VectorFile(comment, {"parameters": sum_vectors.PARAMETERS})
    sum_vectors.fill(vectors)
    return vectors


def garbling() -> VectorFile:
    vectors = VectorFile(
        "The hash and an AND gate; base transfers and their extension; garbled argmins, whole and spoilt."
    )
    garbled_vectors.fill(vectors)
    return vectors


FILES: dict[str, Callable[[], VectorFile]] = {
    "sharing": sharing,
    "paillier": paillier_vectors,
    "comparison": comparison,
    "sealing": sealing_vectors,
    "message": messages,
    "whole_run": whole_run,
    "secure_sum": sums,
    "garbling": garbling,
}


def main(arguments: list[str]) -> int:
    """Write all files, or compare with them; 1 when one differs, 2 for an unknown argument."""
    if arguments not in ([], ["--check"]):
        print("usage: python tests/make_vectors.py [--check]", file=sys.stderr)
        return 2
    differs = []
    for name, make in FILES.items():
        path, text = FOLDER / f"{name}.json", make().text()
        if not arguments:
            path.write_text(text, encoding="utf-8")
        elif not path.exists() or path.read_text(encoding="utf-8") != text:
            differs.append(path.name)
    if differs:
        print(f"regenerated vectors differ: {', '.join(differs)}", file=sys.stderr)
    return 1 if differs else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
