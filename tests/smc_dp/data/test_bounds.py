from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from smc_dp.data.bounds import Bounds, CategoricalColumn, NumericColumn, canonical_level, parse_bounds, read_bounds
from smc_dp.data.preprocess import check_two_classes, encode_classes, encode_labelled_rows, encode_rows
from smc_dp.data.table import Table
from smc_dp.data.table_reader import parse_csv
from tests.support.refusals import refused

TEXT = """
[columns]
age = [0, 120]
sex = ["m", "f"]
[label]
classes = ["no", "yes"]
column = "outcome"
[rows]
clip = 1.5
bias = 0.3
"""


def test_a_bounds_file_says_columns_classes_clip_and_bias():
    assert parse_bounds(TEXT) == Bounds(
        (NumericColumn("age", 0.0, 120.0), CategoricalColumn("sex", ("m", "f"))),
        classes=("no", "yes"),
        label="outcome",
        clip=1.5,
        bias=0.3,
    )
    short = parse_bounds("[columns]\na = [-1, 1]\n[label]\nclasses = [0, 1]\n")
    assert (short.clip, short.bias, short.label, short.center) == (1.0, 0.1, None, True)
    assert short.classes == ("0", "1")
    assert short.dimension == 2
    assert parse_bounds(TEXT).dimension == 4


@pytest.mark.parametrize("range_", ["[0, 2e140]", "[-2e140, 0]", "[0, 1e-141]", "[-1e300, 1e300]"])
def test_a_range_of_an_outcome_whose_square_is_no_float_is_refused(range_: str) -> None:
    with refused("label.range_beyond_floats", at="bounds"):
        parse_bounds(f"[columns]\na = [0, 1]\n[label]\nrange = {range_}\n")


LABEL = '[label]\nclasses = ["no", "yes"]\n'


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("[columns", "toml.unreadable"),
        ("a = " + "[" * 5000, "toml.unreadable"),
        (LABEL, "document.missing"),
        ("[columns]\n" + LABEL, "columns.wrong_number"),
        ("[columns]\na = [0, 1]\n[label]\n", "label.no_classes"),
        ('[columns]\na = [0, 1]\n[label]\nclasses = ["no"]\n', "document.wrong_value"),
        ('[columns]\na = [0, 1]\n[label]\nclasses = ["a", "b", "a "]\n', "classes.not_different"),
        (f"[columns]\na = [0, 1]\n[label]\nclasses = {list(range(1001))}\n", "classes.wrong_number"),
        ('[columns]\na = [0, 1]\n[label]\nclasses = ["1", "1.0"]\n', "classes.not_different"),
        ('[columns]\na = [0, 1]\n[label]\nclasses = ["", "x"]\n', "classes.not_printable"),
        ("[columns]\na = [0, 1]\n[label]\nclasses = [0.0, 9.5]\n", "classes.regression"),
        ("[columns]\na = [0, 1]\n" + LABEL + 'column = "a"\n', "columns.label_among_them"),
        ("[columns]\na = [1, 1]\n" + LABEL, "columns.no_order"),
        ("[columns]\na = [0, 5e-324]\n" + LABEL, "columns.no_order"),
        ("[columns]\na = [nan, 1]\n" + LABEL, "columns.no_order"),
        ("[columns]\na = [0, inf]\n" + LABEL, "columns.no_order"),
        (f"[columns]\na = [0, {'9' * 400}]\n" + LABEL, "document.wrong_value"),
        ("[columns]\na = [0, 1, 2]\n" + LABEL, "columns.wrong_kind"),
        ("[columns]\nemp.var.rate = [-4, 2]\n" + LABEL, "columns.dotted_name"),
        ('[columns]\na = [0, 1]\n[missing]\nb.c = "indicator"\n' + LABEL, "columns.dotted_name"),
        ("[columns]\na = []\n" + LABEL, "columns.wrong_kind"),
        ('[columns]\na = ["x", "y", "x"]\n' + LABEL, "columns.wrong_categories"),
        ('[columns]\na = ["1", "01"]\n' + LABEL, "columns.wrong_categories"),
        ('[columns]\na = ["x", ""]\n' + LABEL, "columns.wrong_categories"),
        ("[columns]\na = [0, 1]\n" + LABEL + "[row]\nclip = 3\n", "document.unknown_key"),
        ("[columns]\na = [0, 1]\n" + LABEL + "[rows]\nclip = 0\n", "bounds.clip_not_positive"),
        ("[columns]\na = [0, 1]\n" + LABEL + "[rows]\nbias = -0.1\n", "bounds.negative_bias"),
        ("[columns]\na = [0, 1]\n" + LABEL + "[rows]\nbias = nan\n", "bounds.negative_bias"),
        ("[columns]\na = [0, 1]\n" + LABEL + '[rows]\ncenter = "no"\n', "document.wrong_value"),
    ],
)
def test_wrong_bounds_name_the_field(text, code, tmp_path):
    (tmp_path / "b.toml").write_text(text)
    with refused(code) as caught:
        read_bounds(tmp_path / "b.toml")
    assert str(caught.value).startswith(f"bounds file {tmp_path / 'b.toml'}: ")
    assert "\n" not in str(caught.value)


def test_a_column_that_is_a_section_is_one_fault():
    text = "[columns]\nb.c = [0, 1]\n[columns.a]\nmin = 0\nmax = 1\n[missing]\nd.e = 0\n" + LABEL
    with refused("columns.section", "columns.dotted_name", "columns.dotted_name"):
        parse_bounds(text)


