"""A page for people: one HTML file in which a reader drags a range and reads the answer, without Python or network."""

from dawa.publish.page.build import OWN_MARK, html, html_of, save, save_all

__all__ = ["OWN_MARK", "html", "html_of", "save", "save_all"]
