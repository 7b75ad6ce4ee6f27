"""The decoders under a coverage-guided fuzzer; and every example once, wherever there is none."""

from __future__ import annotations

import importlib.util
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from fuzz import decoders

RUNS = 700
MISSING = importlib.util.find_spec("atheris") is None
TESTS = Path(__file__).resolve().parent.parent


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("corpus")
    decoders.write_corpus(folder)
    return folder


@pytest.mark.parametrize("name", decoders.TARGETS)
def test_every_example_and_each_cut_of_it_is_read_or_refused(corpus, name):
    for example in sorted((corpus / "examples" / name).iterdir()):
        content = example.read_bytes()
        for end in {len(content), len(content) // 2, len(content) - 1, 1, 0}:
            decoders.TARGETS[name](content[:end], corpus)


@pytest.mark.slow
@pytest.mark.skipif(MISSING, reason="atheris is not installed: it exists for Linux and some versions of Python only")
def test_a_fuzzer_finds_nothing(corpus):
    options = ["-seed=1", f"-runs={RUNS}", "-max_len=20000", "-timeout=10", "-rss_limit_mb=2048"]
    options.append(f"-artifact_prefix={corpus}/")
    path = os.pathsep.join((str(TESTS), str(TESTS.parent)))
    words = [sys.executable, str(TESTS / "fuzz" / "decoders.py"), str(corpus), *options]
    # A program begins with the most memory that its parent had: with a shell between, that is not this one's.
    done = subprocess.run(
        ["sh", "-c", '"$@"; exit $?', "sh", *words],
        capture_output=True, text=True, env={**os.environ, "PYTHONPATH": path},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-3000:]
    runs = re.findall(r"^target (\w+)$.*?^Done (\d+) runs", done.stderr, flags=re.MULTILINE | re.DOTALL)
    assert [name for name, _ in runs] == list(decoders.TARGETS)
    assert all(int(count) >= RUNS for _, count in runs)
