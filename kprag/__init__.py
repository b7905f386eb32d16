"""Knowledge beside the question."""
