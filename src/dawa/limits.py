"""Every limit of dawa, in one place.

Limits are public and fixed. What exceeds one is refused with a hint, or done in another way that the caller can see.
"""

# Axes and domains.

MOST_CELLS_ON_AXIS = 2**62
"""Positions are 64-bit numbers, and so are sums of two; none is a float on the way from a value to its cell."""

MOST_CELLS_BESIDE = 2**48
"""Cells of an axis beside other axes: corners of boxes are floats, which still tell this many borders apart."""

MOST_CELLS_IN_FLOATS = 2**53
"""Up to this many, every border of an axis is a float."""

MOST_BITS_OF_ADDRESSES = 62
"""Bits that tell the cells of an axis of addresses apart."""

MOST_EDGES = 4097
"""Edges of an axis; engines search them by comparisons that are written out."""

MOST_LABELS = 1000
"""Categories of an axis; engines compare a value with each of them, one after the other."""

MOST_NUMERAL_DIGITS = 300
"""Digits of a number from outside, above the stroke and below it: a float can hold every such number."""

MOST_NUMERAL = 1024
"""Characters of a number from outside, as it is written."""

MOST_BUDGET_DIGITS = 80
"""Digits of a budget, or of a share of one: products of several such numbers can still be written into a file."""

MOST_UNIT_COLUMNS = 64
"""Columns that name a unit together: a release lists them."""

MOST_SHOWN = 60
"""Characters of a value from outside that an error shows."""

MOST_RECORDS = 2**45
"""With row weights up to 2^16, every weighted sum then fits in 62 bits."""

MOST_AXES = 4
"""Axes along which records are counted together; errors grow with every axis."""

MOST_CELLS = 2**62
"""Positions are 64-bit numbers."""

MOST_GROUPINGS = 4
"""Columns by which records are put into groups."""

MOST_GROUPS = 1000
"""Groups of one release: each has a histogram of its own, and the mechanism runs once for each."""

MOST_CELLS_LISTED = 2**26
"""A step that lists every cell refuses larger domains."""

MOST_CELLS_SMOOTHED = 2**20
"""A map with more cells keeps its records even inside buckets: all cells are gone through many times."""

MOST_RUNS = 2**26
"""Runs of all queries together; a rectangle has about as many runs as cells along its edge."""

# Histograms.

MOST_BINS = 2**20
"""Bins of a histogram other than the buckets of a line; all groups count."""

MOST_BOXES_BINNED = 2**14
"""Bins over several axes if there are too many cells for a bin each: every bin is a box that is asked for."""

# Queries.

MOST_QUERIES_ENUMERATED = 2**24
"""Queries that are listed one by one; workloads that are known by name need no list."""

# Reading.

MOST_RECORD_BYTES = 2**24
"""Bytes of a record; a longer one is left out, so an unclosed quote cannot fill the memory."""

MOST_HEADER_BYTES = 2**20
"""Bytes of a header."""

MOST_NAME = 2**17
"""Characters of the name of a column in a header."""

MOST_JSON_DEPTH = 512
"""Objects and lists that may lie in one another in a line of JSON; a line with more has no values."""

MOST_PART_BYTES = 2**26
"""Bytes of the list of a workbook's sheets, and of its other parts that hold no records."""

MOST_SHARED_BYTES = 2**31
"""Bytes that the strings of a workbook take in memory; cells refer to them by number, so all are held."""

MOST_MISSING_WORDS = 100
"""Words that mean "missing" in a text file."""

MOST_CONDITION = 100_000
"""Characters of a condition on records."""

MOST_COMPARISONS = 1000
"""Values in a condition; engines compare with each of them."""

MOST_NESTING = 50
"""Parentheses inside parentheses of a condition."""

MOST_DATE_RUNS = 4096
"""Stretches of a date axis with cells of equal length; engines search among them by comparisons."""

MOST_CALENDAR_CELLS = 2**18
"""Cells of a date axis that follow the calendar, such as the days of a time zone: each is looked up by itself."""

MOST_BITS = 1023
"""Bits of a whole number in a list; a longer one is larger than every float, and so outside every axis."""

MOST_DIGITS = 38
"""Digits of a decimal, in every engine that has a limit."""

