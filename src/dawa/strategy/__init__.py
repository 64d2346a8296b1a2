"""Which sums over buckets to measure: public, chosen before any count is read.

A strategy is a set of integer rows over the buckets. Every bucket's column sums to at most its allowance, out of
``RESOLUTION``, so one record moves the answers by at most that much and one noise scale serves all rows.
"""

from dawa.strategy.base import RESOLUTION, Strategy

__all__ = ["RESOLUTION", "Strategy"]
