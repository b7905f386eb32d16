"""Many keyed jobs, resumable: the store, the run folder, progress."""
