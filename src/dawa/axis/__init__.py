"""Ordered attributes with public bounds: numbers, explicit edges, dates and times, addresses, ordered categories."""

from dawa.axis.addresses import AddressAxis
from dawa.axis.auto import AutoAxis, AxisLike
from dawa.axis.base import Axis, AxisValue, Missing, Outside, State
from dawa.axis.dates import DateAxis
from dawa.axis.numbers import EdgeAxis, NumberAxis
from dawa.axis.ordered import OrderedAxis

__all__ = [
    "AddressAxis",
    "AutoAxis",
    "Axis",
    "AxisLike",
    "AxisValue",
    "DateAxis",
    "EdgeAxis",
    "Missing",
    "NumberAxis",
    "OrderedAxis",
    "Outside",
    "State",
]
