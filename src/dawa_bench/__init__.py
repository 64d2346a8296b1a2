"""The benchmark: the paper's tables and figures made again, the truth beside them, and commands that measure.

NOT PRIVATE: mechanisms as they were published (``published``) and the best partition (``optimum``) look at counts
without any noise and protect nobody. EVERYTHING HERE RUNS ON PUBLIC OR GENERATED DATA: mechanisms are judged by how far
they are from the counts themselves. Nothing in ``dawa`` imports this package; the command line offers ``dawa bench`` if
it finds this package. Importing it loads nothing.

- ``experiments`` names the experiments of ``dawa bench``, in the setting of the ``paper`` and on its ``datasets``.
  ``runner`` runs their tasks on all cores and keeps every result in ``store``; ``display`` shows the results;
  ``results`` writes the page of findings; ``cli`` is the command.
- Errors, on queries that were given and on fresh ones: ``python -m dawa_bench.accuracy``. ``rivals`` measures every
  mechanism, ``maps`` the same on maps; ``strategies`` computes errors exactly; ``defaults`` shows why the walk's
  defaults are what they are; ``bounds`` what it costs not to know the bounds of an axis. How often intervals hold the
  truth: ``coverage``; how narrow they can be: ``guarantee``. What smooth ``insides`` of buckets are worth; ``groups``
  beside what they replace; how well a ``plan`` predicts.
- Privacy, from outside: ``audit`` is the package behind ``dawa audit``. ``faults`` attacks files, runs and servers.
- Time, as ratios to things measured in the same run: ``python -m dawa_bench.speed``. Others measure exact ``noise``,
  counting in ``sources``, a map of the paper's size (``places``), ``startup`` of the command line, a ``cold`` first
  answer, ``bookings`` in a long ledger, dragging on a ``page``, keeping and asking a million buckets (``bulk``),
  ``huge`` domains of up to 2^62 cells.
"""
