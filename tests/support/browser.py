"""The distribution's Chromium, driven by Playwright, and what it finds wrong with a page that must ask for nothing."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:  # a worker that opens no page does without these
    from playwright.sync_api import Browser, Page, Playwright, Request, Route

T = TypeVar("T")

CHROMIUM = shutil.which("chromium")
MISSING = "Chromium is not installed (Debian: apt install chromium)"  # .ci/run looks for this
QUIET = (
    *("--disable-gpu", "--disable-background-networking", "--disable-component-update", "--disable-sync"),
    *("--no-first-run", "--disable-dev-shm-usage"),
)
NARROW, WIDE = 390, 1280
HEIGHT = 800


class Chromium:
    """One browser with an empty profile, in a thread of its own: Playwright leaves a loop running in the thread that
    starts it, and no other test of this worker could run one there.
    """

    def __init__(self) -> None:
        self._thread = ThreadPoolExecutor(1, "chromium")
        self._playwright, self._browser, self._pages = self._thread.submit(_started).result()

    def look(self, file: Path, width: int, at: Callable[[Page], T], *, script: bool = True) -> tuple[T, list[str]]:
        """What `at` makes of the page in a window of that width, and what the page did that none may do."""
        return self._thread.submit(self._look, file, width, at, script).result()

    def _look(self, file: Path, width: int, at: Callable[[Page], T], script: bool) -> tuple[T, list[str]]:
        page = self._pages[script]
        page.emulate_media(media="null")
        page.set_viewport_size({"width": width, "height": HEIGHT})
        with _watched(page, file) as faults:
            page.goto(file.as_uri())
            found = at(page)
        return found, list(dict.fromkeys(faults))

    def close(self) -> None:
        """End the browser."""
        self._thread.submit(self._stop).result()
        self._thread.shutdown()

    def _stop(self) -> None:
        self._browser.close()
        self._playwright.stop()


def _started() -> tuple[Playwright, Browser, dict[bool, Page]]:
    """A browser, with a page that runs scripts and one that does not: a new page would be a new process each time."""
    from playwright.sync_api import sync_playwright

    playwright = sync_playwright().start()
    as_root = ["--no-sandbox"] if os.geteuid() == 0 else []
    browser = playwright.chromium.launch(executable_path=CHROMIUM, args=[*QUIET, *as_root])
    pages = {script: browser.new_page(offline=True, java_script_enabled=script) for script in (True, False)}
    for page in pages.values():
        page.set_default_timeout(20_000)
    return playwright, browser, pages


@contextmanager
def _watched(page: Page, file: Path) -> Iterator[list[str]]:
    """Collects requests for anything but the file, errors, and dialogs; no request is let through."""
    faults: list[str] = []

    def asked(request: Request) -> None:
        if request.url.partition("#")[0] != file.as_uri() and not request.url.startswith("data:image/"):
            faults.append("a request")

    def routed(route: Route) -> None:
        asked(route.request)
        route.continue_() if route.request.url.partition("#")[0] == file.as_uri() else route.abort()

    heard: dict[Any, Callable[[Any], object]] = {
        "request": asked,
        "console": lambda message: faults.append("a console error") if message.type in ("error", "warning") else None,
        "pageerror": lambda _: faults.append("a console error"),
        "dialog": lambda dialog: (faults.append("a dialog"), dialog.dismiss()),
    }
    page.route("**/*", routed)
    for event, hear in heard.items():
        page.on(event, hear)
    try:
        yield faults
        page.wait_for_timeout(20)  # what was asked for at the very end
    finally:
        page.goto("about:blank")
        page.unroute_all()
        for event, hear in heard.items():
            page.remove_listener(event, hear)


def violations(page: Page) -> list[str]:
    """What axe has against the page: rule and places."""
    from axe_playwright_python.sync_playwright import Axe

    found = Axe().run(page).response["violations"]
    return [f"axe {rule['id']}: {', '.join(str(node['target'][0]) for node in rule['nodes'][:5])}" for rule in found]
