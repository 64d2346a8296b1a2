"""What a release would spend, whom it would protect and how accurate it would be, said before anything is spent.

``planned`` makes a plan and ``compared`` runs mechanisms on a public table. Nothing here reads a record of a table that
is to be released: a plan runs mechanisms on an empty table, on made-up data, or on a table that somebody names as
public.
"""

from dawa.plan.advice import Advice
from dawa.plan.comparison import Comparison, compared
from dawa.plan.noise import Expected
from dawa.plan.opened import Opened
from dawa.plan.plan import Plan
from dawa.plan.planning import planned
from dawa.plan.prediction import Prediction
from dawa.plan.search import Point, Within
from dawa.plan.standins import KINDS

__all__ = [
    "KINDS",
    "Advice",
    "Comparison",
    "Expected",
    "Opened",
    "Plan",
    "Point",
    "Prediction",
    "Within",
    "compared",
    "planned",
]
