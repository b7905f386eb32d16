from .shipped import chain_presets as chain_presets, find_config as find_config, ready_runs as ready_runs