# Partitions.

MOST_SPLIT_ENTRIES = 2**23
"""Entries of a table of split probabilities."""

MOST_NODES = 2**26
"""Nodes on a level of a walk; if coins ask for more, these are buckets as they are."""

MOST_MEDIAN_LEVELS = 16
"""Levels of a tree that are cut at medians: far more than any budget can pay for."""

MOST_CELLS_BISECTED = 2**20
"""Cells for P-HP: every one of them is a candidate on every level."""

MOST_PARTS = 256
"""Children of a node of PrivTree; wider nodes would leave no levels to choose from."""

MOST_CELLS_STRUCTURED = 2**16
"""Cells for StructureFirst: counts weighted by widths then add up to less than 2^62."""

MOST_MARKS = 2**13
"""Places where StructureFirst may put bounds: the costs of all pairs are in memory at once."""

MOST_CELLS_COSTED = {"powers": 2**22, "all": 2**14}
"""Cells for the paper's Algorithm 1, by kind of lengths: n·log n costs in memory, or n² costs one start at a time."""

MOST_BOXES_ALONG = 2**22
"""Boxes along an axis, whatever the data: enough for every domain over two or more axes that can be listed."""

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
"""Cells for EFPA: with this many, 16 frequencies are left."""

MOST_FREQUENCIES = 2**11 + 1
"""Frequencies that EFPA considers: all of them up to 4,096 cells."""

MOST_QUERIES_TRANSFORMED = 2**12
"""Queries that EFPA transforms to learn which frequencies matter; more are thinned."""

MOST_CANDIDATES = 50_000
"""Queries that compete in a round of MWEM; larger workloads are thinned."""

MOST_ROUNDS = 200
"""Rounds of MWEM if the user does not choose them; time grows with the cube of their number."""

MOST_BRANCHES = 2**24
"""Children of a node of a tree, so that the widths of its nodes fit in 64 bits."""

MOST_CELLS_RANKED = 2**22
"""Cells for which mechanisms are ranked: every cell is measured, so a larger domain takes minutes."""

MOST_CELLS_PLANNED = 2**20
"""A plan measures at most this many cells one by one; for larger domains its last line is left out."""

MOST_CELLS_FOR_ALL_RANGES = 2**14
"""Cells for which a plan takes all ranges; for larger domains a sample of ranges stands for all."""

MOST_RECORDS_DRAWN = 2**19
"""Records of a stand-in that are drawn one by one; if it has more, each of these stands for several."""

MOST_RUNS_COMPARED = 1000
"""Runs of each mechanism in a comparison."""

# Release files.

MOST_RELEASE_BYTES = 2**33
"""Bytes of a release file: the largest release that can be made has fewer."""

MOST_ARCHIVE_BYTES = 2**32 - 2**16
"""Bytes of a compact release file: places in it are 32-bit numbers."""

MOST_GROWTH = 64
"""How many times its size a compact release file takes in memory, at most; those that are written stay below."""

MOST_MEMBERS = 64
"""Arrays of a compact release file: one for each field that is a list of numbers, whatever the number of groups."""

MOST_ZEROS = 2**28
"""Zero bytes in a row of a compact release file: a sparse file sends gigabytes of them at no cost."""

MOST_PLURAL = 60
"""Characters of what several records are called: it stands in the middle of sentences."""
MOST_WORDS = 300
"""Characters of a title, a publisher, a contact, a licence, or the words for a record."""

MOST_DESCRIPTION = 5000
"""Characters of a description of the data."""

MOST_QUANTILES_ASKED = 100
"""Quantiles in one request."""

MOST_NOISE_DRAWN = 20_000_000
"""Buckets times draws of the noise of a band: some seconds."""

MOST_FILE_DEPTH = 32
"""Objects and lists of a release file that may lie in one another."""

MOST_BUMPS = 6000
"""Rows of bumps in a release file: a reader solves for all of them at once."""

MOST_NESTED = 64
"""Intervals of a release file that may lie in one another: an answer looks at each of them."""

MOST_WALKS = 8
"""Different tables of split probabilities in a release file: groups of one release share two or three of them."""

