"""A small interpreter of a subset of Python for programs nobody vouches for: what one prints, within bounds that are counted."""
