"""A real browser, Debian's Chromium driven by Playwright: for frame times, for screenshots, and for tests."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
)
READY = "document.documentElement.dataset.ready !== undefined"
"""Whether a page of ours has its error bars ready."""

PHONE = {"viewport": {"width": 375, "height": 812}, "has_touch": True, "is_mobile": True}
WIDE = {"viewport": {"width": 1920, "height": 1080}}


def installed() -> str | None:
    """Where Chromium is, if anywhere."""
    return shutil.which("chromium")


@contextmanager
def chromium() -> Iterator[Any]:
    """A browser that lives as long as the block."""
    from playwright.sync_api import sync_playwright  # noqa: PLC0415  slow to load

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=installed(), args=FLAGS)
        try:
            yield browser
        finally:
            browser.close()
