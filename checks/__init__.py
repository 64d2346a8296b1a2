"""Checks of the source code itself, for ``make check``: what a test of a run cannot see.

``floats`` is the command, and says what it looks for. ``rules`` says what is private, what is whole, and what is
excused. ``mutants`` is a command of its own, for ``make mutants``: which small mistakes in the code no test would
notice. The rest goes through the code with ``floats``:

| module | what it knows |
|---|---|
| ``package`` | the modules, classes and functions of a package, and what names stand for |
| ``values`` | what is known of a value: whether it is private, and whether it is a float |
| ``flow`` | every function, once for each set of what its parameters may be |
| ``body``, ``expressions`` | statements, and what an expression may be |
| ``calls``, ``outside`` | calls inside the package, and out of it |
| ``scope`` | the names of a function while it is gone through |
| ``loops`` | the loops in C |
"""
