"""How often intervals hold the truth: ``python -m dawa_bench.coverage``."""
