"""Whatever reads bytes of strangers, as functions of bytes for a fuzzer: only the declared error may come out.

    python tests/fuzz/decoders.py CORPUS [options of libFuzzer]

CORPUS is a folder that `write_corpus` has made: a small run, its views, and examples for every target. Each target has
a process of its own.
"""

from __future__ import annotations

import gzip
import json
import os
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from functools import cache, partial
from pathlib import Path
from types import FunctionType
from typing import Any, NamedTuple

from protocols.arithmetic.rng import Stream
from protocols.comparison.messages import DGK
from protocols.crypto import dgk, paillier
from protocols.errors import DecodeError, LocalError, ReplayError
from protocols.pathak2010 import PROGRAM, as_published
from protocols.pathak2010.messages import XI, ZETA
from protocols.pathak2010.parameters import Parameters
from protocols.runtime import cbor_limits, session, state, transcript
from protocols.runtime import message as messages
from protocols.runtime.envelope import Envelope
from protocols.runtime.view import RecordedView, recompute
from protocols.secure_sum import PROGRAM as SUMS
from protocols.secure_sum import parameters as sums_parameters
from protocols.secure_sum.messages import MaskKeys
from protocols.secure_sum.parameters import Block, stage, widths
from protocols.secure_sum.parameters import Parameters as SumsParameters
from smc_dp.audit.run import evidence as evidence_module
from smc_dp.audit.run.evidence import Evidence, load_evidence
from smc_dp.core import documents, reading
from smc_dp.core.errors import InputError
from smc_dp.data import bounds as bounds_module
from smc_dp.data import bounds_file, csv_cells, file_format, format_hints, parquet_cells, table_reader, text_lines
from smc_dp.data.bounds import read_bounds
from smc_dp.data.columns import CategoricalColumn, NumericColumn
from smc_dp.data.limits import TableLimits
from smc_dp.data.table import parse_column
from smc_dp.data.table_reader import read_table
from smc_dp.run import documents as run_documents
from smc_dp.run import folder as run_folder
from smc_dp.run import release_consistency, transcript_header, transcript_lines, verify_release
from smc_dp.run.release import RELEASE, SHARES, TRANSCRIPT

KEY_BITS = 256
BOUNDS = b'[columns]\nx = [0, 1]\n[label]\nclasses = ["a", "b"]\n[rows]\nclip = 2.0\n'
RULES = b'[2010-01-01, 2011-01-01]\nb = {bins = [0, 1]}\n[missing]\nb = "category"\n[aliases.y]\na = ["A"]'
SMALL = TableLimits(cells=1000, columns=100, bytes=1 << 16, text=1 << 16, line=1 << 12)
_FILES = (RELEASE, SHARES, TRANSCRIPT)


class Place(NamedTuple):
    """Where a run, its views and the examples of each target lie, and a folder to write into."""

    run: Path
    views: Path
    examples: Path
    scratch: Path


def place(corpus: Path) -> Place:
    return Place(corpus / "run", corpus / "views", corpus / "examples", corpus / "scratch")


def write_corpus(corpus: Path) -> None:
    """A run of two parties with one weight, cut into examples."""
    from support.audited import toy_run

    toy_run(corpus, (9, 5), 1, key_bits=KEY_BITS)
    at = place(corpus)
    evidence = load_evidence(at.run, views=at.views)
    texts = [(at.run / name).read_bytes() for name in _FILES]
    lines = texts[2].split(b"\n")
    public = [line for line in lines if verify_release.PUBLIC_LINE_MARK in line]
    view = min((path.read_bytes() for path in at.views.iterdir()), key=len)
    envelopes = [envelope.encode() for envelope in evidence.envelopes.values()]
    kinds = len(_kinds())
    examples: dict[str, list[bytes]] = {
        "envelope": envelopes[:20],
        "message": [bytes([number, at]) for number in range(kinds) for at in (0, 1)],
        "state": [view, *_sum_states()],
        "view": [view],
        "transcript": [b"\n".join(texts[2].split(b"\n")[:4]) + b"\n", b"\n".join([lines[0], *public]) + b"\n"],
        "release": [b"\x00".join(texts[:2])],
        "bounds": [BOUNDS, BOUNDS.replace(b"[0, 1]", b'["u", "v"]'), BOUNDS.replace(b"[0, 1]", RULES)],
        "csv": [b"a,b\n1,x\n2,y\n", b'"a ""b""",c\r\n"1\n2",\n\n', "a\tä\n1\tx\n".encode("utf-16")],
        "gz": [gzip.compress(b"a,b\n1,x\n2,y\n", mtime=0), gzip.compress(b"PAR1", mtime=0)],
        "form": [
            b'[file]\nseparator = ";"\ndecimal = ","\nencoding = "cp1252"\nmissing = ["NA"]\ndates = "dd.mm.yyyy"\n'
        ],
        "parquet": _parquet_examples(),
        "parameters": [json.dumps(p.as_dict()).encode() for p in (_sums(), replace(_sums(), dropouts=0))] + [b"{}"],
        "evidence": [b"\x00".join((*texts[:2], b"\n".join(texts[2].split(b"\n")[:4]), view))],
    }
    at.scratch.mkdir()
    for target, contents in examples.items():
        (at.examples / target).mkdir(parents=True)
        for number, content in enumerate(contents):
            (at.examples / target / str(number)).write_bytes(content)


