"""Extract, match, credit."""
