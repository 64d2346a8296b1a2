"""The benchmark: the paper's tables and figures made again, and the truth beside them.

Everything here runs on public data: mechanisms are judged by how far they are from the counts themselves. The
mechanisms that the paper was written with live here too, as they were published, and are NOT PRIVATE; nothing outside
of the benchmark can reach them.

``registry`` names the experiments. Each one is a list of tasks; ``runner`` runs them on all cores and keeps every
result in ``store``; ``tables`` and ``figures`` show them; ``results`` writes the page of findings.
"""
