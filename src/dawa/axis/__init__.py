"""Ordered attributes with public bounds: numbers, explicit edges, dates and times, ordered categories."""

from dawa.axis.base import MOST_CELLS, Axis, Outside
from dawa.axis.dates import DateAxis
from dawa.axis.edges import EdgeAxis
from dawa.axis.numbers import NumberAxis
from dawa.axis.ordered import OrderedAxis

__all__ = ["MOST_CELLS", "Axis", "DateAxis", "EdgeAxis", "NumberAxis", "OrderedAxis", "Outside"]
