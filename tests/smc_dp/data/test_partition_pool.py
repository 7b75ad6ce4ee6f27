from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse
from sklearn.decomposition import PCA

from smc_dp.core.arrays import first_outside, into_ball
from smc_dp.data import partition as dealing
from smc_dp.data.dataset import Points, Pool
from smc_dp.data.partition import Partition, PartitionedRows, partition_pool, partition_rows
from smc_dp.data.projection import fit_projection
from tests.support.refusals import refused

ROWS, TESTED, WIDTH = 200, 40, 6
real_chart = dealing._chart
HAMM = Partition(parties=20, per_party=6, auxiliary=50, labelled=20, components=3)


def points(rng, rows):
    return Points(into_ball(rng.normal(size=(rows, WIDTH)) * np.arange(1, WIDTH + 1), 30.0), rng.integers(0, 3, rows))


@pytest.fixture
def pool():
    rng = np.random.default_rng(1)
    return Pool("made", points(rng, ROWS), points(rng, TESTED), ("a", "b", "c"), coordinate=1 / 30, bias=0.1)


def row_numbers(dealt: PartitionedRows) -> list[np.ndarray]:
    return [*dealt.parties, dealt.labelled, dealt.auxiliary, *([] if dealt.test is None else [dealt.test])]


def overlaps(parts) -> bool:
    """Whether a row is in two parts."""
    together = np.concatenate(parts)
    return len(np.unique(together)) < len(together)


@pytest.mark.parametrize("own_test", [True, False])
def test_parties_public_rows_and_test_rows_are_disjoint(pool, own_test):
    source = pool if own_test else replace(pool, test=None)
    wanted = replace(HAMM, parties=10)
    parts = row_numbers(partition_rows(source, wanted, 3))
    assert [len(part) for part in parts] == [6] * 10 + [20, 50] + ([] if own_test else [40])
    assert not overlaps(parts)
    assert overlaps([*parts, parts[0][:1]])  # the check finds a single row dealt twice


def test_what_is_dealt_are_the_rows_of_the_pool_with_their_labels(pool):
    federation, test = partition_pool(pool, replace(HAMM, components=None, bias=0.0), 3)
    dealt = partition_rows(pool, HAMM, 3)
    for rows, numbers in zip(federation.parties, dealt.parties, strict=True):
        np.testing.assert_allclose(rows.X, pool.train.X[numbers], rtol=1e-11)
        np.testing.assert_array_equal(rows.y, pool.train.y[numbers])
    np.testing.assert_allclose(federation.unlabelled, pool.train.X[dealt.auxiliary], rtol=1e-11)
    np.testing.assert_allclose(federation.labelled.X, pool.train.X[dealt.labelled], rtol=1e-11)
    np.testing.assert_array_equal(federation.labelled.y, pool.train.y[dealt.labelled])
    np.testing.assert_allclose(test.X, pool.test.X, rtol=1e-11)
    np.testing.assert_array_equal(test.y, pool.test.y)
    assert federation.name(19) == "party party-20"
    assert federation.classes == 3


def test_a_seed_deals_the_same_rows_again_and_another_seed_others(pool):
    first, again, other = (partition_pool(pool, HAMM, seed)[0] for seed in (1, 1, 2))
    for one, two in zip(first.parties, again.parties, strict=True):
        np.testing.assert_array_equal(one.X, two.X)
    np.testing.assert_array_equal(first.unlabelled, again.unlabelled)
    assert not np.array_equal(first.unlabelled, other.unlabelled)
    assert not np.array_equal(partition_rows(pool, HAMM, 1).parties[0], partition_rows(pool, HAMM, 2).parties[0])


def test_a_sample_is_drawn_before_the_rows_are_shared_and_spares_the_test_rows(pool):
    federation, test = partition_pool(pool, Partition(3, split="50,37.5,12.5", sample=Fraction(2, 5)), 0)
    assert federation.sizes.tolist() == [40, 30, 10]
    assert len(test) == TESTED


def changed(pool: Pool, private: np.ndarray) -> Pool:
    """The pool with all private rows and all test rows replaced by others of the ball."""
    X = pool.train.X.copy()
    X[private] = np.roll(X[private], 1, axis=1) / np.linalg.norm(X[private], axis=1, keepdims=True)
    return replace(pool, train=Points(X, pool.train.y), test=Points(-pool.test.X, pool.test.y))


