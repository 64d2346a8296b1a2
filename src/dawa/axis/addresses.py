"""Addresses of the internet: one network, cut into networks of equal size.

An address is a whole number of 32 or 128 bits, and a network is all addresses that begin with the same bits. An axis
goes through one network in order, so a network inside it is a range. Ranges end before their upper end, as on every
axis; the end of all addresses, which is none, is written 256.0.0.0 in IPv4 and 10000:: in IPv6.
"""

import re
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from ipaddress import AddressValueError, IPv4Address, IPv6Address
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dawa import check
from dawa.arrays import FloatArray
from dawa.axis.base import Axis, Missing, Outside, State, labelled
from dawa.errors import AxisError, OptionError
from dawa.limits import MOST_BITS_OF_ADDRESSES
from dawa.numerals import brief, told

BITS = {4: 32, 6: 128}
"""Bits of an address, by version."""
ENDS = {4: "256.0.0.0", 6: "10000::"}
"""What stands for the end of all addresses."""
EXAMPLES = {4: ("10.0.0.0/8", "10.1.2.3"), 6: ("2001:db8::/32", "2001:db8::1")}
NETWORK = re.compile(r"([0-9A-Fa-f.:]{2,45})/([0-9]{1,3})")


@dataclass(frozen=True, eq=False)
class AddressAxis(Axis):
    """Addresses inside ``within``, in cells that are networks of ``prefix`` bits.

    Attributes:
        column: Where a table holds the addresses.
        within: The network in which addresses are counted, such as ``"10.0.0.0/8"``.
        prefix: How many leading bits the addresses of a cell have in common.
        outside: What happens to addresses outside the network.
        missing: What happens to missing values, and to what is no address.
    """

    kind: ClassVar[str] = "addresses"

    column: str
    within: str
    prefix: int
    outside: Outside = "clip"
    missing: Missing = "own"

    if TYPE_CHECKING:

        def __init__(
            self, column: str, within: object, prefix: int, outside: Outside = "clip", missing: Missing = "own"
        ) -> None: ...

    def __post_init__(self) -> None:
        self._check()
        text = str(self.within).strip() if isinstance(self.within, str) or _is_network(self.within) else ""
        object.__setattr__(self, "within", text)
        found = _network(text, self.version)
        if found is None:
            raise AxisError(
                f"within={told(text)} is not a network of IPv4 or IPv6 addresses.",
                'write its first address and the bits that all of it share: "10.0.0.0/8", or "2001:db8::/32".',
            )
        first, shared = found
        least = first >> (self.bits - shared) << (self.bits - shared)
        if first != least:
            raise AxisError(
                f"within={told(text)} does not begin where a network of {shared} bits does.",
                f"write {written(least, self.version)}/{shared}, for example.",
            )
        object.__setattr__(self, "within", f"{written(first, self.version)}/{shared}")
        object.__setattr__(self, "prefix", check.whole(self.prefix, "prefix", 0))
        if not shared <= self.prefix <= min(self.bits, shared + MOST_BITS_OF_ADDRESSES):
            raise AxisError(
                f"The axis {told(self.column)} cuts {self.within} into networks of {self.prefix} bits.",
                f"choose prefix={min(self.bits, shared + MOST_BITS_OF_ADDRESSES)} or fewer bits, and at least {shared}:"
                f" at most {MOST_BITS_OF_ADDRESSES} bits tell cells apart; a longer within leaves more of them.",
            )

    @property
    def version(self) -> int:
        """4 or 6."""
        return 6 if ":" in self.within else 4

    @property
    def bits(self) -> int:
        """Bits of an address."""
        return BITS[self.version]

    @cached_property
    def shared(self) -> int:
        """How many leading bits all addresses of the axis have in common."""
        return int(self.within.rpartition("/")[2])

    @cached_property
    def first(self) -> int:
        """The first address, as a whole number."""
        found = _network(self.within, self.version)
        return 0 if found is None else found[0]

    @property
    def width(self) -> int:
        """Addresses in a cell."""
        return int(2 ** (self.bits - self.prefix))

    @property
    def start(self) -> str:
        """The first address."""
        return written(self.first, self.version)

    @property
    def stop(self) -> str:
        """What follows the last address."""
        return written(self.first + self.size * self.width, self.version)

    @property
    def size(self) -> int:
        """Number of cells."""
        return int(2 ** (self.prefix - self.shared))

    @property
    def whole(self) -> bool:
        """Whether every cell is one address."""
        return self.prefix == self.bits

    def value(self, border: ArrayLike) -> NDArray[np.object_]:
        """The address at a cell border; inside a cell, the one that this part of the way comes to, rounded down."""
        borders = np.asarray(border)
        places = (Fraction(place) for place in borders.reshape(-1).tolist())
        return labelled(
            [written(int(self.first + place * self.width // 1), self.version) for place in places], borders.shape
        )

    def number(self, border: ArrayLike) -> FloatArray:
        """The address at a cell border as a number, or the float nearest to it."""
        borders = np.asarray(border, np.int64)
        found = [float(self.first + place * self.width) for place in borders.reshape(-1).tolist()]
        return np.array(found).reshape(borders.shape)

    def value_in(self, cell: int, part: Fraction) -> str:
        """The network that a cell is, or its address if it has but one, whatever the part."""
        del part
        address = written(self.first + cell * self.width, self.version)
        return address if self.whole else f"{address}/{self.prefix}"

    def border(self, value: object) -> Fraction:
        """Where an address lies among the cell borders, exactly; a network lies where it begins."""
        return self._border(value, beyond=False)

    def span(self, lo: object, hi: object) -> tuple[Fraction, Fraction]:
        """The borders of the range from ``lo`` up to but not including ``hi``.

        A network stands for its first address as a lower end, and for the end of its last one as an upper end.

        >>> Axis.ipv4("ip", "10.0.0.0/8", prefix=24).span("10.0.4.0/22", "10.0.8.0")
        (Fraction(4, 1), Fraction(8, 1))
        """
        start, stop = self._border(lo, beyond=False), self._border(hi, beyond=True)
        if start >= stop:
            raise OptionError(f"The range from {brief(lo)} to {brief(hi)} is empty.", "pass the lower end first.")
        return start, stop

    def ends(self, value: object) -> tuple[str, str]:
        """Both ends of what is asked by one value: all addresses of a network, or one address.

        >>> Axis.ipv4("ip").ends("10.0.0.0/8"), Axis.ipv4("ip").ends("10.0.0.255")
        (('10.0.0.0', '11.0.0.0'), ('10.0.0.255', '10.0.1.0'))
        """
        first = self._number(value, beyond=False)
        beyond = self._number(value, beyond=True)
        return written(first, self.version), written(max(beyond, first + 1), self.version)

    def _border(self, value: object, *, beyond: bool) -> Fraction:
        """Where an end lies; ``beyond`` takes the end of a network instead of its beginning."""
        number = self._number(value, beyond=beyond)
        if not self.first <= number <= self.first + self.size * self.width:
            raise self._outside_of(value)
        return Fraction(number - self.first, self.width)

    def _number(self, value: object, *, beyond: bool) -> int:
        if check.is_whole(value, 0):
            return int(value)
        text = str(value).strip()
        if text == ENDS[self.version]:
            return int(2**self.bits)
        network = _network(text, self.version)
        if network is not None:
            first, shared = network
            each = 2 ** (self.bits - shared)
            if first % each:
                raise AxisError(
                    f"{told(text)} does not begin where a network of {shared} bits does.",
                    f"write {written(first - first % each, self.version)}/{shared}, for example.",
                )
            return int(first + each * beyond)
        found = read(text, self.version)
        if found is None:
            network_example, example = EXAMPLES[self.version]
            raise AxisError(
                f"{told(value)} is not an IPv{self.version} address, nor a network of them.",
                f"write {example}, or {network_example}, for example.",
            )
        return found

    def _outside_of(self, value: object) -> AxisError:
        return AxisError(
            f"{brief(value)} lies outside the axis {told(self.column)}.", f"ask for what lies in {self.within}."
        )

    @property
    def beyond(self) -> tuple[State, ...]:
        """The ways in which an address can lie outside: none on an axis of all addresses."""
        below: tuple[State, ...] = ("below",) if self.first > 0 else ()
        return (*below, "above") if self.first + self.size * self.width < 2**self.bits else below

    def _reading(self) -> str:
        how = {
            4: "four decimal numbers without leading zeros, and dots between them",
            6: "up to eight hexadecimal numbers and colons, without a dotted end",
        }[self.version]
        cells = "single addresses" if self.whole else f"networks of {self.prefix} bits"
        return f"IPv{self.version} addresses in {self.within}, by {cells}; an address is {how}"

    def to_json(self) -> dict[str, Any]:
        """Plain values."""
        rules = {"outside": self.outside, "missing": self.missing}
        return {"kind": self.kind, "column": self.column, "within": self.within, "prefix": self.prefix, **rules}

    @classmethod
    def read(cls, data: dict[str, Any]) -> "AddressAxis":
        """The axis that ``to_json`` wrote."""
        return cls(
            data["column"], cls._text(data, "within"), data["prefix"], data["outside"], data.get("missing", "drop")
        )


def read(text: str, version: int) -> int | None:
    """The number of an address as sources read it, too; None if it is no address of this version.

    >>> read("10.0.0.1", 4), read("010.0.0.1", 4), read("::ffff:1.2.3.4", 6)
    (167772161, None, None)
    """
    try:
        if version == 4:
            return int(IPv4Address(text))
        return None if "." in text or "%" in text else int(IPv6Address(text))
    except AddressValueError:
        return None


def written(number: int, version: int) -> str:
    """An address as it is usually written (RFC 5952 for IPv6), or the end of all addresses.

    >>> written(167772161, 4), written(1 << 32, 4), written(0x20010DB8 << 96, 6)
    ('10.0.0.1', '256.0.0.0', '2001:db8::')
    """
    if number >= 2 ** BITS[version]:
        return ENDS[version]
    if version == 4:
        return ".".join(str(number >> shift & 255) for shift in (24, 16, 8, 0))
    groups = [f"{number >> shift & 0xFFFF:x}" for shift in range(112, -1, -16)]
    runs = re.finditer("0+", "".join("0" if group == "0" else "1" for group in groups))
    run = max(runs, key=lambda found: found.end() - found.start(), default=None)
    if run is None or run.end() - run.start() < 2:
        return ":".join(groups)
    return f"{':'.join(groups[: run.start()])}::{':'.join(groups[run.end() :])}"


def _network(text: str, version: int) -> tuple[int, int] | None:
    """The address in front of the stroke and the number of bits behind it; None if it is no network."""
    match = NETWORK.fullmatch(text)
    first = read(match[1], version) if match else None
    if match is None or first is None or int(match[2]) > BITS[version]:
        return None
    return first, int(match[2])


def _is_network(value: object) -> bool:
    return type(value).__module__ == "ipaddress"
