"""Free memory as a Linux system and its control groups state it."""

from __future__ import annotations

from pathlib import Path

import pytest

from smc_dp.core.memory import free_memory

MEMINFO = "MemTotal: 8000 kB\nMemFree: 1000 kB\nMemAvailable:    4000 kB\n"


def system(root: Path, groups: str = "", files: dict[str, str] | None = None, meminfo: str = MEMINFO) -> Path:
    for path, text in {"proc/meminfo": meminfo, "proc/self/cgroup": groups, **(files or {})}.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)
    return root


def test_a_system_without_these_files_says_nothing(tmp_path: Path) -> None:
    assert free_memory(tmp_path) is None
    assert free_memory(system(tmp_path, meminfo="MemTotal: 8000 kB\n")) is None


def test_memory_that_can_be_given_back_counts_as_free(tmp_path: Path) -> None:
    assert free_memory(system(tmp_path)) == 4000 << 10


@pytest.mark.parametrize("group", ["sys/fs/cgroup", "sys/fs/cgroup/pods", "sys/fs/cgroup/pods/one"])
def test_a_limit_of_any_group_around_the_process_counts(group: str, tmp_path: Path) -> None:
    files = {f"{group}/memory.max": "1000000\n", f"{group}/memory.current": "300000\n"}
    assert free_memory(system(tmp_path, "0::/pods/one\n", files)) == 700_000
    files = {f"{group}/memory.stat": "anon 5\ninactive_file 100000\n"}
    assert free_memory(system(tmp_path, "0::/pods/one\n", files)) == 800_000
    assert free_memory(system(tmp_path, "0::/pods/one\n", {f"{group}/memory.max": "max\n"})) == 4000 << 10
    files = {f"{group}/memory.max": "1000\n"}
    assert free_memory(system(tmp_path, "0::/pods/one\n", files)) == 0


def test_groups_of_the_first_version_count_too(tmp_path: Path) -> None:
    folder = "sys/fs/cgroup/memory/docker"
    files = {f"{folder}/memory.limit_in_bytes": "2000000\n", f"{folder}/memory.usage_in_bytes": "500000\n"}
    files[f"{folder}/memory.stat"] = "inactive_file 1\ntotal_inactive_file 7\n"
    groups = "9:cpu:/\n4:memory,pids:/docker\nno group\n0::/\n"
    assert free_memory(system(tmp_path, groups, files)) == 1_500_007
