"""The results: an estimate, answers with error bars, and the release that holds both and may be published."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
