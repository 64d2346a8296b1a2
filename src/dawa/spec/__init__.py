"""Specs of releases, on a command line or in a TOML file, and ranges, on a command line or in a CSV file."""