def _parquet_examples() -> list[bytes]:
    import io

    import pyarrow as pa
    import pyarrow.parquet as pq

    found = []
    for made in (pa.table({"a": [1.5, 2.5], "s": ["f", "m"]}), pa.table({"n": [1, None], "l": [[1], [2]]})):
        sink = io.BytesIO()
        pq.write_table(made, sink)
        found.append(sink.getvalue())
    return found


@cache
def _evidence(corpus: Path) -> Evidence:
    return load_evidence(place(corpus).run, views=place(corpus).views)


@cache
def _kinds() -> tuple[tuple[type[Any], Mapping[str, int], Mapping[str, Any]], ...]:
    """Every kind of message with the widths of its fields, and the keys that its session has admitted."""
    p, rng = Parameters(("P1", "P2"), 1, KEY_BITS), Stream.insecure_from_seed("fuzz")
    paillier_key = paillier.generate(KEY_BITS, rng).public
    keys = {XI: paillier_key, ZETA: paillier_key, DGK: dgk.generate(KEY_BITS, p.u, rng).public}
    summed = {**_sums().layout(), **widths(_sums(), stage(0))}
    return (
        *((kind, p.layout(), keys) for kind in (*PROGRAM.kinds, *as_published.PROGRAM.kinds)),
        *((kind, summed, {}) for kind in (MaskKeys, *SUMS.kinds, *SUMS.statements)),
    )


def _sums() -> SumsParameters:
    """Sums with everything that their messages can hold."""
    blocks = ((Block(2, "none"),), (Block(1, "none"),))
    return SumsParameters(("P1", "P2", "P3"), 0, 1, blocks, 16, verifiable=True)


def _sum_states() -> list[bytes]:
    """A party and Charlie, before the first sum and after it."""
    from support.sessions import play
    from support.sums import made

    states = play(made(_sums())).states
    return [states[name][i] for name in ("P1", "charlie") for i in (4, -1)]


def envelope(data: bytes, corpus: Path) -> None:
    """`Envelope.decode`: what it reads, it writes alike."""
    try:
        read = Envelope.decode(data)
    except DecodeError:
        return
    if read.encode() != data:
        raise RuntimeError("another encoding was read")


def message(data: bytes, corpus: Path) -> None:
    """`messages.decode` of every kind: the first byte chooses it, the rest is laid over the shortest numbers."""
    kinds = _kinds()
    kind, layout, keys = kinds[data[0] % len(kinds)] if data else kinds[0]
    body = bytearray(_blank(kind, layout))
    for i, byte in enumerate(data[1 : len(body) + 1]):
        body[i] ^= byte
    for content in (bytes(body), data[1:]):
        try:
            messages.decode(kind, content, layout, keys)
        except DecodeError:
            continue


def _blank(kind: type[Any], layout: Mapping[str, int]) -> bytes:
    """The canonical encoding of a message whose every field is one."""
    import cbor2

    ones: list[Any] = []
    for slot in kind.slots:
        one = (1).to_bytes(layout[slot.protection.width], "big")
        ones.append(one if slot.count is None else [one] * layout[slot.count])
    return bytes(cbor2.dumps(ones, canonical=True))


def plain_state(data: bytes, corpus: Path) -> None:
    """`state.load_state`: what it reads, it writes alike."""
    for records in ((*PROGRAM.records, Parameters), (*SUMS.records, SumsParameters)):
        try:
            value = state.load_state(data, records)
        except ReplayError:
            continue
        if state.dump_state(value, records) != data:
            raise RuntimeError("another encoding was read")


def stated_sums(data: bytes, corpus: Path) -> None:
    """The parameters of sums: what is read is what they state, and their widths are numbers."""
    try:
        value = json.loads(data)
        p = SumsParameters.from_dict(value if isinstance(value, dict) else {})
    except (LocalError, ValueError, RecursionError):
        return
    if json.dumps(p.as_dict(), sort_keys=True) != json.dumps(value, sort_keys=True):
        raise RuntimeError("other parameters were read")
    if min(p.layout().values()) < 0:
        raise RuntimeError("a width below zero")


