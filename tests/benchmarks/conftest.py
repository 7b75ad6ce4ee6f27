"""Report of the benchmarks: processor seconds of both sides and their ratio, at the end of the output."""

from __future__ import annotations

from collections.abc import Callable

import pytest

LINES = pytest.StashKey[list[str]]()
Compare = Callable[..., None]


@pytest.fixture
def compare(request: pytest.FixtureRequest) -> Compare:
    """Return a function that notes seconds of both sides, and fails where theirs over ours is below `at_least`."""

    def note(what: str, ours: float, theirs: float, at_least: float = 0.0) -> None:
        line = f"{what:<72} ours {ours:10.4g} s  theirs {theirs:10.4g} s  ratio {theirs / ours:8.2f}"
        request.config.stash.setdefault(LINES, []).append(line)
        assert theirs / ours >= at_least, line

    return note


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    for line in config.stash.get(LINES, []):
        terminalreporter.write_line(line)
