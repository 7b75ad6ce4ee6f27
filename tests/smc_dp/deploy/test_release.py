"""A site settles no release that those who use it would refuse, or that is not what its role was told."""

from __future__ import annotations

import pytest
from support.contradicted import DATA, announcing, at_sites, moved, nobody_holds, publishing_others, summed
from support.deployed import deployed


def test_no_site_settles_a_sum_that_its_opening_refutes(monkeypatch: pytest.MonkeyPatch) -> None:
    announcing(monkeypatch, moved)
    assert at_sites(deployed(DATA, summed(verifiable=True))) == {"sum.other_value"}


def test_no_site_settles_another_sum_than_it_was_told(monkeypatch: pytest.MonkeyPatch) -> None:
    nobody_holds(monkeypatch)
    publishing_others(monkeypatch, values=lambda values: (moved(values[0]),))
    assert at_sites(deployed(DATA, summed())) == {"sum.not_as_signed"}
    in_a_circle = summed(dropouts=0, colluders=1, sparse_graph=True, semi_honest=True)
    assert at_sites(deployed(DATA, in_a_circle)) == {"sum.signed_otherwise"}
