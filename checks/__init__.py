"""Checks of the source code itself, for ``make check``: what a test of a run cannot see."""
