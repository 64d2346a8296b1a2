"""A release as people describe it: on a command line, in a TOML file, as ranges in a CSV file."""
