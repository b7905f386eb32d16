"""Rubrics: what a judge is asked about a reply, and what its verdict is worth. A name is a file; see _rubric.py."""
