"""Readers of files of strangers, as functions of bytes for a fuzzer: only the declared error may come out.

What `protocols` reads of a peer has tests there, with bytes of the right form.

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
from functools import cache, partial
from pathlib import Path
from types import FunctionType
from typing import NamedTuple

from protocols.errors import ReplayError
from protocols.runtime import cbor_limits, state, transcript
from protocols.runtime import message as messages
from protocols.runtime.envelope import Envelope
from protocols.runtime.view import RecordedView, recompute
from smc_dp.audit.run import evidence as evidence_module
from smc_dp.audit.run.evidence import Evidence, load_evidence
from smc_dp.core import documents, reading
from smc_dp.core.errors import InputError
from smc_dp.data import bounds as bounds_module
from smc_dp.data import bounds_file, csv_cells, file_format, format_hints, parquet_cells, table_reader, text_lines
from smc_dp.data.bounds import read_bounds
from smc_dp.data.limits import TableLimits
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
    texts = [(at.run / name).read_bytes() for name in _FILES]
    lines = texts[2].split(b"\n")
    public = [line for line in lines if verify_release.PUBLIC_LINE_MARK in line]
    view = min((path.read_bytes() for path in at.views.iterdir()), key=len)
    examples: dict[str, list[bytes]] = {
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
            for look in (found.numbers, found.coded):
                try:
                    look(name)
                except InputError:
                    continue

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
    "view": view,
    "transcript": lines,
    "release": published,
    "bounds": bounds,
    "csv": table("csv"),
    "gz": table("csv.gz"),
    "form": form,
    "parquet": table("parquet"),
    "evidence": whole,
}


def main(corpus: Path, options: list[str]) -> int:
    """Fuzz every target; return how many ended badly."""
    import atheris

    classes = [vars(owner) for owner in (Envelope, RecordedView)]
    modules = (
        *(cbor_limits, messages, state, transcript, reading, transcript_lines, run_folder, evidence_module, documents),
        *(run_documents, bounds_file, transcript_header, verify_release, release_consistency, bounds_module),
        *(csv_cells, parquet_cells, table_reader, file_format, format_hints, text_lines),
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
