"""What `predict` and `publish` check before they use a folder: every field is bound to the record, or refused."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from support import forgeries as f
from support.audited import agreement, hospitals, long_term

from protocols.arithmetic.rng import Stream
from smc_dp import InputError, predict
from smc_dp.cli.main import main
from smc_dp.core import reading
from smc_dp.privacy.target import Target
from smc_dp.run import folder as run_folder
from smc_dp.run import release_consistency
from smc_dp.run.documents import SharesFile
from smc_dp.run.publication import publish_run
from smc_dp.run.release import RELEASE, SHARES, TIMINGS, TRANSCRIPT
from smc_dp.run.simulation import simulate_run
from smc_dp.run.verify_release import read_release_evidence, verify_release
from tests.support.commands import refusal

CASE = hospitals((12, 8), 2)
P1, P2 = CASE.federation.names
OWN = long_term((P1, P2))
Document = dict[str, Any]
FILES_OF_SHARES = (RELEASE, SHARES, TRANSCRIPT, TIMINGS)


@pytest.fixture(scope="module")
def honest(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run with coins of no seed, as far as anybody can see, so that its statement claims an epsilon."""
    run = tmp_path_factory.mktemp("honest") / "run"
    agreed = agreement(CASE, Target(Fraction(1)), seeded=False, key_bits=256)
    rng = Stream(hashlib.sha256(b"checked").digest(), insecure=False)
    simulate_run(CASE, agreed, rng, run, identities=OWN, link="lan")
    (run.parent / "rows.csv").write_text("x0,x1\n0.5,-0.5\n-0.5,0.5\n")
    return run


def put(**fields: Any) -> Callable[[Document], None]:
    return lambda document: document.update(fields)


def parameter(**fields: Any) -> Callable[[Document], None]:
    return lambda document: document["parameters"].update(fields)


def privacy(**fields: Any) -> Callable[[Document], None]:
    return lambda document: document["privacy"].update(fields)


def wider(document: Document) -> None:
    document["bounds"]["x0"] = [-2.0, 1.0]


def two_shares(document: Document) -> None:
    """Both move, so that their sum and the weights stay."""
    for name, step in ((P1, 1), (P2, -1)):
        share = document["shares"][name]
        share[0] = str((int(share[0]) + step) % int(document["modulus"]))


# What is edited in the release -> what the one line names. Each is a release that `read` takes for one.
EDITS: dict[str, tuple[Callable[[Document], Any], str]] = {
    "classes exchanged": (put(classes=["yes", "no"]), "classes"),
    "another class": (put(classes=["no", "maybe"]), "classes"),
    "a bound": (wider, "bounds"),
    "columns in another order": (lambda d: d["columns"].reverse(), "columns"),
    "clip": (put(clip=1.0), "clip"),
    "label": (parameter(label="x"), "label"),
    "lambda": (parameter(**{"lambda": "1/5"}), "lambda"),
    "epsilon of the parameters": (parameter(epsilon="1/2"), "epsilon"),
    "calibration": (parameter(calibration="paper"), "calibration"),
    "noise": (parameter(noise="laplace"), "noise"),
    "comparison": (parameter(comparison="all-pairs"), "comparison"),
    "key_bits": (parameter(key_bits=512), "key_bits"),
    "exponents": (lambda d: d["parameters"].pop("exponents"), "exponents"),
    "parties": (lambda d: d["parameters"]["parties"].reverse(), "parties"),
    "topology": (parameter(topology="star"), "topology"),
    "link": (parameter(link="none"), "link"),
    "agreed": (parameter(agreed="0" * 64), "agreed"),
    "a mark too many": (lambda d: d["insecure"].insert(0, run_folder.REASONS["insecure seed"]), "insecure"),
    "epsilon of the statement": (privacy(epsilon=0.5), "privacy: epsilon"),
    "adversary": (privacy(adversary="everybody"), "privacy: adversary"),
    "unit": (privacy(unit="party", adjacency="party"), "privacy: unit"),
    "adjacency": (privacy(adjacency="addremove"), "privacy: adjacency"),
    "delta": (privacy(kind="approx", delta=1e-6), "privacy: kind"),
    "caveats": (lambda d: d["privacy"]["caveats"].pop(), "privacy: caveats"),
}


