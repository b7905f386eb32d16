"""A small bilingual set of our own, with drawings: every task type, pictures in most, knowledge points with texts."""