def view(data: bytes, corpus: Path) -> None:
    """`RecordedView.loads`, and the role run again on whatever it lets through."""
    evidence = _evidence(corpus)
    try:
        read = RecordedView.loads(data, evidence.session)
    except ReplayError:
        return
    recompute(evidence.session, read, evidence.envelopes)


def lines(data: bytes, corpus: Path) -> None:
    """`read_envelope` and `read_absence` of every line, and the lines as an audit and as `predict` read them."""
    text = data.decode("utf-8", "surrogateescape" if len(data) % 2 else "replace")
    for line in text.split("\n"):
        try:
            value = json.loads(line)
        except (ValueError, RecursionError):
            continue
        for read in (partial(transcript.read_envelope, bytes(32)), transcript.read_absence):
            try:
                read(value if isinstance(value, dict) else {})
            except ValueError:
                continue
    with suppress(InputError, UnicodeDecodeError):  # an audit has looked at both before
        transcript_lines.parse_lines(_evidence(corpus).session, transcript_lines.TranscriptLines(data))
    with suppress(InputError):
        verify_release.read_release_evidence(data)


def published(data: bytes, corpus: Path) -> None:
    """`verify_release` of a folder."""
    with suppress(InputError):
        verify_release.verify_release(_folder(place(corpus).scratch, data.split(b"\x00")))


def whole(data: bytes, corpus: Path) -> None:
    """`evidence.load` of a folder and a view, or of a view beside an honest folder."""
    at = place(corpus)
    parts = data.split(b"\x00", 3)
    (at.scratch / "1.view").write_bytes(parts[3] if len(parts) == 4 else data)
    for folder in (_folder(at.scratch, parts), at.run):
        try:
            load_evidence(folder, views=at.scratch)
        except InputError:
            continue


def bounds(data: bytes, corpus: Path) -> None:
    """`read_bounds` of a file."""
    path = place(corpus).scratch / "bounds.toml"
    path.write_bytes(data)
    try:
        read_bounds(path)
    except InputError:
        return


def table(ending: str) -> Callable[[bytes, Path], None]:
    """`read_table` of a file, and each of its columns as numbers and as texts."""

    def read(data: bytes, corpus: Path) -> None:
        path = place(corpus).scratch / f"table.{ending}"
        path.write_bytes(data)
        try:
            found = read_table(path, "t", SMALL)
        except InputError:
            return
        for name in found.columns:
            with suppress(InputError):
                found.texts(name)
            for column in (NumericColumn(name, 0, 1), CategoricalColumn(name, ("a",))):
                parse_column(found, column)

    return read


def form(data: bytes, corpus: Path) -> None:
    """`read_table` of a file of which another says how it is written."""
    path = place(corpus).scratch / "said.csv"
    path.write_bytes("a;b\n1,5;ä\n".encode("cp1252"))
    path.with_name("said.csv.toml").write_bytes(data)
    try:
        read_table(path, "t", SMALL)
    except InputError:
        return


def _folder(scratch: Path, parts: list[bytes]) -> Path:
    for name, content in zip(_FILES, parts, strict=False):
        (scratch / name).write_bytes(content)
    return scratch


TARGETS: Mapping[str, Callable[[bytes, Path], None]] = {
    "envelope": envelope,
    "message": message,
    "state": plain_state,
    "view": view,
    "transcript": lines,
    "release": published,
    "bounds": bounds,
    "csv": table("csv"),
    "gz": table("csv.gz"),
    "form": form,
    "parquet": table("parquet"),
    "parameters": stated_sums,
    "evidence": whole,
}


def main(corpus: Path, options: list[str]) -> int:
    """Fuzz every target; return how many ended badly."""
    import atheris

    classes = [vars(owner) for owner in (Envelope, RecordedView, SumsParameters)]
    modules = (
        *(cbor_limits, messages, state, session, sums_parameters, transcript, reading, transcript_lines, run_folder),
        *(evidence_module, documents, run_documents, bounds_file, transcript_header, verify_release, bounds_module),
        *(release_consistency, csv_cells, parquet_cells, table_reader, file_format, format_hints, text_lines),
    )
    for names in (*classes, *map(vars, modules)):
        for value in list(names.values()):
            function = getattr(value, "__func__", value)
            if isinstance(function, FunctionType):
                atheris.instrument_func(function)
    failed = 0
    for name, target in TARGETS.items():
        print(f"target {name}", file=sys.stderr, flush=True)
        if (child := os.fork()) == 0:
            examples = str(place(corpus).examples / name)
            atheris.Setup([sys.argv[0], *options, examples], partial(target, corpus=corpus))
            atheris.Fuzz()
        failed += os.waitpid(child, 0)[1] != 0
    return failed


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), sys.argv[2:]))
