"""One file a benchmark: how its data become samples."""
