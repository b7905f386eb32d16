"""Which knowledge points fit a question: by words, by vectors, by both."""
