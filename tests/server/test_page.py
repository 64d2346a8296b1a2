"""The page that the server hands out works in a browser, under the policy that comes with it."""

import dawa
from helpers.browser import browser, opened  # noqa: F401  a fixture
from helpers.serving import Served


class Address(str):
    """An address where a test of pages expects a path."""

    __slots__ = ()

    def as_uri(self):
        return str(self)


def test_the_page_works_in_a_browser(browser, tmp_path):  # noqa: F811  the fixture
    release = dawa.release({"age": list(range(100)) * 20}, dawa.Axis("age", 0, 100), epsilon=1, seed=0)
    release.save(tmp_path / "ages.json")
    with Served(tmp_path) as server:
        address = Address(f"http://127.0.0.1:{server.port}/releases/ages/page")
        with opened(browser, address, "#from=20&to=60") as sheet:
            expected = release.answer(20, 60)
            assert sheet.texts("value")[0].replace(",", "") == f"{expected.value:.0f}"
