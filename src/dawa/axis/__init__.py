"""Ordered attributes with public bounds: numbers, explicit edges, dates and times, ordered categories."""

from dawa.axis.base import Axis, AxisLike, AxisValue, Outside
from dawa.axis.dates import DateAxis
from dawa.axis.numbers import EdgeAxis, NumberAxis
from dawa.axis.ordered import OrderedAxis

__all__ = ["Axis", "AxisLike", "AxisValue", "DateAxis", "EdgeAxis", "NumberAxis", "OrderedAxis", "Outside"]