def test_all_names_with_points_are_told_at_once():
    rates = 'cons.price.idx = [92, 95]\ncons.conf.idx = {bins = [0, 1]}\nemp.var = ["x", "y"]\n'
    with refused(*["columns.dotted_name"] * 4) as caught:
        parse_bounds(f"[columns]\n{rates}[missing]\ncons.price.idx = 93\n{LABEL}")
    names = [str(fault.fields["name"]) for fault in caught.value.faults]
    assert sorted(names) == ["cons.conf.idx", "cons.price.idx", "cons.price.idx", "emp.var"]


def test_a_bounds_file_that_cannot_be_read(tmp_path):
    (tmp_path / "b.toml").write_bytes(b"\xff\xfe")
    for name, why in (("none.toml", "file.unreadable"), ("b.toml", "file.not_utf8")):
        with refused(why):
            read_bounds(tmp_path / name)


@pytest.mark.parametrize(
    ("text", "form"),
    [("1.0", "1"), ("+1", "1"), ("-1.00", "-1"), (" 007 ", "7"), ("-0.0", "0"), ("1.50", "1.5"), ("100", "100")]
    + [(text, text) for text in ("yes", "1e3", "nan", ".5", "5.", "--1", "-", "", "1.2.3", "٣", "1_0")],
)
def test_numbers_are_compared_in_their_shortest_form(text, form):
    assert canonical_level(text) == form
    assert canonical_level(form) == form


@given(st.floats(-1e6, 1e6).map(lambda x: round(x, 6) + 0.0))
def test_equal_numbers_have_one_canonical_form(x):
    assert canonical_level(f"{x:.6f}") == canonical_level(f"+{x:.9f}" if x >= 0 else f"{x:.9f}")
    assert float(canonical_level(f"{x:.6f}")) == x


def test_rows_are_mapped_clipped_scaled_and_get_a_bias():
    table = parse_csv(b"sex,age,outcome\nf,60,yes\nm,130,no\n", "t")
    X = encode_rows(table, parse_bounds(TEXT))
    root = np.sqrt(1 + 0.09)
    first = np.array([0.0, 0.0, 1.0]) / 1.5
    second = np.array([1.0, 1.0, 0.0]) / 1.5  # 130 clipped to 120; norm sqrt 2 is below the clip
    expected = np.array([[*first, 0.3], [*second, 0.3]]) / root
    np.testing.assert_allclose(X, expected, rtol=1e-11)
    assert encode_classes(table, parse_bounds(TEXT), "outcome").tolist() == [1, 0]


def test_bounds_are_centred_by_a_truth_value_alone():
    with refused("bounds.center_not_bool", got="'no'"):
        Bounds((NumericColumn("a", 0.0, 4.0),), ("0", "1"), center="no")  # type: ignore[arg-type]


def test_without_centring_zero_stays_zero_and_without_bias_nothing_is_appended():
    bounds = Bounds((NumericColumn("a", 0.0, 4.0),), ("0", "1"), clip=1.0, bias=0.0, center=False)
    X = encode_rows(parse_csv(b"a\n0\n1\n9\n", "t"), bounds)
    np.testing.assert_allclose(X, [[0.0], [0.25], [1.0]], rtol=1e-11)


def test_strict_bounds_name_party_column_and_row():
    table = parse_csv(b"age,sex,outcome\n5,f,yes\n121,m,no\n", "party north (n.csv)")
    with refused("cell.outside_bounds", at="party north (n.csv): column 'age', line 3", got=121.0):
        encode_rows(table, parse_bounds(TEXT), strict=True)


def test_a_party_needs_rows_and_for_some_methods_both_classes():
    bounds = parse_bounds(TEXT)
    with refused("rows.none"):
        encode_labelled_rows(parse_csv(b"age,sex,outcome\n", "party north"), bounds, "outcome")
    one = parse_csv(b"age,sex,outcome\n1,f,yes\n2,m,yes\n", "party north")
    rows = encode_labelled_rows(one, bounds, "outcome")
    assert rows.y.tolist() == [1, 1]
    with refused("rows.one_class", at="party north", label="'outcome'", wanted="both 'no' and 'yes'"):
        check_two_classes(one, rows, bounds)
    both = parse_csv(b"age,sex,outcome\n1,f,yes\n2,m,no\n", "party north")
    check_two_classes(both, encode_labelled_rows(both, bounds, "outcome"), bounds)


def test_three_classes_are_numbered_in_the_order_in_which_they_are_announced():
    bounds = parse_bounds('[columns]\na = [0, 4]\n[label]\nclasses = [2, 0, "x"]\n')
    assert bounds.classes == ("2", "0", "x")
    table = parse_csv(b"a,y\n1,x\n2,2.0\n3,0\n", "party north")
    assert encode_labelled_rows(table, bounds, "y").y.tolist() == [2, 0, 1]
    with refused("cell.unknown_level", at="line 2", got="'1'"):
        encode_classes(parse_csv(b"a,y\n1,1\n", "party north"), bounds, "y")
    some = parse_csv(b"a,y\n1,x\n2,0\n", "party north")  # two of three are enough
    rows = encode_labelled_rows(some, bounds, "y")
    assert rows.y.tolist() == [2, 1]
    check_two_classes(some, rows, bounds)
    one = some.take(np.array([0]), "party north")
    with refused("rows.one_class", count=1, only="'x'", wanted="two or more of the 3 classes"):
        check_two_classes(one, encode_labelled_rows(one, bounds, "y"), bounds)


def test_labels_are_compared_as_numbers_where_they_are_numbers():
    bounds = Bounds((NumericColumn("a", 0.0, 1.0),), ("-1", "+1"))
    table = Table("t", {"y": [1.0, "1", "+1", "01.0", -1, "-1.0"]}, range(1, 7))
    assert encode_classes(table, bounds, "y").tolist() == [1, 1, 1, 1, 0, 0]
