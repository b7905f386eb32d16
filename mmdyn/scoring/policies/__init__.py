"""One file a policy of credit."""