def moved(pool: Pool) -> bool:
    """Whether the public rows' coordinates depend on anyone's private rows."""
    private = np.concatenate(partition_rows(pool, HAMM, 5).parties)
    before, _ = partition_pool(pool, HAMM, 5)
    after, _ = partition_pool(changed(pool, private), HAMM, 5)
    assert not np.array_equal(before.parties[0].X, after.parties[0].X)
    return not np.array_equal(before.unlabelled, after.unlabelled)


def test_sites_by_class_get_the_same_rows_in_the_order_of_classes(pool):
    """Public and test rows are as without it; the twin deals at random, and every site has all classes."""
    wanted = Partition(parties=5, auxiliary=30, labelled=20)
    random, sorted_ = (
        partition_rows(replace(pool, test=None), replace(wanted, by_class=by), 3) for by in (False, True)
    )
    for a, b in zip(row_numbers(random)[5:], row_numbers(sorted_)[5:], strict=True):
        np.testing.assert_array_equal(a, b)
    together = [np.concatenate(dealt.parties) for dealt in (random, sorted_)]
    assert sorted(together[0]) == sorted(together[1])
    assert (np.diff(pool.train.y[together[1]]) >= 0).all()
    assert [len(part) for part in sorted_.parties] == [len(part) for part in random.parties]
    kinds = [[len(set(pool.train.y[part])) for part in dealt.parties] for dealt in (random, sorted_)]
    assert (kinds[0], max(kinds[1])) == ([3] * 5, 2)


def test_the_projection_and_its_radius_come_from_public_rows_alone(pool, monkeypatch):
    assert not moved(pool)
    # Twin: a projection fitted on all rows is noticed.
    monkeypatch.setattr(dealing, "_chart", lambda p, d, r: real_chart(replace(p, public=p.train.X), d, r))
    assert moved(pool)


def test_rows_that_the_data_set_makes_public_come_first(pool):
    public = np.random.default_rng(2).normal(size=(30, WIDTH)) / 10
    with_own = replace(pool, public=public)
    federation, test = partition_pool(with_own, replace(HAMM, bias=0.0), 1)
    fitted = PCA(3, svd_solver="full").fit(public)
    radius = np.median(np.linalg.norm(fitted.transform(public), axis=1))
    expected = into_ball(fitted.transform(pool.test.X), float(radius))
    np.testing.assert_allclose(np.abs(test.X), np.abs(expected), rtol=1e-9, atol=1e-12)
    # Without auxiliary rows they suffice.
    assert partition_pool(with_own, Partition(5, 6, components=3), 1)[0].dimension == 4
    assert federation.dimension == 3


def test_the_projection_is_scikit_learns_but_for_signs(pool):
    projection, radius = fit_projection(pool.train.X, 4)
    reference = PCA(4, svd_solver="full").fit(pool.train.X)
    expected = reference.transform(pool.test.X)
    got = projection.of(pool.test.X)
    np.testing.assert_allclose(np.abs(got), np.abs(expected), atol=1e-12)
    largest = projection.axes[np.arange(4), np.abs(projection.axes).argmax(axis=1)]
    assert (largest > 0).all()
    assert radius == pytest.approx(np.median(np.linalg.norm(reference.transform(pool.train.X), axis=1)), rel=1e-12)


def outside(federation, test) -> bool:
    every = [*federation.parties, test, *([federation.labelled] if federation.labelled else [])]
    features = [rows.X for rows in every] + ([] if federation.unlabelled is None else [federation.unlabelled])
    return any(first_outside(X) is not None for X in features)


@pytest.mark.parametrize(
    "wanted", [HAMM, Partition(), Partition(features=2), Partition(4, 5, labelled=30, components=2, bias=0.0)]
)
def test_every_row_is_in_the_unit_ball(pool, wanted):
    assert not outside(*partition_pool(pool, wanted, 7))


def test_private_rows_beyond_the_public_radius_are_clipped_to_it(pool, monkeypatch):
    wanted = replace(HAMM, bias=0.0)
    dealt = partition_rows(pool, wanted, 7)
    public = np.concatenate([dealt.labelled, dealt.auxiliary])
    X = pool.train.X * 0.2
    private = np.setdiff1d(np.arange(ROWS), public)
    X[private] = pool.train.X[private]  # five times as long as the public ones
    long = replace(pool, train=Points(X, pool.train.y))
    federation, test = partition_pool(long, wanted, 7)
    norms = np.linalg.norm(federation.pooled().X, axis=1)
    assert np.mean(norms > 1 - 1e-9) > 0.2
    assert not outside(federation, test)
    monkeypatch.setattr(dealing, "into_ball", lambda rows, radius: rows / radius)  # twin: scaled, not clipped
    with refused("rows.outside_ball", row=1):
        partition_pool(long, wanted, 7)


