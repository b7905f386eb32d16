from .find import find_config as find_config, ready_runs as ready_runs
