"""What reads as blame: sentences that say of somebody that it did wrong."""

from __future__ import annotations

import re
from collections.abc import Iterable

BLAME = re.compile(
    r"is wrong|answers for|\blie[ds]?\b|\bliar|cheat|culprit|to blame|guilty|made it|put it there|deviat|\bbroke\b"
)
NOBODY = re.compile("nobody answers|nobody is named|nobody can be named")


def blaming(text: str, honest: Iterable[str]) -> list[str]:
    """The sentences that blame one of these: in words, in brackets as an audit does, or in front as an error does."""
    found = []
    for sentence in re.split(r"[.;\n]", text):
        names = [name for name in honest if name in sentence]
        marked = [name for name in names if re.search(rf"\[{name}\]|(^|: ){name}: |its message \d", sentence)]
        if marked or (names and BLAME.search(sentence) and not NOBODY.search(sentence)):
            found.append(sentence.strip())
    return found
