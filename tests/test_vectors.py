"""The committed known-answer vectors against the code, and against a few facts that need none of it."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from pathlib import Path
from typing import Any

import cbor2
import make_vectors
import phe
import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from support.vector_ops import OPS, number, run

FOLDER = Path(__file__).parent / "vectors"
FILES = {path.stem: json.loads(path.read_text(encoding="utf-8")) for path in sorted(FOLDER.glob("*.json"))}


def of(name: str, op: str) -> list[dict[str, Any]]:
    return [case for case in FILES[name]["cases"] if case["op"] == op and case["expect"] == "ok"]


def test_the_files_are_there_small_and_of_one_layout() -> None:
    protocols = {"comparison", "garbling", "whole_run", "secure_sum"}
    assert set(FILES) == {"sharing", "paillier", "sealing", "message"} | protocols
    for name, file in FILES.items():
        assert set(file) == {"source", "comment", "shared", "cases"}
        assert (FOLDER / f"{name}.json").stat().st_size < 200_000
        expected = Counter(case["expect"] for case in file["cases"])
        assert expected["ok"] >= 3
        assert len(expected) > 1
        assert all(("output" in case) == (case["expect"] == "ok") for case in file["cases"])
    assert {case["op"] for file in FILES.values() for case in file["cases"]} == set(OPS)


@pytest.mark.parametrize("name", FILES)
def test_vectors(name: str) -> None:
    for i, case in enumerate(FILES[name]["cases"]):
        assert run(FILES[name]["shared"], case) == (case["expect"], case.get("output")), f"{i} {case['op']}"


@pytest.mark.parametrize("name", sorted(set(FILES) - {"message"}))
def test_another_seed_is_caught(name: str) -> None:
    case = next(case for case in FILES[name]["cases"] if case["expect"] == "ok" and "seed" in case["input"])
    altered = case | {"input": case["input"] | {"seed": "another"}}
    outcome, output = run(FILES[name]["shared"], altered)
    assert outcome == "ok"
    assert output != case["output"]


@pytest.mark.slow
def test_the_vectors_are_those_that_the_code_makes(capsys: pytest.CaptureFixture[str]) -> None:
    assert make_vectors.main(["--check"]) == 0
    assert capsys.readouterr().err == ""


@pytest.mark.slow
def test_a_changed_or_missing_file_fails_the_check(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(make_vectors, "FOLDER", tmp_path)
    assert make_vectors.main([]) == 0
    assert make_vectors.main(["--check"]) == 0
    path = tmp_path / "sharing.json"
    path.write_text(path.read_text().replace('"expect": "ok"', '"expect": "no"', 1))
    (tmp_path / "sealing.json").unlink()
    assert make_vectors.main(["--check"]) == 1
    assert capsys.readouterr().err == "regenerated vectors differ: sharing.json, sealing.json\n"
    assert make_vectors.main(["--chekc"]) == 2


# Facts that need none of our code.


def test_shares_in_the_file_add_up() -> None:
    for case in of("sharing", "split"):
        total = sum(number(share) for share in case["output"])
        assert total % 2 ** case["input"]["bits"] == number(case["input"]["x"])


def test_phe_opens_the_ciphertexts_in_the_file() -> None:
    key = FILES["paillier"]["shared"]["key"]
    p, q = number(key["p"]), number(key["q"])
    opened = phe.PaillierPrivateKey(phe.PaillierPublicKey(p * q), p, q)
    for case in of("paillier", "paillier_encrypt"):
        assert opened.raw_decrypt(number(case["output"])) == number(case["input"]["m"]) % (p * q)
    for case in of("paillier", "paillier_decrypt"):
        assert opened.raw_decrypt(number(case["input"]["c"])) == number(case["output"])


def test_the_comparisons_in_the_file_are_right() -> None:
    cases, asked, delta_a = FILES["comparison"]["cases"], (0, 0), 0
    for case in cases:
        given = case["input"]
        if case["op"] == "offered_bits":
            y = given["y"]
        elif case["op"] == "differences" and case["expect"] == "ok":
            asked, delta_a = (given["x"], y), given["delta_a"]
        elif case["op"] == "at_most":
            assert case["output"] == int(asked[0] <= asked[1]) ^ given["delta"] ^ delta_a
    for case in of("comparison", "halves_of_a_difference"):
        assert case["output"]["negative"] == (sum(case["input"][d] for d in ("d_p", "d_c")) % 32) >> 4


def test_the_runs_in_the_file_release_weights_and_the_noise_of_the_smallest() -> None:
    for case in of("whole_run", "whole_run"):
        given, done = case["input"], case["output"]
        smallest, K = given["sizes"].index(min(given["sizes"])), len(given["sizes"])
        weights = [sum(number(w[i]) for w in given["weights"]) for i in range(2)]
        noise = [number(x) * (K if given.get("printed") else 1) for x in given["noise"][smallest]]
        wanted = [(w + e) % 2**64 for w, e in zip(weights, noise, strict=True)]
        assert [number(x) for x in done["sum"]] == wanted
        shares = done["shares"].values()
        assert [sum(number(x) for x in column) % 2**64 for column in zip(*shares, strict=True)] == wanted
        digests = [digest for link in done["links"].values() for digest in link]
        assert len(set(digests)) == len(digests)


def test_the_sums_in_the_file_are_those_of_their_members() -> None:
    runs = of("secure_sum", "sum_run")
    published = 0
    for case in runs:
        given, done = case["input"], case["output"]
        lengths = [sum(block[0] for block in blocks) for blocks in given["given"]["sums"]]
        said = done["published"].get("charlie")
        if said is None:
            shares = done["published"].values()
            assert not shares or len(shares) == 3
            members, S = [0b111] * bool(shares), [sum(x) % 2**16 for x in zip(*(s["y"] for s in shares), strict=True)]
        else:
            members, S = said["members"], said["S"]
        wanted = [
            sum(number(z[r][i]) for j, z in enumerate(given["z"]) if members[r] >> j & 1) % 2**16
            for r in range(len(members))
            for i in range(lengths[r])
        ]
        assert [number(x) for x in S] == wanted
        published += bool(wanted)
        inside = [[f"P{j + 1}", f"sum {r}"] for r, U in enumerate(members) for j in range(3) if U >> j & 1]
        assert all(charge in done["charged"] for charge in inside)
    assert (published, len(runs)) == (6, 8)


def test_the_masks_in_the_file_are_those_of_hashlib() -> None:
    for case in of("secure_sum", "pair_mask"):
        given = case["input"]
        low, high = sorted((given["one"], given["other"]))
        label = bytes.fromhex(given["context"]) + low.to_bytes(2, "big") + high.to_bytes(2, "big")
        spun = hashlib.shake_256(b"smc-dp sum pair\0" + label + bytes.fromhex(given["agreed"]))
        assert case["output"] == spun.hexdigest(given["length"] * given["width"])


def test_the_gates_in_the_file_are_ands_and_the_rows_those_of_the_smallest() -> None:
    for case in of("garbling", "and_gate"):
        done, one = case["output"], int(case["output"]["zero"], 16) ^ int(case["input"]["delta"], 16)
        assert [int(x, 16) for x in done["outputs"]] == [int(done["zero"], 16)] * 3 + [one]
    for case in of("garbling", "garbled_argmin"):
        sizes, done = case["input"]["sizes"], case["output"]
        order = [(n, rank ^ done["c"]) for n, rank in zip(sizes, done["ranks"], strict=True)]
        assert int(done["opened"], 16) == order.index(min(order))
    for case in of("garbling", "extension"):
        delta = next(x for x in of("garbling", "base_transfers"))["output"]["delta"]
        labels, zeros = ([case["output"][k][i : i + 32] for i in range(0, 256, 32)] for k in ("labels", "zeros"))
        for t, q, bit in zip(labels, zeros, case["input"]["bits"], strict=True):
            assert int(q, 16) == int(t, 16) ^ bit * int(delta, 16)


def test_the_statements_in_the_file_are_arrays_of_five_that_their_owners_signed() -> None:
    for case in of("secure_sum", "sum_statement"):
        label, _, name, kind, payload = cbor2.loads(bytes.fromhex(case["output"]["signed"]))
        assert (label, name, kind) == (b"smc-dp statement", case["input"]["name"], case["input"]["kind"])
        assert len(cbor2.loads(payload)) == len(case["input"]["content"])
        key, signature, signed = (bytes.fromhex(case["output"][part]) for part in ("public", "signature", "signed"))
        Ed25519PublicKey.from_public_bytes(key).verify(signature, signed)  # raises