MOST_COVERING = 24
"""Hats of a release file that may lie over one bucket: a reader's time grows with the third power of it."""

# Ledgers.

MOST_RECEIPT_BYTES = 2**28
"""Bytes of a file of receipts: some millions of them."""

MOST_RECEIPT_FILE = 2**16
"""Bytes of the receipt in a release's folder: names are short."""

MOST_KEY_FILE = 2**14
"""Bytes of a file with a key: it has some hundred."""

# Specs.

MOST_SPEC_BYTES = 2**20
"""Bytes of a spec, and characters of a line in a file of ranges."""

MOST_RELEASES_TOGETHER = 32
"""Releases of one spec; each table is open while all are paid for."""

MOST_RANGES_FILE = 2**28
"""Characters of a file of ranges: ten million ranges have fewer."""

MOST_CUTS_TRIED = 24
"""Separators in a typed range of categories, which may hold separators too: every way to cut the text is tried."""

# Pictures and pages.

MOST_COLUMNS_DRAWN = 800
"""With more cells than this, a column draws several: their mean, and the band from their smallest to their largest."""

MOST_OUTLINES = 4000
"""More lines than this make a file that viewers struggle to open, so they are drawn as pixels."""

MOST_STEPS_DRAWN = 365
"""Buckets narrower than the axis divided by this number are drawn together: hours of a year by days."""

MOST_PIXELS = 1024
"""Larger maps are drawn with several cells per pixel."""

MOST_BUCKETS_DRAWN = 4096
"""Buckets that get a column of pixels each in the picture of a strategy."""

MOST_GROUPS_DRAWN = 24
"""Small pictures on one sheet; a line says how many groups more there are."""

MOST_ROWS_WRITTEN = 2**20
"""A table with more lines than this helps nobody; ask the release instead."""

MOST_CELLS_IN_BROWSER = 2**53
"""With more cells than this, a browser's numbers cannot tell positions on a map apart."""

MOST_ROWS_SAMPLED = 10**8
"""Rows of a synthetic table: gigabytes already, and more of them say nothing that the release does not."""

# The server.

MOST_RANGES_ASKED = 1000
"""Ranges in one request."""

MOST_BUCKETS_TOLD = 10_000
"""Buckets in one response."""

MOST_BORDER_CELLS = 2**20
"""Cells along the sides of all ranges in one request: over several axes, a range costs time for each of them."""

MOST_PARAMETERS = 64
"""Parameters in the address of a request; four axes need nine."""

MOST_HEAD_BYTES = 2**15
"""Bytes of a request's first line and headers."""

MOST_CLIENTS = 10_000
"""Clients whose work is counted; the one that was idle longest is forgotten first."""

MOST_BODY_BYTES = 2**18
"""The largest body of a request."""

MOST_BODIES_BYTES = 2**24
"""Bytes of all bodies that a worker holds at once."""

MOST_UNITS_ASKED = 2000
"""Work of one request, in units of two milliseconds."""

MOST_UNITS_OF_ONE = 100
"""Work of one range: it cannot be interrupted, so everybody waits for it."""

MOST_WAITING = 4096
"""Weight of all requests that wait for a worker; one weighs 1, and 1 more for every eight ranges."""

MOST_WAITING_OF_ONE = 8
"""Requests of one client that may wait at a time."""

MOST_PAGES_BYTES = 2**25
"""Bytes of the pages that a worker keeps; others are made again when they are asked for."""

MOST_BUCKETS_PAGED = 2**16
"""Buckets of a release whose page a server makes: one step of 0.2 seconds, for which all others wait. Such a page has
about 4 MB, so that several are kept."""

MOST_CONNECTIONS = 4096
"""Connections of one worker. If there are more, one that waits for its client is closed: of the client with most of
them, the oldest."""

MOST_CONNECTIONS_OF_ONE = 64
"""Connections of one client to one worker."""

MOST_UNSENT_BYTES = 2**26
"""Bytes that wait in a worker for clients who do not take their answers."""

MOST_LOG_LINES = 20
"""Lines that the server writes about trouble in a minute; it then says how many it left out."""

MOST_LOG_LINE = 2000
"""Characters of such a line, a traceback included."""
