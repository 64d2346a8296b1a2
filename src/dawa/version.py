"""The library's version, as releases name it."""

from importlib.metadata import version

__version__ = version("dawa")
