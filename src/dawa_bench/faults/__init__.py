"""What goes wrong on purpose: attacks, kills and damaged files, by commands that count what came of it."""
