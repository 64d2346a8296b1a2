"""Axes of addresses: networks, ends, how addresses are written and read."""

from fractions import Fraction
from ipaddress import IPv4Address, IPv6Address, ip_network

import pytest
from hypothesis import given
from hypothesis import strategies as st

import dawa
from dawa import Axis
from dawa.axis import addresses, written
from dawa.errors import AxisError, DawaError, OptionError
from dawa.spec import notation, ranges


def test_cells_are_networks():
    axis = Axis.ipv4("ip", "10.0.0.0/8", prefix=24)
    assert (axis.size, axis.whole, axis.start, axis.stop) == (2**16, False, "10.0.0.0", "11.0.0.0")
    assert axis.value([0, 1, 1.5, 65536]).tolist() == ["10.0.0.0", "10.0.1.0", "10.0.1.128", "11.0.0.0"]
    assert axis.value_in(7, Fraction(1, 2)) == "10.0.7.0/24"
    assert Axis.ipv4("ip").value_in(7, Fraction(1, 2)) == "0.0.0.7"
    assert Axis.ipv6("ip", "2001:db8::/32").size == 2**32
    assert Axis.ipv6("ip").size == 2**61
    assert Axis.ipv4("ip", ip_network("10.0.0.0/8")) == Axis.ipv4("ip", " 10.0.0.0/8 ")
    assert Axis.ipv6("ip", "2001:0DB8:0::/32").within == "2001:db8::/32"


def test_a_network_is_a_range():
    axis = Axis.ipv4("ip", "10.0.0.0/8")
    assert axis.span("10.0.1.0/24", "10.0.1.0/24") == axis.span("10.0.1.0", "10.0.2.0") == (256, 512)
    assert axis.span(IPv4Address("10.0.0.0"), 167772160 + 5) == (0, 5)
    assert axis.span("10.0.0.0/8", "10.0.0.0/8") == (0, axis.size)
    every = Axis.ipv4("ip")
    assert every.ends("0.0.0.0/0") == (every.start, every.stop) == written_ends(every)
    assert every.stop == "256.0.0.0"
    assert every.span("255.255.255.255", "256.0.0.0") == (2**32 - 1, 2**32)
    top = Axis.ipv6("ip", "ffff::/16", prefix=64)
    assert top.span("ffff:ffff::", "10000::") == (2**48 - 2**32, 2**48)


def written_ends(axis):
    """Both ends of an axis as tables have them."""
    (lo,), (hi,) = written.written(axis, [0], [axis.size])
    return lo, hi


def test_what_can_lie_outside():
    assert Axis.ipv4("ip").beyond == ()
    assert Axis.ipv4("ip", "0.0.0.0/8").beyond == ("above",)
    assert Axis.ipv4("ip", "255.0.0.0/8").beyond == ("below",)
    assert Axis.ipv6("ip", "2001:db8::/32").beyond == ("below", "above")
    assert Axis.ipv4("ip", outside="own").apart == ("missing",)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: Axis.ipv4("ip", "10.0.0.1/8"), "write 10.0.0.0/8"),
        (lambda: Axis.ipv4("ip", "10.0.0.0"), "not a network"),
        (lambda: Axis.ipv4("ip", "10.0.0.0/33"), "not a network"),
        (lambda: Axis.ipv4("ip", "010.0.0.0/8"), "not a network"),
        (lambda: Axis.ipv4("ip", "10.0.0.0/255.0.0.0"), "not a network"),
        (lambda: Axis.ipv4("ip", 5), "not a network"),
        (lambda: Axis.ipv4("ip", "2001:db8::/32"), "use dawa.Axis.ipv6"),
        (lambda: Axis.ipv6("ip", "10.0.0.0/8", prefix=16), "use dawa.Axis.ipv4"),
        (lambda: Axis.ipv6("ip", "::ffff:1.2.3.4/128", prefix=128), "not a network"),
        (lambda: Axis.ipv6("ip", "::/0"), "choose prefix=62"),
        (lambda: Axis.ipv6("ip", "2001:db8::/32", prefix=95), "choose prefix=94"),
        (lambda: Axis.ipv4("ip", "10.0.0.0/8", prefix=7), "at least 8"),
        (lambda: Axis.ipv4("ip", prefix=33), "choose prefix=32"),
        (lambda: Axis.ipv4("ip", prefix="x"), "prefix"),
    ],
)
def test_axes_that_do_not_exist(make, words):
    with pytest.raises(DawaError, match=words) as caught:
        make()
    assert caught.value.hint


