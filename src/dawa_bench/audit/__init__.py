"""Audits from the outside: what mechanisms and releases really lose, by ways that can fail.

Nothing here uses a proof, a ``loss`` or a limit of ``dawa``: it calls ``dawa.estimate`` and ``dawa.release`` as anybody
may, watches what passes from private numbers to public ones (``watch``), and computes the chances of that by formulas
of its own (``chances``).
"""
