"""Words about data: an example, and whatever somebody may say."""

from unicodedata import category

from hypothesis import strategies as st

from dawa.results.about import UNSEEN, About

FLIGHTS = About(
    title="Departures from New York",
    description="Every departure.\n\nCancelled ones have no delay.",
    record="a flight",
    publisher="Bureau of Transportation Statistics",
    contact="mailto:answers@example.org",
    data_from="2013-01-01",
    data_to="2013-12-31",
    released="2014-03-01",
    licence="https://example.org/terms",
)


def shown(text):
    """Whether there is something to see in a text, and nothing that is no text."""
    return any(not c.isspace() and category(c) != "Cf" for c in text) and not UNSEEN.search(text)


lines = st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1, max_size=40).filter(shown)
paragraphs = st.lists(lines, min_size=1, max_size=4).map("\n".join)
days = st.dates().map(str)


@st.composite
def abouts(draw):
    """Words about any data."""
    texts = {name: draw(st.none() | lines) for name in ("title", "record", "publisher", "contact", "licence")}
    texts["plural"] = draw(st.sampled_from([None, "flights", "<b>*people*</b> & $x$", "\u5e74"]))
    first, last = sorted((draw(days), draw(days)))
    period = {"data_from": draw(st.sampled_from([None, first])), "data_to": draw(st.sampled_from([None, last]))}
    return About(**texts, **period, description=draw(st.none() | paragraphs), released=draw(st.none() | days))
