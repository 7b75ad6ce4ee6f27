"""What `import smc_dp` offers, and that it costs nothing until it is used."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import smc_dp

ROOT = Path(__file__).parents[2]
HEAVY = {"numpy", "scipy", "sklearn", "matplotlib", "pyarrow", "cryptography", "phe", "flint"}


def loaded_by(statement: str) -> set[str]:
    """The heavy packages that this statement loads, in a process of its own."""
    code = f"import sys; {statement}; print(*{{name.split('.')[0] for name in sys.modules}})"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    return set(done.stdout.split()) & HEAVY


def test_the_import_is_light() -> None:
    assert loaded_by("import smc_dp; smc_dp.__version__; dir(smc_dp); smc_dp.InputError") == set()


@pytest.mark.slow
def test_an_eager_import_would_be_noticed() -> None:
    assert {"numpy", "sklearn"} <= loaded_by("from smc_dp import AveragingClassifier")


def test_there_are_twenty_one_names_each_documented() -> None:
    names = set(smc_dp.__all__) - {"__version__"}
    assert len(names) == 21
    assert smc_dp.__doc__ is not None
    assert [name for name in smc_dp.__all__ if f"`{name}`" not in smc_dp.__doc__] == []
    assert set(dir(smc_dp)) >= set(smc_dp.__all__)


@pytest.mark.parametrize("name", sorted(set(smc_dp.__all__) - {"__version__", "METHODS"}))
def test_each_name_is_what_it_says(name: str) -> None:
    found = getattr(smc_dp, name)
    assert isinstance(found, type) == name[0].isupper()
    assert callable(found)
    assert found.__name__ == name
    assert found.__doc__


def test_methods_are_found_by_name() -> None:
    assert smc_dp.METHODS["wsum"].name == "wsum"


def test_what_is_not_there_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'WeightedSum'"):
        _ = smc_dp.WeightedSum  # type: ignore[attr-defined]
    assert not hasattr(smc_dp, "NotThereClassifier")


def test_submodules_are_still_found() -> None:
    from smc_dp.core import arrays

    assert arrays.__name__ == "smc_dp.core.arrays"


def shown_to_type_checkers(source: str) -> dict[str, str]:
    """Return the names that a file imports for type checkers alone, each with its module."""
    blocks = [node for node in ast.parse(source).body if isinstance(node, ast.If)]
    found = [node for block in blocks for node in block.body if isinstance(node, ast.ImportFrom)]
    return {alias.name: str(node.module) for node in found for alias in node.names if alias.asname == alias.name}


def test_type_checkers_see_the_names_of_the_table() -> None:
    source = Path(smc_dp.__file__).read_text(encoding="utf-8")
    assert shown_to_type_checkers(source) == dict(smc_dp._MODULES)
    mutant = source.replace("from smc_dp.run.run_protocol", "from smc_dp.run.simulation", 1)
    assert shown_to_type_checkers(mutant) != dict(smc_dp._MODULES)
