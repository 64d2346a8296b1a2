"""How much is too much: every limit of dawa, once.

They are public and fixed. What exceeds one is refused with a hint, or done another way that the caller can see.
"""

# Axes and domains.

MOST_CELLS_ON_AXIS = 2**48
"""Borders of so many cells are still told apart by floats, and numbered exactly."""

MOST_EDGES = 4097
"""Engines search among the edges by comparisons that are written out."""

MOST_LABELS = 1000
"""Engines compare with each of them, one after the other."""

MOST_POWER = 400
"""The largest power of ten that a number may be written with."""

MOST_RECORDS = 2**45
"""With row weights up to 2^16, every weighted sum then fits in 62 bits."""

MOST_AXES = 4
"""Along which records are counted together; errors grow with every one."""

MOST_CELLS = 2**62
"""Positions are 64-bit numbers."""

MOST_CELLS_LISTED = 2**26
"""A step that lists every cell refuses larger domains."""

MOST_RUNS = 2**26
"""Runs of all queries together; a rectangle has about as many as cells along its edge."""

# Queries.

MOST_QUERIES_ENUMERATED = 2**24
"""Queries that are listed one by one; the workloads that are known by name need not be."""

# Reading.

MOST_RECORD_BYTES = 2**24
"""Bytes of a record; a longer one is left out, so that an open quote cannot fill the memory."""

MOST_HEADER_BYTES = 2**20
"""Bytes of a header."""

MOST_MISSING_WORDS = 100
"""Words that mean "missing" in a text file."""

MOST_DATE_RUNS = 4096
"""Stretches of a date axis with cells of equal length; engines search among them by comparisons."""

MOST_BITS = 1023
"""Bits of a whole number in a list; beyond, it is larger than every float, and so outside of every axis."""

MOST_DIGITS = 38
"""Digits of a decimal, in every engine that has a limit."""

# Partitions.

MOST_SPLIT_ENTRIES = 2**23
"""Entries of a table of split probabilities."""

MOST_MEDIAN_LEVELS = 16
"""Levels of a tree that are cut at medians: far more than any budget can pay for."""

MOST_CELLS_BISECTED = 2**20
"""Cells for P-HP: every one of them is a candidate on every level."""

MOST_PARTS = 256
"""Children of a node of PrivTree; wider nodes would leave no levels to choose from."""

MOST_CELLS_STRUCTURED = 2**16
"""Cells for StructureFirst: counts weighted by widths then add up to less than 2^62."""

MOST_MARKS = 2**13
"""Places for bounds of StructureFirst: costs of all pairs are held at once."""

MOST_CELLS_COSTED = {"powers": 2**22, "all": 2**14}
"""Cells for the paper's Algorithm 1, by kind of lengths: n·log n costs in memory, or n² costs one start at a time."""

MOST_BOXES_ALONG = 2**22
"""Most boxes along an axis, whatever the data: enough for every domain over two and more axes that can be listed."""

# Strategies.

MOST_BUCKETS_IN_BUMPS = 2**18
"""Above this, the matrix of a bump strategy's blocks is too large."""

MOST_WEIGHTS = 2**26
"""Entries of the matrix of queries over buckets that a search for bumps holds."""

MOST_BUCKETS_SEARCHED = 100_000
"""Above this, a search for hats costs more than it gains."""

MOST_SEARCH_STEPS = 80
"""Evaluations per finalist of a search; more gain little."""

# Mechanisms.

MOST_CELLS_TRANSFORMED = 2**22
"""Cells for EFPA: 16 frequencies are left there."""

MOST_FREQUENCIES = 2**11 + 1
"""Frequencies that EFPA considers: all of them up to 4,096 cells."""

MOST_QUERIES_TRANSFORMED = 2**12
"""Queries that EFPA transforms to learn which frequencies matter; more are thinned."""

MOST_CANDIDATES = 50_000
"""Queries that compete in a round of MWEM; larger workloads are thinned."""

MOST_ROUNDS = 200
"""Rounds of MWEM where the user does not choose: time grows with their cube."""

MOST_BRANCHES = 2**24
"""Children of a node, wider than any domain; a tree's widths then fit in 64 bits."""

MOST_CELLS_RANKED = 2**22
"""Cells for which mechanisms are ranked: each is measured, so that a larger domain takes minutes."""

MOST_CELLS_PLANNED = 2**20
"""A plan measures no more cells than this one by one; with more, its last line is left out."""

MOST_CELLS_FOR_ALL_RANGES = 2**14
"""Cells for which a plan takes all ranges; with more, a sample of ranges stands for them."""

# Pictures and pages.

MOST_COLUMNS_DRAWN = 800
"""More cells than this are drawn several to a column: their mean, and the band from their least to their most."""

MOST_OUTLINES = 4000
"""More lines than this make a file that no viewer opens gladly, so they become pixels."""

MOST_STEPS_DRAWN = 2000
"""Buckets narrower than this part of the axis are drawn together."""

MOST_PIXELS = 1024
"""Larger maps are drawn with several cells to a pixel."""

MOST_BUCKETS_DRAWN = 4096
"""Buckets that get a column of pixels each in the picture of a strategy."""

MOST_ROWS_WRITTEN = 2**20
"""A table with more lines than this is of no use to anyone; the release answers in its place."""

MOST_CELLS_IN_BROWSER = 2**53
"""Beyond so many cells, a browser's numbers do not tell positions on a map apart."""

# The server.

MOST_RANGES_ASKED = 1000
"""Ranges in one request."""

MOST_BUCKETS_TOLD = 10_000
"""Buckets in one response."""

MOST_BORDER_CELLS = 2**20
"""Over several axes a range costs as much as it has cells along its sides; so many in one request."""

MOST_CLIENTS = 10_000
"""Clients whose requests are counted; the one that was idle longest is forgotten first."""

MOST_BODY_BYTES = 2**20
"""The largest body of a request."""

MOST_CONNECTIONS = 4096
"""Connections of one worker; more get the status 503."""