@pytest.mark.parametrize("value", ["11.0.0.1", "9.0.0.0/8", "10.0.0.1/24", "10.0.0", "2001:db8::", "x", None, -1, 0.5])
def test_ends_that_do_not_exist(value):
    with pytest.raises(AxisError):
        Axis.ipv4("ip", "10.0.0.0/8").border(value)
    with pytest.raises(OptionError, match="empty"):
        Axis.ipv4("ip").span("10.0.0.1", "10.0.0.1")


@given(st.integers(0, 2**128 - 1), st.integers(0, 2**128 - 1))
def test_addresses_are_written_as_everybody_does(number, mask):
    text = addresses.written(number & mask, 6)
    assert addresses.read(text, 6) == number & mask
    usual = str(IPv6Address(number & mask))
    assert text == usual or "." in usual
    assert addresses.written(number >> 96, 4) == str(IPv4Address(number >> 96))


def test_what_is_no_address():
    assert addresses.read("::ffff:102:304", 6) == 0xFFFF_0102_0304
    for text in ("010.0.0.1", "10.0.0.1 ", "1.2.3", "1.2.3.4/32", "0x0a.0.0.1", "167772161"):
        assert addresses.read(text, 4) is None
    for text in ("::ffff:1.2.3.4", "fe80::1%eth0", "1::2::3", "1:2:3:4:5:6:7:8:9", ":1", "12345::"):
        assert addresses.read(text, 6) is None


def test_ranges_as_they_are_typed():
    axis = Axis.ipv4("ip", "10.0.0.0/8", prefix=24)
    assert notation.ends("10.0.0.0/16", axis) == ("10.0.0.0", "10.1.0.0")
    assert notation.ends("10.0.0.0:10.0.1.0", axis) == notation.ends("10.0.0.0..10.0.1.0", axis)
    assert notation.ends("10.255.0.0:", axis) == ("10.255.0.0", "11.0.0.0")
    assert notation.ends("*", axis) == ("10.0.0.0", "11.0.0.0")
    six = Axis.ipv6("ip", "2001:db8::/32")
    assert notation.ends("2001:db8:1::/48", six) == ("2001:db8:1::", "2001:db8:2::")
    assert notation.ends("2001:db8:1::..2001:db8:2::", six) == ("2001:db8:1::", "2001:db8:2::")
    assert notation.ends("2001:db8::7", six) == ("2001:db8::7", "2001:db8::8")
    with pytest.raises(AxisError, match=r"two ends, such as 2001:db8:4000::\.\.2001:db8:c000::"):
        notation.ends("2001:db8:1:::2001:db8:2::", six)
    for one in (axis, six, Axis.ipv4("ip"), Axis.ipv6("ip", "::1/128", prefix=128)):
        asked = ranges.typed(ranges.example([one]), [one])
        assert ranges.spans(asked, [one])[0] == (one.size // 4, max(3 * one.size // 4, one.size // 4 + 1))


def test_a_release_answers_networks(tmp_path):
    axis = Axis.ipv4("ip", "10.0.0.0/8", prefix=24, outside="own")
    table = {"ip": ["10.7.1.1"] * 500 + ["10.200.0.9"] * 300 + ["192.168.0.1", "no", None]}
    release = dawa.release(table, axis, epsilon=10, seed=0)
    found = release.answer("10.7.0.0/16")
    assert abs(found.value - 500) < 10
    assert (found.lo, found.hi) == ("10.7.0.0", "10.8.0.0")
    assert release.answers(["10.7.0.0/16", "10.0.0.0/8"])[0].value == found.value
    assert release.share("10.7.0.0/16").value == pytest.approx(500 / 800, abs=0.05)
    assert [kind.label for kind in release.apart()] == ["ip below 10.0.0.0", "ip from 11.0.0.0 on", "ip missing"]
    assert release.quantile(0.1).value == "10.7.1.0/24"
    assert all(addresses.read(one, 4) for one in release.sample(50, seed=1))
    again = dawa.load(release.save(tmp_path / "release.json"))
    assert again.axes == release.axes
    assert again.answer("10.7.0.0/16") == found
    assert release.buckets[0].lo == "10.0.0.0"
    with pytest.raises(OptionError, match="addresses"):
        release.mean()
    with pytest.raises(OptionError, match="Only one end"):
        dawa.release({"x": [1]}, Axis("x", 0, 9), epsilon=1, seed=0).answer(3)
