"""The benchmark: the paper's tables and figures made again, the truth beside them, and commands that measure.

NOT PRIVATE: mechanisms as they were published (``published``) and the best partition (``optimum``) look at counts in
the clear and protect nobody. EVERYTHING HERE RUNS ON PUBLIC OR GENERATED DATA: mechanisms are judged by how far they
are from the counts themselves. Nothing in ``dawa`` imports this package; the command line offers ``dawa bench`` if it
is there. Importing it loads nothing.

- ``experiments`` names the experiments of ``dawa bench``, in the setting of the ``paper`` and on its ``datasets``.
  ``runner`` runs their tasks on all cores and keeps every result in ``store``; ``display`` shows them; ``results``
  writes the page of findings; ``cli`` is the command.
- Errors on queries that were given and on fresh ones: ``python -m dawa_bench.accuracy``; of every mechanism,
  ``rivals``, also on ``maps``; of ``strategies`` exactly; and why the walk's ``defaults`` are what they are.
- Time, as ratios to things measured in the same run: ``python -m dawa_bench.speed``; of exact ``noise``, of counting in
  ``sources``, of a map at the paper's size (``places``), of the command line's ``startup``, of dragging on a ``page``.
"""
