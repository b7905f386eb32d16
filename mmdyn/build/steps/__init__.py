"""The steps of building a benchmark: a name is a file."""
