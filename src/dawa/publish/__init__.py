"""What is published: a folder with the release, tables, a picture, a README, and a page to explore it on."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
