"""The machine around a run: files that are written whole, folders for a while, signals."""
