"""Pages in a real browser, which remember everything that they should not have done.

A test that cannot have a browser is skipped with a plain reason. Where the environment variable ``CI`` is set nothing
may be skipped, so there it fails.
"""

import os
import time
from contextlib import contextmanager
from weakref import WeakKeyDictionary

import pytest

from dawa_bench.page import READY, chromium, installed

NUMBERS = "['value', 'noise', 'bias', 'low', 'high']"

LEFT = WeakKeyDictionary()
"""Empty pages for each browser, by what they were made with: a new one is a new process, which takes longest."""


@pytest.fixture(scope="module")
def browser():
    """A browser for one module: its driver keeps an event loop running, and others need one of their own."""
    if installed() is None:
        assert not os.environ.get("CI"), "CI needs chromium: apt-get install chromium"
        pytest.skip("there is no chromium here: apt-get install chromium")
    with chromium() as found:
        yield found


class Sheet:
    """One open page."""

    def __init__(self, page, path, fragment=""):
        self.page, self.context = page, page.context
        self.requests, self.complaints = [], []
        self.heard = {
            "request": lambda request: self.requests.append(request.url),
            "console": lambda message: self.complaints.append(f"{message.type}: {message.text}"),
            "pageerror": lambda error: self.complaints.append(str(error)),
            "dialog": lambda dialog: (self.complaints.append(f"dialog: {dialog.message}"), dialog.dismiss()),
        }
        for name, hear in self.heard.items():
            self.page.on(name, hear)
        self.address = path.as_uri()
        self.page.goto(self.address + fragment)
        self.until(READY)

    def until(self, condition, patience=30):
        """Wait for a condition, which is asked from outside: the page's own policy forbids to evaluate texts inside."""
        give_up = time.monotonic() + patience
        while not self.page.evaluate(condition):
            assert time.monotonic() < give_up, condition
            self.page.wait_for_timeout(20)

    def check(self):
        """Nothing was asked of anyone but the file itself, and nothing went wrong."""
        assert not self.complaints
        assert [url for url in self.requests if url.split("#")[0] != self.address and url[:5] != "blob:"] == []

    def emptied(self):
        """The page as it was before."""
        for name, hear in self.heard.items():
            self.page.remove_listener(name, hear)
        self.page.emulate_media(media="null")
        self.page.mouse.move(0, 0)
        self.page.goto("about:blank")
        return self.page

    def texts(self, *ids):
        return [self.page.locator(f"#{name}").text_content() for name in ids]

    def shown(self):
        """The five numbers, as they are written."""
        return self.page.evaluate(f"{NUMBERS}.map((id) => document.getElementById(id).textContent)")

    def typed(self):
        """Both ends on every axis, as the inputs have them."""
        axes = self.page.locator("#ends fieldset").count()
        return [[self.page.input_value(f"#{end}{i}") for i in range(axes)] for end in ("from", "to")]

    def type(self, **ends):
        """Type ends into the inputs, as a person does."""
        for name, text in ends.items():
            self.page.fill(f"#{name}", text)
        self.page.keyboard.press("Enter")

    def asked(self, fragments):
        """What the page shows after each of these fragments, one after the other."""
        return self.page.evaluate(
            f"""async (fragments) => {{
              const found = [];
              for (const fragment of fragments) {{
                await new Promise((go) => {{
                  addEventListener('hashchange', go, {{ once: true }});
                  location.hash = fragment;
                }});
                found.push([...{NUMBERS}, 'problem'].map((id) => document.getElementById(id).textContent));
              }}
              return found;
            }}""",
            fragments,
        )

    def redrawn(self, picture):
        """That a picture changes with each of the scales, and is what it was once the first ones are back."""
        views = [self.page.evaluate(picture)]
        for button in ("#own", "#log", "#same", "#linear"):
            self.page.click(button)
            views.append(self.page.evaluate(picture))
        assert len(set(views[:4])) == 4
        assert views[4] == views[0]

    def rest(self):
        """Wait until two frames have passed, so that what was dragged is answered."""
        self.page.evaluate("new Promise((go) => requestAnimationFrame(() => requestAnimationFrame(go)))")

    def drag(self, start, stop, steps=5):
        """Drag with a mouse, between two places given as parts of the chart's plot."""
        (x0, y0), (x1, y1) = self.place(*start), self.place(*stop)
        self.page.mouse.move(x0, y0)
        self.page.mouse.down()
        self.page.mouse.move(x1, y1, steps=steps)
        self.page.mouse.up()
        self.rest()

    def place(self, across, up):
        """Pixels of a place in the chart, given as parts of its width and height."""
        self.page.locator("#chart").scroll_into_view_if_needed()
        box = self.page.locator("#chart").bounding_box()
        return box["x"] + 64 + across * (box["width"] - 80), box["y"] + 40 + (1 - up) * (box["height"] - 130)


@contextmanager
def opened(browser, path, fragment="", **context):
    """A page, checked when it is left; it is empty at first, and one that another test has left if that passed."""
    left, kind = LEFT.setdefault(browser, {}), repr(sorted(context.items()))
    page = left.pop(kind, None) or browser.new_context(accept_downloads=True, **context).new_page()
    try:
        sheet = Sheet(page, path, fragment)
        yield sheet
        sheet.check()
        left[kind] = sheet.emptied()
    finally:
        if left.get(kind) is not page:
            page.context.close()
