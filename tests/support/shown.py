"""What a browser shows of a page: its elements, the names of their attributes, and its texts."""

from __future__ import annotations

import re
from html.parser import HTMLParser


class ShownPage(HTMLParser):
    """The page, text by text, style and script apart; a long word that may be broken is one word, and where it may be
    is no element.
    """

    def __init__(self, page: str | bytes) -> None:
        super().__init__()
        self.elements: list[str] = []
        self.attributes: set[str] = set()
        self.texts: list[str] = []
        self._unseen = self._goes_on = False
        text = page if isinstance(page, str) else page.decode()
        self.feed(re.sub(r'(?<!">)<code>([^<]*)</code>', r"`\1`", text))  # as on a screen; not in <pre ...>

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._unseen, self._goes_on = tag in ("style", "script"), tag == "wbr"
        self.elements += [] if self._goes_on else [tag]
        self.attributes |= {name for name, _ in attrs}

    def handle_endtag(self, tag: str) -> None:
        self._unseen = self._goes_on = False

    def handle_data(self, data: str) -> None:
        if self._goes_on:
            self.texts[-1] += data
        elif not self._unseen:
            self.texts.append(data)

    @property
    def text(self) -> str:
        """All of it, with one space between words."""
        return " ".join(" ".join(self.texts).split())
