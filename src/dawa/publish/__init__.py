"""What is published: a folder with the release, tables, a picture and a README, and a page to explore the release."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
