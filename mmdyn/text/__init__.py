"""Small pure readers of words, English and Chinese."""
