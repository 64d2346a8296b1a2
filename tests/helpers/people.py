"""A table of people and the release of their ages, for tests of commands."""

ROWS = 4000
AGES = ("--column", "age", "--range", "0:100", "--epsilon", "1", "--out", "out")
