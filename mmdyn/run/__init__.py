"""Plan the conditions, ask, score and record."""
