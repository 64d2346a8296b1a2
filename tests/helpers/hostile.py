"""Records and values that break readers which guess."""

import csv
import io

MANY = 30_000
"""Plain rows around one that is not."""
LEAST, MOST = -(2**63), 2**63 - 1
"""The ends of whole numbers of 64 bits."""
WIDTHS = {"s": 10**9, "ms": 10**6, "us": 10**3, "ns": 1}
"""The units of times, in nanoseconds."""
ADVERSARIAL = [
    ["5", "line\r\nbreak\n\n"],
    ["5", 'quote " and "" doubled'],
    ["5", "a,b;c|d\te"],
    ["5", "z" * 3_000_000],
    ["late", "x"],
    ["1e999", "x"],
    ["2013-01-01", "x"],
    ["5"],
    ["5", "x", ""],
    ["5", "x", "surplus"],
    ["0.5", "x"],
    ["-9" * 400, "x"],
    ["5\0", "\0"],
    ["NaN", "NA"],
    ["", ""],
    ["'5'", "'"],
    ["#5", "#"],
    ["5", "\\"],
    ["inf", "\ufeff"],
]
"""Records of a table with the columns x and y."""


def lines(rows):
    """Records as bytes of a text file."""
    file = io.StringIO(newline="")
    csv.writer(file, lineterminator="\n").writerows(rows)
    return file.getvalue().encode()


class Rude:
    """Looks like whatever is asked, and raises."""

    def _no(self, *_):
        raise ValueError("canary4711")

    __str__ = __repr__ = __eq__ = __ne__ = __float__ = __int__ = __bool__ = __len__ = __iter__ = __index__ = _no
    __array__ = __lt__ = __gt__ = __getattr__ = _no
    __hash__ = None
