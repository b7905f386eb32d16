"""One file a metric that compares texts."""
