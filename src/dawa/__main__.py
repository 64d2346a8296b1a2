"""``python -m dawa`` is the command ``dawa``."""

from dawa.cli import main

main()
