from . import croissant, events, registry

__all__ = ["croissant", "events", "registry"]