def test_fewer_columns_use_the_whole_ball(pool):
    X = np.full((ROWS, WIDTH), pool.coordinate)  # the longest rows that the public bound allows
    full = replace(pool, train=Points(X, pool.train.y))
    for count in range(1, WIDTH + 1):
        federation, test = partition_pool(full, Partition(features=count, bias=0.0), 0)
        assert federation.dimension == count == test.X.shape[1]
        np.testing.assert_allclose(np.linalg.norm(federation.pooled().X, axis=1), 1, rtol=1e-11)
        assert not outside(federation, test)


def sparse(pool: Pool) -> Pool:
    def thin(part: Points) -> Points:
        return Points(scipy.sparse.csr_array(np.where(np.abs(part.X) > 0.02, part.X * 100, 0.0)), part.y)

    return replace(pool, train=thin(pool.train), test=thin(pool.test), coordinate=1.0)


def test_the_largest_norm_clips_no_public_row_and_the_median_half_of_them(pool):
    norms = {}
    for name in ("median", "largest"):
        projection, radius = fit_projection(pool.train.X, 4, name)
        norms[name] = np.linalg.norm(projection.of(pool.train.X), axis=1) / radius
    assert norms["largest"].max() == pytest.approx(1)
    assert np.mean(norms["median"] > 1) == pytest.approx(0.5, abs=0.02)


def test_sparse_rows_are_projected_on_singular_vectors_of_the_public_rows(pool):
    thin = sparse(pool)
    federation, test = partition_pool(thin, replace(HAMM, bias=0.0, labelled=None), 4)
    public = thin.train.X[partition_rows(thin, replace(HAMM, labelled=None), 4).auxiliary].toarray()
    axes = np.linalg.svd(public)[2][:3]
    radius = np.median(np.linalg.norm(public @ axes.T, axis=1))
    expected = into_ball(thin.test.X.toarray() @ axes.T, float(radius))
    np.testing.assert_allclose(np.abs(test.X), np.abs(expected), atol=1e-6)
    assert not outside(federation, test)


def test_sparse_rows_are_not_used_without_a_projection(pool):
    with refused("components.not_fewer", name="made", width=6):
        partition_pool(sparse(pool), Partition(), 0)


@pytest.mark.parametrize(
    ("options", "code"),
    [
        ({"parties": 0}, "partition.out_of_range"),
        ({"per_party": 0}, "partition.out_of_range"),
        ({"auxiliary": 0}, "partition.out_of_range"),
        ({"components": -1}, "partition.out_of_range"),
        ({"split": "50,50"}, "split.wrong_number"),
        ({"split": "50,50", "parties": 2, "per_party": 3}, "split.with_per_party"),
        ({"sample": Fraction(0)}, "partition.out_of_range"),
        ({"sample": Fraction(11, 10)}, "partition.out_of_range"),
        ({"held_out": Fraction(100)}, "partition.out_of_range"),
        ({"bias": -0.1}, "partition.out_of_range"),
        ({"bias": float("nan")}, "partition.out_of_range"),
    ],
)
def test_a_deal_that_contradicts_itself_is_refused(options, code):
    with refused(code):
        Partition(**options)


@pytest.mark.parametrize(
    ("options", "code"),
    [
        ({"parties": 201}, "dataset.too_few_rows"),
        ({"parties": 20, "per_party": 11}, "dataset.too_few_rows"),
        ({"per_party": 30, "auxiliary": 51}, "dataset.too_few_rows"),
        ({"parties": 2, "split": "99.9,0.1"}, "dataset.empty_share"),
        ({"features": 7}, "features.wrong_width"),
        ({"components": 3}, "components.too_few_rows"),
        ({"components": 3, "auxiliary": 3}, "components.too_few_rows"),
        ({"components": 7, "auxiliary": 30}, "components.too_many"),
    ],
)
def test_too_few_rows_are_refused_with_their_number(pool, options, code):
    with refused(code):
        partition_pool(pool, Partition(**options), 0)


def test_public_rows_that_are_all_equal_give_no_projection(pool):
    with refused("components.equal_rows"):
        partition_pool(replace(pool, public=np.full((9, WIDTH), 0.25)), Partition(components=2), 0)
