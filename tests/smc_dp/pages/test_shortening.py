"""What is cut ends in a mark, what fits stays as it is, and nobody is left out of a list unsaid."""

from __future__ import annotations

from smc_dp.pages.shortening import LONGEST, first_texts, join_first, shorten, shorten_to_width
from smc_dp.pages.svg import text_width


def test_what_is_too_long_is_cut_and_marked_and_nothing_else():
    assert shorten("x" * LONGEST) == "x" * LONGEST
    assert shorten("x" * (LONGEST + 1)) == "x" * (LONGEST - 1) + "…"
    for name in ("charlie", "a-hospital-with-a-long-name"):
        shown = shorten_to_width(name, 80, 12)
        assert text_width(shown, 12) <= 80
        assert (shown == name) == (text_width(name, 12) <= 80)


def test_of_many_the_first_are_named_and_the_others_counted():
    names = [f"n{i}" for i in range(2000)]
    assert first_texts(names[:3], 3) == ("n0", "n1", "n2")
    assert join_first(names, 2) == "n0, n1, and 1,998 more"
    assert join_first(["a" * 9, "b"], 1, 4, "; ") == "aaa…; and 1 more"
    assert join_first([], 3) == ""
