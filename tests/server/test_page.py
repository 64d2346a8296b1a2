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


def test_the_index_leads_to_every_release_and_to_what_can_be_asked(browser, tmp_path):  # noqa: F811  the fixture
    axis = dawa.Axis("<b>age</b>", 0, 100)
    dawa.release({axis.column: list(range(100)) * 20}, axis, epsilon=1, seed=0).save(tmp_path / "ages.json")
    both = (dawa.Axis("lon", 0, 8), dawa.Axis("lat", 0, 8))
    about = dawa.About(title="A <i>map</i>")
    rel = dawa.release({"lon": [1, 2], "lat": [3, 4]}, both, epsilon="1/3", about=about)
    rel.save(tmp_path / "the map & more.json")
    with Served(tmp_path) as server:
        sheet = browser.new_context().new_page()
        asked, complaints = [], []
        sheet.on("request", lambda request: asked.append(request.url))
        sheet.on("console", lambda message: complaints.append(message.text))
        sheet.goto(f"http://127.0.0.1:{server.port}/")
        rows = sheet.locator("tbody tr").all_text_contents()
        assert len(rows) == 2
        assert "<b>age</b>" in rows[0]
        assert "nobody: an experiment" in rows[0]
        assert "A <i>map</i>lon and lat1/3record" in rows[1]
        links = [link.get_attribute("href") for link in sheet.locator("a").all()]
        for link in links:
            answer = sheet.request.get(f"http://127.0.0.1:{server.port}/{link}")
            assert answer.status == 200, link
        sheet.click("tbody tr:nth-child(2) a")
        sheet.wait_for_selector("#value")
        sheet.goto(f"http://127.0.0.1:{server.port}/docs")
        said = sheet.locator("main").text_content()
        for part in ("GET /releases/{name}/quantiles", "POST /releases/{name}/answers", "once per axis"):
            assert part in said
        assert {url.split("/")[2] for url in asked if not url.startswith("data:")} == {f"127.0.0.1:{server.port}"}
        assert not complaints
