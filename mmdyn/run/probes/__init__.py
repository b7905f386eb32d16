"""What models of a run are asked to find what they knew before its questions: each file asks one kind of evidence."""