def refused(capsys: pytest.CaptureFixture[str], run: Path, data: Path) -> InputError:
    """The refusal from Python, and that a command prints it in one line."""
    line = refusal(capsys, run.parent, "predict", str(run), "--data", str(data))
    with pytest.raises(InputError) as caught:
        predict(run, data)
    assert str(caught.value) == line
    return caught.value


def test_an_honest_release_predicts_without_a_word(honest: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["predict", str(honest), "--data", str(honest.parent / "rows.csv")]) == 0
    out, err = capsys.readouterr()
    assert set(out.splitlines()) <= {"no", "yes"}
    assert err.splitlines() == [line for line in err.splitlines() if line.startswith("warning: ")]
    assert predict(honest, honest.parent / "rows.csv").missing_files_text is None


@pytest.mark.parametrize("name", EDITS)
def test_every_field_of_a_release_is_bound_to_the_record(
    name: str, honest: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    change, named = EDITS[name]
    run = f.edited(honest, tmp_path / "run", RELEASE, change)
    assert named in str(refused(capsys, run, honest.parent / "rows.csv"))


def exchanged(run: Path, target: Path) -> Path:
    """Shares that nobody signed, and the weights that are their sum."""
    moved = f.altered_share(run, target, P1)
    document = json.loads((moved / RELEASE).read_text())
    agreed = run_folder.read_release_file(moved).agreement()
    shares = SharesFile.model_validate(json.loads((moved / SHARES).read_text()))
    document["weights"] = list(agreed.result(shares.total(agreed)))
    (moved / RELEASE).write_text(json.dumps(document))
    return moved


def swapped(run: Path, target: Path) -> Path:
    return f.edited(run, target, SHARES, lambda d: d["shares"].update({P1: d["shares"][P2], P2: d["shares"][P1]}))


def of_share(change: Callable[[int], f.Change], name: str = P1) -> Callable[[Path, Path], Path]:
    def made(run: Path, target: Path) -> Path:
        return f.forge(run, target, change(f.read_record(run).place("PublishedShare", name)))

    return made


def resigned(run: Path, target: Path) -> Path:
    """Another session of the same parties, signed by somebody else."""
    others = long_term((P1, P2), seed=1)
    return f.forge(run, target, f.with_head(nonce="00" * 32), f.with_session, f.resigned({P1: others[P1]}))


def greeting(run: Path, target: Path) -> Path:
    """The first line, a greeting, again and again."""
    text = (run / TRANSCRIPT).read_text()
    return f.with_text(run, target, text + 600 * (text.splitlines()[1] + "\n"))


FORGED: dict[str, tuple[Callable[[Path, Path], Path], str, str]] = {
    "weights": (f.altered_weight, "release.weights_not_of_shares", "release.json"),
    "weights and shares": (exchanged, "release.other_shares", P1),
    "two shares, the same sum": (
        lambda run, target: f.edited(run, target, SHARES, two_shares), "release.other_shares", P1,
    ),
    "shares of two parties": (swapped, "release.other_shares", P1),
    "no share in the record": (of_share(f.drop), "transcript.share_missing", P1),
    "the same share twice": (of_share(f.duplicate), "transcript.published_twice", P1),
    "a mark that nobody knows": (
        lambda r, t: f.forge(r, t, f.with_head(insecure=["insecure test keys", "a"])), "release.other_marks", "line 0",
    ),
    "a flipped share in the record": (of_share(lambda i: f.flip(i, 3)), "transcript.not_signed", P1),
    "a flipped signature": (of_share(lambda i: f.flip(i, -1)), "transcript.not_signed", P1),
    "signed by another": (of_share(lambda i: f.sign(i, OWN[P2])), "transcript.not_signed", P1),
    "another session": (resigned, "transcript.not_signed", ""),
    "another session id": (lambda r, t: f.forge(r, t, f.with_head(session="00" * 32)), "session.other_id", ""),
    "another digest agreed on": (
        lambda r, t: f.forge(r, t, f.with_parameters(agreed="00" * 32)), "transcript.not_signed", "",
    ),
    "another wire format": (lambda r, t: f.forge(r, t, f.with_head(format=1)), "transcript.other_format", "format 1"),
    "no record in the file": (lambda r, t: f.with_text(r, t, "{}\n"), "transcript.no_format", ""),
    "a line that is none": (
        lambda r, t: f.with_text(r, t, (r / TRANSCRIPT).read_text() + '{"to":"public"}\n'), "transcript.no_message", "",
    ),
    "a text that no envelope holds": (
        lambda r, t: f.rewritten(r, t, 1, lambda line: line.update(stage="\ud800")), "transcript.no_message", "line 1",
    ),
    "very many lines for everybody": (greeting, "transcript.too_many_messages", ""),
}  # fmt: skip


@pytest.mark.parametrize("name", FORGED)
def test_shares_and_weights_are_those_that_were_signed(
    name: str, honest: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    make, code, named = FORGED[name]
    error = refused(capsys, make(honest, tmp_path / "run"), honest.parent / "rows.csv")
    assert (error.fault.code, named in str(error)) == (code, True)


@pytest.mark.parametrize("gone", [(TRANSCRIPT,), (TRANSCRIPT, TIMINGS), (SHARES, TRANSCRIPT, TIMINGS), (SHARES,)])
def test_without_a_record_it_says_that_nothing_was_audited(
    gone: tuple[str, ...], honest: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = tmp_path / "run"
    shutil.copytree(honest, run)
    for name in gone:
        (run / name).unlink()
    arguments = ["predict", str(run), "--data", str(honest.parent / "rows.csv")]
    assert main(arguments) == 0
    out, err = capsys.readouterr()
    missing = " and no ".join(name for name in gone if name != TIMINGS)
    assert err.splitlines()[0].endswith(f": {run} has no {missing}")
    assert main(["predict", str(honest), *arguments[2:]]) == 0
    assert capsys.readouterr().out == out
    assert main([*arguments, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["predictions"] == out.splitlines()


def test_a_record_without_its_shares_beside_it_still_binds_the_weights(honest: Path, tmp_path: Path) -> None:
    run = f.altered_weight(honest, tmp_path / "run")
    (run / SHARES).unlink()
    with pytest.raises(InputError) as caught:
        verify_release(run)
    assert caught.value.code == "release.other_weights"


class Counted(bytes):
    """Bytes that know how many of them were looked through for line ends."""

    looked_at = 0

    def count(self, sub: Any, start: Any = 0, end: Any = None) -> int:
        stop = len(self) if end is None else end
        Counted.looked_at += stop - start
        return bytes.count(self, sub, start, stop)


def test_no_byte_of_a_record_is_counted_again_for_each_line(honest: Path) -> None:
    """Else a record of empty lines, with a greeting behind them many times, takes hours."""
    content = (honest / TRANSCRIPT).read_bytes()
    hello = content.splitlines(keepends=True)[1]
    long = Counted(content + 100_000 * b"\n" + 100 * hello)
    read_release_evidence(long)
    assert 100_000 < Counted.looked_at <= len(long)


@pytest.mark.parametrize("use", ["predict", "publish", "show"])
def test_each_file_is_read_once_and_its_bytes_are_used(
    use: str, honest: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever exchanges a file once it has been opened exchanges nothing: it is not opened again."""
    whole, opened = reading.read_file, Counter[str]()
    run, other = tmp_path / "run", f.edited(honest, tmp_path / "other", RELEASE, put(classes=["yes", "no"]))
    shutil.copytree(honest, run)

    def read_and_exchange(path: Path, *limits: Any, **options: Any) -> bytes:
        content = whole(path, *limits, **options)
        if path.parent == run:
            opened[path.name] += 1
            shutil.copy(other / path.name, path)
        return content

    monkeypatch.setattr(reading, "read_file", read_and_exchange)
    uses: dict[str, Callable[[], Any]] = {
        "predict": lambda: predict(run, honest.parent / "rows.csv"),
        "publish": lambda: publish_run(run, tmp_path / "public"),
        "show": lambda: main(["show", str(run)]),
    }
    assert uses[use]() is not None
    assert opened == dict.fromkeys(FILES_OF_SHARES, 1)
    if use == "publish":
        assert (tmp_path / "public" / RELEASE).read_bytes() == (honest / RELEASE).read_bytes()


@pytest.mark.parametrize(("off", "holds"), [(0, True), (5e-13, True), (-5e-13, True), (2e-12, False), (-2e-12, False)])
def test_a_pure_epsilon_may_differ_in_its_last_digits_alone(off: float, holds: bool, honest: Path) -> None:
    """A bound made with cosines may end in another digit on another machine; what is said of anything else may not."""
    follows = dict(verify_release(honest).release.privacy)
    assert follows["kind"] == "pure"
    found = release_consistency.statement_fault({**follows, "epsilon": follows["epsilon"] * (1 + off)}, follows)
    assert (found is None) == holds
